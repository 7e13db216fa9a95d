//! `smallfry bench` as a user runs it: a module per scenario, and `command` and `slow_disks` for
//! the rest.
//!
//! The tests look at how the bench behaves, not at its figures: that it says what it does, that its
//! file is what its documentation says, and that it leaves nothing behind. A bench that litters the
//! disk it measures, or leaves processes running on it, falsifies every later one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod build;
mod calls;
mod close;
mod command;
#[path = "../common/mod.rs"]
mod common;
mod fsync;
mod fsync_many;
mod jvm;
mod package_scope;
mod read_many;
mod scale;
#[cfg(target_os = "linux")]
mod slow_disks;
mod start;
mod support;
#[cfg(unix)]
mod trees;
mod write_many;
mod write_string;
