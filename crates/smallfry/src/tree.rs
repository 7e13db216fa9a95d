//! Copies, mirrors, removes and lists whole trees of files.
//!
//! | job | call |
//! |---|---|
//! | copy a directory with all that is in it | [`Copier`] |
//! | bring a copy up to date, and delete in it what is gone | [`Mirror`] |
//! | remove one | [`Remover`] |
//! | remove one in another process, and go on at once | [`Later`] |
//! | hash one | `hash::Hasher::tree`, with the feature `hash` |
//! | leave out entries by patterns | `Exclude`, with the feature `tree` |
//! | list files by patterns and ignore rules | `TreeOptions`, with the feature `tree` |
//!
//! Copying, mirroring, removing and hashing are done by as many threads as pay, which is measured
//! meanwhile. They go down from one open directory to the next by single names and never follow a
//! link, but for the source of a copy with [`Links::Follow`]. So another program that exchanges a
//! directory for a link cannot lead them elsewhere.

mod copy;
pub(crate) mod directory;
#[cfg(feature = "tree")]
mod exclude;
mod later;
mod mirror;
pub(crate) mod new_entry;
#[cfg(feature = "tree")]
mod patterns;
pub(crate) mod probe;
mod remove;
pub(crate) mod report;
pub(crate) mod traversal;
#[cfg(feature = "tree")]
mod walk;
pub(crate) mod worker_pool;

pub use copy::{Copier, Links, Method};
#[cfg(feature = "tree")]
pub use exclude::Exclude;
pub use later::Later;
pub use mirror::{Change, Mirror};
pub use new_entry::Existing;
pub use remove::Remover;
pub use report::{Report, TreeError};
#[cfg(feature = "tree")]
pub use walk::{TreeOptions, Walk};
