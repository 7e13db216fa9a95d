//! Many files in one call.
//!
//! | job | call |
//! |---|---|
//! | read many files | [`Reader::read`] |
//! | write many files | [`Writer::write`] |
//! | ask for size and times of many files, remove them, copy them | [`Files::stat`], [`Files::remove`], [`Files::copy`] |
//! | stop a batch from elsewhere, or see how far it is | [`Control`] |
//! | bind smallfry to another language | [`engine`], [`Arena`] |
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
//! [`Strategy::Auto`], which is the default, begins on the calling thread, measures its own operations and adds threads
//! while that makes the whole faster. Files in the kernel's cache are read by as many threads as there are processors,
//! if there are enough of them to be worth a thread; a disk or network that makes each operation wait gets more. Nothing
//! is assumed about the disk, and what proves useless is taken back.
//!
//! # Errors
//!
//! An error belongs to its entry and stops nothing else, unless `fail_fast` is asked. Being out of file descriptors is
//! not an error at first: the operation waits for others to close theirs, for five seconds at most. If that was in vain,
//! those behind it fail at once, until one can be opened.
//!
//! # What is not promised
//!
//! - **Nothing is flushed**, as in [`fs`](crate::fs), unless [`Writer::durability`] says so.
//! - Entries are begun in the order in which they were given, but finish in any. Only writes to one path, and copies to
//!   one destination, are done one after the other: the last one wins.

mod arena;
mod bytes;
mod control;
mod controller;
mod descriptors;
pub mod engine;
mod files;
pub(crate) mod place;
mod reader;
mod residents;
mod settings;
#[cfg(feature = "tree")]
mod tree;
mod workers;
mod writer;

use std::num::NonZeroUsize;

pub use arena::Arena;
pub use bytes::Bytes;
pub use control::{Control, Progress};
pub use files::Files;
pub use place::key_of;
pub use reader::{Contents, ReadFile, Reader};
#[cfg(feature = "tree")]
pub use tree::{ReadFound, Tree};
pub use writer::{Durable, Report, WriteFile, Writer};

/// How many operations of a batch are under way at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Found out by measuring while the batch runs; it begins on the calling thread.
    #[default]
    Auto,
    /// One after the other, on the thread that calls.
    CallingThread,
    /// As many at once as this, the calling thread among them.
    Threads(NonZeroUsize),
}
