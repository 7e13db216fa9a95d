//! The copy of one entry that is no directory: a file, a link, or a further name of a file.

use std::io;

use super::super::new_entry::Existing;
use super::compare::{Difference, compare};
use super::contents::Buffer;
use super::copying::Copying;
use super::entry::{Pair, Transfer};
use super::links::{Links, absolute_target};
use super::method::Method;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, EntryStatus, Kind, LinkTarget};

impl Copying<'_> {
    /// Copies an entry that is no directory. Returns its length in bytes; `None` if another one is
    /// kept, or if it is a further name of a file.
    pub(in crate::tree) fn copy_entry(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        if self.options.only_if_changed && self.keeps(pair, entry)? {
            return Ok(None);
        }
        match entry.found.kind {
            Kind::Special if self.options.skip_special => Ok(None),
            // Links with other targets are new ones.
            kind if self.options.method == Method::HardLink
                && (kind != Kind::Link || self.options.links == Links::Keep) =>
            {
                self.link_entry(entry)
            }
            Kind::File => self.copy_file(pair, entry, buffer),
            _ => self.copy_other(pair, entry),
        }
    }

    /// Makes an entry a further name of its source.
    fn link_entry(&self, entry: &Transfer<'_>) -> io::Result<Option<u64>> {
        let existing = match entry.found.kind {
            Kind::Link => self.options.existing_for_links(),
            _ => self.options.existing,
        };
        match entry.create(existing, |name| entry.link(name)) {
            Ok(None) => return Ok(None),
            Ok(Some(((), new_entry))) => new_entry.commit()?,
            // It is done already.
            Err(_) if existing == Existing::Replace && entry.is_linked() => return Ok(None),
            Err(error) => return Err(error),
        }
        if entry.found.kind == Kind::File {
            self.flushes.flush_there(entry)?;
        }
        self.results.add_file(0);
        Ok(Some(0))
    }

    /// Keeps a file of the same size and time that is there, or a link with the same target. Returns
    /// false if there is none.
    fn keeps(&self, pair: &Pair, entry: &Transfer<'_>) -> io::Result<bool> {
        // A file that is linked already is kept anyway. After a failed flush the contents of a file
        // may be lost.
        if self.options.method == Method::HardLink || self.flushes.have_failed() {
            return Ok(false);
        }
        let there = match entry.to.status_of(entry.new_name) {
            Err(errno) if sys::is_missing(errno) => return Ok(false),
            there => there?,
        };
        let status = entry.status()?;
        let target = || self.target_of(pair, entry);
        if compare(entry, &status, &there, target, false)? == Difference::Contents {
            return Ok(false);
        }
        if status.kind == Kind::File {
            if !entry.found.is_behind_link
                && self.has_further_names(&status)
                && self
                    .hard_links
                    .has(pair, entry.name, entry.new_name, &status)
            {
                return Ok(true);
            }
            self.flushes.flush_there(entry)?;
        }
        self.results.add_unchanged();
        Ok(true)
    }

    /// Copies an entry that is neither a directory nor a file.
    pub(in crate::tree) fn copy_other(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
    ) -> io::Result<Option<u64>> {
        match entry.found.kind {
            Kind::Link => self.copy_link(pair, entry),
            Kind::Special => Err(special()),
            Kind::Directory | Kind::File => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Returns the target that the copy of a link gets.
    fn target_of(&self, pair: &Pair, entry: &Transfer<'_>) -> io::Result<LinkTarget> {
        let target = entry.from.read_link(entry.name)?;
        if self.options.links != Links::Absolute {
            return Ok(target);
        }
        let start = self.absolute.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let link = pair.from.path_of(start, entry.name);
        Ok(absolute_target(&link, target))
    }

    fn copy_link(&self, pair: &Pair, entry: &Transfer<'_>) -> io::Result<Option<u64>> {
        let target = self.target_of(pair, entry)?;
        let made = entry.create(self.options.existing_for_links(), |name| {
            entry.to.make_link(name, &target)
        })?;
        let Some(((), new_entry)) = made else {
            return Ok(None);
        };
        self.preserve_link((entry.from, entry.name), (entry.to, new_entry.name()))?;
        new_entry.commit()?;
        self.results.add_file(0);
        Ok(Some(0))
    }

    pub(super) fn copy_file(
        &self,
        pair: &Pair,
        entry: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        let (source, status) = entry.open()?;
        // A file behind a link becomes one of its own.
        if entry.found.is_behind_link || !self.has_further_names(&status) {
            return self.copy_open(pair, &source, &status, entry, buffer);
        }
        let Transfer { name, new_name, .. } = *entry;
        if self.hard_links.has(pair, name, new_name, &status) {
            return Ok(None);
        }
        let copied = self.copy_open(pair, &source, &status, entry, buffer);
        if !matches!(copied, Ok(Some(_))) {
            self.hard_links.forget(&status);
        }
        copied
    }

    /// Returns true if further names of a file become further names of its copy.
    pub(in crate::tree) fn has_further_names(&self, status: &EntryStatus) -> bool {
        self.options.hard_links && status.names > 1
    }

    /// Copies an open file. Returns its length in bytes; `None` if another one is kept.
    pub(in crate::tree) fn copy_open(
        &self,
        pair: &Pair,
        source: &OwnedFile,
        status: &EntryStatus,
        entry: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<u64>> {
        let mode = self.mode_at_first(status);
        let devices = (status.identity.device, pair.to.identity().device);
        let ways = self.ways.take(devices, buffer);
        let created = entry.create(self.options.existing, |name| {
            ways.create(source, status, mode, entry.to, name)
        })?;
        let Some(((destination, is_cloned), new_entry)) = created else {
            return Ok(None);
        };
        let length = if is_cloned {
            status.size
        } else {
            ways.copy(source, &destination, status, buffer)?
        };
        buffer.keep(devices, ways);
        self.preserve_file(source, &destination, status)?;
        self.flushes
            .flush_file(&destination, new_entry.replaces())?;
        raw::close(destination)?;
        new_entry.commit()?;
        self.results.add_file(length);
        Ok(Some(length))
    }
}

/// The error of a special file.
pub(in crate::tree) fn special() -> io::Error {
    let reason = "pipes, sockets and devices are not copied";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}
