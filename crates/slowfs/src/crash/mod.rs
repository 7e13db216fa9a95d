//! What a crash may leave of what was not flushed.
//!
//! A [`Log`] holds what was done to a tree, in order: operations, flushes, and [acknowledgements](ACKNOWLEDGEMENT), which are
//! the moments at which a program told somebody that something is safe. A mount with
//! [`Options::record`](crate::Options::record) writes one. The states that a [`Crash`] after any number of its operations may
//! leave are then made from it off-line, as many as wanted, thousands a second: [`Log::crash`] gives the [`Survivors`].
//!
//! ```
//! use smallfry_slowfs::crash::{Attributes, Crash, Inode, Kind, Log, Model};
//! use std::path::Path;
//!
//! // What a program does that forgets to flush the directory.
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
//! - Stale bytes of other files: what is lost of a file that grew is zero.
//! - syncfs(2) and sync(2), which no FUSE file system but virtiofs gets to see: they flush nothing here, so a program that
//!   relies on them seems to lose more than it would.
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

/// Looking up a name that begins like this, in any directory of a mount that records, puts an acknowledgement with the rest of
/// the name into the log. It is always answered that there is no such file, and none can be made.
pub const ACKNOWLEDGEMENT: &str = ".smallfry-ack-";
