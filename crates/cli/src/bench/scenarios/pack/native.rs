//! The rows in Rust.

use super::super::prelude::*;
use super::{Format, Request, raw};
use smallfry::archive::Packer;

pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let (tree, archive) = (Path::new(&request.tree), Path::new(&request.archive));
    let meter = Meter::start();
    let packed = match functions {
        Functions::Raw => raw::pack(tree, archive, request.threads.count()),
        Functions::Std => request.format.write(tree, archive),
        _ => Packer::new()
            .pack(format_of(request.format), archive, [(tree, "")])
            .map(drop)
            .map_err(io::Error::other),
    };
    packed.map_err(failed("pack", archive))?;
    Ok(Times::of(0, 0, meter.stop()))
}

const fn format_of(format: Format) -> smallfry::archive::Format {
    match format {
        Format::Tar => smallfry::archive::Format::Tar,
        Format::Gzip => smallfry::archive::Format::TarGz,
        Format::Zip => smallfry::archive::Format::Zip,
    }
}
