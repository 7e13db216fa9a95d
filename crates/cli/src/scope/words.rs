//! Answers in sentences.
//!
//! The statements about versions were checked with Node 20.20, 22.23, 24.21 and 26.10. The first
//! versions come from Node's documentation:
//! <https://nodejs.org/api/packages.html#syntax-detection>,
//! <https://nodejs.org/api/typescript.html>, <https://nodejs.org/api/esm.html#wasm-modules>.

use super::answer::{Answer, Declared, Facts, Failure, Nearest};
use super::place::{Link, Seen};
use smallfry_package_json::{Format, ModuleType, Package};
use std::path::Path;

const NOT_A_MODULE: &str = "\"Cannot use import statement outside a module\"";

/// The format in one word.
pub(super) fn format(answer: &Answer) -> &'static str {
    let format = answer.found.as_ref().ok().and_then(|facts| facts.format);
    format.map_or("error", Format::name)
}

/// Explains the answer, and what to do about it. Each item has one or two sentences.
pub(super) fn why(answer: &Answer) -> Vec<String> {
    let facts = match &answer.found {
        Ok(facts) => facts,
        Err(failure) => return vec![format!("There is no answer: {}.", failure.message)],
    };
    let mut said = Vec::new();
    said.extend(way(facts));
    if facts.place.is_directory {
        said.push("It is a directory: the answer is that for a .js file in it.".to_owned());
    }
    match &facts.package {
        Err(failure) if facts.is_by_type() => said.push(in_the_way(failure)),
        Ok(nearest) if facts.is_by_type() => {
            said.push(by_type(facts, nearest));
            said.extend(at_the_root(nearest));
        }
        _ => said.push(by_extension(facts)),
    }
    if facts.is_typescript() {
        said.push(typescript(facts));
    }
    if let Some(directory) = &facts.ignored_directory {
        let directory = path(directory);
        said.push(format!("{directory} is a directory, so Node ignores it."));
    }
    said.extend(other_way(facts));
    if let Err(failure) = &facts.package
        && !facts.is_by_type()
    {
        said.push(in_the_way_of_some(facts, failure));
    }
    said.extend(missing(facts));
    said
}

/// Prints a path, escaping characters that would break a line or the terminal.
pub(super) fn path(path: &Path) -> String {
    let mut text = String::new();
    for character in path.to_string_lossy().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// Explains how the given path leads to the file.
fn way(facts: &Facts) -> Option<String> {
    let link = match facts.place.link? {
        Link::Itself => "It is a symbolic link",
        Link::Above => "A symbolic link leads there",
    };
    Some(format!(
        "{link}. Node uses the real path, {} (unless it runs with --preserve-symlinks).",
        path(&facts.place.path)
    ))
}

fn missing(facts: &Facts) -> Option<String> {
    match &facts.place.seen {
        Seen::Something => None,
        Seen::Missing => Some("It does not exist. The answer holds once it does.".to_owned()),
        Seen::Dangling(error) => Some(format!(
            "It is a symbolic link that cannot be followed ({error}). The answer is based on its name."
        )),
        Seen::Hidden(error) => Some(format!(
            "It cannot be inspected ({error}). The answer is based on its name."
        )),
    }
}

fn by_extension(facts: &Facts) -> String {
    let extension = facts.extension.as_deref().unwrap_or_default();
    match facts.format {
        Some(Format::Module) => {
            format!("The extension .{extension} makes it a module, whatever package.json says.")
        }
        Some(Format::CommonJs) => {
            format!(
                "The extension .{extension} makes it CommonJS, whatever package.json says. {}",
                fails(facts)
            )
        }
        Some(Format::Json) => {
            "The extension is .json: `require` reads it, `import` only with { type: 'json' }."
                .to_owned()
        }
        Some(Format::Wasm) => "The extension is .wasm: `import` compiles it (Node 22.19, 24.5 and later), `require` treats it as \
                               CommonJS and fails."
            .to_owned(),
        Some(Format::Addon) => "The extension is .node: `require` loads it as an addon. `import` fails in Node 20 and 22, and is \
                                experimental in later versions."
            .to_owned(),
        _ => unknown(facts, extension),
    }
}

fn unknown(facts: &Facts, extension: &str) -> String {
    let is_module = facts.module_type() == Some(ModuleType::Module);
    // With a package.json that cannot be read, this is uncertain.
    let started = match &facts.package {
        Ok(Nearest::Says(package, _)) if is_module => format!(
            ", and so does `node FILE`, because {} says \"type\": \"module\". `require` treats it as CommonJS.",
            path(package.path())
        ),
        Ok(_) => "; `require` and `node FILE` treat it as CommonJS.".to_owned(),
        Err(_) => "; `require` treats it as CommonJS.".to_owned(),
    };
    let lower = extension.to_lowercase();
    let hint = match lower.as_str() {
        "jsx" | "tsx" => " JSX has to be compiled first.".to_owned(),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "json" | "wasm" | "node" => {
            format!(" Extensions are case-sensitive: Node knows .{lower}.")
        }
        _ => String::new(),
    };
    format!(
        "Node does not know the extension .{extension}: `import` fails with ERR_UNKNOWN_FILE_EXTENSION{started}{hint}",
        extension = path(Path::new(extension)),
    )
}

fn by_type(facts: &Facts, nearest: &Nearest) -> String {
    match nearest {
        Nearest::Says(package, declared) => {
            let file = path(package.path());
            match declared {
                Declared::Module if facts.extension.is_none() && !facts.place.is_directory => {
                    format!(
                        "{file} says \"type\": \"module\". Up to Node 24, `require` treats a file without extension as \
                         CommonJS all the same."
                    )
                }
                Declared::Module => format!("{file} says \"type\": \"module\"."),
                Declared::CommonJs => {
                    format!("{file} says \"type\": \"commonjs\". {}", fails(facts))
                }
                Declared::Nothing => format!(
                    "{file} has no \"type\", so it is CommonJS. {}",
                    tried_again(facts, true)
                ),
                Declared::Unclear => format!(
                    "{file} has no \"type\" that Node knows, so it is CommonJS. {}",
                    tried_again(facts, true)
                ),
                Declared::Other(other) => format!(
                    "{file} says \"type\": {}, which is neither \"module\" nor \"commonjs\": Node ignores it, so the file is \
                     CommonJS. {}",
                    serde_json::Value::from(other.as_str()),
                    tried_again(facts, true)
                ),
            }
        }
        Nearest::Nothing { end, root } => {
            let up_to = match root {
                Some(_) => "the one below the root".to_owned(),
                None if end.parent().is_none() => "the root".to_owned(),
                None => format!("{}, where Node stops looking", path(end)),
            };
            format!(
                "There is no package.json from its directory up to {up_to}, so it is CommonJS. {}",
                tried_again(facts, false)
            )
        }
    }
}

/// Tells what happens to a module that is explicitly marked as CommonJS.
fn fails(facts: &Facts) -> String {
    if facts.extension.is_none() && !facts.place.is_directory {
        return format!(
            "With `import` in it, up to Node 24 `node FILE` does nothing and prints nothing; later versions fail: {NOT_A_MODULE}."
        );
    }
    format!("With `import` in it, it fails: {NOT_A_MODULE}.")
}

/// Tells what happens to a module that counts as CommonJS by default.
fn tried_again(facts: &Facts, has_package: bool) -> String {
    let has_extension = facts.extension.is_some() || facts.place.is_directory;
    let warns = has_package && has_extension && !facts.is_in_node_modules();
    let price = if warns {
        "slower and with a warning"
    } else {
        "slower"
    };
    if facts.is_typescript() {
        return format!(
            "With `import` or `export` in it, Node tries it again as a module, {price}."
        );
    }
    format!(
        "With `import` or `export` in it, Node 20.19, 22.7 and later try it again as a module, {price}; earlier versions fail: \
         {NOT_A_MODULE}."
    )
}

/// Explains the package.json at the root, which counts only in some cases.
fn at_the_root(nearest: &Nearest) -> Option<String> {
    let Nearest::Nothing {
        root: Some((file, module_type @ (ModuleType::Module | ModuleType::CommonJs))),
        ..
    } = nearest
    else {
        return None;
    };
    let name = match module_type {
        ModuleType::Module => "module",
        _ => "commonjs",
    };
    Some(format!(
        "{} says \"type\": \"{name}\". That applies when the file is imported, and always in Node 20 and 22. From Node 24 on, \
         `require` and `node FILE` do not look at the root.",
        path(file)
    ))
}

fn typescript(facts: &Facts) -> String {
    if facts.is_in_node_modules() {
        return "But Node strips no types inside node_modules: it throws ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING."
            .to_owned();
    }
    format!(
        "Node 22.18, 23.6 and later strip its types; earlier versions do not know .{}.",
        facts.extension.as_deref().unwrap_or_default()
    )
}

/// Tells how to turn CommonJS into a module, or a module into CommonJS.
fn other_way(facts: &Facts) -> Option<String> {
    // The user should not change installed packages.
    if facts.is_in_node_modules() {
        return None;
    }
    let (to_module, to_commonjs) = if facts.is_typescript() {
        ("mts", "cts")
    } else {
        ("mjs", "cjs")
    };
    let renamed = |extension| {
        let name = facts.place.path.with_extension(extension);
        let name = name.file_name().unwrap_or_default();
        path(Path::new(name))
    };
    let rename = |extension| {
        if facts.place.is_directory {
            format!("name it .{extension}")
        } else {
            format!("rename it to {}", renamed(extension))
        }
    };
    match (facts.format?, &facts.package) {
        (Format::Module, _) => Some(format!("To make it CommonJS: {}.", rename(to_commonjs))),
        (Format::CommonJs, Ok(nearest)) if facts.is_by_type() => Some(format!(
            "To make it a module: {}, or {}.",
            write_type(nearest),
            rename(to_module)
        )),
        (Format::CommonJs, _) => Some(format!("To make it a module: {}.", rename(to_module))),
        _ => None,
    }
}

fn write_type(nearest: &Nearest) -> String {
    let all = |package: &Package| {
        format!(
            "{} (this applies to all its .js files)",
            path(package.path())
        )
    };
    match nearest {
        Nearest::Says(package, Declared::Nothing | Declared::Unclear) => {
            format!("put \"type\": \"module\" into {}", all(package))
        }
        Nearest::Says(package, _) => {
            format!("change \"type\" to \"module\" in {}", all(package))
        }
        Nearest::Nothing { .. } => {
            "put a package.json with \"type\": \"module\" into its directory or above".to_owned()
        }
    }
}

/// `path:line:column: reason`
fn place_and_reason(failure: &Failure) -> String {
    let file = path(&failure.path);
    match failure.at {
        Some((line, column)) => format!("{file}:{line}:{column}: {}", failure.message),
        None => format!("{file}: {}", failure.message),
    }
}

/// Tells which versions throw an error, and when.
fn thrown(failure: &Failure, when: &str) -> String {
    let place = place_and_reason(failure);
    if failure.at.is_some() {
        return format!("{place}. Node 22 and later throw ERR_INVALID_PACKAGE_CONFIG {when}.");
    }
    format!(
        "{place}. Node 24 and later throw ERR_INVALID_PACKAGE_CONFIG {when}; earlier versions ignore it."
    )
}

fn in_the_way(failure: &Failure) -> String {
    thrown(failure, "for each file whose type it decides")
}

/// Explains an invalid package.json where the extension decides: Node reads the file for other
/// purposes.
fn in_the_way_of_some(facts: &Facts, failure: &Failure) -> String {
    let when = match facts.format {
        Some(Format::Module) => "when this file imports a package",
        Some(Format::CommonJs) => "when this file requires another or a package",
        _ => "when this file is run as `node FILE`",
    };
    thrown(failure, when)
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;
    use std::ffi::OsString;
    use std::path::PathBuf;

    /// No test can put a package.json at the root.
    #[test]
    fn a_package_json_at_the_root_counts_only_for_imports() {
        let root = Path::new("/package.json");
        for (module_type, expected) in [
            (ModuleType::Module, Some("says \"type\": \"module\"")),
            (ModuleType::CommonJs, Some("says \"type\": \"commonjs\"")),
            (ModuleType::None, None),
        ] {
            let nearest = Nearest::Nothing {
                end: PathBuf::from("/"),
                root: Some((root.to_owned(), module_type)),
            };
            let answer = Answer {
                file: OsString::from("a.js"),
                found: Ok(Facts {
                    place: Place {
                        path: PathBuf::from("/a/a.js"),
                        link: None,
                        is_directory: false,
                        seen: Seen::Something,
                    },
                    extension: Some("js".to_owned()),
                    format: Some(Format::CommonJs),
                    package: Ok(nearest),
                    ignored_directory: None,
                }),
            };
            let said = why(&answer).join(" ");
            assert!(said.contains("below the root, so it is CommonJS"), "{said}");
            match expected {
                Some(expected) => assert!(said.contains(expected), "{said}"),
                None => assert!(!said.contains("From Node 24 on"), "{said}"),
            }
        }
    }

    #[test]
    fn control_characters_in_paths_are_escaped() {
        assert_eq!(path(Path::new("a\n\u{1b}[1mü")), "a\\n\\u{1b}[1mü");
    }
}
