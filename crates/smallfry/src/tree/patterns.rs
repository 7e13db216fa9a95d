//! Decides which files are wanted, and which directories may hold them.

use std::io;
use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The compiled patterns of a walk, for paths below the root.
pub(super) struct Patterns {
    /// The wanted files; `None` for all.
    files: Option<GlobSet>,
    /// The directories that may hold wanted files; `None` for all.
    directories: Option<GlobSet>,
    /// The unwanted files and directories.
    ignored: GlobSet,
    /// The directories whose whole contents are unwanted.
    ignored_directories: GlobSet,
    /// The wanted names that begin with a dot; `None` for all.
    hidden: Option<GlobSet>,
    /// Directories named `.git` are wanted.
    with_git: bool,
}

impl Patterns {
    /// Compiles the patterns of wanted and of unwanted files. `hidden` and `with_git` include names
    /// that begin with a dot, and directories named `.git`.
    pub(super) fn new(
        matching: &[String],
        ignoring: &[String],
        hidden: bool,
        with_git: bool,
    ) -> io::Result<Self> {
        let matching = matching.iter().map(|pattern| checked(pattern));
        let matching = matching.collect::<io::Result<Vec<_>>>()?;
        let ignoring = ignoring.iter().map(|pattern| checked(pattern));
        let ignoring = ignoring.collect::<io::Result<Vec<_>>>()?;

        let (mut files, mut directories, mut dotted) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in matching {
            if pattern.ends_with('/') {
                return Err(refused(
                    pattern,
                    "names a directory, and only files are matched",
                ));
            }
            files.push(glob(pattern)?);
            directories.extend(directories_of(pattern));
            // A part of braces with a slash in them is no pattern, so it spells no dot.
            dotted.extend(dotted_names(pattern).filter_map(|name| glob(name).ok()));
        }
        let (mut ignored, mut ignored_directories) = (Vec::new(), Vec::new());
        for pattern in ignoring {
            ignored.push(glob(pattern.trim_end_matches('/'))?);
            if let Some(directory) = pattern.strip_suffix("/**") {
                ignored_directories.extend(glob(directory).ok());
            }
        }
        let is_all = files.is_empty();
        let unless_all = |globs| (!is_all).then(|| set(globs)).transpose();
        Ok(Self {
            files: unless_all(files)?,
            directories: unless_all(directories)?,
            ignored: set(ignored)?,
            ignored_directories: set(ignored_directories)?,
            hidden: (!hidden).then(|| set(dotted)).transpose()?,
            with_git,
        })
    }

    /// Returns true if the file at `path` is wanted.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.shows(path)
            && self.files.as_ref().is_none_or(|files| files.is_match(path))
            && !self.ignored.is_match(path)
    }

    /// Returns true if the directory at `path` may hold wanted files.
    pub(super) fn has_in(&self, path: &Path) -> bool {
        self.shows(path)
            && self
                .directories
                .as_ref()
                .is_none_or(|directories| directories.is_match(path))
            && !self.ignored.is_match(path)
            && !self.ignored_directories.is_match(path)
            && (self.with_git || path.file_name().is_none_or(|name| name != ".git"))
    }

    /// Returns true if the last name is not hidden. The walk came through the names before it, so
    /// they are not hidden.
    fn shows(&self, path: &Path) -> bool {
        match (&self.hidden, path.file_name()) {
            (Some(shown), Some(name)) => {
                !name.as_encoded_bytes().starts_with(b".") || shown.is_match(name)
            }
            _ => true,
        }
    }
}

/// Returns the pattern without a leading `./`, if it can match a path below the root.
fn checked(pattern: &str) -> io::Result<&str> {
    let relative = pattern.strip_prefix("./").unwrap_or(pattern);
    let reason = if relative.is_empty() {
        "is empty"
    } else if relative.starts_with('/') || Path::new(relative).has_root() {
        "is absolute, and paths below the root are not"
    } else if relative.starts_with('!') {
        "begins with `!`; what is not wanted is for `ignoring`, and a name that begins so is `\\!`"
    } else if relative.split('/').any(|name| name == "..") {
        "leads up, and the walk only goes down"
    } else {
        return Ok(relative);
    };
    Err(refused(pattern, reason))
}

#[cold]
fn refused(pattern: &str, reason: &str) -> io::Error {
    let reason = format!("the pattern `{pattern}` {reason}");
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

fn glob(pattern: &str) -> io::Result<Glob> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| refused(pattern, &format!("is not valid: {}", error.kind())))
}

fn set(globs: Vec<Glob>) -> io::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob);
    }
    set.build()
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))
}

/// Returns patterns for all directories, at any depth, that can hold a file that matches `pattern`:
/// the text before each of its slashes.
///
/// The text does not tell if braces or brackets have a slash in them. Then all directories match.
fn directories_of(pattern: &str) -> Vec<Glob> {
    let mut directories = Vec::new();
    let mut end = 0;
    for name in pattern.split_inclusive('/') {
        if name.contains("**") {
            // From here on all directories match. One too many only costs time.
            directories.extend(glob(&format!("{}**", &pattern[..end])));
            return directories;
        }
        end += name.len();
        if !name.ends_with('/') {
            return directories;
        }
        match glob(&pattern[..end - 1]) {
            Ok(directory) => directories.push(directory),
            Err(_) => return glob("**").into_iter().collect(),
        }
    }
    directories
}

/// Returns the names in `pattern` that begin with a dot.
fn dotted_names(pattern: &str) -> impl Iterator<Item = &str> {
    let names = pattern.split('/');
    names.filter(|name| name.starts_with('.') || name.starts_with("\\."))
}
