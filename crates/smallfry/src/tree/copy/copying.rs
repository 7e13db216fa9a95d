//! The copy of one tree.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallfry_workers::Control;

use super::super::directory::{Directories, Directory};
use super::super::report::{Report, Results, TreeError};
use super::super::traversal::{Visitor, traverse};
use super::super::worker_pool::Operations;
use super::contents::{Buffer, WaysBetween};
use super::entry::{Found, Pair, Transfer, invalid};
use super::flushes::Flushes;
use super::follow::Following;
use super::hard_links::{HardLinks, Link};
use super::inside::is_inside;
use super::links::Links;
use super::options::Options;
use crate::closer::Closer;
use crate::error::{Error, Operation};
use crate::sys::{self, EntryStatus, Kind, Name, OpenDirectory};
use crate::write::Durability;

/// The copy of one tree.
pub(in crate::tree) struct Copying<'o> {
    pub(super) options: &'o Options,
    /// The directory that the source is in.
    from: PathBuf,
    /// The same as an absolute path, for [`Links::Absolute`]. `None` if the current directory was
    /// removed.
    pub(super) absolute: Option<PathBuf>,
    /// The destination.
    to: PathBuf,
    pub(in crate::tree) directories: Directories,
    following: Following,
    pub(super) ways: WaysBetween,
    pub(super) flushes: Flushes,
    pub(in crate::tree) results: Results,
    pub(in crate::tree) hard_links: HardLinks,
}

/// A directory that is being copied.
pub(in crate::tree) struct Place {
    pub(in crate::tree) pair: Pair,
    /// The status of the source.
    pub(in crate::tree) status: EntryStatus,
    /// The copy was made. One that was there before keeps its permissions and times.
    pub(in crate::tree) is_new: bool,
}

impl<'o> Copying<'o> {
    /// Begins the copy of an entry of the directory `from`.
    pub(in crate::tree) fn new(options: &'o Options, from: &Path, to: &Path) -> Self {
        Self {
            options,
            from: from.to_owned(),
            to: to.to_owned(),
            directories: Directories::new(),
            absolute: match options.links {
                Links::Keep | Links::Follow => None,
                // An empty path is the current directory, which is no path for `absolute`.
                Links::Absolute => std::path::absolute(from.join(".")).ok(),
            },
            following: Following::new(options),
            ways: WaysBetween::new(options.method, options.control.as_ref()),
            flushes: Flushes::new(options.durability),
            results: Results::default(),
            hard_links: HardLinks::default(),
        }
    }

    /// Copies what is at `from`.
    pub(super) fn run(self, from: &Path) -> Result<Report, TreeError> {
        if let Err(error) = self.begin(from) {
            self.results.fail(error);
        }
        self.link(|link, buffer| {
            let make = |to: &OpenDirectory| self.make_name(to, link, buffer);
            if self.change_finished(&link.pair.to, make)?.is_some() {
                self.tell(&link.pair, &link.name);
            }
            Ok(())
        });
        let control = self.options.control.as_ref();
        if !control.is_some_and(Control::is_cancelled)
            && let Err(error) = self.flushes.end(&self.to)
        {
            self.results.fail(error);
        }
        self.results.end()
    }

    /// Tells the caller about the copy of an entry.
    fn tell(&self, pair: &Pair, name: &Name) {
        if let Some(on_entry) = &self.options.on_entry {
            let from = pair.from.path_of(&self.from, name);
            on_entry(&from, &pair.to.path_of(&self.to, name));
        }
    }

    fn begin(&self, from: &Path) -> Result<(), Error> {
        let to = &self.to;
        let failed = |reason| Error::between(Operation::Copy, from, to, reason);
        let entered = |reason| Error::at(Operation::Readdir, from, reason);
        self.check_preserved().map_err(failed)?;
        self.following.check().map_err(failed)?;
        let start = self.directories.begin(&self.from).map_err(failed)?;
        let open = self.directories.open(&start).map_err(failed)?;
        // A path that ends in `..` names a directory and has no last name.
        let name = sys::last_name(from);
        let found = match &name {
            Some(name) => {
                let kind = open.kind_of(name).map_err(|errno| failed(errno.into()))?;
                self.following.find(&open, name, kind).map_err(failed)?
            }
            None => Found::itself(Kind::Directory),
        };
        // A file server may have the contents of a file only after it was closed.
        if found.kind != Kind::Directory {
            Closer::global().wait_for(from);
            self.make_parents()?;
            return self.begin_with_file(from, &open, &start, name.as_deref(), found);
        }
        Closer::global().wait();
        let (source, status) = if let Some(name) = &name {
            let source = if found.is_behind_link {
                self.directories.enter_behind(&start, name)
            } else {
                self.directories.enter(&start, name)
            };
            source.map_err(entered)?
        } else {
            let status = open.status().map_err(|errno| entered(errno.into()))?;
            (Arc::clone(&start), status)
        };
        if is_inside(to, source.identity()).map_err(failed)? {
            return Err(failed(invalid("a directory cannot be copied into itself")));
        }
        self.make_parents()?;
        let (copy, is_new) = self.begin_destination(from)?;
        self.following.begin(&source, &copy);
        if let Some(on_entry) = &self.options.on_entry
            && is_new
        {
            on_entry(from, to);
        }
        let pair = Pair {
            from: source,
            to: copy,
        };
        let place = Place {
            pair,
            status,
            is_new,
        };
        let control = self.options.control.as_ref();
        traverse(self, self.options.strategy, control, place);
        Ok(())
    }

    /// Makes the destination, unless it is there. Returns true if it is new.
    fn begin_destination(&self, from: &Path) -> Result<(Arc<Directory>, bool), Error> {
        let to = &self.to;
        let failed = |reason| Error::between(Operation::Copy, from, to, reason);
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
        if is_new {
            self.flushes.flush_above(&sys::start_of(to))?;
        }
        let directory = self.directories.begin(to).map_err(failed)?;
        self.learn_file_system(&directory).map_err(failed)?;
        Ok((directory, is_new))
    }

    /// Learns the file system of a directory of the copy, to flush it in the end.
    fn learn_file_system(&self, directory: &Arc<Directory>) -> io::Result<()> {
        self.flushes
            .enter(directory, || self.directories.open(directory))
    }

    /// Makes the directories above the destination, if that is wanted.
    fn make_parents(&self) -> Result<(), Error> {
        if !self.options.parents {
            return Ok(());
        }
        let above = sys::start_of(&self.to);
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<_> = above.ancestors().take_while(is_missing).collect();
        std::fs::create_dir_all(&above)
            .map_err(|error| Error::at(Operation::Mkdir, &above, error))?;
        for made in missing {
            self.flushes.flush_above(&sys::start_of(made))?;
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
        found: Found,
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
        self.flushes.flush_one_by_one();
        let pair = Pair {
            from: Arc::clone(start),
            to: place,
        };
        let entry = Transfer {
            from: open,
            to: &into,
            name,
            new_name: &new_name,
            found,
        };
        let copied = self.copy_entry(&pair, &entry, &mut Buffer::default());
        if let Some(on_entry) = &self.options.on_entry
            && matches!(copied, Ok(Some(_)))
        {
            on_entry(from, &self.to);
        }
        match copied {
            Err(error) if self.is_cancel(&error) => return Ok(()),
            copied => copied.map_err(failed)?,
        };
        self.flushes.flush_directory(&into).map_err(failed)
    }

    /// Returns true if a large file was given up because the caller has cancelled.
    fn is_cancel(&self, error: &io::Error) -> bool {
        let control = self.options.control.as_ref();
        error.kind() == io::ErrorKind::Interrupted && control.is_some_and(Control::is_cancelled)
    }

    /// Notes that an entry could not be copied.
    #[cold]
    pub(in crate::tree) fn fail_at(
        &self,
        operation: Operation,
        pair: &Pair,
        name: &Name,
        reason: io::Error,
    ) {
        let from = pair.from.path_of(&self.from, name);
        let to = || pair.to.path_of(&self.to, name);
        self.results.fail(match operation {
            Operation::Copy => Error::between(operation, &from, &to(), reason),
            Operation::Mkdir => Error::at(operation, &to(), reason),
            _ => Error::at(operation, &from, reason),
        });
    }

    /// Notes that a directory of the source could not be read, or of the copy not be finished.
    #[cold]
    pub(in crate::tree) fn fail_in(&self, operation: Operation, pair: &Pair, reason: io::Error) {
        let (directory, start) = match operation {
            Operation::Fchmod | Operation::Fsync => (&pair.to, &self.to),
            _ => (&pair.from, &self.from),
        };
        let path = match directory.place() {
            Some((above, name)) => above.path_of(start, name),
            None => start.clone(),
        };
        self.results.fail(Error::at(operation, &path, reason));
    }

    /// Makes the further names of files by `make`.
    pub(in crate::tree) fn link(&self, make: impl Fn(&Link, &mut Buffer) -> io::Result<()>) {
        let mut buffer = Buffer::default();
        loop {
            // Where the first name could not be copied, the next one is copied instead.
            let links = self.hard_links.take();
            if links.is_empty() {
                return;
            }
            for link in links {
                if let Err(reason) = make(&link, &mut buffer) {
                    self.fail_at(Operation::Copy, &link.pair, &link.name, reason);
                }
            }
        }
    }

    /// Changes a directory that is finished already, and finishes it again.
    pub(in crate::tree) fn change_finished<T>(
        &self,
        directory: &Arc<Directory>,
        change: impl FnOnce(&OpenDirectory) -> io::Result<T>,
    ) -> io::Result<T> {
        let open = self.directories.open(directory)?;
        let finished = open.status()?;
        // Where that is refused, the change tells the reason.
        _ = open.set_mode_of(&finished.open_to_owner());
        let changed = change(&open);
        open.set_mode_of(&finished)?;
        if self.options.times {
            open.set_times(&finished)?;
        }
        self.flushes.flush_directory(&open)?;
        changed
    }

    /// Makes a further name of a file in the open directory `to`. Returns 0; `None` if another file
    /// is kept.
    pub(in crate::tree) fn make_name(
        &self,
        to: &OpenDirectory,
        link: &Link,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        let Some((place, name)) = self.hard_links.first(link) else {
            let from = self.directories.open(&link.pair.from)?;
            let entry = Transfer {
                from: &from,
                to,
                name: &link.name,
                new_name: &link.new_name,
                found: Found::itself(Kind::File),
            };
            return self.copy_file(&link.pair, &entry, buffer);
        };
        let from = self.directories.open(&place)?;
        let entry = Transfer {
            from: &from,
            to,
            name: &name,
            new_name: &link.new_name,
            found: Found::itself(Kind::File),
        };
        if self.options.only_if_changed && entry.is_linked() {
            self.results.add_unchanged();
            return Ok(None);
        }
        let made = entry.create(self.options.existing, |new| {
            from.make_hard_link(&name, to, new)
        });
        let Some(((), new_entry)) = made? else {
            return Ok(None);
        };
        new_entry.commit()?;
        self.results.add_file(0);
        Ok(Some(0))
    }

    /// Makes the copy of a directory, unless it is there.
    pub(in crate::tree) fn make_directory(
        &self,
        above: &Pair,
        name: &Name,
    ) -> Result<Place, (Operation, io::Error)> {
        let copy = |error| (Operation::Copy, error);
        let read = |error| (Operation::Readdir, error);
        let entered = self.following.enter(&self.directories, &above.from, name);
        let (source, status) = entered.map_err(read)?;
        let open = self.directories.open(&above.to).map_err(copy)?;
        let (destination, is_new) = self.following.make(|| {
            let is_new = match open.make_directory(name, self.mode_at_first(&status) | 0o700) {
                Err(errno) if sys::is_taken(errno) => false,
                made => made
                    .map_err(|errno| (Operation::Mkdir, errno.into()))
                    .map(|()| true)?,
            };
            let (destination, _) = self.directories.enter(&above.to, name).map_err(copy)?;
            self.learn_file_system(&destination).map_err(copy)?;
            Ok((destination, is_new))
        })?;
        Ok(Place {
            pair: Pair {
                from: source,
                to: destination,
            },
            status,
            is_new,
        })
    }

    /// Returns true if a directory is copied without its entries, since they are on another file
    /// system.
    pub(in crate::tree) fn is_left_empty(&self, above: &Pair, place: &Place) -> bool {
        !self.options.mounts && place.status.identity.device != above.from.identity().device
    }

    /// Gives a new directory its permissions and times. They could prevent entries, and entries
    /// change the times. `below` is the last directory in it that was finished.
    fn finish(&self, place: &Place, below: Option<&Place>) {
        self.results.add_directory();
        if !place.is_new && self.options.durability != Durability::Full {
            return;
        }
        let fail = |operation, error| self.fail_in(operation, &place.pair, error);
        let open = match self.open_to_finish(place, below) {
            Ok(open) => open,
            Err(error) => return fail(Operation::Fchmod, error),
        };
        if place.is_new {
            let source = || self.directories.open(&place.pair.from);
            let kept = self.preserve_directory(source, &open, &place.status);
            kept.unwrap_or_else(|error| fail(Operation::Fchmod, error));
        }
        let flushed = self.flushes.flush_directory(&open);
        flushed.unwrap_or_else(|error| fail(Operation::Fsync, error));
    }

    /// Opens the copy of a directory, in which `below` was finished last.
    pub(in crate::tree) fn open_to_finish(
        &self,
        place: &Place,
        below: Option<&Place>,
    ) -> io::Result<Arc<OpenDirectory>> {
        match below {
            Some(below) => self.directories.open_above(&place.pair.to, &below.pair.to),
            None => self.directories.open(&place.pair.to),
        }
    }

    /// Returns true if the filter, if there is one, wants an entry.
    pub(in crate::tree) fn wants(&self, pair: &Pair, name: &Name) -> bool {
        let path = || pair.to.path_of(Path::new(""), name);
        let filter = self.options.filter.as_ref();
        filter.is_none_or(|wanted| wanted(&path()))
    }

    /// Brings an entry that is no directory to the copy of its directory by `bring`, which returns
    /// the number of copied bytes. Returns false if a link there leads to a directory, which is to
    /// be entered.
    pub(in crate::tree) fn transfer(
        &self,
        pair: &Pair,
        name: &Name,
        kind: Kind,
        operations: &mut Operations<'_, Buffer>,
        bring: impl Fn(&Transfer<'_>, &mut Buffer) -> io::Result<u64>,
    ) -> bool {
        let open = |directory| self.directories.open(directory);
        let (from, to) = match open(&pair.from).and_then(|from| Ok((from, open(&pair.to)?))) {
            Ok(both) => both,
            Err(error) => {
                self.fail_at(Operation::Copy, pair, name, error);
                return true;
            }
        };
        let found = self.following.find(&from, name, kind);
        if matches!(&found, Ok(found) if found.kind == Kind::Directory) {
            return false;
        }
        let copied = operations.run_told(|buffer| {
            let copied = found.and_then(|found| {
                let entry = Transfer {
                    from: &from,
                    to: &to,
                    name,
                    new_name: name,
                    found,
                };
                self.directories.with_descriptors(|| bring(&entry, buffer))
            });
            let bytes = *copied.as_ref().unwrap_or(&0);
            (copied, bytes, buffer.take_told())
        });
        if let Err(error) = copied
            && !self.is_cancel(&error)
        {
            // The entry may have been removed since its directory was listed.
            let is_gone = error.kind() == io::ErrorKind::NotFound && from.kind_of(name).is_err();
            if !is_gone {
                self.fail_at(Operation::Copy, pair, name, error);
            }
        }
        true
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
        self.wants(&place.pair, name)
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
        let pair = &place.pair;
        self.transfer(pair, name, kind, operations, |entry, buffer| {
            let copied = self.copy_entry(pair, entry, buffer)?;
            if copied.is_some() {
                self.tell(pair, name);
            }
            Ok(copied.unwrap_or(0))
        })
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
        match operations.run(|_| (self.make_directory(&above.pair, name), 0)) {
            Ok(place) => {
                if place.is_new {
                    self.tell(&above.pair, name);
                }
                if !self.is_left_empty(&above.pair, &place) {
                    return Some(place);
                }
                self.finish(&place, None);
            }
            // It was removed since the directory above was listed.
            Err((Operation::Readdir, error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err((operation, error)) => self.fail_at(operation, &above.pair, name, error),
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
        self.fail_in(Operation::Readdir, &place.pair, error);
    }
}
