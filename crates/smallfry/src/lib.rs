//! Small files, read and written fast and safe.
//!
//! # Which call for which job
//!
//! | job | call |
//! |---|---|
//! | read a whole file | [`fs::read`], [`fs::read_to_string`] |
//! | read many files in one call, as many at once as is best | [`bulk::Reader`] |
//! | write many files in one call | [`bulk::Writer`] |
//! | stat, remove or copy many files | [`bulk::Files`] |
//! | read many files, one after the other, into one buffer | [`fs::read_into`] |
//! | read what is left of a file, pipe or socket that is open already | [`fs::read_from`] |
//! | write a whole file, made if missing, replaced if there | [`fs::write`] |
//! | add to the end of a file | [`fs::append`] |
//! | write only if the contents differ, so that build tools see no change where there is none | [`WriteOptions::only_if_changed`] |
//! | write into directories that may not exist yet | [`WriteOptions::create_parents`] |
//! | write a file that must not exist yet, or with given permissions | [`WriteOptions::create_new`], [`WriteOptions::mode`] |
//! | write to a file that is open already | [`fs::write_to`] |
//! | write what must survive a power failure | [`WriteOptions::durability`], for many files [`bulk::Writer::durability`] |
//! | replace a file in one step, so that nobody ever sees half of it | [`WriteOptions::replace`] |
//! | copy a file | [`fs::copy`] |
//! | write files whose closing is slow without waiting for it | [`close`](mod@close): [`close::fs`], [`close::FastCloseable`] |
//! | give a file another name, or put it in another's place, on Windows too | [`fs::rename`] |
//! | find the files of a tree by patterns and ignore rules | `tree::TreeOptions`, with the feature `tree` |
//! | bind smallfry to another language | [`raw`] |
//!
//! Each is the call of the same name in [`std::fs`] where there is one, with two differences: an [`Error`] names the
//! operation and the path, and what closing a written file reports is not lost. It turns into [`std::io::Error`] with
//! `?`.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let out = directory.path().join("dist");
//! use smallfry::{Outcome, WriteOptions, fs};
//!
//! let mut options = WriteOptions::new();
//! options.create_parents(true).only_if_changed(true);
//!
//! assert_eq!(options.write(out.join("app.js"), "export {}")?, Outcome::Written);
//! assert_eq!(options.write(out.join("app.js"), "export {}")?, Outcome::Unchanged);
//! assert_eq!(fs::read_to_string(out.join("app.js"))?, "export {}");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # System calls
//!
//! On Unix a write by path is `open`, `write`, `close` and nothing else, without the `write` if there is nothing to
//! write. A read of a regular file is `open`, `fstat`, `read`, `close`. A write or read that the system does in parts,
//! or that a signal interrupts, is continued. Paths of less than 384 bytes cost no allocation.
//!
//! # Features
//!
//! All are off unless asked for.
//!
//! - `tree`: the module `tree`. It brings in the crates `ignore` and `globset`.
//! - `backend-blocking`, `backend-rayon`, `backend-smol`, `backend-async-std`, `backend-tokio`: whose threads may close files,
//!   and whose files may be closed so ([`close::Backend`]). They bring in the crates of these names, smol only its files.
//!
//! # What is not promised
//!
//! - **Nothing is flushed** unless a level of [`durability`] is asked for. After a crash of the system, or a power failure, what
//!   was written may be missing, empty or torn. It is safe from a crash of the program only.
//! - **Nothing is atomic** but [replacement](WriteOptions::replace). A reader may see a file that is half written, and an error
//!   may leave one behind.
//! - Two writers of one file at one time are not kept apart. Appends on Unix go to the end one by one, each write
//!   system call as a whole, but a large one may take several; a network file system may not even promise that.

pub mod bulk;
pub mod close;
pub mod durability;
mod error;
pub mod fs;
mod parents;
pub mod raw;
mod sync;
mod sys;
#[cfg(feature = "tree")]
pub mod tree;
mod within;

pub use durability::Durability;
pub use error::{Error, Operation};
pub use fs::{Outcome, WriteOptions};
