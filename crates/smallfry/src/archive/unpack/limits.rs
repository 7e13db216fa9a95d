//! Limits on what an archive may become.

use std::io;

/// The bytes that an archive may always become, whatever its ratio.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// The limits of one archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: u64::MAX,
            bytes: u64::MAX,
            ratio: u64::MAX,
        }
    }
}

impl Limits {
    /// Checks an archive of which `archived` bytes have become so many entries and bytes.
    pub(super) fn check(&self, entries: u64, bytes: u64, archived: u64) -> io::Result<()> {
        let reason = if entries > self.entries {
            format!("the archive has more than {} entries", self.entries)
        } else if bytes > self.bytes {
            format!("the archive has more than {} bytes of files", self.bytes)
        } else if bytes > ALWAYS_ALLOWED.max(archived.saturating_mul(self.ratio)) {
            format!(
                "the archive becomes more than {} times as large",
                self.ratio
            )
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, reason))
    }
}
