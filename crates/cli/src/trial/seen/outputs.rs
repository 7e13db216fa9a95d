//! The files that a command writes: names, kinds, contents, targets of links, and whether they are
//! executable.

use super::value::{Shape, Value};
use crate::failure::Failure;
use crate::trial::system::{self, Stamp};
use blake3::Hasher;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

/// The directories and files to compare, as the user named them.
pub(in crate::trial) struct Outputs(Vec<PathBuf>);

pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) bytes: u64,
    /// Differs if the file was written, or replaced, between two looks.
    pub(super) stamp: Stamp,
}

impl Outputs {
    pub(in crate::trial) fn new(named: &[PathBuf]) -> Self {
        Self(named.to_vec())
    }

    /// Looks at all outputs.
    ///
    /// # Errors
    ///
    /// An output is missing or unreadable.
    pub(super) fn look(&self) -> Result<BTreeMap<PathBuf, Entry>, Failure> {
        let mut entries = BTreeMap::new();
        for root in &self.0 {
            // The name itself may be a link to the outputs.
            let metadata = std::fs::metadata(root).map_err(Failure::at("find the output", root))?;
            let mut left = vec![(root.clone(), metadata)];
            while let Some((path, metadata)) = left.pop() {
                if metadata.is_dir() {
                    left.extend(inside(&path)?);
                }
                let entry = Entry::of(&path, &metadata)?;
                entries.insert(path, entry);
            }
        }
        Ok(entries)
    }
}

fn inside(directory: &Path) -> Result<Vec<(PathBuf, Metadata)>, Failure> {
    let entries = std::fs::read_dir(directory).map_err(Failure::at("list", directory))?;
    entries
        .map(|entry| {
            let path = entry.map_err(Failure::at("list", directory))?.path();
            let metadata =
                std::fs::symlink_metadata(&path).map_err(Failure::at("look at", &path))?;
            Ok((path, metadata))
        })
        .collect()
}

impl Entry {
    fn of(path: &Path, metadata: &Metadata) -> Result<Self, Failure> {
        let mut hasher = Hasher::new();
        let shape = if metadata.is_file() {
            File::open(path)
                .and_then(|file| hasher.update_reader(file).map(drop))
                .map_err(Failure::at("read", path))?;
            if system::is_executable(metadata) {
                Shape::Executable
            } else {
                Shape::File
            }
        } else if metadata.is_symlink() {
            let target = std::fs::read_link(path).map_err(Failure::at("read the link", path))?;
            hasher.update(target.as_os_str().as_encoded_bytes());
            Shape::Link
        } else if metadata.is_dir() {
            Shape::Directory
        } else {
            Shape::Special
        };
        let value = Value {
            shape,
            contents: hasher.finalize(),
        };
        Ok(Self {
            value,
            bytes: if metadata.is_file() {
                metadata.len()
            } else {
                0
            },
            stamp: system::stamp(metadata),
        })
    }
}
