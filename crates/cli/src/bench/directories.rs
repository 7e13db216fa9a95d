//! The directories that rows write to: made beforehand, shared by all rows, removed at the end.
//!
//! A file system can take ten times as long to create a file in one fresh directory as in the next,
//! since directories lie in different parts of the disk. So all rows go through the same
//! directories.

use super::disk::{Slow, UNDELAYED};
use crate::failure::Failure;
use crate::process::interrupt::Interrupt;
use smallfry::tree::Remover;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The number of directories on the disk, and in memory.
pub(crate) const COUNT: usize = 8;

/// The directories; dropping them removes everything.
pub(crate) struct Directories {
    /// Mounted over `disk`. It stands before `disk`, so that it is unmounted before that is
    /// removed.
    slow: Option<Slow>,
    /// Shows what is on the disk at the directory behind it, through a mount that adds no delay.
    undelayed: Option<(Slow, TempDir)>,
    disk: TempDir,
    memory: Option<TempDir>,
}

impl Directories {
    /// Makes directories under `dir`, and under a tmpfs if the system has one.
    pub(crate) fn make(dir: &Path, tmpfs: Option<&Path>) -> Result<Self, Failure> {
        let disk = make_under(dir)?;
        // A tmpfs that may not be written to is as good as none.
        let memory = tmpfs.and_then(|directory| make_under(directory).ok());
        Ok(Self {
            slow: None,
            undelayed: None,
            disk,
            memory,
        })
    }

    /// Mounts the slow disk of that name over the directories on the disk.
    pub(crate) fn slow_down(
        &mut self,
        profile: &str,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let disk = self.disk.path();
        if profile != UNDELAYED {
            let above = disk.parent().unwrap_or(disk);
            let point = make_under(above)?;
            // This mount comes first: it would otherwise see the disk through the other one.
            let mount = Slow::mount(UNDELAYED, disk, point.path(), interrupt)?;
            self.undelayed = Some((mount, point));
        }
        self.slow = Some(Slow::mount(profile, disk, disk, interrupt)?);
        Ok(())
    }

    /// Returns the profile of the slow disk, if there is one.
    pub(crate) fn profile(&self) -> Option<&str> {
        self.slow.as_ref().map(|slow| slow.profile.as_str())
    }

    /// Empties the cache of the slow disk, if there is one.
    pub(crate) fn empty_device_cache(&self) -> std::io::Result<()> {
        self.slow.as_ref().map_or(Ok(()), Slow::empty_cache)
    }

    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    pub(crate) fn on_disk(&self, index: usize) -> PathBuf {
        numbered(self.disk.path(), index)
    }

    /// Returns the same directory through a mount that adds no delay, beside a slow disk.
    pub(crate) fn undelayed(&self, index: usize) -> Option<PathBuf> {
        let (_, point) = self.undelayed.as_ref()?;
        Some(numbered(point.path(), index))
    }

    /// Returns the same directory, to be prepared without waiting for a slow disk.
    pub(crate) fn beneath(&self, index: usize) -> PathBuf {
        match &self.slow {
            Some(slow) => numbered(&slow.beneath(), index),
            None => self.on_disk(index),
        }
    }

    pub(crate) fn in_memory(&self, index: usize) -> Option<PathBuf> {
        Some(numbered(self.memory.as_ref()?.path(), index))
    }

    /// Removes everything, and says so if that fails.
    pub(crate) fn remove(self) -> Result<(), Failure> {
        let (undelayed, point) = self.undelayed.unzip();
        for mut slow in [self.slow, undelayed].into_iter().flatten() {
            slow.unmount()?;
        }
        for directory in [point, Some(self.disk), self.memory].into_iter().flatten() {
            let path = directory.keep();
            let removed = Remover::new().remove(&path);
            removed.map_err(Failure::at("remove", &path))?;
        }
        Ok(())
    }
}

fn numbered(root: &Path, index: usize) -> PathBuf {
    root.join((index % COUNT).to_string())
}

fn make_under(directory: &Path) -> Result<TempDir, Failure> {
    let root = tempfile::Builder::new()
        .prefix(".smallfry-bench-")
        .tempdir_in(directory)
        .map_err(Failure::at("make a directory in", directory))?;
    for index in 0..COUNT {
        let path = numbered(root.path(), index);
        std::fs::create_dir(&path).map_err(Failure::at("make directory", &path))?;
    }
    Ok(root)
}

/// Returns the path as rows are told it.
pub(crate) fn unicode(path: &Path) -> Result<String, Failure> {
    let name = path.to_str().map(str::to_owned);
    name.ok_or_else(|| Failure::at("measure with", path)("its name is not Unicode"))
}
