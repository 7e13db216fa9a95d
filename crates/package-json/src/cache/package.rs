//! The answers of the cache.

use crate::fields::{Fields, ModuleType};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A package.json that was read.
#[derive(Debug)]
pub struct Package {
    file: Arc<Path>,
    fields: Fields,
    serial: u64,
}

impl PartialEq for Package {
    /// Returns true if both have the same path and the same fields.
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.fields == other.fields
    }
}

impl Eq for Package {}

impl Package {
    pub(super) fn new(file: Arc<Path>, fields: Fields) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let serial = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Self {
            file,
            fields,
            serial,
        })
    }

    /// A number, from 1, that no other package of this process has. Callers can use it as a key for
    /// data of their own. A file that is read again and has not changed keeps its number.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The path of the package.json.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The directory of the package.json.
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// Its fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Its `type`.
    pub fn module_type(&self) -> ModuleType {
        self.fields.module_type
    }
}

/// The package that a module belongs to.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its package.json or, if there is none, the path where the search ended.
    pub path: PathBuf,
    /// `None` if there is none.
    pub package: Option<Arc<Package>>,
    /// The time of the check, as with [`Cache::nearest_checked`](crate::Cache::nearest_checked).
    pub checked: Instant,
}

/// The file that decides a type, with the bytes that were read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path of the package.json.
    pub path: PathBuf,
    /// All bytes of it.
    pub bytes: Vec<u8>,
    /// The type in these bytes.
    pub module_type: ModuleType,
}
