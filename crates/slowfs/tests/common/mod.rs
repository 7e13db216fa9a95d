//! Helpers of the tests that mount.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use smallfry_slowfs::{Mount, Options};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory and its mount point.
pub(crate) struct Place {
    // Before the directory, which cannot be removed beneath it.
    pub(crate) mount: Mount,
    pub(crate) root: tempfile::TempDir,
}

impl Place {
    /// Mounts a directory with the files that `prepare` makes. Returns `None`, after a line that
    /// says so, where nothing can be mounted. With CI=true that is an error.
    pub(crate) fn mounted(options: &Options, prepare: impl FnOnce(&Path)) -> Option<Self> {
        if !can_mount() {
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        let (real, shown) = (root.path().join("real"), root.path().join("shown"));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&shown).unwrap();
        prepare(&real);
        let mount = Mount::new(&real, Some(&shown), options).unwrap();
        Some(Self { mount, root })
    }

    /// The path of a file on the mount.
    pub(crate) fn shown(&self, name: &str) -> PathBuf {
        self.mount.path().join(name)
    }

    /// The path of the same file below the mount.
    pub(crate) fn real(&self, name: &str) -> PathBuf {
        self.root.path().join("real").join(name)
    }
}

pub(crate) fn can_mount() -> bool {
    let able = rustix::process::geteuid().is_root() && Path::new("/dev/fuse").exists();
    if !able {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "tests of the mount need root and /dev/fuse"
        );
        eprintln!("skipped: needs root and /dev/fuse");
    }
    able
}
