//! Native jobs: calls for one file that finish later, with a promise or a callback.
//!
//! A job is put on one queue for the process (`queue.rs`), whose threads take jobs in order of
//! arrival. The first job starts at once. Jobs that are handed in meanwhile wait there without a
//! system call each. Long files are read and written in slices and go to the end of the queue
//! between slices, so that a huge file never holds up small ones. Durable writes have a queue of
//! their own, where they share barriers (`group_commit.rs`). Results go to the mailbox of the
//! environment. What the kernel has in memory needs no job (`look_up.rs`). `listing.rs` lists whole
//! trees.

mod group_commit;
#[cfg(unix)]
mod list_all;
#[cfg(unix)]
mod listing;
#[cfg(target_os = "linux")]
mod look_up;
mod metadata;
mod progress;
pub(crate) mod queue;
mod submit;
mod task;

#[cfg(unix)]
pub(crate) use list_all::FUNCTIONS as LISTING;
#[cfg(target_os = "linux")]
pub(crate) use look_up::FUNCTIONS as LOOK_UP;
pub(crate) use submit::FUNCTIONS;
