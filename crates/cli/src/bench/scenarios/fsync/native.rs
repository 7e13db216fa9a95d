//! The rows in Rust. The counterpart of `driver.js`: same steps, same bytes.

use super::super::prelude::*;
use super::case::{Level, Request};
use crate::bench::runtime::native::raw::{flags, write_to};
use smallfry::{Durability, WriteOptions};

/// Runs one batch.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let path = Path::new(&request.path);
    let bytes = request.text.as_bytes();
    let Request { level, replace, .. } = *request;
    let times = match functions {
        Functions::Std => batch(request, || write_std(path, bytes, level)),
        Functions::Smallfry => {
            let mut options = WriteOptions::new();
            options.durability(durability(level)).replace(replace);
            batch(request, || options.write(path, bytes).map(drop))
        }
        Functions::Raw => {
            Raw::new(path).and_then(|raw| batch(request, || raw.write(level, replace, bytes)))
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    times.map_err(failed("write", path))
}

fn batch<E: Into<io::Error>>(
    request: &Request,
    call: impl Fn() -> Result<(), E>,
) -> io::Result<Times> {
    let times = request.batch.time(&mut (), |()| call(), |(), _| Ok(()))?;
    Ok(Times {
        bytes: times.files * request.text.len(),
        ..times
    })
}

fn write_std(path: &Path, bytes: &[u8], level: Level) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    flush(&file, level)
}

/// std adds nothing to the call, and on macOS knows the one that reaches the disk.
fn flush(file: &File, level: Level) -> io::Result<()> {
    match level {
        Level::None => Ok(()),
        Level::Data => file.sync_data(),
        Level::File | Level::Full => file.sync_all(),
    }
}

fn durability(level: Level) -> Durability {
    match level {
        Level::None => Durability::None,
        Level::Data => Durability::Data,
        Level::File | Level::Full => Durability::Full,
    }
}

/// A file that raw system calls write repeatedly.
struct Raw {
    path: Prepared,
    /// Beside it.
    temporary: Prepared,
    directory: Prepared,
}

impl Raw {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: Prepared::new(path)?,
            temporary: Prepared::new(&path.with_extension("tmp"))?,
            directory: Prepared::new(path.parent().unwrap_or(Path::new("/")))?,
        })
    }

    /// `open`, `write` until all is written, the flush, `close`; for the name the directory's
    /// `open`, `fsync`, `close`. To replace the file, a new one and `rename` in between.
    fn write(&self, level: Level, replace: bool, bytes: &[u8]) -> io::Result<()> {
        let (path, how) = if replace {
            (&self.temporary, flags::EXCLUSIVE)
        } else {
            (&self.path, flags::TRUNCATE)
        };
        let file = path.open(how)?;
        write_to(&file, bytes)?;
        flush(&file, level)?;
        drop(file);
        if replace {
            self.temporary.rename(&self.path)?;
        }
        if level == Level::Full {
            self.directory.open(flags::READ)?.sync_all()?;
        }
        Ok(())
    }
}
