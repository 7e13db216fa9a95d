//! Whole files.

use std::io;
use std::path::Path;

/// As `std::fs::write`; whoever was chosen closes the file.
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    smallfry_bench_closing::write(crate::chosen()?, path.as_ref(), contents.as_ref())
}
