//! Simulated crashes: the states that a crash may leave when not everything was flushed.
//!
//! - Use [`Options::record`](crate::Options::record) to have a mount record a [`Log`], or build one
//!   by hand.
//! - Use [`Log::crash`] to get the [`Survivors`] of one [`Crash`], after any number of operations.
//!   Thousands of crashes can be simulated per second.
//! - Use [`Log::without_flushes`] to check that a test would notice a missing flush.
//!
//! A log holds operations, flushes and [acknowledgements](ACKNOWLEDGEMENT), in order. An
//! acknowledgement is the moment at which a program reported that something is safe.
//!
//! ```
//! use smallfry_slowfs::crash::{Attributes, Crash, Inode, Kind, Log, Model};
//! use std::path::Path;
//!
//! // This program forgets to flush the directory.
//! let mut log = Log::default();
//! let file = log.make(Inode::ROOT, "new".as_ref(), Kind::File, Attributes::default())?;
//! log.write(file, 0, b"important")?;
//! log.flush(file, false)?;
//! log.rename((Inode::ROOT, "new".as_ref()), (Inode::ROOT, "file".as_ref()))?;
//! log.acknowledge("saved".as_ref());
//!
//! let is_lost = |seed| {
//!     let survivors = log.crash(Crash { point: log.len(), model: Model::Weak, seed });
//!     assert_eq!(survivors.acknowledged(), ["saved"]);
//!     survivors.get(Path::new("file")).is_none()
//! };
//! assert!((0..100).any(is_lost));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What is not modelled
//!
//! - Stale bytes of other files: lost parts of a file that grew are zero.
//! - syncfs(2) and sync(2), which only virtiofs gets to see among the FUSE file systems. They flush
//!   nothing here, so a program that relies on them seems to lose more than it would.
//! - Times, extended attributes, and pipes, sockets and devices beyond their names.

mod contents;
mod describe;
mod extents;
mod image;
mod log;
mod model;
mod node;
mod operation;
mod restore;
mod store;
mod survivors;
mod without;

pub use log::Log;
pub use model::{Crash, Model};
pub use node::{Attributes, Inode, Kind};
pub use survivors::{Survivor, Survivors};

/// The beginning of names whose look-up is an acknowledgement.
///
/// When a program looks up such a name in any directory of a mount that records, the rest of the
/// name goes into the log. The look-up always fails with `ENOENT`, and no such file can be made.
pub const ACKNOWLEDGEMENT: &str = ".smallfry-ack-";
