//! Calls on the real tree, always below an open directory and never outside of it.
//!
//! Names are used one at a time, only inside directories that are already open, and symbolic links
//! are never followed: the kernel resolves them on the mount. A file without a name is reached
//! through an open descriptor.

use super::directories::Directories;
use super::handles::{Directory, File, Handles};
use super::tree::{Found, Id, ROOT, Tree};
use rustix::fs::{
    self, AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, StatVfs, Timestamps, Uid,
};
use rustix::io::{Errno, Result};
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Flags of open(2) that matter for the descriptor below. The kernel handles the others itself: it
/// sends offsets for `O_APPEND`, a flush after each write for `O_SYNC`, and bypasses its own page
/// cache for `O_DIRECT`.
const OPEN_FLAGS: OFlags = OFlags::ACCMODE.union(OFlags::TRUNC).union(OFlags::NOATIME);

/// The owner of what is made.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Changes of setattr(2)'s relatives. `None` leaves a value as it is.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) mode: Option<u32>,
    pub(super) user: Option<u32>,
    pub(super) group: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) times: Option<Timestamps>,
    /// True if the caller is not root, so that a change of size clears set-user-ID.
    pub(super) unprivileged: bool,
}

pub(super) struct Backing {
    tree: Tree,
    directories: Directories,
    pub(super) files: Handles<File>,
    pub(super) open_directories: Handles<Directory>,
    /// Held for writing while names change, so that no thread looks up a name that is just being
    /// renamed.
    names: RwLock<()>,
}

impl Backing {
    pub(super) fn new(root: OwnedFd) -> Result<Self> {
        Ok(Self {
            tree: Tree::new(&fs::fstat(&root)?),
            directories: Directories::new(root),
            files: Handles::default(),
            open_directories: Handles::default(),
            names: RwLock::new(()),
        })
    }

    pub(super) fn lookup(&self, parent: Id, name: &OsStr) -> Result<(Found, Stat)> {
        let _names = self.names_stay();
        self.look(&*self.directory(parent)?, parent, name)
    }

    pub(super) fn forget(&self, id: Id, lookups: u64) {
        self.tree.forget(id, lookups);
    }

    pub(super) fn list(&self, id: Id) -> bool {
        self.tree.list(id)
    }

    pub(super) fn stat(&self, id: Id, handle: Option<u64>) -> Result<Stat> {
        if let Some(file) = handle.and_then(|handle| self.files.get(handle)) {
            return fs::fstat(&file.descriptor);
        }
        let _names = self.names_stay();
        self.with_place(id, |directory, name| {
            fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        })
        .and_then(|stat| self.check(id, stat))
        .or_else(|error| match self.nameless(id) {
            Some(file) => fs::fstat(&file.descriptor),
            None => Err(error),
        })
    }

    pub(super) fn change(&self, id: Id, handle: Option<u64>, changes: &Changes) -> Result<Stat> {
        let file = handle.and_then(|handle| self.files.get(handle));
        let _names = self.names_stay();
        let grip = match &file {
            Some(file) => Grip::Open(Arc::clone(file)),
            None => self.grip(id)?,
        };
        let descriptor = grip.as_fd();
        if changes.user.is_some() || changes.group.is_some() {
            let user = changes.user.map(Uid::from_raw);
            let group = changes.group.map(Gid::from_raw);
            fs::chownat(descriptor, "", user, group, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = changes.mode {
            chmod(descriptor, Mode::from_raw_mode(mode & 0o7777))?;
        }
        if let Some(size) = changes.size {
            resize(&grip, size)?;
            if changes.unprivileged {
                drop_privileges(descriptor)?;
            }
            if let Some(file) = &file {
                file.change(0);
            }
        }
        if let Some(times) = &changes.times {
            fs::utimensat(descriptor, "", times, AtFlags::EMPTY_PATH)?;
        }
        fs::fstat(descriptor)
    }

    pub(super) fn readlink(&self, id: Id) -> Result<CString> {
        let _names = self.names_stay();
        self.with_place(id, |directory, name| {
            fs::readlinkat(directory, name, Vec::new())
        })
    }

    pub(super) fn mknod(
        &self,
        (parent, name): (Id, &OsStr),
        mode: u32,
        device: u32,
        owner: Owner,
    ) -> Result<(Found, Stat)> {
        let _names = self.names_stay();
        let directory = self.directory(parent)?;
        let kind = FileType::from_raw_mode(mode);
        let mode = Mode::from_raw_mode(mode & 0o7777);
        fs::mknodat(&*directory, name, kind, mode, u64::from(device))?;
        self.adopt(&directory, parent, name, Some(mode), owner)
    }

    pub(super) fn mkdir(
        &self,
        (parent, name): (Id, &OsStr),
        mode: u32,
        owner: Owner,
    ) -> Result<(Found, Stat)> {
        let _names = self.names_stay();
        let directory = self.directory(parent)?;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        fs::mkdirat(&*directory, name, mode)?;
        self.adopt(&directory, parent, name, Some(mode), owner)
    }

    pub(super) fn symlink(
        &self,
        (parent, name): (Id, &OsStr),
        target: &Path,
        owner: Owner,
    ) -> Result<(Found, Stat)> {
        let _names = self.names_stay();
        let directory = self.directory(parent)?;
        fs::symlinkat(target, &*directory, name)?;
        self.adopt(&directory, parent, name, None, owner)
    }

    pub(super) fn link(&self, id: Id, (parent, name): (Id, &OsStr)) -> Result<(Found, Stat)> {
        let _names = self.names_stay();
        let directory = self.directory(parent)?;
        self.with_place(id, |from, old| {
            fs::linkat(from, old, &*directory, name, AtFlags::empty())
        })?;
        self.look(&*directory, parent, name)
    }

    pub(super) fn unlink(&self, parent: Id, name: &OsStr) -> Result<()> {
        let _names = self.names_change();
        let directory = self.directory(parent)?;
        let stat = fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        fs::unlinkat(&*directory, name, AtFlags::empty())?;
        self.removed(parent, name, &stat);
        Ok(())
    }

    pub(super) fn rmdir(&self, parent: Id, name: &OsStr) -> Result<()> {
        let _names = self.names_change();
        let directory = self.directory(parent)?;
        let stat = fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        fs::unlinkat(&*directory, name, AtFlags::REMOVEDIR)?;
        self.removed(parent, name, &stat);
        Ok(())
    }

    pub(super) fn rename(
        &self,
        from: (Id, &OsStr),
        to: (Id, &OsStr),
        flags: RenameFlags,
    ) -> Result<()> {
        let _names = self.names_change();
        let (source, target) = (self.directory(from.0)?, self.directory(to.0)?);
        let moved = fs::statat(&*source, from.1, AtFlags::SYMLINK_NOFOLLOW)?;
        let replaced = fs::statat(&*target, to.1, AtFlags::SYMLINK_NOFOLLOW).ok();
        fs::renameat_with(&*source, from.1, &*target, to.1, flags)?;
        let moved_id = self.tree.id(&moved);
        let replaced_id = replaced.as_ref().and_then(|stat| self.tree.id(stat));
        if moved_id.is_some() && moved_id == replaced_id {
            // Both names are links to one file, and then rename(2) does nothing.
            return Ok(());
        }
        if let (Some(replaced), Some(id)) = (replaced, replaced_id) {
            if flags.contains(RenameFlags::EXCHANGE) {
                self.tree.renamed(id, to, from);
            } else {
                self.removed(to.0, to.1, &replaced);
            }
        }
        if let Some(id) = moved_id {
            self.tree.renamed(id, from, to);
        }
        Ok(())
    }

    pub(super) fn open(&self, id: Id, flags: i32, unprivileged: bool) -> Result<u64> {
        let flags = open_flags(flags);
        let _names = self.names_stay();
        let named = self.with_place(id, |directory, name| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            fs::openat(directory, name, flags, Mode::empty())
        });
        let descriptor = named.or_else(|error| match self.nameless(id) {
            Some(file) => reopen(file.descriptor.as_fd(), flags),
            None => Err(error),
        })?;
        let truncated = flags.contains(OFlags::TRUNC);
        if truncated && unprivileged {
            drop_privileges(descriptor.as_fd())?;
        }
        Ok(self.files.add(File::new(descriptor, id, truncated)))
    }

    pub(super) fn create(
        &self,
        (parent, name): (Id, &OsStr),
        mode: u32,
        flags: i32,
        owner: Owner,
    ) -> Result<(Found, Stat, u64)> {
        let _names = self.names_stay();
        let directory = self.directory(parent)?;
        let exclusive = OFlags::from_bits_retain(flags.cast_unsigned()).contains(OFlags::EXCL);
        let flags = open_flags(flags) | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let new = flags | OFlags::CREATE | OFlags::EXCL;
        let (descriptor, found, stat) = match fs::openat(&*directory, name, new, mode) {
            Ok(descriptor) => {
                let (found, stat) = self.adopt(&directory, parent, name, Some(mode), owner)?;
                (descriptor, found, stat)
            }
            // The file was made behind the mount after the kernel looked.
            Err(Errno::EXIST) if !exclusive => {
                let descriptor = fs::openat(&*directory, name, flags, mode)?;
                let (found, stat) = self.look(&*directory, parent, name)?;
                (descriptor, found, stat)
            }
            Err(error) => return Err(error),
        };
        let handle = self.files.add(File::new(descriptor, found.id, true));
        Ok((found, stat, handle))
    }

    pub(super) fn open_directory(&self, id: Id) -> Result<u64> {
        let _names = self.names_stay();
        let directory = self.directory(id)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = fs::openat(&*directory, ".", flags, Mode::empty())?;
        Ok(self.open_directories.add(Directory::new(descriptor)))
    }

    pub(super) fn statfs(&self) -> Result<StatVfs> {
        fs::fstatvfs(&**self.directories.root())
    }

    fn names_stay(&self) -> RwLockReadGuard<'_, ()> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn names_change(&self) -> RwLockWriteGuard<'_, ()> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory(&self, id: Id) -> Result<Arc<OwnedFd>> {
        self.directories.get(&self.tree, id)
    }

    fn look(&self, directory: impl AsFd, parent: Id, name: &OsStr) -> Result<(Found, Stat)> {
        let stat = fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((self.tree.found(parent, name, &stat), stat))
    }

    /// Calls `call` with an open directory and the inode's name in it. A name that is gone was
    /// removed behind the mount: the kernel looks the path up again after `ESTALE`.
    fn with_place<T>(
        &self,
        id: Id,
        call: impl FnOnce(BorrowedFd<'_>, &OsStr) -> Result<T>,
    ) -> Result<T> {
        let (parent, name) = if id == ROOT {
            (ROOT, OsString::from("."))
        } else {
            self.tree.name_of(id).ok_or(Errno::STALE)?
        };
        call(self.directory(parent)?.as_fd(), &name).map_err(|error| match error {
            Errno::NOENT => Errno::STALE,
            error => error,
        })
    }

    /// Holds the inode itself, so that the next calls cannot reach another one.
    fn grip(&self, id: Id) -> Result<Grip> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let named = self
            .with_place(id, |directory, name| {
                fs::openat(directory, name, flags, Mode::empty())
            })
            .and_then(|held| self.check(id, fs::fstat(&held)?).map(|_| held));
        named
            .map(Grip::Held)
            .or_else(|error| match self.nameless(id) {
                Some(file) => Ok(Grip::Open(file)),
                None => Err(error),
            })
    }

    /// Finds an open file of an inode that may have lost its name.
    fn nameless(&self, id: Id) -> Option<Arc<File>> {
        self.files.find(|file| file.id == id)
    }

    fn check(&self, id: Id, stat: Stat) -> Result<Stat> {
        if self.tree.id(&stat) == Some(id) {
            Ok(stat)
        } else {
            Err(Errno::STALE)
        }
    }

    fn removed(&self, parent: Id, name: &OsStr, stat: &Stat) {
        let Some(id) = self.tree.id(stat) else {
            return;
        };
        let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if directory {
            self.directories.forget(id);
        }
        self.tree
            .removed(parent, name, id, directory || stat.st_nlink <= 1);
    }

    /// Gives a new inode to the user who asked for it, with the mode that was asked for, whatever
    /// our umask.
    fn adopt(
        &self,
        directory: &OwnedFd,
        parent: Id,
        name: &OsStr,
        mode: Option<Mode>,
        owner: Owner,
    ) -> Result<(Found, Stat)> {
        let stat = fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let group = if Mode::from_raw_mode(fs::fstat(directory)?.st_mode).contains(Mode::SGID) {
            stat.st_gid
        } else {
            owner.group
        };
        let given = (stat.st_uid, stat.st_gid) != (owner.user, group);
        // A directory inherits this one bit.
        let wanted = mode.map(|mode| mode | Mode::from_raw_mode(stat.st_mode) & Mode::SGID);
        let moded = wanted.is_some_and(|mode| mode != Mode::from_raw_mode(stat.st_mode & 0o7777));
        if given || moded {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let held = fs::openat(directory, name, flags, Mode::empty())?;
            if given {
                let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(group));
                fs::chownat(&held, "", Some(user), Some(group), AtFlags::EMPTY_PATH)?;
            }
            if let Some(mode) = wanted {
                chmod(held.as_fd(), mode)?;
            }
        }
        let stat = fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((self.tree.made(parent, name, &stat), stat))
    }
}

/// An inode that is held by an `O_PATH` descriptor or by an open file.
enum Grip {
    Held(OwnedFd),
    Open(Arc<File>),
}

impl AsFd for Grip {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Held(descriptor) => descriptor.as_fd(),
            Self::Open(file) => file.descriptor.as_fd(),
        }
    }
}

fn open_flags(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned()) & OPEN_FLAGS
}

/// A path that leads to the inode of an open descriptor: proc(5), /proc/self/fd.
fn name_of(descriptor: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

fn reopen(descriptor: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC;
    fs::openat(CWD, name_of(descriptor), flags, Mode::empty())
}

fn chmod(descriptor: BorrowedFd<'_>, mode: Mode) -> Result<()> {
    fs::chmodat(CWD, name_of(descriptor), mode, AtFlags::empty())
}

fn resize(grip: &Grip, size: u64) -> Result<()> {
    if let Grip::Open(file) = grip {
        match fs::ftruncate(&file.descriptor, size) {
            // The file was opened for reading only.
            Err(Errno::INVAL | Errno::BADF) => {}
            outcome => return outcome,
        }
    }
    fs::ftruncate(reopen(grip.as_fd(), OFlags::WRONLY)?, size)
}

/// Clears set-user-ID, and set-group-ID where it has that meaning, as a change by a user other than
/// root does.
pub(super) fn drop_privileges(descriptor: BorrowedFd<'_>) -> Result<()> {
    let mode = Mode::from_raw_mode(fs::fstat(descriptor)?.st_mode & 0o7777);
    let mut kept = mode - Mode::SUID;
    if mode.contains(Mode::XGRP) {
        kept -= Mode::SGID;
    }
    if kept == mode {
        return Ok(());
    }
    chmod(descriptor, kept)
}
