//! One file to read or to write, done in slices.

use std::path::PathBuf;

use smallfry::bulk::{Arena, Bytes};
use smallfry::raw::{self, O_RDONLY};

use crate::contents::Contents;
use crate::durable::{CoreWrite, Durable, Level};
use crate::outcome::{Failure, Reason, Step, at};
use crate::sync::LARGEST_READ;
use crate::sys::ENOMEM;
use crate::target::{Handle, OwnedTarget};

/// What is read or written before the job goes to the end of the queue. In bytes.
const SLICE: usize = 512 << 10;
/// Contents of up to this size are copied where no other calls are under way. In bytes.
const LONE_COPY: usize = 64 << 10;
/// First guess for a file that does not tell its size. In bytes.
const UNKNOWN_SIZE: usize = 64 << 10;

/// Work for one file.
pub(crate) enum Task {
    Read(Read),
    Write(Write),
    Whole(Whole),
}

/// What came of a slice.
pub(crate) enum Progress {
    /// There is more to do.
    More,
    Done(Result<Option<Contents>, Reason>),
}

pub(crate) struct Read {
    target: OwnedTarget,
    utf8: bool,
    /// The caller has other calls under way, so that memory is worth sharing.
    together: bool,
    opened: Option<Opened>,
}

struct Opened {
    handle: Handle,
    /// Size if the file told one; then reading stops there, as in Node.
    known: bool,
    bytes: Bytes,
}

pub(crate) struct Write {
    target: OwnedTarget,
    flags: i32,
    mode: u32,
    bytes: Vec<u8>,
    /// No bytes are written too, since node:fs does so here, and a file may refuse even that.
    writes_nothing: bool,
    written: usize,
    handle: Option<Handle>,
    durable: Durable,
}

/// A file that the core writes in one go, since no part of it is to be seen, or its name is to last as well.
pub(crate) struct Whole {
    pub(super) write: CoreWrite,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Whole {
    fn run(&self) -> Result<Option<Contents>, Reason> {
        self.write.run(&self.path, &self.bytes)?;
        Ok(None)
    }
}

impl Task {
    pub(crate) fn read(target: OwnedTarget, utf8: bool, together: bool) -> Self {
        Self::Read(Read {
            target,
            utf8,
            together,
            opened: None,
        })
    }

    pub(crate) fn is_write(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Whole(_))
    }

    /// Does one slice.
    pub(crate) fn step(&mut self, arena: &mut Arena) -> Progress {
        match self {
            Self::Read(read) => read.step(arena),
            Self::Write(write) => write.step(),
            Self::Whole(whole) => Progress::Done(whole.run()),
        }
    }
}

impl Read {
    fn step(&mut self, arena: &mut Arena) -> Progress {
        match self.slice(arena) {
            Ok(false) => Progress::More,
            Ok(true) => Progress::Done(self.finish().map_err(Reason::from)),
            Err(failure) => Progress::Done(Err(failure.into())),
        }
    }

    fn finish(&mut self) -> Result<Option<Contents>, Failure> {
        let Some(Opened { handle, bytes, .. }) = self.opened.take() else {
            return Err(Failure::Delegate);
        };
        handle.close()?;
        Ok(Some(Contents::new(bytes, self.utf8)))
    }

    /// Reads up to a slice; true at the end.
    fn slice(&mut self, arena: &mut Arena) -> Result<bool, Failure> {
        if self.opened.is_none() {
            self.opened = Some(Opened::new(&self.target, self.together, arena)?);
        }
        let Some(opened) = &mut self.opened else {
            return Err(Failure::Delegate);
        };
        let mut left = SLICE;
        loop {
            if opened.bytes.room() == 0 {
                if opened.known {
                    return Ok(true);
                }
                opened.grow(arena)?;
            }
            let file = opened.handle.borrow();
            let count = opened.bytes.read(file, left).map_err(at(Step::Read))?;
            left -= count;
            if count == 0 || (opened.known && opened.bytes.room() == 0) {
                return Ok(true);
            }
            if left == 0 {
                return Ok(false);
            }
        }
    }
}

impl Opened {
    fn new(target: &OwnedTarget, together: bool, arena: &mut Arena) -> Result<Self, Failure> {
        let handle = target.open(O_RDONLY, 0)?;
        let status = raw::status(handle.borrow()).map_err(at(Step::Status))?;
        let size = if status.is_regular { status.size } else { 0 };
        if size > LARGEST_READ || status.is_directory {
            return Err(Failure::Delegate);
        }
        let known = size > 0;
        let room = if known { size as usize } else { UNKNOWN_SIZE };
        let bytes = if together || room > LONE_COPY {
            arena.allocate(room).ok_or(Failure::Delegate)?
        } else {
            Bytes::with_capacity(room)
        };
        Ok(Self {
            handle,
            known,
            bytes,
        })
    }

    /// Moves the contents of a file of unknown size to where there is twice the room.
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
            durable: Durable::NOTHING,
        }
    }

    /// Writes no bytes, too.
    pub(crate) fn writing_nothing(self, writes_nothing: bool) -> Self {
        Self {
            writes_nothing,
            ..self
        }
    }

    /// Makes it last as well.
    pub(crate) fn lasting(self, durable: Durable) -> Self {
        Self { durable, ..self }
    }

    fn step(&mut self) -> Progress {
        match self.slice() {
            Ok(false) => Progress::More,
            Ok(true) => Progress::Done(self.end().map(|()| None)),
            Err(failure) => {
                self.handle = None;
                Progress::Done(Err(failure.into()))
            }
        }
    }

    /// Flushes what was written, if that is asked, and closes the file: now, where nothing is to be left that could fail.
    fn end(&mut self) -> Result<(), Reason> {
        let Some(handle) = self.handle.take() else {
            return Ok(());
        };
        if self.durable.level == Level::Nothing {
            return Ok(self.target.close_written(handle)?);
        }
        let flushed = self.durable.flush(&handle);
        let closed = handle.close();
        flushed.and(closed)?;
        self.target.flush_name(self.durable)
    }

    /// Writes up to a slice; true at the end.
    fn slice(&mut self) -> Result<bool, Failure> {
        if self.handle.is_none() {
            self.handle = Some(self.target.open(self.flags, self.mode)?);
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
