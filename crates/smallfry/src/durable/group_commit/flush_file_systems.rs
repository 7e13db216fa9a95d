//! Flushes whole file systems by `syncfs`, then renames the files on them.

use std::io;

use super::batch::Batch;
use crate::durable::flush::flush_whole;
use crate::error::{Error, Operation, copy_of};

impl Batch {
    /// Flushes the file systems of covered files, and renames these. If one fails, all files on it
    /// fail: nothing tells which were lost.
    pub(super) fn flush_covered(&self) {
        let (covered, count) = {
            let mut state = self.lock();
            (
                state.file_systems.take_covered(),
                state.file_systems.count(),
            )
        };
        let mut failed = Vec::new();
        for number in 0..count {
            if covered.iter().any(|written| written.file_system == number)
                && let Err(reason) = self.flush_whole(number)
            {
                self.fail_all(number, &reason);
                failed.push((number, reason));
            }
        }
        for mut written in covered {
            let number = written.file_system;
            let done = match failed.iter().find(|(of, _)| *of == number) {
                Some((_, reason)) => {
                    let reason = copy_of(reason);
                    Err(Error::at(Operation::Syncfs, &written.path, reason))
                }
                None => self.rename(&mut written),
            };
            self.record(written, done, true);
        }
    }

    /// Flushes a file system, also again after renames, but never after an error.
    pub(super) fn flush_whole(&self, number: usize) -> io::Result<()> {
        let whole = self.lock().file_systems.whole(number)?;
        let done = whole.map_or(Ok(()), |whole| flush_whole(&whole));
        let done = done.map_err(io::Error::from);
        self.lock().file_systems.flushed(number, done)
    }

    fn fail_all(&self, file_system: usize, reason: &io::Error) {
        let mut state = self.lock();
        for file in state.directories.files_on(file_system) {
            let error = Error::at(Operation::Syncfs, &file.path, copy_of(reason));
            state.failures.add(file.index, error);
        }
    }
}
