//! The child of a `fork` does everything on one thread.
//!
//! std has locks for threads that start and end. One of the parent's threads may hold such a lock
//! at the `fork`, and in the child it stays locked. A thread that starts there then waits for ever,
//! and a batch waits for the thread.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::num::NonZeroUsize;

use common::unix::{assert_ends_well, child_directory, fork, is_child, run_child};
use common::{Directory, names};
use smallfry::Durability;
use smallfry::bulk::{Reader, Strategy, Writer};
use smallfry::tree::{Copier, Remover};

const DIRECTLY: [&str; 0] = [];

#[test]
fn a_forked_process_needs_no_threads() {
    run_child("child_that_forks", &Directory::new(), &DIRECTLY);
}

#[test]
#[ignore = "run by a_forked_process_needs_no_threads"]
fn child_that_forks() {
    if !is_child() {
        return;
    }
    let work = |name: &str| {
        let threads = Strategy::Threads(NonZeroUsize::new(4).unwrap());
        let root = child_directory().join(name);
        fs::create_dir(&root).unwrap();
        let paths: Vec<_> = (0..50).map(|index| root.join(index.to_string())).collect();
        let mut writer = Writer::new();
        writer.strategy(threads).durability(Durability::Full);
        let entries = paths.iter().map(|path| (path, "text"));
        writer.write(entries).into_result().unwrap();
        let mut reader = Reader::new();
        let read = reader.strategy(threads).read(&paths);
        assert!(read.into_iter().all(|(_, it)| *it.unwrap() == *b"text"));
        let copy = root.with_extension("copy");
        Copier::new().strategy(threads).copy(&root, &copy).unwrap();
        assert_eq!(names(&copy).len(), 50);
        Remover::new().strategy(threads).remove(&copy).unwrap();
    };
    work("parent");
    assert!(smallfry_workers::may_start_threads());
    assert_ends_well(fork(|| {
        assert!(!smallfry_workers::may_start_threads());
        work("child");
        assert_eq!(
            fs::read_dir("/proc/self/task").map_or(1, Iterator::count),
            1
        );
    }));
}
