//! Mirrors a tree: copies what has changed, and deletes what is gone.

mod mirroring;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::copy::Method;
use super::copy::options::Options as CopyOptions;
use super::report::{Report, TreeError};
use mirroring::Mirroring;

/// Makes one directory the same as another one, by copying only what has changed.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("photos"), directory.path().join("backup"));
/// use smallfry::tree::Mirror;
///
/// # std::fs::create_dir(&from)?;
/// # std::fs::write(from.join("cat.jpg"), "cat")?;
/// let mut mirror = Mirror::new();
/// mirror.delete(true);
/// let first = mirror.run(&from, &to)?;
/// assert_eq!((first.files, first.bytes), (1, 3));
///
/// std::fs::rename(from.join("cat.jpg"), from.join("tom.jpg"))?;
/// std::fs::write(from.join("dog.jpg"), "wow")?;
/// let second = mirror.run(&from, &to)?;
/// assert_eq!((second.files, second.deleted), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mirror {
    options: Options,
}

/// Gets a change and the path of its entry.
type OnChange = Arc<dyn Fn(Change, &Path) + Send + Sync>;

/// The options that [`Mirror`] sets and describes.
#[derive(Clone)]
struct Options {
    copy: CopyOptions,
    delete: bool,
    contents: bool,
    dry_run: bool,
    on_change: Option<OnChange>,
}

/// A change of one entry by [`Mirror`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// It is new.
    Create,
    /// It has replaced an older file or link.
    Update,
    /// The entry has stayed. Its permissions and times are new.
    SetAttributes,
    /// It is gone.
    Delete,
}

impl Change {
    /// Returns its name in lower case, such as `set attributes`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::SetAttributes => "set attributes",
            Self::Delete => "delete",
        }
    }
}

impl Default for Mirror {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mirror")
            .field("copy", &self.options.copy)
            .field("delete", &self.options.delete)
            .field("contents", &self.options.contents)
            .field("dry_run", &self.options.dry_run)
            .finish_non_exhaustive()
    }
}

impl Mirror {
    /// Makes one that compares files by size and time, and deletes nothing.
    pub const fn new() -> Self {
        let mut copy = CopyOptions::new();
        copy.times = true;
        Self {
            options: Options {
                copy,
                delete: false,
                contents: false,
                dry_run: false,
                on_change: None,
            },
        }
    }

    /// Sets how many operations run at once.
    pub const fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.options.copy.strategy = strategy;
        self
    }

    /// Lets `control` stop it. Files that were begun are finished; one of more than 64 MiB may be
    /// given up instead, and leaves the old one. Another run does the rest.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.options.copy.control = Some(control.clone());
        self
    }

    /// Deletes entries that are not in the source. It is off by default.
    ///
    /// A directory is cleared after its entries are copied. Nothing is deleted in it if the
    /// directory of the source could not be read to its end.
    pub const fn delete(&mut self, delete: bool) -> &mut Self {
        self.options.delete = delete;
        self
    }

    /// Compares files of the same size byte by byte, and not by time. It is off by default.
    pub const fn contents(&mut self, contents: bool) -> &mut Self {
        self.options.contents = contents;
        self
    }

    /// Changes nothing, and only finds out what would change. It is off by default.
    pub const fn dry_run(&mut self, dry_run: bool) -> &mut Self {
        self.options.dry_run = dry_run;
        self
    }

    /// Makes names of one file in the source names of one file in the mirror. It is on by default.
    pub const fn hard_links(&mut self, hard_links: bool) -> &mut Self {
        self.options.copy.hard_links = hard_links;
        self
    }

    /// Lets a copy share its blocks with its source, as [`Method::Auto`] does. It is on by default.
    pub const fn clone_blocks(&mut self, clone: bool) -> &mut Self {
        self.options.copy.method = if clone { Method::Auto } else { Method::Copy };
        self
    }

    /// Mirrors what is in directories of other file systems. It is on by default. Without it a new
    /// one is made empty, and what is in an older one stays.
    pub const fn mounts(&mut self, mounts: bool) -> &mut Self {
        self.options.copy.mounts = mounts;
        self
    }

    /// Mirrors only entries for whose paths below the source `wanted` returns true, and what is in
    /// such directories. An unwanted entry of the mirror is not deleted. It is called by several
    /// threads.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.options.copy.filter = Some(Arc::new(wanted));
        self
    }

    /// Calls `on_change` with each change and the path of its entry below both directories, once it
    /// is done, or found by a dry run. The directories themselves have an empty path. A new
    /// directory comes before its entries, a deleted one after them; other entries have no order.
    /// It is called by several threads.
    pub fn on_change(
        &mut self,
        on_change: impl Fn(Change, &Path) + Send + Sync + 'static,
    ) -> &mut Self {
        self.options.on_change = Some(Arc::new(on_change));
        self
    }

    /// Makes the directory `to` the same as the directory `from`.
    ///
    /// Each entry of `from` is then in `to`, with its kind, contents or target, permissions and
    /// time of modification. Owner, extended attributes and access control lists are not copied.
    ///
    /// A file is the same if size and time of modification are equal, to the precision of the file
    /// system of `to`. If only its permissions or times differ, they are set without copying,
    /// unless the file has other names. A file of another kind, or a link, is replaced. A directory
    /// in the place of a file or link is replaced with [`delete`](Self::delete), and is an error
    /// without.
    ///
    /// A file is replaced in one step: at any moment a reader finds the old file or the new one. A
    /// new file can be seen while it is copied, and gets its time in the end. So if the process is
    /// killed, no half file is taken for the same, and another run does the rest. Temporary files
    /// like `.app.js.0123456789abcdef.smallfry` may be left, which another run deletes with
    /// [`delete`](Self::delete). Other names of replaced files keep the old contents.
    ///
    /// `from` and `to` may be links to directories, if a slash follows that of `to`. Below them no
    /// link is followed. Another program may exchange directories and links meanwhile: what they
    /// lead to stays as it is.
    ///
    /// Nothing is flushed. After a power failure a file may be empty or torn and have the right
    /// size and time, so run it with [`contents`](Self::contents) then.
    ///
    /// In the report, `files` and `directories` are those that were changed in any way, and `bytes`
    /// those of copied files. A dry run counts what would change.
    ///
    /// # Platform-specific behavior
    ///
    /// - On Windows the permissions are the attributes read-only, hidden and system. Read-only
    ///   entries of the mirror are replaced and deleted as well. A file that another program has
    ///   open and does not share is waited for, up to a second in each directory. The rest is as
    ///   for [`Copier::copy`](super::Copier::copy).
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an error for each entry that is not the same or not deleted, whose
    /// operation is that of [`Copier::copy`](super::Copier::copy) or
    /// [`Remover::remove`](super::Remover::remove), or [`Fchmod`](crate::Operation::Fchmod) for
    /// attributes of directories. The rest is done. Also if `from` is no directory, or one of both
    /// directories is in the other one; then nothing is done.
    pub fn run(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Report, TreeError> {
        Mirroring::new(&self.options, from.as_ref(), to.as_ref()).run()
    }
}
