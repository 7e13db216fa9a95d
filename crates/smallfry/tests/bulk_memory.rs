//! The memory of results: kept for the next reads for a moment, then given back.
//!
//! A program that reads the same files again and again had every page cleared anew by the system.
//! Memory that is kept for too long, or of which too much is kept, would be worse. Nothing here
//! looks at the time: page faults and resident pages are counted, and waiting ends when the memory
//! is back.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::Directory;
use common::unix::{assert_ends_well, child_directory, fork, is_child, run_child};
use smallfry::bulk::{Bytes, Reader, Strategy};

const FILES: usize = 2_000;
const SIZE: usize = 10_000;
const PAGES: usize = FILES * SIZE / 4096;
const MIB: usize = 1 << 20;
/// A command that runs the child as it is.
const DIRECTLY: [&str; 0] = [];

/// Makes the files, and runs a test in a process of its own.
fn with_files(child: &str) {
    let dir = Directory::new();
    for index in 0..FILES {
        fs::write(dir.path(&index.to_string()), vec![b'x'; SIZE]).unwrap();
    }
    run_child(child, &dir, &DIRECTLY);
}

fn paths() -> Vec<PathBuf> {
    let dir = child_directory();
    (0..FILES)
        .map(|index| dir.join(index.to_string()))
        .collect()
}

fn read(paths: &[PathBuf]) -> Vec<Bytes> {
    read_by(&Reader::new(), paths)
}

fn read_by(reader: &Reader, paths: &[PathBuf]) -> Vec<Bytes> {
    let all = reader.read(paths).map(|(_, result)| result.unwrap());
    let all: Vec<_> = all.collect();
    assert!(all.iter().all(|contents| contents.len() == SIZE));
    all
}

/// A number of `/proc/self/status` in bytes.
fn status(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.unwrap().trim_start_matches(':').trim();
    1024 * kib.trim_end_matches(" kB").parse::<usize>().unwrap()
}

/// The number of page faults so far that needed no disk.
fn faults() -> usize {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<_> = after_name.split_whitespace().collect();
    fields[7].parse().unwrap()
}

/// Has the system give small pages, each of which is a fault.
fn without_huge_pages() {
    // SAFETY: plain numbers.
    let result = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
    assert_eq!(result, 0);
}

/// Waits until at most `max` bytes more than `before` are resident.
#[track_caller]
fn assert_given_back(before: usize, max: usize) {
    let began = Instant::now();
    while status("VmRSS") > before + max {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{} MiB more are resident",
            (status("VmRSS") - before) / MIB
        );
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_memory_of_dropped_results_serves_the_next_reads() {
    with_files("child_that_reads_twice");
}

#[test]
#[ignore = "a child"]
fn child_that_reads_twice() {
    if !is_child() {
        return;
    }
    without_huge_pages();
    let paths = paths();
    // As many threads the second time: each has pages of its own.
    let mut reader = Reader::new();
    reader.strategy(Strategy::Threads(2.try_into().unwrap()));
    let count = |before: usize| faults() - before;
    let before = faults();
    drop(read_by(&reader, &paths));
    let first = count(before);
    assert!(first >= PAGES, "{first} faults for {PAGES} pages");
    let before = faults();
    drop(read_by(&reader, &paths));
    let second = count(before);
    assert!(second < PAGES / 4, "{second} faults the second time");
}

#[test]
fn memory_is_flat_over_many_rounds_and_goes_back_afterwards() {
    with_files("child_that_reads_in_rounds");
}

#[test]
#[ignore = "a child"]
fn child_that_reads_in_rounds() {
    if !is_child() {
        return;
    }
    let paths = paths();
    let before = status("VmRSS");
    for _ in 0..100 {
        drop(read(&paths));
    }
    // One round takes 20 MB, rounded up to mappings of 2 MiB for each of a few threads.
    let peak = status("VmHWM") - before;
    assert!(peak < 64 * MIB, "{} MiB at most", peak / MIB);
    assert_given_back(before, 4 * MIB);
}

#[test]
fn a_forked_process_gives_memory_back() {
    with_files("child_that_forks");
}

#[test]
#[ignore = "a child"]
fn child_that_forks() {
    if !is_child() {
        return;
    }
    let paths = paths();
    let before = status("VmRSS");
    drop(read(&paths));
    // The keeper runs, and there are mappings to be given back.
    let idle = fork(|| assert_given_back(before, 8 * MIB));
    let reading = fork(|| {
        for _ in 0..3 {
            drop(read(&paths));
        }
        assert_given_back(before, 8 * MIB);
    });
    assert_ends_well(idle);
    assert_ends_well(reading);
    assert_given_back(before, 8 * MIB);
}

#[test]
fn a_forked_process_reads_whatever_other_threads_did_at_the_fork() {
    with_files("child_that_forks_while_others_read");
}

#[test]
#[ignore = "a child"]
fn child_that_forks_while_others_read() {
    if !is_child() {
        return;
    }
    let paths = &paths()[..4];
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    drop(read(paths));
                }
            });
        }
        let children: Vec<_> = (0..200).map(|_| fork(|| drop(read(paths)))).collect();
        is_over.store(true, Ordering::Relaxed);
        children.into_iter().for_each(assert_ends_well);
    });
}

#[test]
fn pages_beside_a_few_kept_results_go_back() {
    with_files("child_that_keeps_a_few");
}

#[test]
#[ignore = "a child"]
fn child_that_keeps_a_few() {
    if !is_child() {
        return;
    }
    without_huge_pages();
    let paths = paths();
    let before = status("VmRSS");
    let mut kept = Vec::new();
    for _ in 0..10 {
        kept.extend(read(&paths).into_iter().step_by(100));
    }
    // 200 MB were read. At most 32 MiB of mappings wait for their last results.
    let now = status("VmRSS") - before;
    assert!(now < 64 * MIB, "{} MiB are resident", now / MIB);
    assert_given_back(before, 8 * MIB);
    assert!(kept.iter().all(|contents| **contents == [b'x'; SIZE]));
}
