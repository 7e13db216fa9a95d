//! Facts about how Node loads a file.

use super::place::{Place, Resolver};
use smallfry_package_json::{
    Cache, Error, Extensions, Format, ModuleType, Package, Problem, Revalidate,
};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The answer for one file.
pub(super) struct Answer {
    /// The path as it was given.
    pub(super) file: OsString,
    pub(super) found: Result<Facts, Failure>,
}

/// Facts about a path that is possible.
pub(super) struct Facts {
    pub(super) place: Place,
    /// `None` if there is none. A name that ends in a dot has an empty one.
    pub(super) extension: Option<String>,
    /// `None` where a package.json decides and cannot be used.
    pub(super) format: Option<Format>,
    pub(super) package: Result<Nearest, Failure>,
    /// The nearest directory named package.json, which Node ignores.
    pub(super) ignored_directory: Option<PathBuf>,
}

/// The package.json that is nearest to a file.
pub(super) enum Nearest {
    Says(Arc<Package>, Declared),
    /// There is none up to `end`: the root, or a directory `node_modules`.
    Nothing {
        end: PathBuf,
        /// The package.json at the root with its type, which counts only in some cases.
        root: Option<(PathBuf, ModuleType)>,
    },
}

/// The `type` in a package.json.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Module,
    CommonJs,
    Nothing,
    /// Neither of these.
    Other(String),
    /// The text is not JSON although Node accepts it, so its type is unknown. It is neither
    /// `module` nor `commonjs`.
    Unclear,
}

/// The reason why a file has no answer, or the error that Node throws for it.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The code of Node's error.
    pub(super) code: &'static str,
    /// The message without the place.
    pub(super) message: String,
    pub(super) path: PathBuf,
    /// Line and column, if a text was read.
    pub(super) at: Option<(usize, usize)>,
    /// True if `path` is a package.json, and not the path that was asked about.
    pub(super) is_package: bool,
}

impl Answer {
    pub(super) fn error(&self) -> Option<&Failure> {
        match &self.found {
            Ok(facts) => facts.package.as_ref().err(),
            Err(failure) => Some(failure),
        }
    }
}

impl Facts {
    /// Returns true if the extension leaves the decision to a package.json.
    pub(super) fn is_by_type(&self) -> bool {
        matches!(self.extension.as_deref(), None | Some("js" | "ts"))
    }

    pub(super) fn is_typescript(&self) -> bool {
        matches!(self.extension.as_deref(), Some("ts" | "mts" | "cts"))
    }

    /// Returns true if the file belongs to an installed package.
    pub(super) fn is_in_node_modules(&self) -> bool {
        let directory = directory_of(&self.place);
        directory.iter().any(|name| name == "node_modules")
    }

    pub(super) fn module_type(&self) -> Option<ModuleType> {
        match self.package.as_ref().ok()? {
            Nearest::Says(package, _) => Some(package.module_type()),
            Nearest::Nothing { .. } => Some(ModuleType::None),
        }
    }

    /// The reason in one word.
    pub(super) fn reason(&self) -> &'static str {
        if !self.is_by_type() {
            return match self.format {
                Some(Format::Unknown) => "unknown-extension",
                _ => "extension",
            };
        }
        match &self.package {
            Err(_) => "error",
            Ok(Nearest::Nothing { .. }) => "no-package",
            Ok(Nearest::Says(_, declared)) => match declared {
                Declared::Module | Declared::CommonJs => "type",
                Declared::Nothing | Declared::Unclear => "no-type",
                Declared::Other(_) => "unknown-type",
            },
        }
    }
}

/// Finds the answers for files, in their order.
pub(super) fn find(files: &[OsString]) -> Vec<Answer> {
    let mut resolver = Resolver::default();
    let places: Vec<io::Result<Place>> = files
        .iter()
        .map(|file| resolver.place(Path::new(file)))
        .collect();
    // The cache lives too briefly for any change to matter.
    let cache = Cache::new().with(Revalidate::Never);
    let keys: Vec<PathBuf> = places.iter().flatten().map(key).collect();
    let mut packages = cache.nearest_of_each(&keys).into_iter();
    let mut formats = cache.formats(&keys, Extensions::TypeScript).into_iter();
    let mut keys = keys.iter();
    let mut details = Details::new(&cache);
    files
        .iter()
        .zip(places)
        .map(|(file, place)| Answer {
            file: file.clone(),
            found: place
                .map_err(|error| cannot_be(file, &error))
                .and_then(
                    |place| match (keys.next(), packages.next(), formats.next()) {
                        (Some(key), Some(package), Some(format)) => {
                            details.facts(place, key, package, format.ok())
                        }
                        _ => unreachable!("there is one for each place"),
                    },
                ),
        })
        .collect()
}

/// The path to ask the cache for. A separator at the end stands for a directory.
fn key(place: &Place) -> PathBuf {
    if place.is_directory {
        place.path.join("")
    } else {
        place.path.clone()
    }
}

/// The directory where the search for a package.json begins.
fn directory_of(place: &Place) -> &Path {
    match place.path.parent() {
        Some(above) if !place.is_directory => above,
        _ => &place.path,
    }
}

/// Facts beside the package itself. Each is looked up once for all files.
struct Details<'cache> {
    cache: &'cache Cache,
    /// By the path of the package.json.
    declared: HashMap<PathBuf, Declared>,
    /// True if the package.json in a directory is a directory.
    directories: HashMap<PathBuf, bool>,
}

impl<'cache> Details<'cache> {
    fn new(cache: &'cache Cache) -> Self {
        Self {
            cache,
            declared: HashMap::new(),
            directories: HashMap::new(),
        }
    }

    fn facts(
        &mut self,
        place: Place,
        key: &Path,
        package: Result<Option<Arc<Package>>, Error>,
        format: Option<Format>,
    ) -> Result<Facts, Failure> {
        let package = match package {
            Ok(Some(package)) => {
                let declared = self.declared(&package);
                Ok(Nearest::Says(package, declared))
            }
            Ok(None) => self.nothing(key),
            Err(error) => Err(failure(&error)),
        };
        if let Err(failure) = &package
            && !failure.is_package
        {
            return Err(failure.clone());
        }
        let end = match &package {
            Ok(Nearest::Says(package, _)) => package.directory(),
            Ok(Nearest::Nothing { end, .. }) => end,
            Err(failure) => failure.path.parent().unwrap_or(&failure.path),
        };
        Ok(Facts {
            extension: place
                .path
                .extension()
                .filter(|_| !place.is_directory)
                .map(|extension| extension.to_string_lossy().into_owned()),
            format,
            ignored_directory: self.ignored_directory(directory_of(&place), end),
            package,
            place,
        })
    }

    fn nothing(&self, key: &Path) -> Result<Nearest, Failure> {
        let scope = self
            .cache
            .scope_of_path(key)
            .map_err(|error| failure(&error))?;
        let end = scope.path.parent().unwrap_or(&scope.path).to_owned();
        let root = scope
            .package
            .map(|package| (scope.path, package.module_type()));
        Ok(Nearest::Nothing { end, root })
    }

    /// Reads the `type` as it is written. The cache keeps only the types that Node knows.
    fn declared(&mut self, package: &Package) -> Declared {
        match package.module_type() {
            ModuleType::Module => return Declared::Module,
            ModuleType::CommonJs => return Declared::CommonJs,
            ModuleType::None => {}
        }
        if let Some(declared) = self.declared.get(package.path()) {
            return declared.clone();
        }
        let source = self.cache.nearest_type_source(package.path());
        let declared = match source {
            Ok(Some(source)) => other_type(&source.bytes),
            _ => Declared::Unclear,
        };
        self.declared
            .insert(package.path().to_owned(), declared.clone());
        declared
    }

    fn ignored_directory(&mut self, directory: &Path, end: &Path) -> Option<PathBuf> {
        let mut above = directory.ancestors().take_while(|above| *above != end);
        above
            .find(|directory| self.is_ignored_directory(directory))
            .map(|directory| directory.join("package.json"))
    }

    fn is_ignored_directory(&mut self, directory: &Path) -> bool {
        if let Some(known) = self.directories.get(directory) {
            return *known;
        }
        let found = std::fs::metadata(directory.join("package.json"));
        let is_directory = found.is_ok_and(|found| found.is_dir());
        self.directories.insert(directory.to_owned(), is_directory);
        is_directory
    }
}

/// Reads a `type` that Node does not know.
fn other_type(bytes: &[u8]) -> Declared {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return Declared::Unclear;
    };
    match document.get("type").and_then(|declared| declared.as_str()) {
        None => Declared::Nothing,
        // Its key is written in a way that Node does not read.
        Some("module" | "commonjs") => Declared::Unclear,
        Some(other) => Declared::Other(other.to_owned()),
    }
}

/// The failure of a package.json, or of a path that the cache refuses.
fn failure(error: &Error) -> Failure {
    let path = error.path().to_owned();
    match error.problem() {
        Problem::Invalid(invalid) => Failure {
            code: "ERR_INVALID_PACKAGE_CONFIG",
            message: invalid.reason.to_owned(),
            path,
            at: Some((invalid.line, invalid.column)),
            is_package: true,
        },
        Problem::Io(_, source)
            if path.file_name() == Some(OsStr::new("package.json"))
                && source.kind() != ErrorKind::InvalidFilename =>
        {
            Failure {
                code: "ERR_INVALID_PACKAGE_CONFIG",
                message: source.to_string(),
                path,
                at: None,
                is_package: true,
            }
        }
        Problem::Io(_, source) => cannot_be(path.as_os_str(), source),
        Problem::Path(reason) => Failure {
            code: "ERR_INVALID_ARG_VALUE",
            message: (*reason).to_owned(),
            path,
            at: None,
            is_package: false,
        },
        _ => Failure {
            code: "ERR_INVALID_PACKAGE_CONFIG",
            message: error.to_string(),
            path,
            at: None,
            is_package: true,
        },
    }
}

/// The failure of a path that no file can have.
fn cannot_be(file: &OsStr, error: &io::Error) -> Failure {
    let (code, message) = match error.kind() {
        ErrorKind::InvalidInput => ("ERR_INVALID_ARG_VALUE", "an empty path".to_owned()),
        ErrorKind::InvalidFilename => ("ENAMETOOLONG", "the path is too long".to_owned()),
        ErrorKind::NotFound => ("ENOENT", "the current directory is gone".to_owned()),
        _ => ("UNKNOWN", error.to_string()),
    };
    Failure {
        code,
        message,
        path: file.into(),
        at: None,
        is_package: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_is_shown_as_written() {
        let other = |text: &str| Declared::Other(text.to_owned());
        for (text, expected) in [
            (r#"{"name":"a"}"#, Declared::Nothing),
            (r#"{"a":{"type":"module"}}"#, Declared::Nothing),
            (r#"{"type":"Module"}"#, other("Module")),
            ("\u{feff}{\"type\":\"esm\"}", other("esm")),
            (r#"{"ty\u0070e":"module"}"#, Declared::Unclear),
            (r#"{"a":tru}"#, Declared::Unclear),
        ] {
            assert_eq!(other_type(text.as_bytes()), expected, "{text}");
        }
    }
}
