//! The format in which Node loads a file.

use std::path::{Path, is_separator};

use crate::fields::ModuleType;

/// The format in which Node loads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Format {
    /// Node does not know the extension: `import` fails with `ERR_UNKNOWN_FILE_EXTENSION`, and
    /// `require` treats the file as CommonJS.
    Unknown = 0,
    /// CommonJS. If no `type` says so and the file has the syntax of a module, Node 20.19, 22.7 and
    /// later load it again as a module.
    CommonJs = 1,
    /// An ECMAScript module.
    Module = 2,
    /// JSON.
    Json = 3,
    /// WebAssembly.
    Wasm = 4,
    /// An addon in machine code.
    Addon = 5,
}

impl Format {
    /// The format of a file whose extension leaves it open.
    pub(crate) fn of_type(module_type: ModuleType) -> Self {
        match module_type {
            ModuleType::Module => Self::Module,
            ModuleType::CommonJs | ModuleType::None => Self::CommonJs,
        }
    }

    /// The name in Node's loader hooks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::CommonJs => "commonjs",
            Self::Module => "module",
            Self::Json => "json",
            Self::Wasm => "wasm",
            Self::Addon => "addon",
        }
    }
}

/// The extensions that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extensions {
    /// `.js`, `.mjs`, `.cjs`, `.json`, `.wasm`, `.node`, and none.
    #[default]
    JavaScript,
    /// Also `.ts`, `.mts` and `.cts`, as Node 22.18 and later know them.
    TypeScript,
}

/// The meaning of an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Is(Format),
    /// The nearest package.json decides.
    ByType,
}

impl Kind {
    pub(crate) fn of(path: &Path, extensions: Extensions) -> Self {
        let typescript = extensions == Extensions::TypeScript;
        let path = path.as_os_str().as_encoded_bytes();
        // The most frequent case, found without looking for the dot.
        if let [.., before, b'.', b'j', b's'] = path
            && !is_separator((*before).into())
        {
            return Self::ByType;
        }
        match extension(path) {
            b"" | b"js" => Self::ByType,
            b"mjs" => Self::Is(Format::Module),
            b"cjs" => Self::Is(Format::CommonJs),
            b"json" => Self::Is(Format::Json),
            b"wasm" => Self::Is(Format::Wasm),
            b"node" => Self::Is(Format::Addon),
            b"ts" if typescript => Self::ByType,
            b"mts" if typescript => Self::Is(Format::Module),
            b"cts" if typescript => Self::Is(Format::CommonJs),
            _ => Self::Is(Format::Unknown),
        }
    }
}

/// Returns the text after the last dot of the name, unless the name begins with that dot. `a.` has
/// the extension `.`, which Node does not know.
fn extension(path: &[u8]) -> &[u8] {
    let separator = path.iter().rposition(|byte| is_separator((*byte).into()));
    let name = &path[separator.map_or(0, |at| at + 1)..];
    match name.iter().rposition(|byte| *byte == b'.') {
        None | Some(0) => b"",
        Some(dot) if dot + 1 == name.len() => b".",
        Some(dot) => &name[dot + 1..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_found_in_the_name() {
        for (path, expected) in [
            ("/a.b/c", ""),
            ("/a/b.js", "js"),
            ("/a/b.c.mjs", "mjs"),
            ("/a/.mjs", ""),
            ("/a/..mjs", "mjs"),
            ("/a/b.", "."),
            ("a.js/", ""),
            ("", ""),
        ] {
            assert_eq!(extension(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }
}
