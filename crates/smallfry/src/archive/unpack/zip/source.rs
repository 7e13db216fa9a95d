//! The bytes of a zip, and a reader that reads ahead.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use rawzip::ReaderAt;

use crate::sys;

/// The bytes of a zip that are read at a time.
pub(super) const READ_AHEAD: usize = 32 << 10;

/// The bytes of a zip.
#[derive(Clone)]
pub(in super::super) enum Source<'a> {
    File(Arc<File>),
    Bytes(&'a [u8]),
}

impl Source<'_> {
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(match self {
            Self::File(file) => file.metadata()?.len(),
            Self::Bytes(bytes) => bytes.len() as u64,
        })
    }

    /// Reads bytes from a position on. Returns 0 at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => sys::read_at(file, buffer, position),
            Self::Bytes(bytes) => {
                let start = usize::try_from(position).unwrap_or(usize::MAX);
                bytes.get(start..).unwrap_or_default().read(buffer)
            }
        }
    }
}

/// A reader with memory of its own. A clone has other memory.
pub(super) struct Reader<'a> {
    source: Source<'a>,
    /// The bytes before the zip.
    pub(super) skipped: u64,
    length: u64,
    ahead: Mutex<Ahead>,
}

/// Bytes that were read already, and the position of the first one.
#[derive(Default)]
struct Ahead {
    bytes: Vec<u8>,
    start: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: Source<'a>, length: u64) -> Self {
        Self {
            source,
            skipped: 0,
            length,
            ahead: Mutex::default(),
        }
    }
}

impl Clone for Reader<'_> {
    fn clone(&self) -> Self {
        Self {
            skipped: self.skipped,
            ..Self::new(self.source.clone(), self.length)
        }
    }
}

impl Ahead {
    /// Returns the bytes from a position on that are in memory.
    fn from(&self, position: u64) -> &[u8] {
        let place = position.checked_sub(self.start);
        let place = place.and_then(|place| usize::try_from(place).ok());
        place
            .and_then(|place| self.bytes.get(place..))
            .unwrap_or(&[])
    }

    fn read(&mut self, source: &Source<'_>, position: u64) -> io::Result<()> {
        self.bytes.resize(READ_AHEAD, 0);
        self.start = position;
        let read = source.read_at(&mut self.bytes, position);
        self.bytes.truncate(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }
}

impl ReaderAt for Reader<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let position = position.saturating_add(self.skipped);
        if position >= self.length {
            return Ok(0);
        }
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if ahead.from(position).is_empty() {
            if buffer.len() >= READ_AHEAD {
                return self.source.read_at(buffer, position);
            }
            ahead.read(&self.source, position)?;
        }
        ahead.from(position).read(buffer)
    }
}
