//! Copies contents and permissions of one file.

use std::fs::File;
use std::io;
use std::path::Path;

use super::WriteOptions;
use crate::closer::Closer;
use crate::path::{self, Base};
use crate::raw::{self, OwnedFile};
use crate::sys;

/// Copies a file, and hands both files to `close` with their paths and whether they were written.
///
/// If the system copies by path, it opens and closes both files itself, and `close` is not called.
pub(crate) fn copy_by_path(
    from: &Path,
    to: &Path,
    close: impl Fn(OwnedFile, &Path, bool) -> io::Result<()>,
) -> io::Result<u64> {
    Closer::global().make_way(to);
    if sys::COPIES_BY_PATH {
        return sys::copy_by_path(from, to);
    }
    let source = File::from(path::open(from, raw::O_RDONLY, 0)?);
    let copied = copy_open(&source, |flags, mode| path::open(to, flags, mode));
    // The source was only read, so its close has no error to report.
    drop(close(source.into(), from, false));
    let (length, destination) = copied?;
    close(destination, to, true)?;
    Ok(length)
}

/// Copies a file whose paths start at `base`.
pub(crate) fn copy_from(base: &Base, from: &Path, to: &Path) -> io::Result<u64> {
    let close = |file, _: &Path, _| Ok(raw::close(file)?);
    base.with_descriptors(|root| match root {
        None => copy_by_path(from, to, close),
        Some(root) => {
            Closer::global().make_way(to);
            let source = root.open(from, raw::O_RDONLY, 0)?;
            let (length, destination) =
                copy_open(&source.into(), |flags, mode| root.open(to, flags, mode))?;
            raw::close(destination)?;
            Ok(length)
        }
    })
}

/// Copies an open file to one that `create` opens with these flags and this mode. Returns the
/// length and the new file, open.
pub(crate) fn copy_open(
    source: &File,
    create: impl FnOnce(i32, u32) -> io::Result<OwnedFile>,
) -> io::Result<(u64, OwnedFile)> {
    let status = source.metadata()?;
    if !status.is_file() {
        // Found before the destination is truncated.
        let reason = "the source is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let permissions = status.permissions();
    // The new file has the mode of the source from the start. Otherwise users who may not open the
    // source could open the copy for a moment.
    let flags = WriteOptions::new().flags(0);
    let destination = File::from(create(flags, sys::mode_of(&permissions))?);
    if destination.metadata()?.is_file() {
        destination.set_permissions(permissions)?;
    }
    let length = io::copy(&mut &*source, &mut &destination)?;
    Ok((length, destination.into()))
}
