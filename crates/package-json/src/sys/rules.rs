//! Rules for every system: the maximum size, errors, and when a time is too new to be trusted.

use smallfry::Operation;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The maximum size in bytes. No real package.json is larger, and reading one takes five times its
/// size in memory.
pub(super) const MAX_SIZE: u64 = 256 << 20;

/// The step that failed, and its error.
pub(crate) type Failure = (Operation, io::Error);

pub(super) fn too_large() -> Failure {
    let reason = "larger than 256 MiB";
    (
        Operation::Read,
        io::Error::new(io::ErrorKind::FileTooLarge, reason),
    )
}

/// The error for anything but a file: reading a pipe or device may never begin or never end.
pub(super) fn not_a_file() -> Failure {
    let reason = "neither a file nor a directory";
    (
        Operation::Open,
        io::Error::new(io::ErrorKind::InvalidInput, reason),
    )
}

/// Returns true if a file with this time of change (seconds and nanoseconds since 1970) could
/// change again and keep the time.
///
/// The clock for such times ticks 100 to 1,000 times a second, and file systems without nanoseconds
/// round to one or two seconds (FAT). git's index has the same rule:
/// [racy-git](https://git-scm.com/docs/racy-git).
pub(super) fn may_change_unseen(changed: (i64, u32)) -> bool {
    let granularity = if changed.1 == 0 {
        Duration::from_secs(2)
    } else {
        Duration::from_millis(100)
    };
    let Ok(seconds) = u64::try_from(changed.0) else {
        return false;
    };
    let settled = UNIX_EPOCH + Duration::new(seconds, changed.1) + granularity;
    SystemTime::now() < settled
}
