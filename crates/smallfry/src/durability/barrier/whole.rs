//! Files that wait for their file system to be flushed whole.

use std::io;

use super::Batch;
use super::queue::FileSystem;
use crate::durability::note_failure;
use crate::error::{Error, Operation, copy_of};

impl Batch {
    /// Flushes the file systems that hold files which are covered so, and names those. If one reports an error every file of the
    /// batch on it has that error: nobody knows whose it is.
    pub(super) fn flush_covered(&self) {
        let covered = self.lock().take_covered();
        let mut failed = Vec::new();
        let count = self.lock().file_systems.len();
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
                None => self.name(&mut written),
            };
            self.record(written, done, true);
        }
    }

    /// Once more, after names have changed, too; but not after an error.
    pub(super) fn flush_whole(&self, number: usize) -> io::Result<()> {
        let whole = match &self.lock().file_systems[number] {
            FileSystem {
                failed: Some(reason),
                ..
            } => return Err(copy_of(reason)),
            FileSystem { whole, .. } => whole.clone(),
        };
        let done = whole.map_or(Ok(()), |whole| whole.flush());
        let mut queue = self.lock();
        let file_system = &mut queue.file_systems[number];
        match done {
            Ok(()) => file_system.is_flushed = true,
            Err(error) => {
                note_failure();
                file_system.failed = Some(error.into());
            }
        }
        match &file_system.failed {
            Some(reason) => Err(copy_of(reason)),
            None => Ok(()),
        }
    }

    fn fail_all(&self, file_system: usize, reason: &io::Error) {
        let mut queue = self.lock();
        for file in queue.dirs.files_on(file_system) {
            let error = Error::at(Operation::Syncfs, &file.path, copy_of(reason));
            queue.failures.push((file.index, error));
        }
    }
}
