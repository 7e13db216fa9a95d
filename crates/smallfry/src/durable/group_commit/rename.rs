//! The end of a file: its rename, if it is a replacement, and the record of its outcome.

use std::fs::File;
use std::io;
use std::path::Path;

use super::batch::Batch;
use super::directories::Named;
use super::written::Written;
use crate::durable::flush::{flush_file, note_failure};
use crate::durable::target::without_links;
use crate::error::{Error, Operation};
use crate::path::Base;
use crate::raw::{self, OwnedFile};
use crate::sys;
use crate::write::Durability;

impl Batch {
    /// Renames a temporary file to its target, once its contents are on the disk. Other files have
    /// their names already.
    pub(super) fn rename(&self, written: &mut Written) -> Result<(), Error> {
        if let Some(reason) = written.failed.take() {
            note_failure();
            return Err(Error::at(Operation::Fsync, &written.path, reason));
        }
        let Some((temporary, target)) = &mut written.temporary else {
            return Ok(());
        };
        let level = self.options.durability;
        match temporary.rename(target, level == Durability::Full) {
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && self.options.in_place_if_busy =>
            {
                write_in_place(&self.base, temporary.path(), target, level).map_err(|error| {
                    Error::at(error.operation(), &written.path, error.into_io_error())
                })
            }
            done => done,
        }
    }

    /// Records the outcome of a file: its error, or its name, which may still have to be flushed.
    pub(super) fn record(&self, written: Written, done: Result<(), Error>, is_covered: bool) {
        if let Err(error) = done {
            self.lock().failures.add(written.index, error);
            return;
        }
        // A file that had its name when its file system was flushed needs nothing more.
        let is_named = self.options.durability != Durability::Full
            || is_covered && written.temporary.is_none();
        let target = match written.temporary {
            Some((_, target)) => target,
            None if is_named || !sys::FLUSHES_DIRECTORIES => written.path,
            None => match without_links(&self.base, &written.path) {
                Ok(target) => target,
                Err(error) => {
                    self.lock().failures.add(written.index, error);
                    return;
                }
            },
        };
        let file = Named {
            index: written.index,
            path: target,
            file_system: written.file_system,
        };
        self.lock().directories.add(file, is_named);
    }
}

/// Copies the contents of `from` from its position on, and leaves both files open.
pub(super) fn copy_all(from: &OwnedFile, to: &OwnedFile) -> io::Result<()> {
    let file = |file: &OwnedFile| file.try_clone().map(File::from);
    io::copy(&mut file(from)?, &mut file(to)?).map(drop)
}

/// Writes the contents of a temporary file into the existing file.
fn write_in_place(
    base: &Base,
    temporary: &Path,
    target: &Path,
    level: Durability,
) -> Result<(), Error> {
    let from = base.open(temporary, raw::O_RDONLY, 0)?;
    let to = base.open(target, raw::O_WRONLY | raw::O_TRUNC, 0)?;
    copy_all(&from, &to)
        .map_err(|reason| Error::between(Operation::Copy, temporary, target, reason))?;
    flush_file(raw::borrow(&to), level)
        .map_err(|(operation, reason)| Error::at(operation, target, reason))?;
    raw::close(to).map_err(|reason| Error::at(Operation::Close, target, reason))
}
