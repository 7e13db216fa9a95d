//! The rows in Rust. The counterpart of `driver.js`: same steps, same bytes.

use super::super::prelude::*;
use super::{Level, Request};
use crate::bench::runtime::native::raw::{Prepared, flags, write_to};
use crate::bench::runtime::native::usage::nanoseconds;
use smallfry::{Durability, WriteOptions};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

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
        Functions::Raw => Raw::new(path).and_then(|raw| {
            if replace {
                batch(request, || raw.replace(level, bytes))
            } else {
                batch(request, || raw.write(level, bytes))
            }
        }),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    times.map_err(failed("write", path))
}

/// Generic so that each implementation's call is in the loop, not behind a pointer.
fn batch<E: Into<io::Error>>(
    request: &Request,
    mut call: impl FnMut() -> Result<(), E>,
) -> io::Result<Times> {
    for _ in 0..request.warm_up {
        call().map_err(Into::into)?;
    }
    let mut samples = Vec::with_capacity(request.samples as usize);
    let meter = Meter::start();
    for _ in 0..request.samples {
        let started = Instant::now();
        call().map_err(Into::into)?;
        samples.push(nanoseconds(started.elapsed()));
    }
    Ok(Times {
        usage: meter.stop(),
        files: samples.len(),
        bytes: samples.len() * request.text.len(),
        samples_ns: samples,
        ..Times::default()
    })
}

fn write_std(path: &Path, bytes: &[u8], level: Level) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    match level {
        // std has no call for the name.
        Level::Full => Err(io::ErrorKind::Unsupported.into()),
        _ => flush(&file, level),
    }
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
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        Ok(Self {
            path: Prepared::new(path)?,
            temporary: Prepared::new(Path::new(&temporary))?,
            directory: Prepared::new(path.parent().unwrap_or(Path::new("/")))?,
        })
    }

    /// `open`, `write` until all is written, the flush, `close`; for the name the directory's
    /// `open`, `fsync`, `close`.
    fn write(&self, level: Level, bytes: &[u8]) -> io::Result<()> {
        write_flushed(&self.path, flags::TRUNCATE, level, bytes)?;
        self.flush_directory(level)
    }

    /// The same with a new file, and `rename` before the directory is flushed.
    fn replace(&self, level: Level, bytes: &[u8]) -> io::Result<()> {
        write_flushed(&self.temporary, flags::EXCLUSIVE, level, bytes)?;
        self.temporary.rename(&self.path)?;
        self.flush_directory(level)
    }

    fn flush_directory(&self, level: Level) -> io::Result<()> {
        if level != Level::Full {
            return Ok(());
        }
        self.directory.open(flags::DIRECTORY)?.sync_all()
    }
}

fn write_flushed(path: &Prepared, how: i32, level: Level, bytes: &[u8]) -> io::Result<()> {
    let file = path.open(how)?;
    write_to(&file, bytes)?;
    flush(&file, level)
}
