//! The package.json that decides for a file: found, read by Node's own rules, and remembered.
//!
//! # Which call for which job
//!
//! | job | call |
//! |---|---|
//! | whether a file is a module or CommonJS | [`Cache::format`], for many files [`Cache::formats`] |
//! | the package that a file belongs to, with its name, main, exports and imports | [`Cache::nearest`] |
//! | the same for a module's URL, as Node's resolver has it | [`Cache::scope`] |
//! | a file URL as a path, and back | [`file_url_to_path`], [`path_to_file_url`] |
//! | whether a package.json is valid, and what it says | [`Cache::read`], of text [`Fields::parse`] |
//! | notice that files change, or do not look | [`Revalidate`] |
//! | the file that decided, byte for byte | [`Cache::nearest_type_source`] |
//!
//! The rules are those of Node 22, 24 and 26, which agree but for package.json files that cannot be read: there it is those of
//! 24 and 26. [`Cache`] says where it looks, [`Fields::parse`] what is accepted.
//!
//! # What is not promised
//!
//! - It does not resolve: `exports` and `imports` are given as they are written, and links are not followed.
//! - A file without a `type` is CommonJS here. Node, from 20.19 and 22.7 on, has a look at its syntax.
//! - A change that leaves inode, size and times as they were is not noticed; nor is, on Windows, one that sets the times back.

mod cache;
mod error;
mod fields;
mod file_url;
mod format;
mod invalid;
mod structure;
mod sys;
mod text;

pub use cache::{Cache, Package, Revalidate, Scope, Source};
pub use error::{Error, Problem};
pub use fields::{Fields, ModuleType, Value};
pub use file_url::{System, UrlError, file_url_to_path, path_to_file_url};
pub use format::{Extensions, Format};
pub use invalid::Invalid;
