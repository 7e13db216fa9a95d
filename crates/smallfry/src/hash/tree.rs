//! Hashes a tree. `docs/tree-digest.md` defines the digest.
//!
//! Entries are hashed in any order by many threads. Each leaves its digest in the place of its
//! directory. When the directory is left, they are sorted and hashed together, and the digest goes
//! to the directory above.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallfry_workers::{Control, Strategy};

use super::algorithm::Algorithm;
use super::cache::Cache;
use super::contents::{self, Buffer, Size};
use super::digest::Digest;
use super::failure::Failure;
use crate::error::{Error, Operation};
use crate::raw;
use crate::sys::{self, Kind, Name, OpenDirectory, OwnedName};
use crate::tree::directory::{Directories, Directory};
use crate::tree::report::{Report, Results, TreeError};
use crate::tree::traversal::{Visitor, traverse};
use crate::tree::worker_pool::Operations;

/// The beginning of each list, with the version of its format.
const TAG: &[u8] = b"smallfry tree digest 1\0";

/// A function that returns true for the paths that are wanted.
pub(super) type Filter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The options that [`Hasher`](super::Hasher) sets and describes.
#[derive(Clone, Copy)]
pub(super) struct Options<'o> {
    pub(super) algorithm: Algorithm,
    pub(super) strategy: Strategy,
    pub(super) control: Option<&'o Control>,
    pub(super) filter: Option<&'o Filter>,
    pub(super) cache: Option<&'o Cache>,
}

/// Hashes what is at `path`.
pub(super) fn hash(options: Options<'_>, path: &Path) -> Result<(Digest, Report), TreeError> {
    // A slash at the end means a directory, as in the calls of the system.
    let name = if sys::ends_in_separator(path) {
        None
    } else {
        sys::last_name(path)
    };
    let hashing = Hashing {
        start: if name.is_some() {
            sys::start_of(path)
        } else {
            path.to_owned()
        },
        name,
        options,
        directories: Directories::new(),
        results: Results::default(),
        is_cancelled: AtomicBool::new(false),
        digest: OnceLock::new(),
    };
    match hashing.run(path) {
        Ok(digest) => Ok((digest, hashing.results.end()?)),
        Err(error) => Err(hashing.results.end_with(error)),
    }
}

/// The hashing of one tree.
struct Hashing<'o> {
    options: Options<'o>,
    /// The directory that the tree is in, or the tree itself if it has no name.
    start: PathBuf,
    /// The name of the tree there.
    name: Option<OwnedName>,
    directories: Directories,
    results: Results,
    /// Something was left out because the control has cancelled.
    is_cancelled: AtomicBool,
    digest: OnceLock<Digest>,
}

/// A directory that is being hashed.
struct Place {
    directory: Arc<Directory>,
    entries: Mutex<Vec<Entry>>,
}

/// An entry of a directory that is hashed already.
struct Entry {
    /// The bytes of its name.
    name: Vec<u8>,
    kind: u8,
    digest: Digest,
}

/// The letters of kinds in a list.
const DIRECTORY: u8 = b'd';
const FILE: u8 = b'f';
const EXECUTABLE: u8 = b'x';
const LINK: u8 = b'l';

/// The permission that makes a file executable: that of its owner, as in git.
const EXECUTABLE_BY_OWNER: u32 = 0o100;

impl Place {
    fn new(directory: Arc<Directory>) -> Self {
        Self {
            directory,
            entries: Mutex::default(),
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the list of a directory, which sorts its entries. An error if two have one name.
fn list_of(entries: &mut [Entry], digest_len: usize) -> io::Result<Vec<u8>> {
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    if entries.windows(2).any(|two| two[0].name == two[1].name) {
        let reason = "a name was listed twice, since the directory was changed meanwhile";
        return Err(io::Error::other(reason));
    }
    let framing = 1 + size_of::<u64>() + digest_len;
    let sizes = entries.iter().map(|entry| entry.name.len() + framing);
    let mut list = Vec::with_capacity(TAG.len() + sizes.sum::<usize>());
    list.extend_from_slice(TAG);
    for Entry { name, kind, digest } in entries {
        list.push(*kind);
        list.extend_from_slice(&(name.len() as u64).to_le_bytes());
        list.extend_from_slice(name);
        list.extend_from_slice(digest.as_bytes());
    }
    Ok(list)
}

impl Hashing<'_> {
    fn run(&self, path: &Path) -> Result<Digest, Error> {
        let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
        let cancelled = || Error::cancelled(Operation::Read, path);
        let start = self.directories.begin(&self.start);
        let Some(name) = &self.name else {
            return self
                .traverse(start.map_err(at(Operation::Readdir))?)
                .ok_or_else(cancelled);
        };
        let start = start.map_err(at(Operation::Open))?;
        let open = self.directories.open(&start).map_err(at(Operation::Open))?;
        let kind = open.kind_of(name);
        let kind = kind.map_err(|errno| at(Operation::Stat)(errno.into()))?;
        if kind != Kind::Directory {
            return self
                .hash_single(&open, name, kind)
                .map_err(|failure| failure.at(path));
        }
        drop(open);
        let entered = self.directories.enter(&start, name);
        let (directory, _) = entered.map_err(at(Operation::Readdir))?;
        self.traverse(directory).ok_or_else(cancelled)
    }

    /// Returns the digest of a directory; `None` if the control has cancelled.
    fn traverse(&self, directory: Arc<Directory>) -> Option<Digest> {
        let Options {
            strategy, control, ..
        } = self.options;
        traverse(self, strategy, control, Place::new(directory));
        if self.is_cancelled.load(Ordering::Relaxed) {
            return None;
        }
        self.digest.get().copied()
    }

    /// Returns the digest of a tree that is no directory: that of a list with one nameless entry.
    fn hash_single(
        &self,
        open: &OpenDirectory,
        name: &Name,
        kind: Kind,
    ) -> Result<Digest, Failure> {
        let control = self.options.control;
        if control.is_some_and(Control::is_cancelled) {
            return Err(Failure::Cancelled);
        }
        let hashed = self.hash_entry(open, name, kind, &mut Buffer::default());
        let bytes = hashed.as_ref().map_or(0, |(_, bytes)| *bytes);
        if let Some(control) = control {
            control.count(hashed.is_err(), bytes);
        }
        let (entry, bytes) = hashed?;
        self.results.add_file(bytes);
        let nameless = Entry {
            name: Vec::new(),
            ..entry
        };
        let algorithm = self.options.algorithm;
        let list = list_of(&mut [nameless], algorithm.digest_len());
        let list = list.map_err(|reason| Failure::Reason(Operation::Readdir, reason))?;
        Ok(algorithm.hash(&list))
    }

    /// Returns the permissions of a file, and its digest if the cache has that.
    fn cached(&self, open: &OpenDirectory, name: &Name) -> Option<(u32, Digest)> {
        let cache = self.options.cache?;
        let status = open.status_of(name).ok()?;
        if status.kind != Kind::File {
            return None;
        }
        let digest = cache.find(self.options.algorithm, &status)?;
        Some((status.mode, digest))
    }

    /// Hashes a file. Returns its permissions and the number of bytes that were read, too.
    fn hash_file(
        &self,
        open: &OpenDirectory,
        name: &Name,
        buffer: &mut Buffer,
    ) -> Result<(u32, Digest, u64), Failure> {
        let at = |operation| move |reason: io::Error| Failure::Reason(operation, reason);
        let Options {
            algorithm,
            strategy,
            control,
            cache,
            ..
        } = self.options;
        let open_file = || Ok(open.open_file(name)?);
        let file = self.directories.with_descriptors(open_file);
        let file = file.map_err(at(Operation::Open))?;
        let file = raw::borrow(&file);
        let status = sys::entry_status(file);
        let status = status.map_err(|errno| at(Operation::Fstat)(errno.into()))?;
        if status.kind != Kind::File {
            return Err(at(Operation::Open)(replaced()));
        }
        let size = Size::Told(status.size);
        let mut hash = || contents::hash(algorithm, file, size, buffer, strategy, control);
        let (digest, bytes) = match cache {
            Some(cache) => cache.find_or(algorithm, &status, hash)?,
            None => hash()?,
        };
        Ok((status.mode, digest, bytes))
    }

    /// Hashes an entry that is no directory. Returns the number of bytes that were read, too.
    fn hash_entry(
        &self,
        open: &OpenDirectory,
        name: &Name,
        kind: Kind,
        buffer: &mut Buffer,
    ) -> Result<(Entry, u64), Failure> {
        let at = |operation| move |reason: io::Error| Failure::Reason(operation, reason);
        let algorithm = self.options.algorithm;
        let (kind, digest, bytes) = match kind {
            Kind::File => {
                let (mode, digest, bytes) = match self.cached(open, name) {
                    Some((mode, digest)) => (mode, digest, 0),
                    None => self.hash_file(open, name, buffer)?,
                };
                let kind = match mode & EXECUTABLE_BY_OWNER {
                    0 => FILE,
                    _ => EXECUTABLE,
                };
                (kind, digest, bytes)
            }
            Kind::Link => {
                let target = open.read_link(name);
                let target = target.map_err(|errno| at(Operation::Readlink)(errno.into()))?;
                let target = sys::target_path(&target)
                    .ok_or_else(|| at(Operation::Readlink)(other_link()))?;
                let target = sys::bytes_of(target).map_err(at(Operation::Readlink))?;
                (LINK, algorithm.hash(target), 0)
            }
            Kind::Special => return Err(at(Operation::Open)(special())),
            Kind::Directory => return Err(at(Operation::Open)(replaced())),
        };
        let name = sys::bytes_of(sys::as_path(name)).map_err(at(Operation::Readdir))?;
        let name = name.to_owned();
        Ok((Entry { name, kind, digest }, bytes))
    }

    /// Returns true if nothing more is to be begun, and notes that.
    fn is_over(&self, operations: &Operations<'_, Buffer>) -> bool {
        let is_over = operations.is_cancelled();
        if is_over {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Notes why an entry has no digest.
    #[cold]
    fn fail_at(&self, place: &Place, name: &Name, failure: Failure) {
        match failure {
            Failure::Cancelled => self.is_cancelled.store(true, Ordering::Relaxed),
            failure @ Failure::Reason(..) => {
                let path = place.directory.path_of(&self.start, name);
                self.results.fail(failure.at(&path));
            }
        }
    }

    /// Notes that a directory has no digest.
    #[cold]
    fn fail_in(&self, place: &Place, reason: io::Error) {
        let path = match place.directory.place() {
            Some((above, name)) => above.path_of(&self.start, name),
            None => self.start.clone(),
        };
        self.results
            .fail(Error::at(Operation::Readdir, &path, reason));
    }
}

fn special() -> io::Error {
    let reason = "pipes, sockets and devices have no digest in a tree";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

fn other_link() -> io::Error {
    let reason = "only symbolic links and junctions have a digest in a tree";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

fn replaced() -> io::Error {
    io::Error::other("the file was replaced by something else meanwhile")
}

impl Visitor for Hashing<'_> {
    type Place = Place;
    type Scratch = Buffer;

    fn directories(&self) -> &Directories {
        &self.directories
    }

    fn directory<'p>(&self, place: &'p Place) -> &'p Arc<Directory> {
        &place.directory
    }

    fn is_wanted(&self, place: &Place, name: &Name) -> bool {
        let Some(wanted) = self.options.filter else {
            return true;
        };
        let path = place.directory.path_of(Path::new(""), name);
        let tree = self.name.as_deref().map(sys::as_path);
        wanted(tree.map_or(&*path, |tree| path.strip_prefix(tree).unwrap_or(&path)))
    }

    fn visit(
        &self,
        place: &Place,
        name: &Name,
        kind: Kind,
        operations: &mut Operations<'_, Buffer>,
    ) -> bool {
        if self.is_over(operations) {
            return true;
        }
        let hashed = operations.run(|buffer| {
            let open = self.directories.open(&place.directory);
            let hashed = open
                .map_err(|reason| Failure::Reason(Operation::Open, reason))
                .and_then(|open| self.hash_entry(&open, name, kind, buffer));
            let bytes = hashed.as_ref().map_or(0, |(_, bytes)| *bytes);
            (hashed, bytes)
        });
        match hashed {
            Ok((entry, bytes)) => {
                place.entries().push(entry);
                self.results.add_file(bytes);
            }
            Err(failure) => self.fail_at(place, name, failure),
        }
        true
    }

    fn enter(
        &self,
        above: &Place,
        name: &Name,
        operations: &mut Operations<'_, Buffer>,
    ) -> Option<Place> {
        if self.is_over(operations) {
            return None;
        }
        match operations.run(|_| (self.directories.enter(&above.directory, name), 0)) {
            Ok((directory, _)) => Some(Place::new(directory)),
            Err(reason) => {
                let failure = Failure::Reason(Operation::Readdir, reason);
                self.fail_at(above, name, failure);
                None
            }
        }
    }

    /// Hashes the list of the directory.
    fn leave(
        &self,
        place: &Place,
        above: Option<&Place>,
        _: Option<&Place>,
        operations: &mut Operations<'_, Buffer>,
    ) -> bool {
        if self.is_over(operations) {
            return true;
        }
        let algorithm = self.options.algorithm;
        let mut entries = std::mem::take(&mut *place.entries());
        let list = list_of(&mut entries, algorithm.digest_len());
        let digest = algorithm.hash(&list.unwrap_or_else(|reason| {
            self.fail_in(place, reason);
            Vec::new()
        }));
        self.results.add_directory();
        match (above, place.directory.place()) {
            (Some(above), Some((_, name))) => match sys::bytes_of(sys::as_path(name)) {
                Ok(name) => above.entries().push(Entry {
                    name: name.to_owned(),
                    kind: DIRECTORY,
                    digest,
                }),
                Err(reason) => self.fail_in(place, reason),
            },
            _ => drop(self.digest.set(digest)),
        }
        true
    }

    fn fail(&self, place: &Place, error: io::Error) {
        self.fail_in(place, error);
    }
}
