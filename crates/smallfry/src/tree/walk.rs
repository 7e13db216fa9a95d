//! Lists the files of a tree by patterns and ignore rules, always in the same order.

use std::fs;
use std::io;
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use super::patterns::Patterns;
use crate::error::{Error, Operation};
use crate::sys::NOT_A_DIRECTORY;

/// The names of files with ignore rules.
const RULES: &[&str] = &[".gitignore", ".ignore"];

/// The choice of files of a tree. It starts with all files that are neither hidden nor ignored.
///
/// | wanted files | call |
/// |---|---|
/// | all files of a directory | [`TreeOptions::new`], [`walk`](TreeOptions::walk) |
/// | the pages of a site | [`matching`](TreeOptions::matching)`("content/**/*.md")` |
/// | all but some | [`ignoring`](TreeOptions::ignoring)`("**/drafts/**")` |
/// | ignored files too | [`ignore_files`](TreeOptions::ignore_files)`(false)` |
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
///
/// # Patterns
///
/// A pattern must match the whole path below the root, with `/` between names on every system.
///
/// | in a pattern | matches |
/// |---|---|
/// | `*` | any characters but `/`, or none |
/// | `?` | one character but `/` |
/// | `**` as a whole name | any number of directories, or none |
/// | `[a-z]`, `{md,html}` | one of them |
/// | `\*` | the character `*` itself, and so for other characters |
///
/// Upper and lower case differ on every system. Directories in which nothing can match are not
/// read.
///
/// Names that begin with a dot are left out, as in shells, unless a pattern spells the dot
/// (`.vitepress/**/*.ts`) or [`hidden`](TreeOptions::hidden) is set.
///
/// # Ignore rules
///
/// The walk leaves out the files that `.gitignore` and `.ignore` files name. So a walk of a project
/// does not read built or installed files.
///
/// - Rules below the root always count, even without a git repository. So a copy of the project
///   gives the same files.
/// - Rules above the root count if the root is inside a repository, `.gitignore` as far up as the
///   repository reaches.
/// - The user's own settings (`core.excludesFile`, `.git/info/exclude`) do not count, because
///   another machine would then give other files.
/// - A rule that is not understood is skipped.
/// - A file of rules below the root that cannot be read is an error in the place of its directory.
///   The walk then reads that directory without these rules.
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
    /// Chooses all files that are neither hidden nor ignored.
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

    /// Chooses only files that match this pattern or another one given here. Hidden and ignored
    /// files stay left out.
    pub fn matching(&mut self, pattern: impl Into<String>) -> &mut Self {
        self.matching.push(pattern.into());
        self
    }

    /// Leaves out files that match this pattern, and everything in a directory that matches it. It
    /// is stronger than [`matching`](Self::matching).
    pub fn ignoring(&mut self, pattern: impl Into<String>) -> &mut Self {
        self.ignoring.push(pattern.into());
        self
    }

    /// Obeys `.gitignore` and `.ignore` files and leaves out directories named `.git`. It is on by
    /// default.
    pub const fn ignore_files(&mut self, ignore_files: bool) -> &mut Self {
        self.ignore_files = ignore_files;
        self
    }

    /// Includes files and directories whose names begin with a dot. It is off by default.
    pub const fn hidden(&mut self, hidden: bool) -> &mut Self {
        self.hidden = hidden;
        self
    }

    /// Walks directories that a symbolic link leads to. A link that leads back up is an error. It
    /// is off by default.
    ///
    /// Without it a link to a file still counts as that file. The root may be a link in any case.
    pub const fn follow_links(&mut self, follow_links: bool) -> &mut Self {
        self.follow_links = follow_links;
        self
    }

    /// Sets how many levels deep to go. 1 means only the files in the root itself.
    pub const fn max_depth(&mut self, max_depth: Option<usize>) -> &mut Self {
        self.max_depth = max_depth;
        self
    }

    /// Begins to walk the tree. The iterator reads directories one at a time, as it comes to them.
    ///
    /// # Errors
    ///
    /// [`Operation::Readdir`] with the root if it is missing or no directory. Also with
    /// [`io::ErrorKind::InvalidInput`] for a pattern that is not valid or could match nothing: an
    /// empty or absolute one, one with `..`, one that begins with `!`.
    pub fn walk(&self, root: impl AsRef<Path>) -> Result<Walk, Error> {
        let root = root.as_ref();
        self.begin(root)
            .map_err(|reason| Error::at(Operation::Readdir, root, reason))
    }

    fn begin(&self, root: &Path) -> io::Result<Walk> {
        let patterns = Patterns::new(
            &self.matching,
            &self.ignoring,
            self.hidden,
            !self.ignore_files,
        )?;
        let patterns = Arc::new(patterns);
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

/// Returns true if a directory is in a repository. As in [`ignore`], one of these names marks its
/// root.
fn is_in_repository(directory: &Path) -> bool {
    let has = |directory: &Path, name| directory.join(name).exists();
    directory
        .ancestors()
        .any(|directory| has(directory, ".git") || has(directory, ".jj"))
}

/// Returns true if the walk should give out a file, or read a directory.
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

/// The files of a tree, made by [`TreeOptions::walk`]. Each path is the root joined with the path
/// below it.
///
/// Names are in the order of their bytes. The contents of a directory come in the place of its
/// name.
///
/// The walk gives out regular files and symbolic links to them only. An error comes in the place of
/// its file or directory and does not stop the walk: [`Operation::Readdir`] for a directory,
/// [`Operation::Stat`] for a link to nowhere, [`Operation::Open`] for a file of ignore rules.
///
/// One descriptor is open while a directory is read, and none between two calls of `next`. If no
/// descriptor is left, the directory is an error and its files are missing. The walk does not wait,
/// as batches do.
pub struct Walk {
    files: ignore::Walk,
    /// The root as the caller named it.
    root: PathBuf,
    /// The root as it is walked: absolute, and free of links.
    start: PathBuf,
    patterns: Arc<Patterns>,
    /// The names of files whose rules count.
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
    /// Returns the path to give out, if the entry is a file.
    fn file(&self, entry: &DirEntry) -> Option<Result<PathBuf, Error>> {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let is_read = self.max_depth.is_none_or(|max| entry.depth() < max);
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

    /// Returns the error of reading a directory's rules, which [`ignore`] does not report.
    fn unread_rules(&self, directory: &Path) -> Option<Error> {
        self.rules.iter().find_map(|name| {
            let path = directory.join(name);
            let reason = fs::File::open(&path).err()?;
            // A directory of that name has no rules. Only Windows fails to open it.
            let is_none = reason.kind() == io::ErrorKind::NotFound || path.is_dir();
            (!is_none).then(|| Error::at(Operation::Open, &self.named(&path), reason))
        })
    }

    /// Returns the error to give out; `None` for a rule that was not understood, and for a link
    /// that is not wanted anyway.
    fn error(&self, error: &ignore::Error) -> Option<Error> {
        let (path, reason) = walk_error(error)?;
        let is_link = fs::symlink_metadata(path).is_ok_and(|status| status.is_symlink());
        if is_link && path != self.start {
            // The patterns were not asked about this link yet.
            let below = path.strip_prefix(&self.start).ok()?;
            let (operation, is_wanted) = match reason.kind() {
                io::ErrorKind::NotFound => (Operation::Stat, self.patterns.has(below)),
                _ => (Operation::Readdir, self.patterns.has_in(below)),
            };
            return is_wanted.then(|| Error::at(operation, &self.named(path), reason));
        }
        Some(Error::at(Operation::Readdir, &self.named(path), reason))
    }

    /// Returns a path as the caller would name it.
    fn named(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.start) {
            Ok(below) if !below.as_os_str().is_empty() => self.root.join(below),
            Ok(_) => self.root.clone(),
            Err(_) => path.to_owned(),
        }
    }
}

/// Returns the path at which a walk failed, and the reason.
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

/// Takes the system's own error, with its number, out of one that tells the path too.
fn system_error(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let system = inner.and_then(|inner| inner.downcast_ref::<io::Error>());
    match system.unwrap_or(error).raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
