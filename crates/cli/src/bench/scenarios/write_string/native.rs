//! The rows in Rust. The counterpart of `driver.js`: same steps, same names.

use super::super::prelude::*;
use super::super::shared::outputs::empty;
use super::{Addressing, Function, Request};
use crate::bench::runtime::native::raw::{Prepared, write_to};
use crate::bench::runtime::native::usage::nanoseconds;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Runs one batch.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let text = request.text.repeat(request.length as usize);
    let bytes = text.as_bytes();
    let path = Path::new(&request.path);
    let target = Target::prepare(request, bytes).map_err(failed("prepare", path))?;
    let append = request.function == Function::Append;
    let by_fd = request.addressing == Addressing::Fd;
    let samples = match (functions, by_fd) {
        (Functions::Std, true) => batch(target, |place| place.file()?.write_all(bytes)),
        (Functions::Std, false) if append => batch(target, |place| {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(&place.path)?
                .write_all(bytes)
        }),
        (Functions::Std, false) => batch(target, |place| std::fs::write(&place.path, bytes)),
        (Functions::Smallfry, true) => batch(target, |place| {
            Ok(smallfry::fs::write_to(place.file()?, bytes)?)
        }),
        (Functions::Smallfry, false) if append => batch(target, |place| {
            Ok(smallfry::fs::append(&place.path, bytes)?)
        }),
        (Functions::Smallfry, false) => {
            batch(target, |place| Ok(smallfry::fs::write(&place.path, bytes)?))
        }
        (Functions::Raw, true) => batch(target, |place| write_to(place.file()?, bytes)),
        (Functions::Raw, false) => batch(target, |place| place.prepared.write(append, bytes)),
        (_, _) => Err(io::ErrorKind::Unsupported.into()),
    };
    samples.map_err(failed("write", path))
}

/// Runs the warm-up, then the samples. Generic so that each implementation's call is in the loop,
/// not behind a pointer.
fn batch(
    mut target: Target<'_>,
    mut call: impl FnMut(&Place) -> io::Result<()>,
) -> io::Result<Times> {
    let request = target.request;
    for _ in 0..request.warm_up {
        call(&target.place)?;
        target.reset(1)?;
    }
    let mut ns = Vec::with_capacity(request.samples as usize);
    let meter = Meter::start();
    for _ in 0..request.samples {
        let started = Instant::now();
        for _ in 0..request.calls {
            call(&target.place)?;
        }
        ns.push(nanoseconds(started.elapsed()));
        target.reset(request.calls)?;
    }
    let usage = meter.stop();
    target.close()?;
    Ok(Times {
        files: ns.len(),
        samples_ns: ns,
        usage,
        ..Times::default()
    })
}

/// The place that the next call writes to.
struct Place {
    path: PathBuf,
    prepared: Prepared,
    /// The caller's descriptor, when the case is by descriptor.
    file: Option<File>,
}

impl Place {
    fn at(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            prepared: Prepared::new(&path)?,
            path,
            file: None,
        })
    }

    fn file(&self) -> io::Result<&File> {
        self.file
            .as_ref()
            .ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

/// The file that is written to, and what has to happen to it between samples, untimed.
struct Target<'a> {
    request: &'a Request,
    place: Place,
    made: Vec<PathBuf>,
    /// The bytes that a call adds to a file that grows.
    step: u64,
    grown: u64,
}

impl<'a> Target<'a> {
    fn prepare(request: &'a Request, bytes: &[u8]) -> io::Result<Self> {
        let place = Place::at(PathBuf::from(&request.path))?;
        let mut target = Self {
            request,
            place,
            made: Vec::new(),
            step: bytes.len() as u64,
            grown: 0,
        };
        match request.addressing {
            Addressing::New => target.next()?,
            Addressing::Fd => target.open()?,
            Addressing::Overwritten => std::fs::write(&request.path, bytes)?,
            Addressing::Path => {}
        }
        Ok(target)
    }

    fn next(&mut self) -> io::Result<()> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!(
            "{}-{}-{count}",
            self.request.path,
            std::process::id()
        ));
        self.made.push(path.clone());
        self.place = Place::at(path)?;
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        self.place.file = None;
        self.place.file = Some(File::create(&self.place.path)?);
        Ok(())
    }

    fn reset(&mut self, calls: u32) -> io::Result<()> {
        match self.request.addressing {
            Addressing::New => return self.next(),
            Addressing::Path => return Ok(()),
            Addressing::Overwritten if self.request.function == Function::Write => return Ok(()),
            Addressing::Overwritten | Addressing::Fd => {}
        }
        self.grown += self.step * u64::from(calls);
        if self.grown + self.step * u64::from(self.request.calls) <= self.request.grow_to {
            return Ok(());
        }
        self.grown = 0;
        if self.place.file.is_some() {
            self.open()
        } else {
            empty(&self.place.path)
        }
    }

    fn close(mut self) -> io::Result<()> {
        self.made.pop();
        for path in &self.made {
            if self.request.keep_names {
                empty(path)?;
            } else {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}
