//! Copies a tree: each entry from one open directory into another, and never through a link.

mod contents;
mod entry;
mod hard_links;
mod links;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::directory::{Directories, Directory};
use super::report::{Report, Results, TreeError};
use super::traversal::{Visitor, traverse};
use super::worker_pool::Operations;
use crate::error::{Error, Operation};
use crate::raw::{self, OwnedFile};
use crate::sys::{self, EntryStatus, Identity, Kind, Name, OpenDirectory};
use contents::{Buffer, Ways};
pub use entry::Existing;
use entry::{Pair, Transfer, invalid};
use hard_links::{HardLinks, Link};
pub use links::Links;
use links::absolute_target;

type Filter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

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
#[derive(Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct Copier {
    strategy: Strategy,
    control: Option<Control>,
    existing: Existing,
    links: Links,
    links_replace_files: bool,
    parents: bool,
    times: bool,
    hard_links: bool,
    clone: bool,
    mounts: bool,
    filter: Option<Filter>,
}

impl fmt::Debug for Copier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copier")
            .field("strategy", &self.strategy)
            .field("existing", &self.existing)
            .field("links", &self.links)
            .field("links_replace_files", &self.links_replace_files)
            .field("parents", &self.parents)
            .field("times", &self.times)
            .field("hard_links", &self.hard_links)
            .field("clone", &self.clone)
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
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
            strategy: Strategy::Auto,
            control: None,
            existing: Existing::Replace,
            links: Links::Keep,
            links_replace_files: true,
            parents: false,
            times: false,
            hard_links: true,
            clone: true,
            mounts: true,
            filter: None,
        }
    }

    /// Sets how many operations run at once.
    pub const fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.strategy = strategy;
        self
    }

    /// Lets `control` stop the copy. Files that were begun are finished.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.control = Some(control.clone());
        self
    }

    /// Sets what happens to a file or link that is there already. Directories are merged.
    pub const fn existing(&mut self, existing: Existing) -> &mut Self {
        self.existing = existing;
        self
    }

    /// Sets the targets of copied links.
    pub const fn links(&mut self, links: Links) -> &mut Self {
        self.links = links;
        self
    }

    /// Lets the copy of a link replace a file, with [`Existing::Replace`]. It is on by default.
    /// Without it that is an error.
    pub const fn links_replace_files(&mut self, links_replace_files: bool) -> &mut Self {
        self.links_replace_files = links_replace_files;
        self
    }

    /// Makes missing directories above the destination. It is off by default, and such a directory
    /// is an error.
    pub const fn parents(&mut self, parents: bool) -> &mut Self {
        self.parents = parents;
        self
    }

    /// Gives the copies the times of access and modification of their sources. It is off by
    /// default.
    pub const fn times(&mut self, times: bool) -> &mut Self {
        self.times = times;
        self
    }

    /// Makes names of one file in the source names of one file in the copy. It is on by default.
    pub const fn hard_links(&mut self, hard_links: bool) -> &mut Self {
        self.hard_links = hard_links;
        self
    }

    /// Lets a copy share its blocks with its source until one of both is changed, where the file
    /// system can do that (Btrfs, XFS). It is on by default.
    ///
    /// [ioctl_ficlone(2)](https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html)
    pub const fn clone_blocks(&mut self, clone: bool) -> &mut Self {
        self.clone = clone;
        self
    }

    /// Copies what is in directories of other file systems. It is on by default. Without it they
    /// are copied empty.
    pub const fn mounts(&mut self, mounts: bool) -> &mut Self {
        self.mounts = mounts;
        self
    }

    /// Copies only entries for whose paths below the source `wanted` returns true, and what is in
    /// such directories. It is called by several threads.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.filter = Some(Arc::new(wanted));
        self
    }

    /// Copies the file, link or directory at `from`, and everything in it, to `to`.
    ///
    /// A directory is merged into one that is there, which keeps its permissions. Links are copied
    /// as they are. Holes of sparse files are kept. Permissions are those of the source. Owner,
    /// extended attributes and access control lists are not copied. An entry that cannot be copied
    /// is an error, and the rest is copied.
    ///
    /// Neither at `to` nor below it a link is followed. Nothing is flushed: after a power failure
    /// files may be missing, empty or torn.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an [`Error`] for each entry that was not copied: [`Operation::Copy`] with
    /// both paths, [`Operation::Readdir`] or [`Operation::Mkdir`]. Also if `to` is `from` or in it,
    /// and for pipes, sockets and devices.
    pub fn copy(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Report, TreeError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let copying = Copying {
            options: self,
            from: sys::start_of(from),
            to: to.to_owned(),
            directories: Directories::new(),
            absolute: match self.links {
                Links::Keep => PathBuf::new(),
                Links::Absolute => std::path::absolute(sys::start_of(from)).unwrap_or_default(),
            },
            ways: Ways::new(self.clone),
            results: Results::default(),
            hard_links: HardLinks::default(),
        };
        if let Err(error) = copying.begin(from, self.strategy, self.control.as_ref()) {
            copying.results.fail(error);
        }
        copying.link();
        copying.results.end()
    }
}

/// The copy of one tree.
struct Copying<'o> {
    options: &'o Copier,
    /// The directory that the source is in.
    from: PathBuf,
    /// The same as an absolute path, for [`Links::Absolute`].
    absolute: PathBuf,
    /// The destination.
    to: PathBuf,
    directories: Directories,
    ways: Ways,
    results: Results,
    hard_links: HardLinks,
}

/// A directory that is being copied.
struct Place {
    pair: Pair,
    /// The status of the source, if its copy is new. A directory that was there before keeps its
    /// permissions and times.
    to_give: Option<EntryStatus>,
}

impl Copying<'_> {
    fn begin(
        &self,
        from: &Path,
        strategy: Strategy,
        control: Option<&Control>,
    ) -> Result<(), Error> {
        let to = &self.to;
        let failed = |reason| Error::between(Operation::Copy, from, to, reason);
        let entered = |reason| Error::at(Operation::Readdir, from, reason);
        let start = self.directories.begin(&self.from).map_err(failed)?;
        let open = self.directories.open(&start).map_err(failed)?;
        // A path that ends in `..` names a directory and has no last name.
        let name = sys::last_name(from);
        let kind = match &name {
            Some(name) => open.kind_of(name).map_err(|errno| failed(errno.into()))?,
            None => Kind::Directory,
        };
        if kind != Kind::Directory {
            self.make_parents().map_err(failed)?;
            return self.begin_with_file(from, &open, &start, name.as_deref(), kind);
        }
        let (source, status) = if let Some(name) = &name {
            self.directories.enter(&start, name).map_err(entered)?
        } else {
            let status = open.status().map_err(|errno| entered(errno.into()))?;
            (Arc::clone(&start), status)
        };
        if is_inside(to, source.identity()).map_err(failed)? {
            return Err(failed(invalid("a directory cannot be copied into itself")));
        }
        self.make_parents().map_err(failed)?;
        let is_new = match std::fs::create_dir(to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(Error::at(Operation::Mkdir, to, error)),
            Ok(()) => true,
        };
        if !is_new && !std::fs::symlink_metadata(to).map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let pair = Pair {
            from: source,
            to: self.directories.begin(to).map_err(failed)?,
        };
        let place = Place {
            pair,
            to_give: is_new.then_some(status),
        };
        traverse(self, strategy, control, place);
        Ok(())
    }

    /// Makes the directories above the destination, if that is wanted.
    fn make_parents(&self) -> io::Result<()> {
        if self.options.parents {
            std::fs::create_dir_all(sys::start_of(&self.to))?;
        }
        Ok(())
    }

    /// Copies a single file or link.
    fn begin_with_file(
        &self,
        from: &Path,
        open: &OpenDirectory,
        start: &Arc<Directory>,
        name: Option<&Name>,
        kind: Kind,
    ) -> Result<(), Error> {
        let failed = |reason| Error::between(Operation::Copy, from, &self.to, reason);
        let (Some(name), Some(new_name)) = (name, sys::last_name(&self.to)) else {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        };
        if sys::ends_in_separator(from) {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let place = self
            .directories
            .begin(&sys::start_of(&self.to))
            .map_err(failed)?;
        let into = self.directories.open(&place).map_err(failed)?;
        let pair = Pair {
            from: Arc::clone(start),
            to: place,
        };
        let entry = Transfer {
            from: open,
            to: &into,
            name,
            new_name: &new_name,
            kind,
        };
        let copied = self.copy_entry(&pair, &entry, &mut Buffer::default());
        copied.map(drop).map_err(failed)
    }

    /// Notes that an entry could not be copied.
    #[cold]
    fn fail_at(&self, operation: Operation, place: &Place, name: &Name, reason: io::Error) {
        let from = place.pair.from.path_of(&self.from, name);
        let to = || place.pair.to.path_of(&self.to, name);
        self.results.fail(match operation {
            Operation::Copy => Error::between(operation, &from, &to(), reason),
            Operation::Mkdir => Error::at(operation, &to(), reason),
            _ => Error::at(operation, &from, reason),
        });
    }

    /// Notes that a directory of the source could not be read, or of the copy not be finished.
    #[cold]
    fn fail_in(&self, operation: Operation, place: &Place, reason: io::Error) {
        let (directory, start) = match operation {
            Operation::Fchmod => (&place.pair.to, &self.to),
            _ => (&place.pair.from, &self.from),
        };
        let path = match directory.place() {
            Some((above, name)) => above.path_of(start, name),
            None => start.clone(),
        };
        self.results.fail(Error::at(operation, &path, reason));
    }

    /// Copies an entry that is no directory. Returns its length in bytes.
    fn copy_entry(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<u64> {
        match entry.kind {
            Kind::File => self.copy_file(pair, entry, buffer),
            Kind::Link => self.copy_link(pair, entry).map(|()| 0),
            Kind::Special => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "pipes, sockets and devices are not copied",
            )),
            Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn copy_link(&self, pair: &Pair, entry: &Transfer<'_>) -> io::Result<()> {
        let mut target = entry.from.read_link(entry.name)?;
        if self.options.links == Links::Absolute {
            let link = pair.from.path_of(&self.absolute, entry.name);
            target = absolute_target(&link, target);
        }
        if !self.options.links_replace_files
            && matches!(entry.to.kind_of(entry.new_name), Ok(kind) if kind != Kind::Link)
        {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let made = entry.create(self.options.existing, |name| {
            entry.to.make_link(name, &target)
        })?;
        if let Some(((), new_entry)) = made {
            new_entry.commit()?;
            self.results.add_file(0);
        }
        Ok(())
    }

    fn copy_file(&self, pair: &Pair, entry: &Transfer<'_>, buffer: &mut Buffer) -> io::Result<u64> {
        let source = entry.from.open_file(entry.name)?;
        let status = sys::entry_status(raw::borrow(&source))?;
        if status.kind != Kind::File {
            return Err(invalid("the file was replaced by something else meanwhile"));
        }
        if !self.options.hard_links || status.names == 1 {
            let copied = self.copy_open(&source, &status, entry, buffer)?;
            return Ok(copied.unwrap_or(0));
        }
        if self.hard_links.has(pair, entry, &status) {
            return Ok(0);
        }
        let copied = self.copy_open(&source, &status, entry, buffer);
        if !matches!(copied, Ok(Some(_))) {
            self.hard_links.forget(&status);
        }
        Ok(copied?.unwrap_or(0))
    }

    /// Copies an open file. Returns its length in bytes; `None` if another one is kept.
    fn copy_open(
        &self,
        source: &OwnedFile,
        status: &EntryStatus,
        entry: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        let mode = status.mode & 0o777;
        let created = entry.create(self.options.existing, |name| {
            entry.to.create_file(name, mode)
        })?;
        let Some((destination, new_entry)) = created else {
            return Ok(None);
        };
        let length = self.ways.copy(source, &destination, status, buffer)?;
        sys::set_mode_of(raw::borrow(&destination), status)?;
        if self.options.times {
            sys::set_times(raw::borrow(&destination), status)?;
        }
        raw::close(destination)?;
        new_entry.commit()?;
        self.results.add_file(length);
        Ok(Some(length))
    }

    /// Makes the further names of files.
    fn link(&self) {
        let mut buffer = Buffer::default();
        loop {
            // Where the first name could not be copied, the next one is copied instead.
            let links = self.hard_links.take();
            if links.is_empty() {
                return;
            }
            for link in links {
                if let Err(reason) = self.make_name(&link, &mut buffer) {
                    let from = link.pair.from.path_of(&self.from, &link.name);
                    let to = link.pair.to.path_of(&self.to, &link.new_name);
                    self.results
                        .fail(Error::between(Operation::Copy, &from, &to, reason));
                }
            }
        }
    }

    fn make_name(&self, link: &Link, buffer: &mut Buffer) -> io::Result<()> {
        let first = self.hard_links.first(link);
        let to = self.directories.open(&link.pair.to)?;
        let Some((place, name)) = first else {
            let from = self.directories.open(&link.pair.from)?;
            let entry = Transfer {
                from: &from,
                to: &to,
                name: &link.name,
                new_name: &link.new_name,
                kind: Kind::File,
            };
            return self.copy_file(&link.pair, &entry, buffer).map(drop);
        };
        let from = self.directories.open(&place)?;
        let entry = Transfer {
            from: &from,
            to: &to,
            name: &name,
            new_name: &link.new_name,
            kind: Kind::File,
        };
        let made = entry.create(self.options.existing, |new| {
            from.make_hard_link(&name, &to, new)
        });
        if let Some(((), new_entry)) = made? {
            new_entry.commit()?;
            self.results.add_file(0);
        }
        Ok(())
    }

    /// Makes the copy of a directory. Returns its place, or `None` if it stays empty.
    fn make_directory(
        &self,
        above: &Place,
        name: &Name,
    ) -> Result<Option<Place>, (Operation, io::Error)> {
        let copy = |error| (Operation::Copy, error);
        let read = |error| (Operation::Readdir, error);
        let Pair { from, to } = &above.pair;
        let (source, status) = self.directories.enter(from, name).map_err(read)?;
        let open = self.directories.open(to).map_err(copy)?;
        let is_new = match open.make_directory(name, status.mode & 0o777 | 0o700) {
            Err(errno) if sys::is_taken(errno) => false,
            made => made
                .map_err(|errno| (Operation::Mkdir, errno.into()))
                .map(|()| true)?,
        };
        let (destination, _) = self.directories.enter(to, name).map_err(copy)?;
        let is_mount = status.identity.device != from.identity().device;
        let place = Place {
            pair: Pair {
                from: source,
                to: destination,
            },
            to_give: is_new.then_some(status),
        };
        if is_mount && !self.options.mounts {
            self.finish(&place, None);
            return Ok(None);
        }
        Ok(Some(place))
    }

    /// Gives a new directory its permissions and times. They could prevent entries, and entries
    /// change the times. `below` is the last directory in it that was finished.
    fn finish(&self, place: &Place, below: Option<&Place>) {
        self.results.add_directory();
        let Some(status) = &place.to_give else { return };
        let open = match below {
            Some(below) => self.directories.open_above(&place.pair.to, &below.pair.to),
            None => self.directories.open(&place.pair.to),
        };
        let finished = open.and_then(|open| {
            open.set_mode_of(status)?;
            if self.options.times {
                open.set_times(status)?;
            }
            Ok(())
        });
        if let Err(error) = finished {
            self.fail_in(Operation::Fchmod, place, error);
        }
    }
}

impl Visitor for Copying<'_> {
    type Place = Place;
    type Scratch = Buffer;

    fn directories(&self) -> &Directories {
        &self.directories
    }

    fn directory<'p>(&self, place: &'p Place) -> &'p Arc<Directory> {
        &place.pair.from
    }

    fn is_wanted(&self, place: &Place, name: &Name) -> bool {
        let path = || place.pair.to.path_of(Path::new(""), name);
        let filter = self.options.filter.as_ref();
        filter.is_none_or(|wanted| wanted(&path()))
    }

    fn visit(
        &self,
        place: &Place,
        name: &Name,
        kind: Kind,
        operations: &mut Operations<'_, Buffer>,
    ) -> bool {
        if operations.is_cancelled() {
            return true;
        }
        let open = |directory| self.directories.open(directory);
        let Pair { from, to } = &place.pair;
        let (from, to) = match open(from).and_then(|from| Ok((from, open(to)?))) {
            Ok(both) => both,
            Err(error) => {
                self.fail_at(Operation::Copy, place, name, error);
                return true;
            }
        };
        let entry = Transfer {
            from: &from,
            to: &to,
            name,
            new_name: name,
            kind,
        };
        let copied = operations.run(|buffer| {
            let copy = || self.copy_entry(&place.pair, &entry, buffer);
            let copied = self.directories.with_descriptors(copy);
            let bytes = *copied.as_ref().unwrap_or(&0);
            (copied, bytes)
        });
        if let Err(error) = copied {
            // The entry may have been removed since its directory was listed.
            let is_gone = error.kind() == io::ErrorKind::NotFound && from.kind_of(name).is_err();
            if !is_gone {
                self.fail_at(Operation::Copy, place, name, error);
            }
        }
        true
    }

    fn enter(
        &self,
        above: &Place,
        name: &Name,
        operations: &mut Operations<'_, Buffer>,
    ) -> Option<Place> {
        if operations.is_cancelled() {
            return None;
        }
        match operations.run(|_| (self.make_directory(above, name), 0)) {
            Ok(place) => return place,
            // It was removed since the directory above was listed.
            Err((Operation::Readdir, error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err((operation, error)) => self.fail_at(operation, above, name, error),
        }
        None
    }

    fn leave(
        &self,
        place: &Place,
        _: Option<&Place>,
        below: Option<&Place>,
        _: &mut Operations<'_, Buffer>,
    ) -> bool {
        self.finish(place, below);
        true
    }

    fn fail(&self, place: &Place, error: io::Error) {
        self.fail_in(Operation::Readdir, place, error);
    }
}

/// Returns true if `path`, or the part of it that exists, is the directory or in it.
fn is_inside(path: &Path, directory: Identity) -> io::Result<bool> {
    let mut open = None;
    for part in path.ancestors() {
        let part = if part.as_os_str().is_empty() {
            Path::new(".")
        } else {
            part
        };
        match OpenDirectory::open(part) {
            Ok(found) => {
                open = Some(found);
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(error),
        }
    }
    let Some(mut open) = open else {
        return Ok(false);
    };
    let mut identity = open.status()?.identity;
    loop {
        if identity == directory {
            return Ok(true);
        }
        let above = open.open_parent()?;
        let next = above.status()?.identity;
        if next == identity {
            return Ok(false);
        }
        (open, identity) = (above, next);
    }
}
