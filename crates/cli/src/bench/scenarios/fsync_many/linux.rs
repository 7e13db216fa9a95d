//! The ways that only Linux has.

#![allow(unsafe_code, reason = "it calls the system")]

use super::super::prelude::*;
use super::case::Flushing;
use super::native::{Target, Work};
use rustix::buffer::spare_capacity;
use rustix::fs::{Gid, Mode, Uid, XattrFlags};
use rustix::io::Errno;
use std::os::fd::AsRawFd;

/// The maximum size of a list of attributes, and of a value, in bytes.
const MAX_NAMES: usize = 1 << 16;

/// Handles left for whatever else the process has open.
const RESERVED_HANDLES: usize = 64;

impl Work {
    pub(super) fn on_linux(&self, flushing: Flushing) -> io::Result<()> {
        match flushing {
            Flushing::ConcurrentKeeping => self.concurrent(|target| self.write_keeping(target)),
            Flushing::Writeout => self.writeout(),
            Flushing::Git => self.like_git(),
            flushing => self.whole_file_system(flushing == Flushing::SyncfsThenFsync),
        }
    }

    /// Writes a file that gets the attributes of the one that it replaces.
    fn write_keeping(&self, target: &Target) -> io::Result<File> {
        let old = rustix::fs::lstat(&target.path)?;
        let mut names = Vec::with_capacity(MAX_NAMES);
        match rustix::fs::llistxattr(&target.path, spare_capacity(&mut names)) {
            Ok(_) | Err(Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        self.write_after(target, |file| {
            let own = rustix::fs::fstat(file)?;
            if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) {
                let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
                rustix::fs::fchown(file, Some(owner), Some(group))?;
            }
            for name in names
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty())
            {
                let mut value = Vec::with_capacity(MAX_NAMES);
                rustix::fs::lgetxattr(&target.path, name, spare_capacity(&mut value))?;
                rustix::fs::fsetxattr(file, name, &value, XattrFlags::empty())?;
            }
            if own.st_mode != old.st_mode {
                rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode))?;
            }
            Ok(())
        })
    }

    /// Writes parts of as many files as may be open: a file that is closed and opened again may not
    /// tell what went wrong before.
    fn writeout(&self) -> io::Result<()> {
        let max = max_open().saturating_sub(RESERVED_HANDLES).max(1);
        for part in self.files.chunks(max) {
            let mut open = Vec::with_capacity(part.len());
            for target in part {
                let file = self.write(target)?;
                start_writeback(&file, false)?;
                open.push(file);
            }
            for (file, target) in open.into_iter().zip(part) {
                file.sync_all()?;
                drop(file);
                self.name(target)?;
            }
        }
        self.directories
            .iter()
            .try_for_each(|it| flush_directory(it))
    }

    fn whole_file_system(&self, then_fsync: bool) -> io::Result<()> {
        // Opened before the first write: errors are told from then on.
        let root = File::open(&self.root)?;
        let barrier = || {
            rustix::fs::syncfs(&root)?;
            if then_fsync { root.sync_all() } else { Ok(()) }
        };
        for target in &self.files {
            self.write(target)?;
        }
        barrier()?;
        if self.replace {
            for target in &self.files {
                self.name(target)?;
            }
            barrier()?;
        }
        Ok(())
    }

    /// `core.fsyncMethod=batch`:
    /// <https://git-scm.com/docs/git-config#Documentation/git-config.txt-corefsyncMethod>.
    fn like_git(&self) -> io::Result<()> {
        for target in &self.files {
            let file = self.write(target)?;
            start_writeback(&file, true)?;
        }
        let dummy = self.root.join("bulk_fsync");
        File::create(&dummy)?.sync_all()?;
        fs::remove_file(&dummy)?;
        for target in &self.files {
            self.name(target)?;
        }
        Ok(())
    }
}

/// Starts writing the file's pages to the device, and with `wait` waits until the device has taken
/// them. The device's own cache and the file's metadata are not flushed.
///
/// `sync_file_range`: <https://man7.org/linux/man-pages/man2/sync_file_range.2.html>.
fn start_writeback(file: &File, wait: bool) -> io::Result<()> {
    let mut flags = libc::SYNC_FILE_RANGE_WRITE;
    if wait {
        flags |= libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    }
    // SAFETY: no memory is involved; the descriptor is open across the call.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns how many files may be open, after asking for as many as is allowed.
///
/// `setrlimit`: <https://man7.org/linux/man-pages/man2/setrlimit.2.html>.
fn max_open() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // A limit that cannot be raised stays as it is.
    let _ = setrlimit(Resource::Nofile, limit);
    let max = getrlimit(Resource::Nofile).current;
    max.map_or(usize::MAX, |max| max as usize)
}
