//! Many files in one call.
//!
//! | job | call |
//! |---|---|
//! | read many files | [`Reader::read`] |
//! | write many files | [`Writer::write`] |
//! | get size and times of many files, remove them, copy them | [`Files::stat`], [`Files::remove`], [`Files::copy`] |
//! | cancel a batch from another thread, or show its progress | [`Control`] |
//! | bind smallfry to another language | [`Reader::task`], [`Writer::task`], [`Arena`], the crate `smallfry-workers` |
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = |name: &str| directory.path().join(name);
//! use smallfry::bulk::{Reader, Writer};
//!
//! let report = Writer::new().create_parents(true).write([
//!     (path("posts/one.md"), "# One"),
//!     (path("posts/two.md"), "# Two"),
//! ]);
//! assert_eq!(report.errors().count(), 0);
//!
//! for (index, contents) in Reader::new().read([path("posts/one.md"), path("posts/two.md")]) {
//!     println!("{index}: {} bytes", contents?.len());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # How many at once
//!
//! [`Strategy::Auto`], the default, begins on the calling thread. It measures its own operations
//! and adds threads while that raises the throughput. Files in the page cache are read by as many
//! threads as there are processors, if there are enough files to pay for a thread. A disk or
//! network that makes each operation wait gets more threads. Nothing is assumed about the disk, and
//! threads that do not pay are taken back.
//!
//! # Errors
//!
//! An error belongs to its entry and stops nothing else, unless `fail_fast` is set. An operation
//! that finds no descriptor left waits up to five seconds for one. After a wait in vain, further
//! operations fail at once until a file can be opened again.
//!
//! # What is not promised
//!
//! - **A flush.** Nothing is flushed, as in [`fs`](crate::fs), unless [`Writer::durability`] is
//!   set.
//! - **An order.** Entries begin in their order and end in any. Only writes to one path, and copies
//!   to one destination, follow each other: the last one wins.

mod arena;
mod bytes;
mod chunk;
mod files;
mod page_use;
mod pool;
mod reader;
mod settings;
#[cfg(feature = "tree")]
mod tree;
mod writer;

pub use smallfry_workers::{Control, Progress, Strategy};

pub use crate::path::{key_of, max_workers};
pub use arena::Arena;
pub use bytes::Bytes;
pub use files::Files;
pub use reader::{Contents, ReadFile, Reader};
#[cfg(feature = "tree")]
pub use tree::{ReadFound, Tree};
pub use writer::{Durable, Report, WriteFile, Writer};
