//! The rows in Rust.

use super::super::prelude::*;
use super::{Format, Request, raw};
use smallfry::archive::Unpacker;
use std::fs::File;
use std::io::BufReader;

pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let (archive, to) = (Path::new(&request.archive), Path::new(&request.to));
    let meter = Meter::start();
    let unpacked = match functions {
        Functions::Raw => raw::unpack(archive, to, request.threads.count()),
        Functions::Std => by_crates(archive, request.format, to),
        _ => Unpacker::new()
            .unpack(archive, to)
            .map(drop)
            .map_err(io::Error::other),
    };
    unpacked.map_err(failed("unpack", archive))?;
    Ok(Times::of(0, 0, meter.stop()))
}

/// Unpacks an archive as a program does that has only the crate for its format.
fn by_crates(archive: &Path, format: Format, to: &Path) -> io::Result<()> {
    let reader = BufReader::new(File::open(archive)?);
    match format {
        Format::Tar => tar::Archive::new(reader).unpack(to),
        Format::Gzip => tar::Archive::new(flate2::bufread::GzDecoder::new(reader)).unpack(to),
        Format::Zip => Ok(zip::ZipArchive::new(reader)?.extract(to)?),
    }
}
