//! What holds on every system: the largest file, errors, and when a time is too new to be trusted.

use smallfry::Operation;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Larger files are refused: nobody's package.json is, and reading one takes five times its size. In bytes.
pub(super) const MAX_SIZE: u64 = 256 << 20;

/// The step that failed, and why.
pub(crate) type Failure = (Operation, io::Error);

pub(super) fn too_large() -> Failure {
    let reason = "larger than 256 MiB";
    (
        Operation::Read,
        io::Error::new(io::ErrorKind::FileTooLarge, reason),
    )
}

/// What is no file may never come to an end, or never begin.
pub(super) fn not_a_file() -> Failure {
    let reason = "neither a file nor a directory";
    (
        Operation::Open,
        io::Error::new(io::ErrorKind::InvalidInput, reason),
    )
}

/// Whether a file that last changed then might change once more without its times telling: seconds and nanoseconds since 1970.
///
/// Times are taken from a clock that ticks 100 to 1,000 times a second, and file systems without nanoseconds round them to
/// one or two seconds (FAT). So does git's index:
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
