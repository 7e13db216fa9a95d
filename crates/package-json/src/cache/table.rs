//! The directories that look-ups came through, by path.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::path::{Component, Path, PathBuf, is_separator};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::{array, io};

use hashbrown::{DefaultHashBuilder, HashTable};
use smallfry::Operation;

use super::directory::{Directory, Place};
use crate::error::{Error, Problem};
use crate::sys::split;

/// Enough that threads seldom wait for each other.
const SHARDS: usize = 16;
/// The maximum length of a path in bytes, with its terminator on Linux.
const MAX_LENGTH: usize = if cfg!(windows) { 32_767 } else { 4096 };
/// The maximum depth of a directory: as many as fit into a path on Linux.
const MAX_DEPTH: usize = 2048;

const NAME: &str = "package.json";

/// All directories, each with those above it.
#[derive(Debug)]
pub(super) struct Table {
    shards: [RwLock<Shard>; SHARDS],
    hasher: DefaultHashBuilder,
}

type Shard = HashTable<Arc<Directory>>;

impl Default for Table {
    fn default() -> Self {
        Self {
            shards: array::from_fn(|_| RwLock::default()),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl Table {
    /// The directory where a walk for a file begins: the one above it, or the path itself if it
    /// ends in a separator or a dot. It need not exist.
    pub(super) fn of_file(&self, path: &Path) -> Result<Arc<Directory>, Error> {
        // Only absolute paths without needless parts are in the table.
        if let Some(key) = plain_parent(path)
            && let Ok(directory) = self.find(key)
        {
            return Ok(directory);
        }
        let (path, is_directory) = absolute(path)?;
        match split(&path) {
            Some((parent, _)) if !is_directory => Ok(self.make(parent)),
            _ => Ok(self.make(&path)),
        }
    }

    /// The directory with this path, which must be absolute and without needless parts.
    fn make(&self, path: &Path) -> Arc<Directory> {
        let hash = match self.find(key_of(path)) {
            Ok(directory) => return directory,
            Err(hash) => hash,
        };
        // Usually the directory above is there.
        let Some((parent, _)) = split(path) else {
            return self.insert(path, hash, None);
        };
        if let Ok(above) = self.find(key_of(parent)) {
            return self.insert(path, hash, Some(above));
        }
        // From the top, and without recursion, since a path may be deep.
        let mut directory = None;
        let missing: Vec<&Path> = parent.ancestors().collect();
        for path in missing.into_iter().rev().chain([path]) {
            directory = Some(match self.find(key_of(path)) {
                Ok(found) => found,
                Err(hash) => self.insert(path, hash, directory),
            });
        }
        directory.unwrap_or_else(|| self.insert(path, hash, None))
    }

    fn insert(&self, path: &Path, hash: u64, above: Option<Arc<Directory>>) -> Arc<Directory> {
        let place = match split(path) {
            None => Place::Root,
            Some((_, name)) if name == "node_modules" => Place::NodeModules,
            Some(_) => Place::Ordinary,
        };
        let key = key_of(path);
        let mut shard = write(&self.shards[shard_of(hash)]);
        if let Some(directory) = shard.find(hash, |other| key_of_directory(other) == key) {
            return Arc::clone(directory);
        }
        let mut file = PathBuf::with_capacity(path.as_os_str().len() + 1 + NAME.len());
        file.push(path);
        file.push(NAME);
        let directory = Arc::new(Directory::new(file.as_path().into(), above, place));
        shard.insert_unique(hash, Arc::clone(&directory), |other| {
            self.hasher.hash_one(key_of_directory(other))
        });
        directory
    }

    /// The directory of this key, or the hash of the key.
    fn find(&self, key: &[u8]) -> Result<Arc<Directory>, u64> {
        let hash = self.hasher.hash_one(key);
        let shard = read(&self.shards[shard_of(hash)]);
        let found = shard.find(hash, |directory| key_of_directory(directory) == key);
        found.map(Arc::clone).ok_or(hash)
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        for shard in &self.shards {
            // Dropped without the lock.
            let directories = std::mem::take(&mut *write(shard));
            drop(directories);
        }
    }

    /// Forgets what is known of `path` and of everything beneath it. `path` is a package.json, a
    /// directory, or a file that was there before a directory took its place.
    pub(super) fn forget(&self, path: &Path) -> Result<(), Error> {
        let (path, _) = absolute(path)?;
        if path.file_name().is_some_and(|name| name == NAME)
            && let Some(parent) = path.parent()
            && let Ok(directory) = self.find(key_of(parent))
        {
            directory.forget();
        }
        let key = key_of(&path);
        for shard in &self.shards {
            for directory in &*read(shard) {
                let rest = key_of_directory(directory).strip_prefix(key);
                if rest.is_some_and(|rest| {
                    rest.first().is_none_or(|next| is_separator((*next).into()))
                }) {
                    directory.forget();
                }
            }
        }
        Ok(())
    }

    /// The number of directories.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| read(shard).len()).sum()
    }
}

fn shard_of(hash: u64) -> usize {
    // The table itself uses the lowest and the highest bits.
    (hash >> 40) as usize % SHARDS
}

/// The key of a directory: its path without a separator at the end.
fn key_of(directory: &Path) -> &[u8] {
    let bytes = directory.as_os_str().as_encoded_bytes();
    match bytes.split_last() {
        Some((last, rest)) if is_separator((*last).into()) => rest,
        _ => bytes,
    }
}

fn key_of_directory(directory: &Directory) -> &[u8] {
    let bytes = directory.file().as_os_str().as_encoded_bytes();
    // And without the separator before it.
    &bytes[..bytes.len() - NAME.len() - 1]
}

/// Returns true if a file is in the directory with this key, and the table would find it by the
/// key.
pub(super) fn is_directly_in(path: &Path, key: &[u8]) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    // Usually it is, so the end of the key is checked first.
    bytes.len() > key.len() && bytes.starts_with(key) && plain_parent(path) == Some(key)
}

/// Everything before the last separator of a path that may be in the table as it is.
pub(super) fn plain_parent(path: &Path) -> Option<&[u8]> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let end = bytes
        .iter()
        .rposition(|byte| is_separator((*byte).into()) || *byte == 0)?;
    let name = &bytes[end + 1..];
    (bytes[end] != 0 && name != b"." && name != b"..").then(|| &bytes[..end])
}

/// Makes a path absolute, without dots and double separators. Also tells whether it is written as a
/// directory. Symbolic links are not resolved: `..` removes the name before it, as in a URL.
///
/// # Errors
///
/// No file can have the path, or the current directory does not exist any more.
pub(super) fn absolute(path: &Path) -> Result<(Cow<'_, Path>, bool), Error> {
    let refused = |reason| Err(Error::new(path, Problem::Path(reason)));
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return refused("an empty path");
    }
    if bytes.contains(&0) {
        return refused("a path with a null byte");
    }
    if is_plain(bytes) {
        return Ok((Cow::Borrowed(path), false));
    }
    let is_directory = match bytes.iter().rposition(|byte| is_separator((*byte).into())) {
        Some(end) => matches!(&bytes[end + 1..], b"" | b"." | b".."),
        None => matches!(bytes, b"." | b".."),
    };
    let io = |error| Error::new(path, Problem::Io(Operation::Open, error));
    let mut whole = PathBuf::new();
    let mut deep = 0;
    for component in std::path::absolute(path).map_err(io)?.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            _ => {
                whole.push(component);
                deep += 1;
            }
        }
    }
    if whole.as_os_str().len() + 1 + NAME.len() >= MAX_LENGTH || deep > MAX_DEPTH {
        return Err(io(io::Error::from(io::ErrorKind::InvalidFilename)));
    }
    Ok((Cow::Owned(whole), is_directory))
}

/// Returns true if a path is absolute, not too long, without needless parts, and not written as a
/// directory. `false` is no proof of the opposite: on Windows no path is checked.
fn is_plain(path: &[u8]) -> bool {
    if cfg!(windows) || path.first() != Some(&b'/') || path.len() + NAME.len() >= MAX_LENGTH {
        return false;
    }
    let mut start = 1;
    let mut deep = 0;
    for (end, _) in path
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, byte)| **byte == b'/')
    {
        if matches!(&path[start..end], b"" | b"." | b"..") {
            return false;
        }
        start = end + 1;
        deep += 1;
    }
    deep < MAX_DEPTH && !matches!(&path[start..], b"" | b"." | b"..")
}

fn read(shard: &RwLock<Shard>) -> RwLockReadGuard<'_, Shard> {
    shard.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(shard: &RwLock<Shard>) -> RwLockWriteGuard<'_, Shard> {
    shard.write().unwrap_or_else(PoisonError::into_inner)
}
