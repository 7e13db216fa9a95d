//! Helpers of the command's tests.

#![allow(dead_code, reason = "each of them uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub(crate) mod place;

use std::process::{Command, Output};

/// Prints that a test cannot run here. In continuous integration that is an error.
pub(crate) fn skip_unless(possible: bool, why_not: &str) {
    if !possible {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "{why_not}"
        );
        eprintln!("skipped: {why_not}");
    }
}

pub(crate) fn node_is_here() -> bool {
    let here = Command::new("node")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    skip_unless(here, "node is not on PATH");
    here
}

/// Checks that the command failed with one line that holds all `parts`.
#[track_caller]
pub(crate) fn assert_one_line(output: &Output, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Returns true if this process can mount: that takes root and FUSE.
#[cfg(target_os = "linux")]
pub(crate) fn can_mount() -> bool {
    let able = rustix::process::geteuid().is_root() && std::path::Path::new("/dev/fuse").exists();
    skip_unless(able, "slow disks need root and /dev/fuse");
    able
}
