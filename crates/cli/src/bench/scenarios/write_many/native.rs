//! The rows in Rust. The counterpart of `driver.js`: same steps, same bytes.

use super::super::prelude::*;

/// Writes all files once.
pub(super) fn run(functions: Functions, request: &many::Request) -> Result<Times, PeerFailure> {
    let files: Vec<PathBuf> = request.layout.paths().map(PathBuf::from).collect();
    let contents: Vec<Vec<u8>> = (0..files.len())
        .map(|index| contents_of(index, request.bytes))
        .collect();
    let raw = files.iter().filter(|_| functions == Functions::Raw);
    let prepared: io::Result<Vec<Prepared>> = raw.map(|path| Prepared::new(path)).collect();
    let prepared = prepared.map_err(failed("write", &request.layout.directory))?;
    let mut entries = files.iter().zip(&contents);
    let meter = Meter::start();
    let done = match functions {
        Functions::Std => entries.try_for_each(|(path, bytes)| fs::write(path, bytes)),
        Functions::Smallfry if request.way.style.is_bulk() => {
            bulk::write(entries, request.way.threads)
        }
        Functions::Smallfry => {
            entries.try_for_each(|(path, bytes)| Ok(smallfry::fs::write(path, bytes)?))
        }
        Functions::Raw => {
            let threads = request.way.threads.count();
            let write = |(): &mut (), index: usize| prepared[index].write(false, &contents[index]);
            share::share(threads, files.len(), || (), write).map(|_| ())
        }
        #[cfg(feature = "peers")]
        Functions::Rayon => {
            peers::rayon(&files, |index, path| fs::write(path, &contents[index])).map(|_| ())
        }
        #[cfg(feature = "peers")]
        Functions::Tokio => {
            // A task owns what it writes: of what the caller keeps that is a copy.
            let write = |index: usize, path| tokio::fs::write(path, contents[index].clone());
            peers::tokio(&files, write).map(|_| ())
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    let usage = meter.stop();
    done.map_err(failed("write", &request.layout.directory))?;
    let bytes = contents.iter().map(Vec::len).sum();
    Ok(Times::of(files.len(), bytes, usage))
}
