//! Copies a tree: each entry from one open directory into another, and never through a link.

pub(super) mod compare;
pub(super) mod contents;
pub(super) mod copying;
pub(super) mod entries;
pub(super) mod entry;
mod flushes;
pub(super) mod follow;
pub(super) mod hard_links;
pub(super) mod inside;
mod links;
mod method;
pub(super) mod options;
mod preserve;

use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::new_entry::Existing;
use super::report::{Report, TreeError};
use crate::sys;
use crate::write::Durability;
use copying::Copying;
pub use links::Links;
pub use method::Method;
use options::Options;

/// Copies trees.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("assets"), directory.path().join("dist"));
/// use smallfry::tree::Copier;
///
/// # std::fs::create_dir(&from)?;
/// # std::fs::write(from.join("logo.svg"), "<svg/>")?;
/// let report = Copier::new().copy(&from, &to)?;
/// assert_eq!((report.files, report.directories, report.bytes), (1, 1, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Copier {
    options: Options,
}

impl Default for Copier {
    fn default() -> Self {
        Self::new()
    }
}

impl Copier {
    /// Makes one that replaces files and keeps permissions and hard links.
    pub const fn new() -> Self {
        Self {
            options: Options::new(),
        }
    }

    /// Sets how many operations run at once.
    pub const fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.options.strategy = strategy;
        self
    }

    /// Lets `control` stop the copy. Files that were begun are finished; one of more than 64 MiB may
    /// be given up instead, and leaves nothing.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.options.control = Some(control.clone());
        self
    }

    /// Sets what happens to a file or link that is there already. Directories are merged.
    pub const fn existing(&mut self, existing: Existing) -> &mut Self {
        self.options.existing = existing;
        self
    }

    /// Leaves a file as it is if it has the size and time of its source, and a link that has the
    /// same target and time. It is off by default. Turn on [`times`](Self::times) as well, or each
    /// copy has a time of its own. After a power failure a file may have its size and time and not
    /// its contents, unless the copy was flushed.
    pub const fn only_if_changed(&mut self, only_if_changed: bool) -> &mut Self {
        self.options.only_if_changed = only_if_changed;
        self
    }

    /// Leaves out pipes, sockets and devices. It is off by default, and each is an error.
    pub const fn skip_special(&mut self, skip: bool) -> &mut Self {
        self.options.skip_special = skip;
        self
    }

    /// Flushes the copy. It is [`Durability::None`] by default.
    ///
    /// With [`Durability::Full`], all that the report counts survives a power failure after the
    /// call: contents, names, permissions and times. Names of directories that were there before
    /// are not flushed. With [`Durability::Data`] only the contents survive, if their names do.
    /// Files that are replaced are whole after a crash in the middle: each is the old one or the
    /// new one. Of new files it may leave any part.
    ///
    /// ext4, XFS and Btrfs are flushed whole, once at the end (`syncfs`), on Linux 5.17 and later.
    /// That also writes other programs' files there. Files that replace others are flushed before.
    /// On other file systems each file is flushed, and with `Full` each directory.
    ///
    /// A failed flush is an error. Then nothing tells which files were lost, and
    /// [`only_if_changed`](Self::only_if_changed) keeps no file for the rest of the process.
    ///
    /// [syncfs(2)](https://man7.org/linux/man-pages/man2/syncfs.2.html)
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.options.durability = durability;
        self
    }

    /// Sets how the copies of files come to their contents.
    pub const fn method(&mut self, method: Method) -> &mut Self {
        self.options.method = method;
        self
    }

    /// Sets the targets of copied links, or lets them be followed.
    pub const fn links(&mut self, links: Links) -> &mut Self {
        self.options.links = links;
        self
    }

    /// Lets the copy of a link replace a file or link, with [`Existing::Replace`]. It is on by
    /// default. Without it that is an error.
    pub const fn links_replace(&mut self, links_replace: bool) -> &mut Self {
        self.options.links_replace = links_replace;
        self
    }

    /// Makes missing directories above the destination. It is off by default, and such a directory
    /// is an error.
    pub const fn parents(&mut self, parents: bool) -> &mut Self {
        self.options.parents = parents;
        self
    }

    /// Gives the copies the times of access and modification of their sources. It is off by
    /// default.
    pub const fn times(&mut self, times: bool) -> &mut Self {
        self.options.times = times;
        self
    }

    /// Gives the copies the owners and groups of their sources. It is off by default, and copies
    /// belong to the user who makes them.
    ///
    /// Where the system refuses it to a user other than root, the group alone is given, and where
    /// it refuses that too, the copy keeps its own. Then a file loses the permissions to run as its
    /// owner or group. To root a refusal is an error. `cp -p` has the same rule.
    ///
    /// [chown(2)](https://man7.org/linux/man-pages/man2/chown.2.html)
    pub const fn owner(&mut self, owner: bool) -> &mut Self {
        self.options.owner = owner;
        self
    }

    /// Gives the copies of files and directories the access control lists of their sources, and
    /// none to those whose sources have none. It is off by default: then the group of the copy may
    /// do what the list allows at most (its mask), as with `cp`. A list that cannot be given is
    /// an error, because the file would be open to more users without it.
    ///
    /// [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html)
    pub const fn access_lists(&mut self, access_lists: bool) -> &mut Self {
        self.options.attributes.access_lists = access_lists;
        self
    }

    /// Gives the copies the extended attributes of their sources, capabilities among them, but no
    /// access control lists. It is off by default. An attribute that the file system of the copy
    /// does not have or has no room for, or that the user may not set, is left out, as by `cp -a`.
    /// A link gets its attributes only where /proc is mounted.
    ///
    /// [xattr(7)](https://man7.org/linux/man-pages/man7/xattr.7.html)
    pub const fn attributes(&mut self, attributes: bool) -> &mut Self {
        self.options.attributes.others = attributes;
        self
    }

    /// Makes names of one file in the source names of one file in the copy. It is on by default.
    pub const fn hard_links(&mut self, hard_links: bool) -> &mut Self {
        self.options.hard_links = hard_links;
        self
    }

    /// Copies what is in directories of other file systems. It is on by default. Without it they
    /// are copied empty.
    pub const fn mounts(&mut self, mounts: bool) -> &mut Self {
        self.options.mounts = mounts;
        self
    }

    /// Copies only entries for whose paths below the source `wanted` returns true, and what is in
    /// such directories. It is called by several threads.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.options.filter = Some(Arc::new(wanted));
        self
    }

    /// Calls `on_entry` with the paths of each source and of its copy, once that is made. A
    /// directory is made before its entries; other entries have no order. It is called by several
    /// threads.
    pub fn on_entry(
        &mut self,
        on_entry: impl Fn(&Path, &Path) + Send + Sync + 'static,
    ) -> &mut Self {
        self.options.on_entry = Some(Arc::new(on_entry));
        self
    }

    /// Copies the file, link or directory at `from`, and everything in it, to `to`.
    ///
    /// A directory is merged into one that is there, which keeps what it has. Links are copied as
    /// they are, unless [`links`](Self::links) says otherwise. Holes of sparse files are kept.
    /// Permissions are those of the source. Times, owner, access control lists and extended
    /// attributes are kept if that is asked. An entry that cannot be copied is an error, and the
    /// rest is copied.
    ///
    /// Neither at `to` nor below it is a link followed. Without [`durability`](Self::durability)
    /// nothing is flushed: after a power failure files may be missing, empty or torn. If the process
    /// is killed, a new file may be half written under its name, and [`Existing::Keep`] keeps it in
    /// the next run.
    ///
    /// # Platform-specific behavior
    ///
    /// - On Windows a copy is read-only, hidden or a part of the system if its source is. Other
    ///   attributes, access control lists and alternate data streams are not copied, and asking for
    ///   owners, lists or attributes is an error. Holes are filled with zeros. Junctions and mounted
    ///   volumes are links, and a copied link is of the same type. A symbolic link takes the
    ///   privilege to make one, or developer mode: without these it is an error.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an error for each entry that was not copied, whose operation is
    /// [`Copy`](crate::Operation::Copy) with both paths, [`Readdir`](crate::Operation::Readdir) or
    /// [`Mkdir`](crate::Operation::Mkdir). Also if `to` is `from` or in it, for pipes, sockets and
    /// devices. With [`durability`](Self::durability) also [`Fsync`](crate::Operation::Fsync) for a
    /// directory, and [`Syncfs`](crate::Operation::Syncfs) for the flush at the end.
    pub fn copy(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Report, TreeError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        Copying::new(&self.options, &sys::start_of(from), to).run(from)
    }
}
