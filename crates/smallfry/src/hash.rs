//! Hashes files and trees, many at once. Needs the feature `hash`.
//!
//! | job | call |
//! |---|---|
//! | hash many files | [`Hasher::files`] |
//! | hash a tree: names, contents, links, executable files | [`Hasher::tree`] |
//! | read only what has changed since | [`Hasher::cache`] |
//!
//! The contents stay in the thread that reads them: each worker has one buffer of 64 KiB, and
//! hashes what it has read at once. A file of any size takes no more memory than that. With BLAKE3
//! and strategy `Auto`, several threads hash a file from 64 MiB on, if that pays.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = |name: &str| directory.path().join(name);
//! # for name in ["a", "b"] { smallfry::fs::write(path(name), "abc")?; }
//! use smallfry::hash::{Algorithm, Hasher};
//!
//! let mut hasher = Hasher::new();
//! hasher.algorithm(Algorithm::Sha1);
//! for digest in hasher.files([path("a"), path("b")]) {
//!     assert_eq!(digest?.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What is not promised
//!
//! - **A state that existed.** Another program may write while files are read. A digest is that of
//!   the bytes that were read, and the entries of a tree are read one after the other.
//! - **Safety of SHA-1.** [`Algorithm::Sha1`] and [`Algorithm::GitBlob`] find accidents, but two
//!   files with the same digest can be made on purpose.

mod algorithm;
mod cache;
mod contents;
mod digest;
mod failure;
mod files;
mod hasher;
mod pieces;
mod records;
mod tree;

pub use algorithm::Algorithm;
pub use cache::Cache;
pub use contents::Buffer;
pub use digest::{Digest, ParseDigestError};
pub use files::{Digests, HashFile};
pub use hasher::{Hasher, TreeDigest};
