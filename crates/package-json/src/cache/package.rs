//! The answers: a package.json that was read, and what belongs to it.

use crate::fields::{Fields, ModuleType};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A package.json that was read.
#[derive(Debug)]
pub struct Package {
    file: Box<Path>,
    fields: Fields,
    serial: u64,
}

impl PartialEq for Package {
    /// Whether they are of one path and say the same.
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.fields == other.fields
    }
}

impl Eq for Package {}

impl Package {
    pub(super) fn new(file: Box<Path>, fields: Fields) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let serial = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Self {
            file,
            fields,
            serial,
        })
    }

    /// A number from 1 that no other package of this process has, for who keeps something of his own with it. A file that is read
    /// again and says the same keeps it.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The directory that it is in.
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// What it says.
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
    /// Its package.json or, if there is none, where the search for one ended.
    pub path: PathBuf,
    /// `None` if there is none.
    pub package: Option<Arc<Package>>,
    /// When it was found to be so, as by [`Cache::nearest_checked`].
    pub checked: Instant,
}

/// The file that decides a type, as it was when that was found.
#[derive(Clone, Debug)]
pub struct Source {
    /// The package.json.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its type, read of these bytes.
    pub module_type: ModuleType,
}
