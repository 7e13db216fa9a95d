//! The facts about this machine that its figures depend on.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

use super::failure::Failure;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The machine; `None` where the system does not tell.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Host {
    pub(crate) system: String,
    pub(crate) kernel: Option<String>,
    pub(crate) cpu: Option<String>,
    /// The cores that this process may use, limits of a container included.
    pub(crate) cores: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) load_average: Option<f64>,
    pub(crate) transparent_huge_pages: Option<String>,
    pub(crate) file_system: FileSystem,
}

/// The file system that the measured directory is on.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FileSystem {
    pub(crate) directory: PathBuf,
    pub(crate) kind: String,
    pub(crate) device: Option<String>,
    pub(crate) mount_point: Option<PathBuf>,
    pub(crate) options: Option<String>,
    pub(crate) rotational: Option<bool>,
    /// Only looked up for ext4.
    pub(crate) journal: Option<bool>,
    pub(crate) free_bytes: Option<u64>,
}

impl Host {
    pub(crate) fn look(directory: &Path) -> Result<Self, Failure> {
        let directory =
            std::fs::canonicalize(directory).map_err(Failure::at("open directory", directory))?;
        if !directory.is_dir() {
            return Err(Failure::said(format!(
                "cannot write to {}: it is not a directory",
                directory.display()
            )));
        }
        Ok(Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: platform::kernel(),
            cpu: platform::cpu(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: platform::memory(),
            memory_limit_bytes: platform::memory_limit(),
            load_average: platform::load_average(),
            transparent_huge_pages: platform::transparent_huge_pages(),
            file_system: platform::file_system(directory),
        })
    }

    /// Returns sentences for a user whose figures may mislead.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if matches!(self.file_system.kind.as_str(), "tmpfs" | "ramfs") {
            warnings.push(format!(
                "{} is a {}: it shows memory, not a disk (--dir names another directory)",
                self.file_system.directory.display(),
                self.file_system.kind
            ));
        }
        if let Some(load) = self
            .load_average
            .filter(|load| *load > self.cores as f64 / 2.0)
        {
            warnings.push(format!(
                "the machine is busy: load {load:.1} on {} cores",
                self.cores
            ));
        }
        warnings
    }
}

/// Waits until everything written to the file system of `directory` is on its device; does nothing
/// where the system has no such call.
pub(crate) fn flush_all(directory: &Path) -> std::io::Result<()> {
    platform::flush_all(directory)
}

/// The effect of `syncfs` on a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syncfs {
    /// All is durable when it returns.
    Barrier,
    /// All is durable when a file has been flushed after it: ext4 without a journal empties the
    /// device's cache before it writes the last blocks (`ext4_sync_fs`).
    BarrierWithFsync,
    /// Nothing is promised.
    Unknown,
}

impl FileSystem {
    pub(crate) fn syncfs(&self) -> Syncfs {
        match (self.kind.as_str(), self.journal) {
            ("ext4", Some(true)) | ("xfs" | "btrfs", _) => Syncfs::Barrier,
            ("ext4", _) => Syncfs::BarrierWithFsync,
            _ => Syncfs::Unknown,
        }
    }
}

/// Returns how many more files the file system of `directory` can hold, where it has a limit and
/// tells.
pub(crate) fn free_inodes(directory: &Path) -> Option<u64> {
    platform::free_inodes(directory)
}

/// Looking at more files would take as long as reading them on a slow disk.
const SAMPLE: usize = 32;

/// Empties the page cache, of all file systems; only root may.
pub(crate) fn drop_cache(directory: &Path) -> std::io::Result<()> {
    platform::cache::drop_all(directory)
}

/// Returns the part of some of the files, from 0 to 1, that is in the page cache; `None` where the
/// system does not tell. It opens them.
pub(crate) fn cached(paths: &[PathBuf]) -> Option<f64> {
    let mut sum = (0, 0);
    for path in paths.iter().step_by(paths.len().div_ceil(SAMPLE).max(1)) {
        let (here, all) = platform::cache::pages(path).ok()?;
        sum = (sum.0 + here, sum.1 + all);
    }
    (sum.1 > 0).then(|| sum.0 as f64 / sum.1 as f64)
}

/// Finds a directory in memory to compare the disk with.
pub(crate) fn tmpfs() -> Option<PathBuf> {
    ["/dev/shm", "/tmp", "/run/shm"]
        .into_iter()
        .map(PathBuf::from)
        .find(|directory| {
            directory.is_dir() && platform::file_system(directory.clone()).kind == "tmpfs"
        })
}
