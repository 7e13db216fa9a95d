//! Objects of stores, by URLs where other calls take paths.
//!
//! The URLs are `s3://bucket/key`, `gs://bucket/key`, `az://container/key`, `http://server/path`,
//! `https://server/path`, and `memory://name/key` for objects that end with the process.
//! [`bulk::Reader`](crate::bulk::Reader) and [`bulk::Writer`](crate::bulk::Writer) take them beside
//! paths. A file whose path begins like one is `./s3://bucket/key`, and beneath a directory
//! (`within`) all names are paths.
//!
//! ```
//! use smallfry::bulk::{Reader, Writer};
//!
//! let page = |n| (format!("memory://site/{n}.html"), format!("<h1>{n}</h1>"));
//! Writer::new().write((1..=3).map(page)).into_result()?;
//! for (_, result) in Reader::new().read(["memory://site/1.html", "memory://site/3.html"]) {
//!     assert_eq!(result?.len(), 10);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Keys
//!
//! A key is taken as it is written: nothing is decoded, except in URLs of HTTP. Names in a key are
//! separated by `/`. A key with an empty name, `.`, `..` or a control character is refused with
//! [`InvalidInput`](std::io::ErrorKind::InvalidInput), as no file could have it.
//!
//! # Writes
//!
//! A store replaces an object in one step, and keeps it from the moment that it acknowledges it:
//! each write is as with [`Durability::Full`](crate::Durability::Full) and
//! [`replace`](crate::WriteOptions::replace). It has no directories and no permissions, so
//! `create_parents` and `mode` change nothing.
//!
//! With [`only_if_changed`](crate::WriteOptions::only_if_changed) the store is asked for size and
//! digest of the object first. The digest is the `ETag`, if that is an MD5 digest, or the metadata
//! `smallfry-blake3`, which such writes leave. An object without either is read and compared.
//!
//! # Requests
//!
//! `Auto` decides how many requests are in flight, as for files, but up to
//! [`MAX_REQUESTS`](smallfry_workers::MAX_REQUESTS). When the server answers 429 or 503, it halves
//! their number.
//!
//! A request is sent again if the server is busy, has an error or cannot be reached: after a random
//! part of 50 ms, of 100 ms, and so on up to 10 s. It fails after three minutes, after 10 s without
//! a connection, or when the batch is cancelled. When a connection breaks, only the rest of an
//! object is asked for, if its `ETag` is still the same.
//!
//! # Credentials
//!
//! They are those in the environment (`AWS_ACCESS_KEY_ID` and so on), or those that the machine or
//! the container gives, as the crate [`object_store`] finds them. [`configure`] sets others. They
//! are in no error.
//!
//! [`object_store`]: https://docs.rs/object_store

mod connect;
mod failure;
mod http;
mod location;
mod read;
mod retry;
mod write;

use location::Location;
pub use location::configure;
pub(crate) use read::{Sink, read};
pub(crate) use write::write;

use std::sync::Arc;

use object_store::ObjectStore;

/// A store: one bucket or container, or one server.
#[derive(Debug)]
pub(crate) struct Store {
    client: Arc<dyn ObjectStore>,
}
