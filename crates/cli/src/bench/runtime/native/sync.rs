//! The scenario `sync` in Rust: one file written again and again. The counterpart of `driver/sync.js`: same steps, same bytes.

use super::failed;
use super::floor::Replacement;
use super::usage::{Meter, nanoseconds};
use crate::bench::runtime::protocol::{Functions, Level, PeerFailure, Sync, Times};
use smallfry::{Durability, WriteOptions};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Runs one batch.
pub(super) fn run(functions: Functions, request: &Sync) -> Result<Times, PeerFailure> {
    let path = Path::new(&request.path);
    let bytes = request.text.as_bytes();
    let Sync { level, replace, .. } = *request;
    let times = match functions {
        Functions::Std => batch(request, || write_std(path, bytes, level)),
        Functions::Smallfry => {
            let mut options = WriteOptions::new();
            options.durability(durability(level)).replace(replace);
            batch(request, || options.write(path, bytes).map(drop))
        }
        Functions::Floor => Replacement::new(path).and_then(|floor| {
            if replace {
                batch(request, || floor.replace(level, bytes))
            } else {
                batch(request, || floor.write(level, bytes))
            }
        }),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    times.map_err(failed("write", path))
}

/// Generic so that each implementation's call is in the loop, not behind a pointer.
fn batch<E: Into<io::Error>>(
    request: &Sync,
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
        Level::None => Ok(()),
        Level::Data => file.sync_data(),
        Level::File => file.sync_all(),
        // std has no call for the name.
        Level::Full => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn durability(level: Level) -> Durability {
    match level {
        Level::None => Durability::None,
        Level::Data => Durability::Data,
        Level::File | Level::Full => Durability::Full,
    }
}
