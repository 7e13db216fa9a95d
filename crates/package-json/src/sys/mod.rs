//! The system calls, one file per family of systems, with the same functions in each.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use smallfry::Operation;

pub(crate) use platform::{Stamp, look, read};

/// Larger files are refused: nobody's package.json is, and reading one takes five times its size. In bytes.
const MOST: u64 = 256 << 20;

/// What has a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing, or a directory: for Node that is the same.
    Nothing,
    /// Something that may have been read at this stamp.
    File(Stamp),
}

/// The step that failed, and why.
pub(crate) type Failure = (Operation, io::Error);

fn too_large() -> Failure {
    let reason = "larger than 256 MiB";
    (
        Operation::Read,
        io::Error::new(io::ErrorKind::FileTooLarge, reason),
    )
}

/// What is no file may never come to an end, or never begin.
fn no_file() -> Failure {
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
fn may_change_unseen(changed: (i64, u32)) -> bool {
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
