//! The facts about this machine that its figures depend on.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod platform;

pub(crate) use platform::{drop_cache, flush_all, free_inodes, spread_directories};

use crate::failure::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The machine; `None` where the system does not tell.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    /// The program that runs the container, if this is one.
    pub(crate) container: Option<String>,
    pub(crate) file_system: FileSystem,
}

/// The file system that the measured directory is on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileSystem {
    pub(crate) directory: PathBuf,
    pub(crate) kind: String,
    pub(crate) device: Option<String>,
    pub(crate) mount_point: Option<PathBuf>,
    pub(crate) options: Option<String>,
    /// Null for a virtual disk, which does not tell.
    pub(crate) rotational: Option<bool>,
    /// Only looked up for ext4.
    pub(crate) journal: Option<bool>,
    pub(crate) free_bytes: Option<u64>,
}

impl Host {
    pub(crate) fn look(directory: &Path) -> Result<Self, Failure> {
        let directory = directory
            .canonicalize()
            .map_err(Failure::at("open directory", directory))?;
        if !directory.is_dir() {
            let why = "it is not a directory";
            return Err(Failure::at("write to", &directory)(why));
        }
        Ok(Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            file_system: FileSystem::of(&directory),
            ..platform::machine()
        })
    }

    /// Returns sentences for a user whose figures may mislead.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let kind = &self.file_system.kind;
        if matches!(kind.as_str(), "tmpfs" | "ramfs") {
            let directory = self.file_system.directory.display();
            warnings.push(format!(
                "{directory} is a {kind}: it shows memory, not a disk (--dir names another directory)"
            ));
        }
        let (load, cores) = (self.load_average.unwrap_or(0.0), self.cores);
        if load > cores as f64 / 2.0 {
            let busy = format!("the machine is busy: load {load:.1} on {cores} cores");
            warnings.push(busy);
        }
        warnings
    }
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
    fn of(directory: &Path) -> Self {
        let mut found = platform::file_system(directory).unwrap_or_default();
        if found.kind.is_empty() {
            "unknown".clone_into(&mut found.kind);
        }
        directory.clone_into(&mut found.directory);
        found
    }

    pub(crate) fn syncfs(&self) -> Syncfs {
        match (self.kind.as_str(), self.journal) {
            ("ext4", Some(true)) | ("xfs" | "btrfs", _) => Syncfs::Barrier,
            ("ext4", _) => Syncfs::BarrierWithFsync,
            _ => Syncfs::Unknown,
        }
    }
}

/// Looking at more files would take as long as reading them on a slow disk.
const SAMPLE: usize = 32;

/// Returns the part of some of the files, from 0 to 1, that is in the page cache; `None` where the
/// system does not tell. It opens them.
pub(crate) fn cached(paths: &[PathBuf]) -> Option<f64> {
    let mut sum = (0, 0);
    for path in paths.iter().step_by(paths.len().div_ceil(SAMPLE).max(1)) {
        let (here, all) = platform::cached_pages(path).ok()?;
        sum = (sum.0 + here, sum.1 + all);
    }
    (sum.1 > 0).then(|| sum.0 as f64 / sum.1 as f64)
}

/// Finds a directory in memory to compare the disk with.
pub(crate) fn tmpfs() -> Option<PathBuf> {
    let directories = ["/dev/shm", "/tmp", "/run/shm"].map(PathBuf::from);
    let mut directories = directories.into_iter();
    directories.find(|place| place.is_dir() && FileSystem::of(place).kind == "tmpfs")
}

/// Returns the number in the line `name: number kB`.
pub(crate) fn number(file: &Path, name: &str) -> Option<u64> {
    field(file, name)?.split(' ').next()?.parse().ok()
}

/// Returns the value in the line `name: value` of a file in /proc.
pub(crate) fn field(file: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(found, _)| found.trim() == name)?;
    Some(value.trim().to_owned())
}
