//! Storage for the bytes of all writes of a log, one after the other.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that are kept in memory; later ones go to a temporary file. The logs of programs that
/// write small files fit, so their states are computed without I/O. The logs of disk images do not
/// fit.
const MEMORY: usize = 64 << 20;

/// Addresses from here on are in the file.
const FILED: u64 = 1 << 63;

#[derive(Clone, Debug)]
pub(super) struct Store {
    memory: Vec<u8>,
    limit: usize,
    /// Shared by all copies of a log. Bytes in it never change, and each copy appends at the end.
    file: Option<Arc<Mutex<File>>>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            memory: Vec::new(),
            limit: MEMORY,
            file: None,
        }
    }
}

impl Store {
    /// Makes the temporary file now. It must not be on a mount that the store itself serves.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(Arc::new(Mutex::new(tempfile::tempfile()?)));
        }
        Ok(())
    }

    /// Keeps bytes and returns their address.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if bytes.len() <= self.limit.saturating_sub(self.memory.len()) {
            let at = self.memory.len() as u64;
            self.memory.extend_from_slice(bytes);
            return Ok(at);
        }
        self.prepare()?;
        let Some(file) = &self.file else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut file = lock(file);
        let at = file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)?;
        Ok(FILED | at)
    }

    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        if at & FILED != 0 {
            let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
            let mut file = lock(file);
            file.seek(SeekFrom::Start(at & !FILED))?;
            return file.read_exact(into);
        }
        let kept = usize::try_from(at)
            .ok()
            .and_then(|at| self.memory.get(at..)?.get(..into.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(kept);
        Ok(())
    }
}

fn lock(file: &Mutex<File>) -> MutexGuard<'_, File> {
    // Every use of the file gives its own offset.
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_memory_limit_are_kept() {
        let mut store = Store {
            limit: 10,
            ..Store::default()
        };
        let texts: [&[u8]; 4] = [b"first", b"much too long", b"", b"second"];
        let places = texts.map(|text| store.add(text).unwrap());
        let mut copy = store.clone();
        let later = copy.add(b"of the copy, in the file").unwrap();
        let last = store.add(b"of the first").unwrap();
        for (text, at) in texts.into_iter().zip(places) {
            let mut read = vec![0; text.len()];
            store.read(at, &mut read).unwrap();
            assert_eq!(read, text);
        }
        let mut read = [0; 12];
        store.read(last, &mut read).unwrap();
        assert_eq!(&read, b"of the first");
        copy.read(later, &mut read).unwrap();
        assert_eq!(&read, b"of the copy,");
        assert_eq!(store.memory.len(), 5);
    }
}
