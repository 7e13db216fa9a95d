//! Copies, removes and lists whole trees of files.
//!
//! | job | call |
//! |---|---|
//! | copy a directory with all that is in it | `Copier`, on Unix |
//! | remove one | `Remover`, on Unix |
//! | hash one | `hash::Hasher::tree`, on Unix with the feature `hash` |
//! | list files by patterns and ignore rules | `TreeOptions`, with the feature `tree` |
//!
//! Copying, removing and hashing are done by as many threads as pay, which is measured meanwhile.
//! They go down from one open directory to the next by single names and never follow a link. So
//! another program that exchanges a directory for a link cannot lead them elsewhere.

#[cfg(unix)]
mod copy;
#[cfg(unix)]
pub(crate) mod directory;
#[cfg(unix)]
pub(crate) mod new_entry;
#[cfg(feature = "tree")]
mod patterns;
#[cfg(unix)]
mod remove;
#[cfg(unix)]
pub(crate) mod report;
#[cfg(unix)]
pub(crate) mod traversal;
#[cfg(feature = "tree")]
mod walk;
#[cfg(unix)]
pub(crate) mod worker_pool;

#[cfg(unix)]
pub use copy::{Copier, Links};
#[cfg(unix)]
pub use new_entry::Existing;
#[cfg(unix)]
pub use remove::Remover;
#[cfg(unix)]
pub use report::{Report, TreeError};
#[cfg(feature = "tree")]
pub use walk::{TreeOptions, Walk};
