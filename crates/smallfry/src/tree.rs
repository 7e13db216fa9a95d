//! The files of a tree, by patterns and ignore rules, in an order that is always the same. Needs the feature `tree`.
//!
//! | to have | call |
//! |---|---|
//! | all files of a directory | [`TreeOptions::new`], [`walk`](TreeOptions::walk) |
//! | those that a site is made of | [`matching`](TreeOptions::matching)`("content/**/*.md")` |
//! | all but some | [`ignoring`](TreeOptions::ignoring)`("**/drafts/**")` |
//! | what git ignores as well | [`ignore_files`](TreeOptions::ignore_files)`(false)` |
//!
//! # Patterns
//!
//! A pattern is held against the whole path below the root, with `/` between names on every system. `*` and `?` stand
//! for anything but `/`; `**` as a whole name for any number of directories, none among them; `[a-z]` and `{md,html}` for
//! one of them; `\` takes the next character as it is. Letters count as they are written, large or small, on every
//! system. Directories in which nothing can match are not read.
//!
//! A name that begins with a dot is passed over, as shells do, unless a pattern spells its dot (`.vitepress/**/*.ts`) or
//! [`hidden`](TreeOptions::hidden) is set.
//!
//! # Ignore rules
//!
//! What `.gitignore` and `.ignore` files leave out is left out here, so that a walk of a project's own directory does not
//! read what was built or installed there. Below the root they always count, whether or not there is a git repository,
//! so that a copy of the project gives the same files. Those above the root count if the root is inside a repository,
//! `.gitignore` as far up as that reaches. The user's own settings (`core.excludesFile`, `.git/info/exclude`) do not
//! count, because another machine would then give other files. A rule that is not understood is passed over. A file of
//! rules below the root that cannot be read is an error in its directory's place; the directory then comes without them.

mod patterns;

use std::fs;
use std::io;
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::error::{Error, Operation};
use crate::sys::NOT_A_DIRECTORY;
use patterns::Patterns;

/// Files of ignore rules.
const RULES: &[&str] = &[".gitignore", ".ignore"];

/// Which files of a tree are wanted. Starts as all that are not hidden and not ignored.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// use smallfry::WriteOptions;
/// use smallfry::tree::TreeOptions;
///
/// # let root = directory.path();
/// for name in ["content/b.md", "content/a/x.md", "content/a/x.png", "readme.md"] {
///     WriteOptions::new().create_parents(true).write(root.join(name), "")?;
/// }
/// let files: Vec<_> = TreeOptions::new()
///     .matching("content/**/*.md")
///     .walk(root)?
///     .collect::<Result<_, _>>()?;
/// assert_eq!(files, [root.join("content/a/x.md"), root.join("content/b.md")]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TreeOptions {
    matching: Vec<String>,
    ignoring: Vec<String>,
    ignore_files: bool,
    hidden: bool,
    follow_links: bool,
    max_depth: Option<usize>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TreeOptions {
    /// All files that are neither hidden nor ignored.
    pub const fn new() -> Self {
        Self {
            matching: Vec::new(),
            ignoring: Vec::new(),
            ignore_files: true,
            hidden: false,
            follow_links: false,
            max_depth: None,
        }
    }

    /// Only files that match this pattern, or another one given so. It does not bring back what is hidden or ignored.
    pub fn matching(&mut self, pattern: impl Into<String>) -> &mut Self {
        self.matching.push(pattern.into());
        self
    }

    /// No file that matches this pattern, and nothing in a directory that does. Stronger than
    /// [`matching`](Self::matching).
    pub fn ignoring(&mut self, pattern: impl Into<String>) -> &mut Self {
        self.ignoring.push(pattern.into());
        self
    }

    /// Whether `.gitignore` and `.ignore` files are obeyed, and directories named `.git` left out: yes, unless said
    /// otherwise.
    pub const fn ignore_files(&mut self, ignore_files: bool) -> &mut Self {
        self.ignore_files = ignore_files;
        self
    }

    /// Whether files and directories whose names begin with a dot are walked too.
    pub const fn hidden(&mut self, hidden: bool) -> &mut Self {
        self.hidden = hidden;
        self
    }

    /// Whether directories are walked that a symbolic link leads to. One that leads back up is an error of its own.
    ///
    /// Without this a link to a file still counts as that file. The root may be a link in any case.
    pub const fn follow_links(&mut self, follow_links: bool) -> &mut Self {
        self.follow_links = follow_links;
        self
    }

    /// How deep to go: 1 is the files in the root itself.
    pub const fn max_depth(&mut self, max_depth: Option<usize>) -> &mut Self {
        self.max_depth = max_depth;
        self
    }

    /// Begins to walk the tree. Directories are read as the iterator comes to them, one at a time.
    ///
    /// # Errors
    ///
    /// [`Operation::Readdir`] with the root if it is missing or no directory, and with
    /// [`io::ErrorKind::InvalidInput`] for a pattern that is not one or could match nothing: an empty or absolute one,
    /// one with `..`, one that begins with `!`.
    pub fn walk(&self, root: impl AsRef<Path>) -> Result<Walk, Error> {
        let root = root.as_ref();
        self.begin(root)
            .map_err(|reason| Error::at(Operation::Readdir, root, reason))
    }

    fn begin(&self, root: &Path) -> io::Result<Walk> {
        let patterns = Arc::new(Patterns::new(self)?);
        let named = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            root
        };
        let start = fs::canonicalize(named)?;
        if !fs::metadata(&start)?.is_dir() {
            return Err(NOT_A_DIRECTORY.into());
        }
        let is_in_repository = self.ignore_files && is_in_repository(&start);
        let files = {
            let (start, patterns) = (start.clone(), Arc::clone(&patterns));
            WalkBuilder::new(&start)
                .standard_filters(false)
                .ignore(self.ignore_files)
                .git_ignore(self.ignore_files)
                .parents(is_in_repository)
                .require_git(is_in_repository)
                .follow_links(self.follow_links)
                .max_depth(self.max_depth)
                .sort_by_file_name(Ord::cmp)
                .filter_entry(move |entry| is_wanted(&patterns, &start, entry))
                .build()
        };
        Ok(Walk {
            files,
            root: root.to_owned(),
            start,
            patterns,
            rules: if self.ignore_files { RULES } else { &[] },
            max_depth: self.max_depth,
        })
    }
}

/// As [`ignore`] finds out where the rules of git end: at the first directory upwards that has one of these.
fn is_in_repository(directory: &Path) -> bool {
    let has = |directory: &Path, name| directory.join(name).exists();
    directory
        .ancestors()
        .any(|directory| has(directory, ".git") || has(directory, ".jj"))
}

fn is_wanted(patterns: &Patterns, start: &Path, entry: &DirEntry) -> bool {
    let Ok(path) = entry.path().strip_prefix(start) else {
        return false;
    };
    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
        patterns.has_in(path)
    } else {
        patterns.has(path)
    }
}

/// The files of a tree, made by [`TreeOptions::walk`]: the root joined with the path below it, name by name in the order
/// of their bytes, the contents of a directory where its own name stands.
///
/// Only regular files come, and symbolic links to such. What cannot be read is an error in its place and does not stop
/// the rest: [`Operation::Readdir`] for a directory, [`Operation::Stat`] for a link to nowhere, [`Operation::Open`] for a file
/// of ignore rules.
///
/// One descriptor is open while a directory is read, and none between two calls of `next`. If there is none to be had, the
/// directory is an error, and its files do not come: nothing waits here, as batches do.
pub struct Walk {
    files: ignore::Walk,
    /// As the caller named it.
    root: PathBuf,
    /// As it is walked: absolute, and free of links.
    start: PathBuf,
    patterns: Arc<Patterns>,
    /// Names of files whose rules count.
    rules: &'static [&'static str],
    max_depth: Option<usize>,
}

impl Iterator for Walk {
    type Item = Result<PathBuf, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let item = match self.files.next()? {
                Ok(entry) => self.file(&entry),
                Err(error) => self.error(&error).map(Err),
            };
            if item.is_some() {
                return item;
            }
        }
    }
}

impl FusedIterator for Walk {}

impl Walk {
    /// The path to give out, if the entry is a file.
    fn file(&self, entry: &DirEntry) -> Option<Result<PathBuf, Error>> {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let is_read = self.max_depth.is_none_or(|most| entry.depth() < most);
            let error = is_read.then(|| self.unread_rules(entry.path())).flatten();
            return error.map(Err);
        }
        let path = self.named(entry.path());
        if !kind.is_symlink() {
            return kind.is_file().then_some(Ok(path));
        }
        match fs::metadata(entry.path()) {
            Ok(target) => target.is_file().then_some(Ok(path)),
            Err(reason) => Some(Err(Error::at(Operation::Stat, &path, reason))),
        }
    }

    /// Why rules of a directory do not count, which [`ignore`] does not tell.
    fn unread_rules(&self, directory: &Path) -> Option<Error> {
        self.rules.iter().find_map(|name| {
            let path = directory.join(name);
            let reason = fs::File::open(&path).err()?;
            // Directories of that name are no files of rules. Only Windows does not open them.
            let is_none = reason.kind() == io::ErrorKind::NotFound || path.is_dir();
            (!is_none).then(|| Error::at(Operation::Open, &self.named(&path), reason))
        })
    }

    /// The error to give out; `None` for a rule that was not understood, and for a link that is not wanted anyway.
    fn error(&self, error: &ignore::Error) -> Option<Error> {
        let (path, reason) = walk_error(error)?;
        let is_link = fs::symlink_metadata(path).is_ok_and(|status| status.is_symlink());
        if is_link && path != self.start {
            // Found before the patterns were asked.
            let below = path.strip_prefix(&self.start).ok()?;
            let (operation, is_wanted) = match reason.kind() {
                io::ErrorKind::NotFound => (Operation::Stat, self.patterns.has(below)),
                _ => (Operation::Readdir, self.patterns.has_in(below)),
            };
            return is_wanted.then(|| Error::at(operation, &self.named(path), reason));
        }
        Some(Error::at(Operation::Readdir, &self.named(path), reason))
    }

    /// A path as the caller would name it.
    fn named(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.start) {
            Ok(below) if !below.as_os_str().is_empty() => self.root.join(below),
            Ok(_) => self.root.clone(),
            Err(_) => path.to_owned(),
        }
    }
}

/// Where a walk failed and why.
fn walk_error(error: &ignore::Error) -> Option<(&Path, io::Error)> {
    match error {
        ignore::Error::WithDepth { err, .. } => walk_error(err),
        ignore::Error::WithPath { path, err } => Some((path, system_error(err.io_error()?))),
        ignore::Error::Loop { ancestor, child } => {
            let reason = format!(
                "the link leads back to {}, which it is in",
                ancestor.display()
            );
            Some((child, io::Error::other(reason)))
        }
        _ => None,
    }
}

/// The system's own error, with its number, out of the one that tells the path too.
fn system_error(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let system = inner.and_then(|inner| inner.downcast_ref::<io::Error>());
    match system.unwrap_or(error).raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
