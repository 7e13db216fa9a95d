//! The mirroring of one tree. It finds out what has changed, lets [`Copying`] copy that, and lets
//! [`Removal`] delete the rest.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::copy::compare::{Difference, compare, has_same_attributes};
use super::super::copy::contents::Buffer;
use super::super::copy::copying::{self, Copying};
use super::super::copy::entries;
use super::super::copy::entry::{Pair, Transfer, invalid};
use super::super::copy::hard_links::Link;
use super::super::copy::inside::is_inside;
use super::super::directory::{Directories, Directory};
use super::super::remove::Removal;
use super::super::report::{Report, TreeError};
use super::super::traversal::{Visitor, traverse};
use super::super::worker_pool::Operations;
use super::{Change, Options};
use crate::closer::Closer;
use crate::error::{Error, Operation};
use crate::raw;
use crate::sys::{self, EntryStatus, Identity, Kind, Name, OwnedName};

/// The mirroring of one tree.
pub(super) struct Mirroring<'o> {
    options: &'o Options,
    from: &'o Path,
    to: &'o Path,
    copying: Copying<'o>,
    /// The number of names that files of the mirror would have lost by now, in a dry run.
    lost_names: Mutex<HashMap<Identity, u64>>,
}

/// A directory that is being mirrored.
pub(super) struct Place {
    /// In a dry run, a new directory of the mirror is not there.
    copy: copying::Place,
    /// The permissions or times of a directory that was there differ.
    differs: bool,
    /// The names in the mirror that were not yet met in the source.
    extra: Mutex<HashSet<OwnedName>>,
    /// The directory of the source could not be read to its end.
    is_unread: AtomicBool,
}

impl Place {
    fn extra(&self) -> MutexGuard<'_, HashSet<OwnedName>> {
        self.extra.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a missing entry for none.
fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

impl<'o> Mirroring<'o> {
    pub(super) fn new(options: &'o Options, from: &'o Path, to: &'o Path) -> Self {
        Self {
            options,
            from,
            to,
            copying: Copying::new(&options.copy, from, to),
            lost_names: Mutex::default(),
        }
    }

    pub(super) fn run(self) -> Result<Report, TreeError> {
        // A file server may have the contents of a file only after it was closed.
        Closer::global().wait();
        match self.begin() {
            Ok(place) => {
                let (strategy, control) = (self.options.copy.strategy, &self.options.copy.control);
                traverse(&self, strategy, control.as_ref(), place);
                self.copying.link(|link, buffer| self.link(link, buffer));
            }
            Err(error) => self.copying.results.fail(error),
        }
        self.copying.results.end()
    }

    /// Opens both directories. That of the mirror is made if it is not there.
    fn begin(&self) -> Result<Place, Error> {
        let Self { from, to, .. } = *self;
        let failed = |reason| Error::between(Operation::Copy, from, to, reason);
        let read = |reason| Error::at(Operation::Readdir, from, reason);
        let open_source = self.directories().begin(from).map_err(read)?;
        let status = self.directories().open(&open_source).map_err(read)?;
        let status = status.status().map_err(|errno| read(errno.into()))?;
        let refused = || failed(invalid("a directory cannot be mirrored into itself"));
        if is_inside(to, status.identity).map_err(failed)? {
            return Err(refused());
        }
        let found = if_there(std::fs::symlink_metadata(to)).map_err(failed)?;
        if found.as_ref().is_some_and(|found| !found.is_dir()) {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let is_new = found.is_none();
        let mirror = if is_new && self.options.dry_run {
            Directory::absent(None, status.identity)
        } else {
            if is_new {
                std::fs::create_dir(to).map_err(|error| Error::at(Operation::Mkdir, to, error))?;
            }
            self.directories().begin(to).map_err(failed)?
        };
        if !is_new && is_inside(from, mirror.identity()).map_err(failed)? {
            return Err(refused());
        }
        let copy = copying::Place {
            pair: Pair {
                from: open_source,
                to: mirror,
            },
            status,
            is_new,
        };
        let place = self.prepare(copy).map_err(failed)?;
        if is_new {
            self.tell(Change::Create, Path::new(""));
        }
        Ok(place)
    }

    fn directories(&self) -> &Directories {
        &self.copying.directories
    }

    fn tell(&self, change: Change, path: &Path) {
        if let Some(on_change) = &self.options.on_change {
            on_change(change, path);
        }
    }

    /// Tells the caller about a change of an entry.
    fn tell_of(&self, change: Change, directory: &Directory, name: &Name) {
        if self.options.on_change.is_some() {
            self.tell(change, &directory.path_of(Path::new(""), name));
        }
    }

    /// Makes the place of a directory. One that was there is listed, and its owner gets all
    /// permissions until it is left.
    fn prepare(&self, copy: copying::Place) -> io::Result<Place> {
        let mut place = Place {
            copy,
            differs: false,
            extra: Mutex::default(),
            is_unread: AtomicBool::new(false),
        };
        let copy = &place.copy;
        if !copy.is_new {
            let mirror = self.directories().open(&copy.pair.to)?;
            let status = mirror.status()?;
            let differs = !has_same_attributes(&copy.status, &status);
            if self.options.delete {
                let mut extra = HashSet::new();
                mirror.list(|name, _| _ = extra.insert(name.to_owned()))?;
                place.extra = Mutex::new(extra);
            }
            let open = status.open_to_owner();
            if open.mode != status.mode && !self.options.dry_run {
                // Where that is refused, the first change tells the reason.
                _ = mirror.set_mode_of(&open);
            }
            place.differs = differs;
        }
        Ok(place)
    }

    /// Enters a directory of the source, and that of the mirror, which is made if it is not there.
    fn enter_both(
        &self,
        above: &copying::Place,
        name: &Name,
    ) -> Result<copying::Place, (Operation, io::Error)> {
        if self.options.dry_run {
            return self.enter_dry(above, name);
        }
        match self.copying.make_directory(&above.pair, name) {
            Err((Operation::Copy, error)) if sys::may_mean_no_directory(&error) => {
                let removed = self.remove_file(&above.pair, name);
                removed.map_err(|error| (Operation::Copy, error))?;
                self.copying.make_directory(&above.pair, name)
            }
            made => made,
        }
    }

    /// Does the same in a dry run, which makes no directory.
    fn enter_dry(
        &self,
        above: &copying::Place,
        name: &Name,
    ) -> Result<copying::Place, (Operation, io::Error)> {
        let pair = &above.pair;
        let entered = self.directories().enter(&pair.from, name);
        let (from, status) = entered.map_err(|error| (Operation::Readdir, error))?;
        let found = if above.is_new {
            None
        } else {
            let found = self.find_directory(pair, name);
            found.map_err(|error| (Operation::Copy, error))?
        };
        let is_new = found.is_none();
        let to = found.unwrap_or_else(|| {
            let place = (Arc::clone(&pair.to), name.to_owned());
            Directory::absent(Some(place), status.identity)
        });
        Ok(copying::Place {
            pair: Pair { from, to },
            status,
            is_new,
        })
    }

    /// Enters a directory of the mirror in a dry run; `None` if it is not there, or has a file or
    /// link in its place.
    fn find_directory(&self, pair: &Pair, name: &Name) -> io::Result<Option<Arc<Directory>>> {
        match if_there(self.directories().enter(&pair.to, name)) {
            Err(error) if sys::may_mean_no_directory(&error) => {
                self.remove_file(pair, name)?;
                Ok(None)
            }
            found => Ok(found?.map(|(directory, _)| directory)),
        }
    }

    /// Deletes a file or link of the mirror that is in the way of a directory.
    fn remove_file(&self, pair: &Pair, name: &Name) -> io::Result<()> {
        if self.options.dry_run {
            self.would_lose(&pair.to, name);
        } else {
            self.directories().open(&pair.to)?.remove_file(name)?;
        }
        self.copying.results.add_deleted();
        self.tell_of(Change::Delete, &pair.to, name);
        Ok(())
    }

    /// Notes in a dry run that a file of the mirror would lose a name.
    fn would_lose(&self, directory: &Arc<Directory>, name: &Name) {
        let open = self.directories().open(directory);
        if let Ok(Ok(status)) = open.map(|open| open.status_of(name)) {
            self.would_lose_name_of(&status);
        }
    }

    fn would_lose_name_of(&self, there: &EntryStatus) {
        if there.kind == Kind::File && there.names > 1 {
            *self.lost_names().entry(there.identity).or_default() += 1;
        }
    }

    fn lost_names(&self) -> MutexGuard<'_, HashMap<Identity, u64>> {
        self.lost_names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a file of the mirror has one name, or would have one by now.
    fn has_one_name(&self, there: &EntryStatus) -> bool {
        if there.names == 1 || !self.options.dry_run {
            return there.names == 1;
        }
        let lost = self.lost_names().get(&there.identity).copied();
        there.names.saturating_sub(lost.unwrap_or(0)) == 1
    }

    /// Deletes entries of a directory of the mirror, and everything in them. Unwanted entries below
    /// stay.
    fn remove(&self, pair: &Pair, names: &HashSet<OwnedName>) {
        let is_wanted = |directory: &Directory, name: &Name| {
            if std::ptr::eq(directory, &raw const *pair.to) {
                return names.contains(name);
            }
            let filter = self.options.copy.filter.as_ref();
            filter.is_none_or(|wanted| wanted(&directory.path_of(Path::new(""), name)))
        };
        let removal = Removal {
            mounts: false,
            is_dry: self.options.dry_run,
            is_wanted: &is_wanted,
            on_removed: &|directory, name, kind| {
                if self.options.dry_run && kind == Kind::File {
                    self.would_lose(directory, name);
                }
                self.copying.results.add_deleted();
                self.tell_of(Change::Delete, directory, name);
            },
            start: self.to,
            directories: self.directories(),
            results: &self.copying.results,
        };
        let (strategy, control) = (self.options.copy.strategy, &self.options.copy.control);
        removal.remove_in(&pair.to, strategy, control.as_ref());
    }

    /// Deletes what is in a directory of the mirror and not in that of the source.
    fn delete_extra(&self, place: &Place) -> io::Result<()> {
        let pair = &place.copy.pair;
        let mut extra = std::mem::take(&mut *place.extra());
        extra.retain(|name| self.copying.wants(pair, name));
        if extra.is_empty() {
            return Ok(());
        }
        // It may have been made meanwhile.
        let from = self.directories().open(&pair.from)?;
        extra.retain(|name| match from.status_of(name) {
            Ok(_) => false,
            Err(errno) if sys::is_missing(errno) => true,
            Err(errno) => {
                self.copying
                    .fail_at(Operation::Stat, pair, name, errno.into());
                false
            }
        });
        self.remove(pair, &extra);
        Ok(())
    }

    /// Mirrors an entry that is no directory. Returns the number of copied bytes.
    fn bring(&self, place: &Place, entry: &Transfer<'_>, buffer: &mut Buffer) -> io::Result<u64> {
        let pair = &place.copy.pair;
        if place.copy.is_new {
            let copied = self.copying.copy_entry(pair, entry, buffer)?;
            if copied.is_some() {
                self.tell_of(Change::Create, &pair.to, entry.new_name);
            }
            return Ok(copied.unwrap_or(0));
        }
        let from = entry.from.status_of(entry.name)?;
        if self.is_further_name(pair, entry.name, &from) {
            return Ok(0);
        }
        let brought = self.bring_one(pair, entry, &from, buffer);
        match &brought {
            Err(_) => self.copying.hard_links.forget(&from),
            Ok(Some(_)) if self.options.dry_run => self.copying.hard_links.leave_out(&from),
            Ok(_) => {}
        }
        Ok(brought?.unwrap_or(0))
    }

    /// Remembers a file that has several names. Returns true if this one is made in the end.
    fn is_further_name(&self, pair: &Pair, name: &Name, from: &EntryStatus) -> bool {
        from.kind == Kind::File
            && self.copying.has_further_names(from)
            && self.copying.hard_links.has(pair, name, name, from)
    }

    /// Mirrors a file, link or special file. Returns the number of copied bytes; `None` if the
    /// entry in the mirror has stayed.
    fn bring_one(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
        from: &EntryStatus,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        let there = if_there(entry.to.status_of(entry.new_name).map_err(Into::into))?;
        let mut change = Change::Create;
        if let Some(there) = &there {
            let target = || Ok(entry.from.read_link(entry.name)?);
            match compare(entry, from, there, target, self.options.contents)? {
                Difference::Nothing => {
                    self.copying.results.add_unchanged();
                    return Ok(None);
                }
                Difference::Attributes
                    if self.has_one_name(there)
                        && self.set_attributes(entry, from, there).is_ok() =>
                {
                    self.copying.results.add_file(0);
                    self.tell_of(Change::SetAttributes, &pair.to, entry.new_name);
                    return Ok(None);
                }
                _ if there.kind != Kind::Directory => change = Change::Update,
                _ if from.kind == Kind::Special => {}
                _ => self.clear(pair, entry.new_name)?,
            }
        }
        let bytes = if self.options.dry_run {
            let bytes = self.would_copy(from)?;
            if let Some(there) = &there {
                self.would_lose_name_of(there);
            }
            bytes
        } else {
            self.copy(pair, entry, from, buffer)?
        };
        self.tell_of(change, &pair.to, entry.new_name);
        Ok(Some(bytes))
    }

    /// Deletes a directory of the mirror that is in the way of a file or link.
    fn clear(&self, pair: &Pair, name: &Name) -> io::Result<()> {
        if !self.options.delete {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.remove(pair, &HashSet::from([name.to_owned()]));
        Ok(())
    }

    fn copy(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
        from: &EntryStatus,
        buffer: &mut Buffer,
    ) -> io::Result<u64> {
        let copied = if from.kind == Kind::File {
            let (source, status) = entry.open()?;
            // Its other names would become names of another file.
            if from.names > 1 && status.identity != from.identity {
                return Err(invalid("the file was replaced by another one meanwhile"));
            }
            self.copying
                .copy_open(pair, &source, &status, entry, buffer)?
        } else {
            self.copying.copy_other(pair, entry)?
        };
        Ok(copied.unwrap_or(0))
    }

    /// Counts an entry that a dry run does not copy. Returns the number of its bytes.
    fn would_copy(&self, from: &EntryStatus) -> io::Result<u64> {
        let bytes = match from.kind {
            Kind::Special => return Err(entries::special()),
            Kind::File => from.size,
            Kind::Link | Kind::Directory => 0,
        };
        self.copying.results.add_file(bytes);
        Ok(bytes)
    }

    /// Sets permissions and times of a file of the mirror that has no other names.
    fn set_attributes(
        &self,
        entry: &Transfer<'_>,
        from: &EntryStatus,
        there: &EntryStatus,
    ) -> io::Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let file = entry.to.open_to_set(entry.new_name)?;
        if sys::entry_status(raw::borrow(&file))?.identity != there.identity {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(sys::set_mode_and_times(raw::borrow(&file), from)?)
    }

    /// Makes a further name of a file, unless it is one already.
    fn link(&self, link: &Link, buffer: &mut Buffer) -> io::Result<()> {
        let status = |directory: &Arc<Directory>, name: &Name| {
            let open = self.directories().open(directory);
            match if_there(open.and_then(|open| Ok(open.status_of(name)?))) {
                // A dry run has left a file in the place of the directory.
                Err(error) if self.options.dry_run && sys::may_mean_no_directory(&error) => {
                    Ok(None)
                }
                found => found,
            }
        };
        let there = status(&link.pair.to, &link.new_name)?;
        let first = match self.copying.hard_links.first(link) {
            Some((directory, name)) => status(&directory, &name)?,
            None => None,
        };
        let identity = |status: Option<EntryStatus>| status.map(|status| status.identity);
        if there.is_some() && identity(there) == identity(first) {
            self.copying.results.add_unchanged();
            return Ok(());
        }
        let is_in_the_way = there.is_some_and(|there| there.kind == Kind::Directory);
        if self.options.dry_run {
            if is_in_the_way {
                self.clear(&link.pair, &link.new_name)?;
            }
            self.copying.results.add_file(0);
        } else {
            self.copying.change_finished(&link.pair.to, |to| {
                if is_in_the_way {
                    self.clear(&link.pair, &link.new_name)?;
                }
                self.copying.make_name(to, link, buffer)
            })?;
        }
        let change = match there {
            Some(_) if !is_in_the_way => Change::Update,
            _ => Change::Create,
        };
        self.tell_of(change, &link.pair.to, &link.new_name);
        Ok(())
    }

    /// Visits an entry of a directory that a dry run has not made.
    fn visit_absent(&self, pair: &Pair, name: &Name, operations: &mut Operations<'_, Buffer>) {
        let visited = operations.run(|_| {
            let visit = || {
                let from = self.directories().open(&pair.from)?.status_of(name)?;
                if !self.is_further_name(pair, name, &from) {
                    self.would_copy(&from)?;
                    self.copying.hard_links.leave_out(&from);
                    self.tell_of(Change::Create, &pair.to, name);
                }
                Ok(())
            };
            (visit(), 0)
        });
        match visited {
            Err(error) if io::Error::kind(&error) != io::ErrorKind::NotFound => {
                self.copying.fail_at(Operation::Copy, pair, name, error);
            }
            _ => {}
        }
    }

    /// Finishes a directory: deletes, then sets permissions and times, which that changes.
    fn finish(&self, place: &Place, below: Option<&Place>, is_cancelled: bool) {
        let copy = &place.copy;
        let results = &self.copying.results;
        if !is_cancelled
            && !place.is_unread.load(Ordering::Relaxed)
            && let Err(error) = self.delete_extra(place)
        {
            self.copying.fail_in(Operation::Readdir, &copy.pair, error);
        }
        if !self.options.dry_run {
            let below = below.map(|below| &below.copy);
            let finished = self.copying.open_to_finish(copy, below).and_then(|open| {
                let own = open.status()?;
                if !has_same_attributes(&copy.status, &own) {
                    open.set_mode_and_times(&copy.status)?;
                }
                Ok(())
            });
            if let Err(error) = finished {
                return self.copying.fail_in(Operation::Fchmod, &copy.pair, error);
            }
        }
        if copy.is_new {
            results.add_directory();
        } else if place.differs {
            results.add_directory();
            match copy.pair.to.place() {
                Some((above, name)) => self.tell_of(Change::SetAttributes, above, name),
                None => self.tell(Change::SetAttributes, Path::new("")),
            }
        } else {
            results.add_unchanged();
        }
    }
}

impl Visitor for Mirroring<'_> {
    type Place = Place;
    type Scratch = Buffer;

    fn directories(&self) -> &Directories {
        self.directories()
    }

    fn directory<'p>(&self, place: &'p Place) -> &'p Arc<Directory> {
        &place.copy.pair.from
    }

    fn is_wanted(&self, place: &Place, name: &Name) -> bool {
        if self.options.delete {
            place.extra().remove(name);
        }
        self.copying.wants(&place.copy.pair, name)
    }

    fn visit(
        &self,
        place: &Place,
        name: &Name,
        kind: Kind,
        operations: &mut Operations<'_, Buffer>,
    ) -> bool {
        let pair = &place.copy.pair;
        if operations.is_cancelled() {
        } else if place.copy.is_new && self.options.dry_run {
            self.visit_absent(pair, name, operations);
        } else {
            let bring =
                |entry: &Transfer<'_>, buffer: &mut Buffer| self.bring(place, entry, buffer);
            self.copying.transfer(pair, name, kind, operations, bring);
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
        let pair = &above.copy.pair;
        let entered = operations.run(|_| {
            let entered = self.enter_both(&above.copy, name).and_then(|copy| {
                if copy.is_new {
                    self.tell_of(Change::Create, &pair.to, name);
                }
                self.prepare(copy).map_err(|error| (Operation::Copy, error))
            });
            (entered, 0)
        });
        match entered {
            Ok(place) if self.copying.is_left_empty(pair, &place.copy) => {
                place.extra().clear();
                self.finish(&place, None, operations.is_cancelled());
            }
            Ok(place) => return Some(place),
            // It was removed since the directory above was listed.
            Err((Operation::Readdir, error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err((operation, error)) => self.copying.fail_at(operation, pair, name, error),
        }
        None
    }

    fn leave(
        &self,
        place: &Place,
        _: Option<&Place>,
        below: Option<&Place>,
        operations: &mut Operations<'_, Buffer>,
    ) -> bool {
        self.finish(place, below, operations.is_cancelled());
        true
    }

    fn fail(&self, place: &Place, error: io::Error) {
        place.is_unread.store(true, Ordering::Relaxed);
        let pair = &place.copy.pair;
        self.copying.fail_in(Operation::Readdir, pair, error);
    }
}
