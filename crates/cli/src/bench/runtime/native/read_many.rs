//! The scenario `read-many` in Rust. The counterpart of `driver/read-many.js`: same steps, same order.

use super::failed;
use super::floor::Prepared;
use super::usage::Meter;
use crate::bench::runtime::protocol::{Data, Functions, PeerFailure, ReadMany, ReadTimes};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads all files once.
pub(super) fn run(functions: Functions, request: &ReadMany) -> Result<ReadTimes, PeerFailure> {
    let files = list(Path::new(&request.folder))?;
    match (functions, request.data) {
        (Functions::Std, Data::Buffer) => keep(request, &files, |path| fs::read(path)),
        (Functions::Std, Data::String) => keep(request, &files, |path| fs::read_to_string(path)),
        (Functions::Smallfry, Data::Buffer) => {
            keep(request, &files, |path| Ok(smallfry::fs::read(path)?))
        }
        (Functions::Smallfry, Data::String) => keep(request, &files, |path| {
            Ok(smallfry::fs::read_to_string(path)?)
        }),
        (Functions::Floor, _) => floor(&files),
        (Functions::Node | Functions::Before, _) => Err(
            failed("read", Path::new(&request.folder))(io::Error::from(io::ErrorKind::Unsupported)),
        ),
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, PeerFailure> {
    let mut files = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(failed("read folder", folder))?;
    files.sort_unstable();
    Ok(files)
}

/// Generic so that each implementation's call is in the loop, not behind a pointer.
fn keep<T: AsRef<[u8]>>(
    request: &ReadMany,
    files: &[PathBuf],
    read: impl Fn(&Path) -> io::Result<T>,
) -> Result<ReadTimes, PeerFailure> {
    let mut all = Vec::with_capacity(files.len());
    let meter = Meter::start();
    for path in files {
        all.push(read(path).map_err(failed("read", path))?);
    }
    for (path, contents) in files.iter().zip(&all) {
        look(contents.as_ref()).map_err(failed("read", path))?;
    }
    let usage = meter.stop();
    if request.compare {
        for (path, contents) in files.iter().zip(&all) {
            let right = fs::read(path).map_err(failed("read", path))?;
            if right != contents.as_ref() {
                return Err(failed("read", path)(io::Error::other("read wrongly")));
            }
        }
    }
    Ok(ReadTimes {
        files: all.len(),
        bytes: all.iter().map(|contents| contents.as_ref().len()).sum(),
        usage,
    })
}

/// One buffer for all files, one after the other.
fn floor(files: &[PathBuf]) -> Result<ReadTimes, PeerFailure> {
    let prepared = files
        .iter()
        .map(|path| Prepared::new(path).map_err(failed("prepare", path)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut buffer = Vec::new();
    let mut bytes = 0;
    let meter = Meter::start();
    for (path, file) in files.iter().zip(&prepared) {
        let contents = file.read(&mut buffer).map_err(failed("read", path))?;
        look(contents).map_err(failed("read", path))?;
        bytes += contents.len();
    }
    Ok(ReadTimes {
        usage: meter.stop(),
        files: files.len(),
        bytes,
    })
}

/// At every byte: there is no zero among them.
fn look(contents: &[u8]) -> io::Result<()> {
    if contents.contains(&0) {
        return Err(io::Error::other("a zero was found, and there is none"));
    }
    Ok(())
}
