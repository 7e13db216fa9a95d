//! A zip that comes from a stream. The list of its entries is at its end, so it is kept in a file
//! without a name until it is unpacked. That file is in the destination, where there is room for
//! what the zip becomes, and not in a temporary directory, which may be in memory.

use std::fs::File;
use std::io::{self, BufRead as _, Read, Write as _};
use std::path::Path;

use super::options::Options;
use super::unpacking::Fault;
use super::window::Window;

/// The bytes that the headers of a zip may have beside its files.
const HEADERS: u64 = 16 << 20;

/// Reads a stream to its end into a file without a name, in the directory `to`.
pub(super) fn spool(
    mut reader: Window<impl Read>,
    to: &Path,
    options: &Options,
) -> Result<File, Fault> {
    let limit = options.limits.bytes.saturating_add(HEADERS);
    let mut file = tempfile::tempfile_in(to).map_err(Fault::Writing)?;
    let mut length = 0;
    loop {
        if options.control.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(file);
        }
        let count = bytes.len();
        length += count as u64;
        if length > limit {
            let reason = format!("the zip alone is longer than {limit} bytes");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, reason).into());
        }
        file.write_all(bytes).map_err(Fault::Writing)?;
        reader.consume(count);
    }
}
