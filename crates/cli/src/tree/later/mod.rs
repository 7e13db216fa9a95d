//! `smallfry rm --later`: a tree is renamed at once, and removed by a process of its own.
//!
//! Such a process has a slot: a file in a directory of the user that names the tree. The process
//! holds a lock on it (`flock`), which ends with the process, however it ends. The slot is written
//! before the tree is renamed. So a slot with a name and without a lock was left by a process that
//! was killed, and the next call gives it to another process. Two slots for each file system and
//! user bound how many processes wait for one disk.
//!
//! Nothing is flushed. After a power failure the tree may have the hidden name, and no slot.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::{Slots, work_off};
#[cfg(unix)]
pub(super) use unix::{Slots, work_off};

use smallfry::tree::{Report, TreeError};

/// The end of a removal that had a slot.
#[cfg_attr(not(unix), expect(dead_code, reason = "there are no slots"))]
pub(super) enum Removal {
    /// Another process does it.
    Later,
    /// No other process could be started.
    Now(Result<Report, TreeError>),
}
