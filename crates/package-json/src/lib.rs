//! Reads of a package.json what module loaders need, by Node's own rules.
//!
//! ```
//! use smallfry_package_json::{Fields, ModuleType};
//!
//! let fields = Fields::parse(br#"{ "name": "a", "type": "module", "exports": { ".": "./a.js" } }"#)?;
//! assert_eq!(fields.module_type, ModuleType::Module);
//! assert_eq!(fields.name.as_deref(), Some("a"));
//! # Ok::<(), smallfry_package_json::Invalid>(())
//! ```

mod fields;
mod file_url;
mod invalid;
mod structure;
mod text;

pub use fields::{Fields, ModuleType, Value};
pub use file_url::{System, UrlError, file_url_to_path, path_to_file_url};
pub use invalid::Invalid;
