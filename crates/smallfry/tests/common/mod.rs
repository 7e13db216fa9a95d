//! Helpers of several test files.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "archive")]
pub(crate) mod archives;
pub(crate) mod trees;
#[cfg(unix)]
pub(crate) mod unix;
#[cfg(windows)]
pub(crate) mod windows;
#[cfg(target_os = "linux")]
pub(crate) mod workload;

#[cfg(unix)]
pub(crate) use unix as platform;
#[cfg(windows)]
pub(crate) use windows as platform;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use smallfry::bulk::Strategy;
use smallfry::{Error, Operation};

/// A directory of the test's own. Dropping it removes it.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Returns the strategies with different numbers of threads.
pub(crate) fn strategies() -> [Strategy; 4] {
    let threads = |count: usize| Strategy::Threads(count.try_into().unwrap());
    [
        Strategy::Auto,
        Strategy::CallingThread,
        threads(2),
        threads(8),
    ]
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[track_caller]
pub(crate) fn assert_error(
    error: &Error,
    operation: Operation,
    path: Option<&Path>,
    kind: ErrorKind,
) {
    assert_eq!(
        (error.operation(), error.path(), error.kind()),
        (operation, path, kind),
        "{error}"
    );
}

/// Prints that a test cannot run here, or fails where all tests must run.
#[track_caller]
pub(crate) fn skip(test: &str, reason: &str) {
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{test} cannot run: {reason}"
    );
    println!("skipped {test}: {reason}");
}
