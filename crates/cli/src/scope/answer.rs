//! What Node makes of a file, as facts.

use super::place::{Place, Resolver};
use smallfry_package_json::{
    Cache, Error, Extensions, Format, ModuleType, Package, Problem, Revalidate,
};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is said of one file.
pub(super) struct Answer {
    /// As it was given.
    pub(super) file: OsString,
    pub(super) found: Result<Facts, Failure>,
}

/// Of a path that may be.
pub(super) struct Facts {
    pub(super) place: Place,
    /// `None` if there is none; empty for a name that ends in a dot.
    pub(super) extension: Option<String>,
    /// `None` where a package.json decides and cannot be used.
    pub(super) format: Option<Format>,
    pub(super) package: Result<Nearest, Failure>,
    /// The nearest directory that has the name of a package.json, and so is none.
    pub(super) passed_over: Option<PathBuf>,
}

/// The package.json that is nearest to a file.
pub(super) enum Nearest {
    Says(Arc<Package>, Declared),
    /// None up to here: the root, or a directory `node_modules`.
    Nothing {
        end: PathBuf,
        /// The one at the root, with its type: it counts for some.
        root: Option<(PathBuf, ModuleType)>,
    },
}

/// The `type` in a package.json.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Module,
    CommonJs,
    Nothing,
    /// It is neither of these.
    Other(String),
    /// The text is no JSON, though Node takes it, so what it says is not known but that it is neither.
    Unclear,
}

/// Why there is no answer, or what is in the way of the file that it is for.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// What Node throws.
    pub(super) code: &'static str,
    /// Without the place.
    pub(super) message: String,
    pub(super) path: PathBuf,
    /// Line and column, if a text was read.
    pub(super) at: Option<(usize, usize)>,
    /// Whether it is a package.json, and not the path that was asked about.
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
    /// Whether the extension leaves it to a package.json.
    pub(super) fn is_by_type(&self) -> bool {
        matches!(self.extension.as_deref(), None | Some("js" | "ts"))
    }

    pub(super) fn is_typescript(&self) -> bool {
        matches!(self.extension.as_deref(), Some("ts" | "mts" | "cts"))
    }

    /// Whether it belongs to a package that was installed.
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

    /// In a word.
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

/// The answers for files, in their order.
pub(super) fn find(files: &[OsString]) -> Vec<Answer> {
    let mut resolver = Resolver::default();
    let places: Vec<io::Result<Place>> = files
        .iter()
        .map(|file| resolver.place(Path::new(file)))
        .collect();
    // It ends before anything that it remembers could matter.
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

/// What the cache is asked for: it takes a separator at the end for the sign of a directory.
fn key(place: &Place) -> PathBuf {
    if place.is_directory {
        place.path.join("")
    } else {
        place.path.clone()
    }
}

/// Where the search for a package.json begins.
fn directory_of(place: &Place) -> &Path {
    match place.path.parent() {
        Some(above) if !place.is_directory => above,
        _ => &place.path,
    }
}

/// What is looked up beside the package itself, once for all files.
struct Details<'cache> {
    cache: &'cache Cache,
    /// By package.json.
    declared: HashMap<PathBuf, Declared>,
    /// Whether the package.json in a directory is a directory.
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
            passed_over: self.passed_over(directory_of(&place), end),
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

    /// The cache knows only what Node knows; a person wants to see what is written.
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

    fn passed_over(&mut self, directory: &Path, end: &Path) -> Option<PathBuf> {
        let mut above = directory.ancestors().take_while(|above| *above != end);
        above
            .find(|directory| self.is_passed_over(directory))
            .map(|directory| directory.join("package.json"))
    }

    fn is_passed_over(&mut self, directory: &Path) -> bool {
        if let Some(known) = self.directories.get(directory) {
            return *known;
        }
        let found = std::fs::metadata(directory.join("package.json"));
        let is_directory = found.is_ok_and(|found| found.is_dir());
        self.directories.insert(directory.to_owned(), is_directory);
        is_directory
    }
}

/// What a package.json has for its `type` that is none to Node.
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

/// Of a package.json, or of a path that the cache refuses.
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

/// Of a path that no file has.
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
    fn a_type_that_is_none_is_shown_as_it_is_written() {
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
