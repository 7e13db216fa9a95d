//! Reads or writes one file, in slices.

use std::path::PathBuf;

use smallfry::bulk::{Arena, Bytes};
use smallfry::raw::{self, O_RDONLY};
use smallfry_options::Flush;

#[cfg(unix)]
use super::listing::Listing;
use super::metadata::Metadata;
use super::progress::Progress;
use crate::contents::{Contents, MAX_READ};
use crate::durable::{CoreWrite, flush_name, flush_open};
use crate::errors::{Failure, Reason, Step, at};
use crate::mailbox::{Answer, JobResult};
use crate::sys::ENOMEM;
use crate::target::{Handle, OwnedTarget};

/// The number of bytes that are read or written before a job goes to the end of the queue.
const SLICE: usize = 512 << 10;
/// The maximum size of contents, in bytes, that get memory of their own where no other calls are in
/// flight.
const MAX_LONE_COPY: usize = 64 << 10;
/// Larger contents, in bytes, get memory of their own in any case. An arena maps it anew for each
/// of them, and the allocator has it from the last one: 0.6 ms instead of 2 for 4 MB.
const MAX_ARENA: usize = 512 << 10;
/// The first room for a file that does not tell its size, in bytes.
const UNKNOWN_SIZE: usize = 64 << 10;

/// The work of one job.
pub(crate) enum Task {
    Read(Read),
    Write(Write),
    Whole(Whole),
    Metadata(Box<Metadata>),
    #[cfg(unix)]
    Listing(Box<Listing>),
}

pub(crate) struct Read {
    target: OwnedTarget,
    utf8: bool,
    /// The caller has other calls in flight, so that their contents share pages.
    shares_memory: bool,
    opened: Option<Opened>,
}

struct Opened {
    handle: Handle,
    /// The file told its size: reading stops there, as in Node.
    is_size_known: bool,
    bytes: Bytes,
}

pub(crate) struct Write {
    target: OwnedTarget,
    flags: i32,
    mode: u32,
    bytes: Vec<u8>,
    /// Calls `write` even for no bytes, as node:fs does here: a file may refuse even that.
    writes_nothing: bool,
    written: usize,
    handle: Option<Handle>,
    flush: Flush,
}

/// A write that the core does in one go, since the file is replaced or its name is flushed.
pub(crate) struct Whole {
    pub(super) write: CoreWrite,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Whole {
    fn run(&self) -> JobResult {
        self.write.run(&self.path, &self.bytes)?;
        Ok(Answer::Nothing)
    }
}

impl Task {
    pub(crate) fn read(target: OwnedTarget, utf8: bool, shares_memory: bool) -> Self {
        Self::Read(Read {
            target,
            utf8,
            shares_memory,
            opened: None,
        })
    }

    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::Read(_) => false,
            #[cfg(unix)]
            Self::Listing(_) => false,
            Self::Write(_) | Self::Whole(_) => true,
            Self::Metadata(metadata) => metadata.changes(),
        }
    }

    /// Does one slice.
    pub(crate) fn step(&mut self, arena: &mut Arena) -> Progress {
        match self {
            Self::Read(read) => read.step(arena),
            Self::Write(write) => write.step(),
            Self::Whole(whole) => Progress::Done(whole.run()),
            Self::Metadata(metadata) => metadata.step(),
            #[cfg(unix)]
            Self::Listing(listing) => listing.step(),
        }
    }
}

impl Read {
    fn step(&mut self, arena: &mut Arena) -> Progress {
        match self.slice(arena) {
            Ok(false) => Progress::More,
            Ok(true) => Progress::Done(self.finish()),
            Err(failure) => Progress::Done(Err(failure.into())),
        }
    }

    fn finish(&mut self) -> JobResult {
        let Some(Opened { handle, bytes, .. }) = self.opened.take() else {
            return Err(Failure::Delegate.into());
        };
        handle.close()?;
        Ok(Answer::Contents(Contents::new(bytes, self.utf8)))
    }

    /// Reads one slice. Returns true at the end of the file.
    fn slice(&mut self, arena: &mut Arena) -> Result<bool, Failure> {
        if self.opened.is_none() {
            self.opened = Some(Opened::new(&self.target, self.shares_memory, arena)?);
        }
        let Some(opened) = &mut self.opened else {
            return Err(Failure::Delegate);
        };
        let mut left = SLICE;
        loop {
            if opened.bytes.room() == 0 {
                if opened.is_size_known {
                    return Ok(true);
                }
                opened.grow(arena)?;
            }
            let file = opened.handle.borrow();
            let count = opened.bytes.read(file, left).map_err(at(Step::Read))?;
            left -= count;
            if count == 0 || (opened.is_size_known && opened.bytes.room() == 0) {
                return Ok(true);
            }
            if left == 0 {
                return Ok(false);
            }
        }
    }
}

impl Opened {
    fn new(target: &OwnedTarget, shares_memory: bool, arena: &mut Arena) -> Result<Self, Failure> {
        let handle = target.borrow().open(O_RDONLY, 0)?;
        let status = raw::status(handle.borrow()).map_err(at(Step::Status))?;
        let size = if status.is_regular { status.size } else { 0 };
        if size > MAX_READ || status.is_directory {
            return Err(Failure::Delegate);
        }
        let is_size_known = size > 0;
        let room = if is_size_known {
            size as usize
        } else {
            UNKNOWN_SIZE
        };
        let bytes = if room > MAX_ARENA || (room <= MAX_LONE_COPY && !shares_memory) {
            Bytes::try_with_capacity(room)
        } else {
            arena.allocate(room)
        };
        let bytes = bytes.ok_or(Failure::Delegate)?;
        Ok(Self {
            handle,
            is_size_known,
            bytes,
        })
    }

    /// Moves the contents of a file of unknown size to memory of twice the size.
    fn grow(&mut self, arena: &mut Arena) -> Result<(), Failure> {
        let mut larger = arena
            .allocate(self.bytes.len() * 2)
            .ok_or(Failure::Other(Step::Read, ENOMEM))?;
        larger.extend_from_slice(&self.bytes);
        self.bytes = larger;
        Ok(())
    }
}

impl Write {
    pub(crate) fn new(target: OwnedTarget, flags: i32, mode: u32, bytes: Vec<u8>) -> Self {
        Self {
            target,
            flags,
            mode,
            bytes,
            writes_nothing: false,
            written: 0,
            handle: None,
            flush: Flush::Nothing,
        }
    }

    /// Sets whether `write` is called even for no bytes.
    pub(crate) fn writing_nothing(self, writes_nothing: bool) -> Self {
        Self {
            writes_nothing,
            ..self
        }
    }

    /// Sets what is flushed.
    pub(crate) fn flushing(self, flush: Flush) -> Self {
        Self { flush, ..self }
    }

    fn step(&mut self) -> Progress {
        match self.slice() {
            Ok(false) => Progress::More,
            Ok(true) => Progress::Done(self.end().map(|()| Answer::Nothing)),
            Err(failure) => {
                self.handle = None;
                Progress::Done(Err(failure.into()))
            }
        }
    }

    /// Flushes and closes the file. A flushed file is closed at once, so that no error comes after
    /// the call.
    fn end(&mut self) -> Result<(), Reason> {
        let Some(handle) = self.handle.take() else {
            return Ok(());
        };
        if self.flush == Flush::Nothing {
            return Ok(self.target.borrow().close_written(handle)?);
        }
        let flushed = flush_open(&handle, self.flush);
        let closed = handle.close();
        flushed.and(closed)?;
        flush_name(&self.target.borrow(), self.flush)
    }

    /// Writes one slice. Returns true when all is written.
    fn slice(&mut self) -> Result<bool, Failure> {
        if self.handle.is_none() {
            self.handle = Some(self.target.borrow().open(self.flags, self.mode)?);
        }
        let Some(handle) = &self.handle else {
            return Err(Failure::Delegate);
        };
        if self.bytes.is_empty() && self.writes_nothing {
            raw::write(handle.borrow(), &[]).map_err(at(Step::Write))?;
        }
        let end = self.bytes.len().min(self.written + SLICE);
        raw::write_all(handle.borrow(), &self.bytes[self.written..end]).map_err(at(Step::Write))?;
        self.written = end;
        Ok(end == self.bytes.len())
    }
}
