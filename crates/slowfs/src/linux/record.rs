//! Recording the operations on a mount in a log, to simulate crashes.
//!
//! While an operation runs and is recorded, no other operation that changes something runs, so the
//! log has the real order. Flushes run in parallel, and each is recorded with the number of
//! operations before it began.

use super::tree::{Id, ROOT};
use crate::crash::{ACKNOWLEDGEMENT, Attributes, Inode, Kind, Log};
use crate::error::Error;
use rustix::fs::{FallocateFlags, FileType, Stat};
use rustix::io::{Errno, Result};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a file that are read together. If all are zero, they are not kept.
const BLOCK: usize = 64 << 10;

pub(super) struct Recorder(Mutex<Recording>);

pub(super) struct Recording {
    log: Log,
    inodes: HashMap<Id, Inode>,
    attributes: HashMap<Inode, Attributes>,
}

impl Recorder {
    /// Records a directory, with its current contents as the state before the log.
    pub(super) fn of(directory: &Path) -> std::result::Result<Self, Error> {
        Recording::of(directory).map(|recording| Self(Mutex::new(recording)))
    }

    pub(super) fn log(&self) -> Log {
        self.lock().log.clone()
    }

    /// Locks the recording, so that no other thread changes anything meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, Recording> {
        // Each operation is recorded as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The acknowledgement that a look-up of `name` makes, if it makes one.
pub(super) fn acknowledged(name: &OsStr) -> Option<&OsStr> {
    let rest = name.as_bytes().strip_prefix(ACKNOWLEDGEMENT.as_bytes())?;
    Some(OsStr::from_bytes(rest))
}

impl Recording {
    fn of(directory: &Path) -> std::result::Result<Self, Error> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::System {
                step: "record",
                path,
                source,
            }
        };
        let root = fs::metadata(directory).map_err(failed(directory))?;
        let mut log = Log::new(of_metadata(&root));
        log.prepare().map_err(failed(&std::env::temp_dir()))?;
        let mut recording = Self {
            log,
            inodes: HashMap::from([(ROOT, Inode::ROOT)]),
            attributes: HashMap::from([(Inode::ROOT, of_metadata(&root))]),
        };
        let mut waiting = vec![(directory.to_owned(), Inode::ROOT)];
        while let Some((path, inode)) = waiting.pop() {
            for entry in fs::read_dir(&path).map_err(failed(&path))? {
                let entry = entry.map_err(failed(&path))?;
                let path = entry.path();
                let stat = fs::symlink_metadata(&path).map_err(failed(&path))?;
                if stat.dev() != root.dev() {
                    return Err(Error::Argument(format!(
                        "cannot record {}: it is on another file system than the mounted directory",
                        path.display()
                    )));
                }
                let made = recording
                    .copy((inode, &entry.file_name()), &path, &stat)
                    .map_err(failed(&path))?;
                if stat.is_dir() {
                    waiting.push((path, made));
                }
            }
        }
        recording.log.set_baseline();
        Ok(recording)
    }

    fn copy(
        &mut self,
        (directory, name): (Inode, &OsStr),
        path: &Path,
        stat: &fs::Metadata,
    ) -> io::Result<Inode> {
        if let Some(&inode) = self.inodes.get(&stat.ino()) {
            self.log.link(inode, directory, name)?;
            return Ok(inode);
        }
        let kind = if stat.is_dir() {
            Kind::Directory
        } else if stat.is_file() {
            Kind::File
        } else if stat.is_symlink() {
            Kind::Symlink(fs::read_link(path)?)
        } else {
            Kind::Special
        };
        let attributes = of_metadata(stat);
        let inode = self.log.make(directory, name, kind, attributes)?;
        self.inodes.insert(stat.ino(), inode);
        self.attributes.insert(inode, attributes);
        if stat.is_file() {
            self.copy_contents(inode, path)?;
        }
        Ok(inode)
    }

    fn copy_contents(&mut self, inode: Inode, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut block = vec![0; BLOCK.min(usize::try_from(size).unwrap_or(BLOCK))];
        let mut offset = 0;
        while offset < size {
            let length = match file.read(&mut block) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                length => length?,
            };
            if block[..length].iter().any(|&byte| byte != 0) {
                self.log.write(inode, offset, &block[..length])?;
            }
            offset += length as u64;
        }
        self.log.resize(inode, size)
    }

    /// Records a new inode under a name. Returns `false` if the name existed.
    pub(super) fn made(&mut self, parent: Id, name: &OsStr, id: Id, stat: &Stat) -> bool {
        self.made_link(parent, name, id, stat, Path::new(""))
    }

    /// Records a new symbolic link to `target`. Returns `false` if the name existed.
    pub(super) fn made_link(
        &mut self,
        parent: Id,
        name: &OsStr,
        id: Id,
        stat: &Stat,
        target: &Path,
    ) -> bool {
        let Some(&directory) = self.inodes.get(&parent) else {
            return false;
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Kind::Directory,
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Symlink(target.to_owned()),
            _ => Kind::Special,
        };
        let attributes = of_stat(stat);
        let made = self.log.make(directory, name, kind, attributes);
        if let Ok(inode) = made {
            // The number may have belonged to another file before.
            self.inodes.insert(id, inode);
            self.attributes.insert(inode, attributes);
        }
        made.is_ok()
    }

    pub(super) fn linked(&mut self, id: Id, parent: Id, name: &OsStr) {
        if let (Some(inode), Some(directory)) = (self.inode(id), self.inode(parent)) {
            self.done(|log| log.link(inode, directory, name));
        }
    }

    pub(super) fn removed(&mut self, parent: Id, name: &OsStr) {
        if let Some(directory) = self.inode(parent) {
            self.done(|log| log.remove(directory, name));
        }
    }

    pub(super) fn renamed(&mut self, from: (Id, &OsStr), to: (Id, &OsStr), exchange: bool) {
        if let (Some(source), Some(target)) = (self.inode(from.0), self.inode(to.0)) {
            let (from, to) = ((source, from.1), (target, to.1));
            self.done(|log| {
                if exchange {
                    log.exchange(from, to)
                } else {
                    log.rename(from, to)
                }
            });
        }
    }

    /// Keeps bytes that are about to be written, for [`Self::written`].
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<u64> {
        let kept = self.log.keep(bytes);
        kept.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    pub(super) fn written(&mut self, id: Id, offset: u64, length: usize, kept: u64) {
        if let Some(inode) = self.inode(id) {
            self.done(|log| log.written(inode, offset, length as u64, Some(kept)));
        }
    }

    pub(super) fn resized(&mut self, id: Id, size: u64) {
        if let Some(inode) = self.inode(id) {
            self.done(|log| log.resize(inode, size));
        }
    }

    /// Records an fallocate(2) that [`can_be_recorded`].
    pub(super) fn allocated(&mut self, id: Id, mode: FallocateFlags, offset: u64, length: u64) {
        let Some(inode) = self.inode(id) else {
            return;
        };
        let Ok(size) = self.log.size(inode) else {
            return;
        };
        let end = offset.saturating_add(length);
        let zeroes = FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
        if mode.intersects(zeroes) && offset < size {
            let within = end.min(size) - offset;
            self.done(|log| log.zero(inode, offset, within));
        }
        if !mode.contains(FallocateFlags::KEEP_SIZE) && end > size {
            self.done(|log| log.resize(inode, end));
        }
    }

    /// Records permissions and owner.
    pub(super) fn changed(&mut self, id: Id, stat: &Stat) {
        let attributes = of_stat(stat);
        if let Some(inode) = self.inode(id)
            && self.attributes.insert(inode, attributes) != Some(attributes)
        {
            self.done(|log| log.change(inode, attributes));
        }
    }

    /// The inode of a flush that begins now, and the number of operations before it.
    pub(super) fn flushes(&self, id: Id) -> Option<(Inode, usize)> {
        Some((self.inode(id)?, self.log.len()))
    }

    pub(super) fn flushed(&mut self, (inode, before): (Inode, usize), data_only: bool) {
        self.done(|log| log.flushed(inode, data_only, before));
    }

    pub(super) fn acknowledge(&mut self, name: &OsStr) {
        self.log.acknowledge(name);
    }

    /// Records an operation. The log does not know what was changed behind the mount and cannot
    /// follow it, so errors are ignored.
    fn done(&mut self, record: impl FnOnce(&mut Log) -> io::Result<()>) {
        let _ = record(&mut self.log);
    }

    fn inode(&self, id: Id) -> Option<Inode> {
        self.inodes.get(&id).copied()
    }
}

/// Returns true if the log can record this call. It cannot if contents move.
pub(super) fn can_be_recorded(mode: FallocateFlags) -> bool {
    let known = FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
    known.contains(mode)
}

fn of_stat(stat: &Stat) -> Attributes {
    Attributes {
        mode: stat.st_mode & 0o7777,
        user: stat.st_uid,
        group: stat.st_gid,
    }
}

fn of_metadata(stat: &fs::Metadata) -> Attributes {
    Attributes {
        mode: stat.mode() & 0o7777,
        user: stat.uid(),
        group: stat.gid(),
    }
}
