//! The scenario `write-string` in Rust. The counterpart of `driver/write-string.js`: same steps, same names.

use super::failed;
use super::floor::{self, Prepared};
use super::usage::{Meter, nanoseconds};
use crate::bench::runtime::protocol::{
    Addressing, Function, Functions, PeerFailure, Samples, WriteString,
};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Runs one batch.
pub(super) fn run(functions: Functions, request: &WriteString) -> Result<Samples, PeerFailure> {
    let path = Path::new(&request.path);
    let bytes = request.text.repeat(request.length as usize).into_bytes();
    let mut target = Target::prepare(request, path, bytes.len() as u64)?;
    let prepared = Prepared::new(path);
    let append = request.function == Function::Append;
    let by_fd = request.addressing == Addressing::Fd;
    let bytes = bytes.as_slice();
    let write = failed("write", path);
    let ns = match (functions, by_fd) {
        (Functions::Std, true) => {
            batch(request, &mut target, |file| file_of(file)?.write_all(bytes))
        }
        (Functions::Std, false) if append => batch(request, &mut target, |_| {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(path)?
                .write_all(bytes)
        }),
        (Functions::Std, false) => batch(request, &mut target, |_| std::fs::write(path, bytes)),
        (Functions::Smallfry, true) => batch(request, &mut target, |file| {
            Ok(smallfry::fs::write_to(file_of(file)?, bytes)?)
        }),
        (Functions::Smallfry, false) if append => batch(request, &mut target, |_| {
            Ok(smallfry::fs::append(path, bytes)?)
        }),
        (Functions::Smallfry, false) => batch(request, &mut target, |_| {
            Ok(smallfry::fs::write(path, bytes)?)
        }),
        (Functions::Floor, true) => batch(request, &mut target, |file| {
            write_all(file_of(file)?, bytes)
        }),
        (Functions::Floor, false) => match prepared {
            Ok(prepared) => batch(request, &mut target, |_| prepared.write(append, bytes)),
            Err(error) => Err(error),
        },
        (Functions::Node | Functions::Before, _) => Err(io::ErrorKind::Unsupported.into()),
    };
    let samples = ns.map_err(write)?;
    target.remove()?;
    Ok(samples)
}

/// The warm-up, then the samples. Generic so that each implementation's call is in the loop, not behind a pointer.
fn batch(
    request: &WriteString,
    target: &mut Target<'_>,
    mut call: impl FnMut(Option<&File>) -> io::Result<()>,
) -> io::Result<Samples> {
    for _ in 0..request.warm_up {
        call(target.file.as_ref())?;
        target.reset(1)?;
    }
    let mut ns = Vec::with_capacity(request.samples as usize);
    let meter = Meter::start();
    for _ in 0..request.samples {
        let started = Instant::now();
        for _ in 0..request.calls {
            call(target.file.as_ref())?;
        }
        ns.push(nanoseconds(started.elapsed()));
        target.reset(request.calls)?;
    }
    Ok(Samples {
        ns,
        usage: meter.stop(),
    })
}

fn file_of(file: Option<&File>) -> io::Result<&File> {
    file.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(unix)]
fn write_all(file: &File, bytes: &[u8]) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    floor::write_all(file.as_raw_fd(), bytes)
}

#[cfg(not(unix))]
fn write_all(_: &File, _: &[u8]) -> io::Result<()> {
    let _ = floor::Prepared::new;
    Err(io::ErrorKind::Unsupported.into())
}

/// The file written to, and what has to happen to it between samples, outside the timing.
struct Target<'a> {
    request: &'a WriteString,
    path: &'a Path,
    /// The caller's descriptor, when the case is by descriptor.
    file: Option<File>,
    /// Bytes a call adds to a file that grows.
    step: u64,
    grown: u64,
}

impl<'a> Target<'a> {
    fn prepare(request: &'a WriteString, path: &'a Path, step: u64) -> Result<Self, PeerFailure> {
        let mut target = Self {
            request,
            path,
            file: None,
            step,
            grown: 0,
        };
        match request.addressing {
            Addressing::Fd => target.open().map_err(failed("open", path))?,
            Addressing::Overwritten => {
                let bytes = request.text.repeat(request.length as usize);
                std::fs::write(path, bytes).map_err(failed("write", path))?;
            }
            Addressing::New | Addressing::Path => {}
        }
        Ok(target)
    }

    fn open(&mut self) -> io::Result<()> {
        self.file = None;
        self.file = Some(File::create(self.path)?);
        Ok(())
    }

    fn reset(&mut self, calls: u32) -> io::Result<()> {
        match self.request.addressing {
            Addressing::New => return std::fs::remove_file(self.path),
            Addressing::Path => return Ok(()),
            Addressing::Overwritten if self.request.function == Function::Write => return Ok(()),
            Addressing::Overwritten | Addressing::Fd => {}
        }
        self.grown += self.step * u64::from(calls);
        if self.grown + self.step * u64::from(self.request.calls) <= self.request.grow_to {
            return Ok(());
        }
        self.grown = 0;
        if self.file.is_some() {
            self.open()
        } else {
            OpenOptions::new().write(true).open(self.path)?.set_len(0)
        }
    }

    fn remove(self) -> Result<(), PeerFailure> {
        drop(self.file);
        let device = Path::new(crate::bench::scenario::write_string::NULL_DEVICE);
        if self.request.addressing == Addressing::New || self.path == device {
            return Ok(());
        }
        std::fs::remove_file(self.path).map_err(failed("remove", self.path))
    }
}
