//! smallfry's bulk calls, as the rows make them.

use crate::bench::runtime::protocol::Threads;
use smallfry::bulk::{Bytes, Reader, Strategy, Writer};
use std::io;
use std::path::{Path, PathBuf};

fn strategy(threads: Threads) -> Strategy {
    match threads {
        Threads::Auto => Strategy::Auto,
        Threads::CallingThread => Strategy::CallingThread,
        Threads::Fixed(count) => Strategy::Threads(count),
    }
}

/// Hands on the contents in the order of `paths`, each as it comes.
pub(crate) fn read(
    paths: &[PathBuf],
    threads: Threads,
    mut each: impl FnMut(Bytes) -> io::Result<()>,
) -> io::Result<()> {
    for (_, contents) in Reader::new().strategy(strategy(threads)).read(paths) {
        each(contents?)?;
    }
    Ok(())
}

/// Writes all entries, then returns the first error.
pub(crate) fn write<P: AsRef<Path> + Send, B: AsRef<[u8]> + Send>(
    entries: impl IntoIterator<Item = (P, B)>,
    threads: Threads,
) -> io::Result<()> {
    let report = Writer::new().strategy(strategy(threads)).write(entries);
    let mut errors = report.into_results().into_iter().filter_map(Result::err);
    errors.next().map_or(Ok(()), |error| Err(error.into()))
}
