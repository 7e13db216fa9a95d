//! The bytes of an archive that were read and not yet used.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// The bytes that are read at a time.
const PIECE: usize = 256 << 10;

/// A reader with memory of its own.
pub(super) struct Window<R> {
    reader: R,
    memory: Vec<u8>,
    /// The bytes from `start` to `end` are not used yet.
    start: usize,
    end: usize,
    /// The number of bytes that were used, which others may look at.
    used: Rc<Cell<u64>>,
}

impl<R: Read> Window<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            memory: vec![0; PIECE],
            start: 0,
            end: 0,
            used: Rc::default(),
        }
    }

    /// Returns the counter of the bytes that were used.
    pub(super) fn used(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.used)
    }

    /// Returns the bytes that were read and not used.
    pub(super) fn unused(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Reads until at least `count` bytes are there, or to the end. Returns true if they are there.
    pub(super) fn fill_to(&mut self, count: usize) -> io::Result<bool> {
        if self.start > 0 && self.start + count > self.memory.len() {
            self.memory.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if count > self.memory.len() {
            self.memory.resize(count.next_multiple_of(PIECE), 0);
        }
        while self.unused().len() < count {
            match self.reader.read(&mut self.memory[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Calls `each` with the next `length` bytes, in pieces.
    pub(super) fn read_pieces<E: From<io::Error>>(
        &mut self,
        mut length: u64,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while length > 0 {
            let bytes = self.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let most = usize::try_from(length).unwrap_or(usize::MAX);
            let count = bytes.len().min(most);
            let done = each(&bytes[..count]);
            self.consume(count);
            done?;
            length -= count as u64;
        }
        Ok(())
    }
}

impl<R: Read> Read for Window<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Window<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.fill_to(1)?;
        }
        Ok(self.unused())
    }

    fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        self.used.set(self.used.get() + count as u64);
    }
}
