//! Finds the package.json that decides for a file, reads it by Node's own rules, and remembers it.
//!
//! - Use [`Cache::format`] to know whether Node loads a file as a module or as CommonJS, and
//!   [`Cache::formats`] for many files.
//! - Use [`Cache::nearest`] to get the package of a file, with its name, main, exports and imports.
//! - Use [`Cache::scope`] to get the package of a module's URL, as Node's resolver does.
//! - Use [`file_url_to_path`] and [`path_to_file_url`] to convert between file URLs and paths.
//! - Use [`Cache::read`] to check one package.json, and [`Fields::parse`] to check its text.
//! - Use [`Cache::nearest_type_source`] to get the deciding file byte for byte.
//! - Use [`Revalidate`] to choose when changes of files are noticed.
//!
//! The rules are those of Node 22, 24 and 26. The versions agree, except about package.json files
//! that cannot be read: there the rules are those of 24 and 26. [`Cache`] tells where it looks, and
//! [`Fields::parse`] what is accepted.
//!
//! # What is not promised
//!
//! - It does not resolve modules: `exports` and `imports` are returned as they are written, and
//!   symbolic links are not followed.
//! - A file without a `type` is CommonJS here. Node 20.19, 22.7 and later also look at its syntax.
//! - A change that leaves inode, size and times as they were is not noticed. On Windows, neither is
//!   one that sets the times back.

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

/// Its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
