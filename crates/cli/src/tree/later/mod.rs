//! `smallfry rm --later`: a tree is renamed at once, and removed by a process of its own.
//!
//! Such a process has a slot: a file in a directory of the user that names the tree. The process
//! holds a lock on it, which ends with the process, however it ends. The slot is written before the
//! tree is renamed. So a slot with a name and without a lock was left by a process that was killed,
//! and the next call gives it to another process. Two slots for each file system and user bound how
//! many processes wait for one disk.
//!
//! The open slot is the standard input of the process. The lock belongs to the open file, so it is
//! held without a gap.
//!
//! Nothing is flushed. After a power failure the tree may have the hidden name, and no slot.
//!
//! - `slot.rs`: the slots
//! - `unix.rs`, `windows.rs`: where they are, their locks, and processes in the background

mod slot;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

use slot::{Left, Slot};
use smallfry::tree::{Remover, Report, TreeError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The number of processes for a file system.
const SLOTS: u32 = 2;

/// The end of a removal that had a slot.
pub(super) enum Removal {
    /// Another process does it.
    Later,
    /// No other process could be started.
    Now(Result<Report, TreeError>),
}

/// The slots of this user.
pub(super) struct Slots(PathBuf);

impl Slots {
    /// Makes their directory, if it is missing.
    pub(super) fn open() -> io::Result<Self> {
        platform::make_directory().map(Self)
    }

    /// Starts a process for each tree that an earlier one has left. Returns the reasons why they
    /// were left.
    pub(super) fn resume(&self) -> Vec<String> {
        let entries = self.0.read_dir().into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let resumed = files.map(|entry| {
            resume(&entry.path()).unwrap_or_else(|error| {
                let path = entry.path();
                Some(format!("{}: {error}", path.display()))
            })
        });
        resumed.flatten().collect()
    }

    /// Renames the directory at `path`, and starts the process that removes it. `None` if it is to
    /// be removed at its own name: there is no free slot, it is no directory, or it cannot be
    /// renamed.
    pub(super) fn remove(&self, remover: &Remover, path: &Path) -> Option<Removal> {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        // What is mounted below would be moved, too. The error of removing it tells where.
        if !is_directory || platform::has_mount_below(path) {
            return None;
        }
        let mut slot = self.free_slot(path).ok()??;
        let announce = |aside: &Path| slot.write(&Left::new(std::path::absolute(aside)?)?);
        let Ok(aside) = remover.set_aside(path, announce) else {
            let _ = slot.empty();
            return None;
        };
        Some(match slot.start() {
            Ok(()) => Removal::Later,
            Err(_) => Removal::Now(remover.remove(aside)),
        })
    }

    /// Returns a slot for the file system of `path`.
    fn free_slot(&self, path: &Path) -> io::Result<Option<Slot>> {
        let (device, _) = platform::identity(path)?;
        for number in 0..SLOTS {
            let path = self.0.join(format!("{device:x}-{number}"));
            if let Some(mut slot) = Slot::take(&path)?
                && slot.read()?.is_none()
            {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }
}

/// Starts a process for the tree of a slot that no process has. Returns the reason why it was left.
fn resume(path: &Path) -> io::Result<Option<String>> {
    let Some(mut slot) = Slot::take(path)? else {
        return Ok(None);
    };
    let Some(left) = slot.read()? else {
        return Ok(None);
    };
    if left.path.symlink_metadata().is_err() {
        // Its disk may not be mounted, or this home is used on several machines.
        if left.is_reachable() {
            slot.empty()?;
        }
        return Ok(None);
    }
    slot.start()?;
    let Left { path, error, .. } = left;
    let told = || format!("{}, which was to be removed later: {error}", path.display());
    Ok((!error.is_empty()).then(told))
}

/// Removes the tree of the slot that is the standard input.
pub(super) fn work_off() -> ExitCode {
    platform::enter_background();
    let removed = || -> io::Result<()> {
        let mut slot = Slot::from_stdin()?;
        let Some(mut left) = slot.read()? else {
            return Ok(());
        };
        if !left.is_reachable() {
            return Ok(());
        }
        match Remover::new().missing_ok(true).remove(&left.path) {
            Ok(_) => slot.empty(),
            Err(error) => {
                left.error = error.to_string();
                slot.write(&left)
            }
        }
    };
    match removed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
