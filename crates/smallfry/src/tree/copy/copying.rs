//! The copy of one tree.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::directory::{Directories, Directory};
use super::super::report::{Report, Results, TreeError};
use super::super::traversal::{Visitor, traverse};
use super::super::worker_pool::Operations;
use super::contents::{Buffer, Ways};
use super::entry::{Pair, Transfer, invalid};
use super::hard_links::{HardLinks, Link};
use super::inside::is_inside;
use super::links::{Links, absolute_target};
use super::options::Options;
use crate::error::{Error, Operation};
use crate::raw::{self, OwnedFile};
use crate::sys::{self, EntryStatus, Kind, Name, OpenDirectory};

/// The copy of one tree.
pub(super) struct Copying<'o> {
    options: &'o Options,
    /// The directory that the source is in.
    from: PathBuf,
    /// The same as an absolute path, for [`Links::Absolute`]. `None` if the current directory was
    /// removed.
    absolute: Option<PathBuf>,
    /// The destination.
    to: PathBuf,
    directories: Directories,
    ways: Ways,
    results: Results,
    hard_links: HardLinks,
}

/// A directory that is being copied.
pub(super) struct Place {
    pair: Pair,
    /// The status of the source, if its copy is new. A directory that was there before keeps its
    /// permissions and times.
    to_give: Option<EntryStatus>,
}

impl<'o> Copying<'o> {
    pub(super) fn new(options: &'o Options, from: &Path, to: &Path) -> Self {
        Self {
            options,
            from: sys::start_of(from),
            to: to.to_owned(),
            directories: Directories::new(),
            absolute: match options.links {
                Links::Keep => None,
                Links::Absolute => std::path::absolute(from)
                    .ok()
                    .map(|from| sys::start_of(&from)),
            },
            ways: Ways::new(options.clone),
            results: Results::default(),
            hard_links: HardLinks::default(),
        }
    }

    /// Copies what is at `from`.
    pub(super) fn run(self, from: &Path) -> Result<Report, TreeError> {
        if let Err(error) = self.begin(from) {
            self.results.fail(error);
        }
        self.link();
        self.results.end()
    }

    fn begin(&self, from: &Path) -> Result<(), Error> {
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
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !std::fs::symlink_metadata(to).map_err(failed)?.is_dir() {
                    return Err(failed(io::ErrorKind::NotADirectory.into()));
                }
                false
            }
            // Windows gives other errors for a root directory.
            Err(_) if std::fs::symlink_metadata(to).is_ok_and(|it| it.is_dir()) => false,
            Err(error) => return Err(Error::at(Operation::Mkdir, to, error)),
            Ok(()) => true,
        };
        let pair = Pair {
            from: source,
            to: self.directories.begin(to).map_err(failed)?,
        };
        let place = Place {
            pair,
            to_give: is_new.then_some(status),
        };
        let control = self.options.control.as_ref();
        traverse(self, self.options.strategy, control, place);
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
            let start = self.absolute.as_ref().ok_or(io::ErrorKind::NotFound)?;
            let link = pair.from.path_of(start, entry.name);
            target = absolute_target(&link, target);
        }
        let made = entry.create(self.options.existing_for_links(), |name| {
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
