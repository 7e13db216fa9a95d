//! Removes trees later: each is renamed at once, and removed by a process of its own.
//!
//! Such a process has a slot: a file in a directory of the user that names the tree. The process
//! holds a lock on it, which ends with the process, however it ends. The slot is written before the
//! tree is renamed. So a slot with a name and without a lock was left by a process that was killed,
//! and the next call gives it to another process. Two slots for each file system and user bound how
//! many processes wait for one disk.
//!
//! The open slot is the standard input of the process. The lock belongs to the open file, so it is
//! held without a gap.

mod slot;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, PoisonError};

use self::slot::{Left, Slot};
use super::remove::Remover;
use super::report::{Report, TreeError};
use crate::error::{Error, Operation};
use crate::sys::background as system;

/// The number of processes for a file system.
const SLOTS: u32 = 2;

/// Removes trees in processes of their own, so that the caller goes on at once.
///
/// A tree is renamed to a hidden name beside its own, in one step, and a process is started that
/// removes it. At most two such processes of a user run for each file system; while they do, trees
/// are removed at once. A process that was killed leaves its tree, and [`new`](Self::new) starts
/// another one for it.
///
/// A library cannot be such a process, so the caller names a program. It is the command `smallfry`
/// with the arguments `rm --slot`, or any program that calls [`remove_given`](Self::remove_given)
/// and does nothing else, such as that of the caller with an argument of its own.
///
/// Which trees are left is noted in `smallfry/removing`, in `$XDG_STATE_HOME` or
/// `~/.local/state`; on Windows in `%LOCALAPPDATA%`. Without such a directory everything is
/// removed at once. Nothing is flushed: after a power failure a tree may have its hidden name and
/// no note.
///
/// ```no_run
/// use smallfry::tree::{Later, Remover};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     const GIVEN: &str = "--remove-given-tree";
///     if std::env::args().nth(1).as_deref() == Some(GIVEN) {
///         return Ok(Later::remove_given()?);
///     }
///     let later = Later::new(std::env::current_exe()?, [GIVEN]);
///     for error in later.errors() {
///         eprintln!("{error}");
///     }
///     // `None`: another process removes it.
///     let report = later.remove(&Remover::new(), "dist")?;
///     println!("removed {}", if report.is_some() { "now" } else { "later" });
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Later {
    program: Program,
    /// The directory of the slots, if there is one.
    slots: Option<PathBuf>,
    errors: Vec<Error>,
    /// The processes that were started. Those that have ended are taken from the system's table of
    /// processes at the next removal.
    processes: Mutex<Vec<Child>>,
}

/// A program that removes the tree it is given.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Later {
    /// Makes one whose processes run `program` with `arguments`, and starts one for each tree that
    /// an earlier one has left.
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let mut later = Self {
            program: Program {
                path: program.into(),
                arguments: arguments.into_iter().map(Into::into).collect(),
            },
            slots: system::make_directory().ok(),
            errors: Vec::new(),
            processes: Mutex::default(),
        };
        later.resume();
        later
    }

    /// Returns why earlier processes have left trees, for each tree that is given to another one
    /// now, and why that failed.
    #[must_use]
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Removes what is at `path`: in another process, for which it returns `None`, or at once, as
    /// [`Remover::remove`] does with the options of `remover`.
    ///
    /// Files and links are removed at once, and so are directories with mount points below and
    /// those that cannot be renamed. While two processes are busy on that file system, everything
    /// is. Another process ignores the options of `remover`, and the next [`Later`] has its
    /// [`errors`](Self::errors).
    ///
    /// # Errors
    ///
    /// The errors of [`Remover::remove`].
    pub fn remove(
        &self,
        remover: &Remover,
        path: impl AsRef<Path>,
    ) -> Result<Option<Report>, TreeError> {
        let path = path.as_ref();
        match self.set_aside(remover, path) {
            Some(Aside::Given) => Ok(None),
            Some(Aside::Kept(aside)) => remover.remove(aside).map(Some),
            None => remover.remove(path).map(Some),
        }
    }

    /// Removes the tree that the standard input names: the only thing that a program does that
    /// [`new`](Self::new) is given. It must not have opened a file before, or read the standard
    /// input.
    ///
    /// # Errors
    ///
    /// [`Operation::Read`] or [`Operation::Write`] if the standard input is no note of a tree, or
    /// cannot be written. Errors of the removal are noted for the next [`Later`].
    pub fn remove_given() -> Result<(), Error> {
        system::enter_background();
        let at = |operation| move |reason| Error::at(operation, Path::new("stdin"), reason);
        let mut slot = Slot::from_stdin().map_err(at(Operation::Read))?;
        let Some(mut left) = slot.read().map_err(at(Operation::Read))? else {
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
        .map_err(at(Operation::Write))
    }

    /// Renames the directory at `path`, and starts the process that removes it. `None` if it is to
    /// be removed at its own name.
    fn set_aside(&self, remover: &Remover, path: &Path) -> Option<Aside> {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        // What is mounted below would be moved, too. The error of removing it tells where.
        if !is_directory || system::has_mount_below(path) {
            return None;
        }
        let mut slot = self.free_slot(path).ok()??;
        let announce = |aside: &Path| slot.write(&Left::new(std::path::absolute(aside)?)?);
        let Ok(aside) = remover.set_aside(path, announce) else {
            let _ = slot.empty();
            return None;
        };
        Some(match self.start(slot) {
            Ok(()) => Aside::Given,
            Err(_) => Aside::Kept(aside),
        })
    }

    /// Starts the process that removes the tree of a slot.
    fn start(&self, slot: Slot) -> io::Result<()> {
        let process = slot.start(&self.program)?;
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
        processes.push(process);
        Ok(())
    }

    /// Returns a slot for the file system of `path`.
    fn free_slot(&self, path: &Path) -> io::Result<Option<Slot>> {
        let Some(slots) = &self.slots else {
            return Ok(None);
        };
        let (device, _) = system::identity(path)?;
        for number in 0..SLOTS {
            let path = slots.join(format!("{device:x}-{number}"));
            if let Some(mut slot) = Slot::take(&path)?
                && slot.read()?.is_none()
            {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Starts a process for each tree that an earlier one has left.
    fn resume(&mut self) {
        let entries = self.slots.iter().filter_map(|slots| slots.read_dir().ok());
        for entry in entries.flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path();
            let left = self.resume_one(&path);
            let failed = |reason| Some(Error::at(Operation::Open, &path, reason));
            self.errors.extend(left.unwrap_or_else(failed));
        }
    }

    /// Starts a process for the tree of a slot that no process has. Returns the reason why it was
    /// left.
    fn resume_one(&self, path: &Path) -> io::Result<Option<Error>> {
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
        self.start(slot)?;
        let Left { path, error, .. } = left;
        let reason = || io::Error::other(format!("it was to be removed later: {error}"));
        Ok((!error.is_empty()).then(|| Error::at(Operation::Unlink, &path, reason())))
    }
}

/// A tree that was renamed.
enum Aside {
    /// Another process removes it.
    Given,
    /// No other process could be started.
    Kept(PathBuf),
}
