//! Reads and writes small files, fast and safely.
//!
//! # Which call for which job
//!
//! Use [`fs`] for one file: its functions are those of [`std::fs`]. Use [`WriteOptions`] when a
//! write must be durable, atomic, or skipped if nothing changed. Use [`bulk`] for many files in one
//! call. Use [`close`](mod@close) where closing a file is slow. Use [`durable`] to learn what
//! survives a power failure.
//!
//! | job | call |
//! |---|---|
//! | read a whole file | [`fs::read`], [`fs::read_to_string`] |
//! | read many files in one call | [`bulk::Reader`] |
//! | write many files in one call | [`bulk::Writer`] |
//! | stat, remove or copy many files | [`bulk::Files`] |
//! | read many files one after the other into one buffer | [`fs::read_into`] |
//! | read the rest of an open file, pipe or socket | [`fs::read_from`] |
//! | write a whole file | [`fs::write`] |
//! | append to a file | [`fs::append`] |
//! | write a file only if its contents differ | [`WriteOptions::only_if_changed`] |
//! | write into directories that may not exist | [`WriteOptions::create_parents`] |
//! | write a file that must not exist, or with given permissions | [`WriteOptions::create_new`], [`WriteOptions::mode`] |
//! | write to an open file | [`fs::write_to`] |
//! | write what must survive a power failure | [`WriteOptions::durability`], for many files [`bulk::Writer::durability`] |
//! | replace a file in one step, so that no reader sees half of it | [`WriteOptions::replace`] |
//! | copy a file | [`fs::copy`] |
//! | write files without waiting for a slow close | [`close::fs`], [`close::FastCloseable`] |
//! | rename a file, or replace another one, on Windows too | [`fs::rename`] |
//! | copy, mirror or remove a whole tree | [`tree`] |
//! | pack or unpack a tar or zip | `archive`, with the feature `archive` |
//! | find the files of a tree by patterns and ignore rules | `tree::TreeOptions`, with the feature `tree` |
//! | hash files or a whole tree | `hash::Hasher`, with the feature `hash` |
//! | read or write objects of S3 and other stores | `bulk`, with the feature `store` |
//! | bind smallfry to another language | [`raw`] |
//!
//! An [`Error`] names the operation and the path, and turns into [`std::io::Error`] with `?`. The
//! error of closing a written file is not lost.
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
//! On Unix a write by path is `open`, `write`, `close` and nothing else. Empty contents need no
//! `write`. A read of a regular file is `open`, `fstat`, `read`, `close`. Partial reads and writes
//! go on, and interrupted ones are repeated. A path of less than 384 bytes needs no allocation.
//!
//! # Features
//!
//! All features are off by default.
//!
//! - `archive`: `archive::Packer` and `archive::Unpacker`. They need the crates `tar-core`, `zip`,
//!   `flate2` with `zlib-rs`, and `ruzstd`, all of them in Rust.
//! - `hash`: `hash::Hasher`. It needs the crates `blake3`, `sha1` and `sha2`.
//! - `store`: URLs of objects where [`bulk`] takes paths. It needs the crates `object_store`,
//!   `ureq` and `rustls`, the latter with `ring`, which is partly in C.
//! - `tree`: `tree::TreeOptions`. It needs the crates `ignore` and `globset`.
//! - `backend-blocking`, `backend-rayon`, `backend-smol`, `backend-tokio`, and the deprecated
//!   `backend-async-std`: thread pools that can close files, and async files that can be closed so
//!   ([`close::Backend`]). They need the crates of these names; `backend-smol` needs only smol's
//!   files.
//!
//! # What is not promised
//!
//! - **A flush.** Nothing is flushed unless a level of [`Durability`] is set. After a crash of the
//!   system or a power failure a file may be missing, empty or torn. After a crash of the program
//!   alone, all that was written is still there.
//! - **Atomic writes**, except by [`replace`](WriteOptions::replace). A reader may see half of a
//!   file, and an error may leave half of one.
//! - **Order between two writers of one file.** Appends on Unix go to the end one after the other,
//!   each write system call as a whole. A long append may take several calls, and a network file
//!   system may not even keep these apart.
//! - **Speed after a fork.** The child of a process that has used smallfry starts no threads: a
//!   lock of the standard library may stay locked there. All calls work, on the calling thread, and
//!   a new program (`exec`) is as fast as any.

#[cfg(feature = "archive")]
pub mod archive;
pub mod bulk;
pub mod close;
mod closer;
pub mod durable;
mod errno;
mod error;
pub mod fs;
#[cfg(feature = "hash")]
pub mod hash;
mod path;
pub mod raw;
#[cfg(feature = "store")]
pub mod store;
mod sys;
pub mod tree;
mod write;

pub use error::{Error, Operation};
pub use write::{Durability, Outcome, WriteOptions};

/// Its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
