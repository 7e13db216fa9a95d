//! Where the bytes of a file are kept in the log. Bytes that are kept nowhere are zero.

use super::store::Store;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// The contents of a file, in ranges that do not overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    pub(super) size: u64,
    /// By offset: the length of a range, and where its bytes are kept.
    ranges: BTreeMap<u64, (u64, u64)>,
}

impl Extents {
    /// Puts bytes at `offset`. The size does not change.
    pub(super) fn put(&mut self, offset: u64, length: u64, at: u64) {
        if length > 0 {
            self.zero(offset, length);
            self.ranges.insert(offset, (length, at));
        }
    }

    /// Makes a hole.
    pub(super) fn zero(&mut self, offset: u64, length: u64) {
        let end = offset.saturating_add(length);
        // The previous range may reach into the hole and beyond.
        if let Some((&start, &(held, at))) = self.ranges.range(..offset).next_back()
            && start + held > offset
        {
            self.ranges.insert(start, (offset - start, at));
            self.keep_beyond(end, (start, held, at));
        }
        while let Some((&start, &(held, at))) = self.ranges.range(offset..end).next() {
            self.ranges.remove(&start);
            self.keep_beyond(end, (start, held, at));
        }
    }

    fn keep_beyond(&mut self, end: u64, (start, held, at): (u64, u64, u64)) {
        if start + held > end {
            let cut = end - start;
            self.ranges.insert(end, (held - cut, at + cut));
        }
    }

    /// Works like truncate(2).
    pub(super) fn resize(&mut self, size: u64) {
        self.zero(size, u64::MAX - size);
        self.size = size;
    }

    /// Works like write(2).
    pub(super) fn write(&mut self, offset: u64, length: u64, at: u64) {
        self.put(offset, length, at);
        self.size = self.size.max(offset.saturating_add(length));
    }

    /// Returns all bytes.
    pub(super) fn read(&self, store: &Store) -> io::Result<Vec<u8>> {
        let size = usize::try_from(self.size).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // The file may be longer than memory, so the allocation may fail.
        Vec::<u8>::new()
            .try_reserve_exact(size)
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = vec![0; size];
        for (start, length, at) in self.shown() {
            let start = start as usize;
            store.read(at, &mut bytes[start..start + length as usize])?;
        }
        Ok(bytes)
    }

    /// Writes the contents to a file, with holes.
    pub(super) fn write_to(&self, store: &Store, mut file: &File) -> io::Result<()> {
        file.set_len(0)?;
        file.set_len(self.size)?;
        let mut piece = vec![0; PIECE.min(self.size as usize)];
        for (start, mut left, mut at) in self.shown() {
            file.seek(SeekFrom::Start(start))?;
            while left > 0 {
                let bytes = left.min(PIECE as u64);
                let piece = &mut piece[..bytes as usize];
                store.read(at, piece)?;
                file.write_all(piece)?;
                (left, at) = (left - bytes, at + bytes);
            }
        }
        Ok(())
    }

    /// The ranges within the size: offset, length, and where the bytes are kept.
    fn shown(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.ranges
            .range(..self.size)
            .map(|(&start, &(length, at))| (start, length.min(self.size - start), at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extents_hold_the_bytes_of_a_plain_buffer(
            steps in proptest::collection::vec((0..4_u8, 0..50_u64, 0..30_u64), 1..40),
        ) {
            let mut store = Store::default();
            let (mut extents, mut plain) = (Extents::default(), Vec::<u8>::new());
            for (number, (step, offset, length)) in steps.into_iter().enumerate() {
                let (start, end) = (offset as usize, (offset + length) as usize);
                match step {
                    0 | 1 => {
                        let data: Vec<u8> = (0..length).map(|byte| (number as u64 * 31 + byte) as u8 | 1).collect();
                        extents.write(offset, length, store.add(&data).unwrap());
                        // A write(2) of no bytes does not extend a file, but here it may.
                        plain.resize(plain.len().max(end), 0);
                        plain[start..end].copy_from_slice(&data);
                    }
                    2 => {
                        extents.zero(offset, length);
                        for byte in plain.iter_mut().take(end).skip(start) {
                            *byte = 0;
                        }
                    }
                    _ => {
                        extents.resize(offset);
                        plain.resize(start, 0);
                    }
                }
                prop_assert_eq!(&extents.read(&store).unwrap(), &plain);
            }
            let file = tempfile::NamedTempFile::new().unwrap();
            extents.write_to(&store, file.as_file()).unwrap();
            prop_assert_eq!(&std::fs::read(file.path()).unwrap(), &plain);
        }
    }
}
