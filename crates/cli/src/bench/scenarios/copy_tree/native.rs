//! The rows in Rust.

use super::super::prelude::*;
use super::Request;
use smallfry::tree::Copier;

pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let (from, to) = (Path::new(&request.from), Path::new(&request.to));
    let meter = Meter::start();
    let copied = match functions {
        Functions::Std => copy(from, to),
        _ => Copier::new()
            .copy(from, to)
            .map(drop)
            .map_err(io::Error::other),
    };
    copied.map_err(failed("copy", from))?;
    Ok(Times::of(0, 0, meter.stop()))
}

/// Copies a directory as a program does that has only `std::fs`.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &copied)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &copied)?;
        } else {
            fs::copy(&source, &copied)?;
        }
    }
    Ok(())
}
