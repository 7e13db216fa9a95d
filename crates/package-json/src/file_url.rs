//! File URLs as paths, and paths as file URLs.
//!
//! Most URLs that a loader meets are plain, like `file:///home/me/node_modules/a/index.js`: neither
//! parsing nor decoding changes them. `plain.rs` recognizes them by one pass over their bytes, and
//! their path is a part of the URL. `parse.rs` parses every other URL by the [URL
//! Standard](https://url.spec.whatwg.org/), as Node does; hosts come from the crate `url`.

mod error;
mod from_path;
mod parse;
mod plain;
mod resolve;
mod system;
mod to_path;

pub use error::UrlError;
pub use from_path::path_to_file_url;
pub(crate) use parse::FileUrl;
pub use system::System;
pub(crate) use to_path::decode;
pub use to_path::file_url_to_path;
