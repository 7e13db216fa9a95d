//! Programs that are killed while they replace files, on the real disk. A reader must find a whole
//! file, at any moment and afterwards, and temporary files that are left must be recognizable and
//! removable.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{Directory, names};
use smallfry::bulk::Writer;
use smallfry::durable::remove_temporary_files;
use smallfry::{Durability, WriteOptions};

const FILES: usize = 6;
/// Set in the child to its directory.
const CHILD: &str = "SMALLFRY_TEST_KILLED";

/// Kills: `SMALLFRY_TEST_KILLS`.
fn kills() -> usize {
    let count = std::env::var("SMALLFRY_TEST_KILLS");
    count.map_or(60, |count| count.parse().unwrap())
}

/// Long enough to be caught in the middle.
fn text(version: usize) -> String {
    format!("{version}\n").repeat(30_000) + "end"
}

fn is_whole(contents: &str) -> bool {
    let Some(version) = contents.lines().next().and_then(|line| line.parse().ok()) else {
        return false;
    };
    contents == text(version)
}

fn child(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_replaces", "--ignored"])
        .env(CHILD, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "a child"]
fn child_replaces() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let path = |index: usize| Path::new(&directory).join(index.to_string());
    let mut options = WriteOptions::new();
    options.replace(true);
    let mut writer = Writer::new();
    writer.replace(true).durability(Durability::Data);
    for version in 1.. {
        options.write(path(0), text(version)).unwrap();
        let entries = (1..FILES).map(|index| (path(index), text(version)));
        writer.write(entries).into_result().unwrap();
    }
}

#[test]
fn a_reader_always_finds_a_whole_file() {
    let directory = Directory::new();
    let path = |index: usize| directory.path(&index.to_string());
    for index in 0..FILES {
        fs::write(path(index), text(0)).unwrap();
    }
    let mut left = 0;
    for kill in 0..kills() {
        let mut child = child(&directory.path(""));
        thread::sleep(Duration::from_micros(fastrand::u64(2_000..30_000)));
        for index in 0..FILES {
            let contents = fs::read_to_string(path(index)).unwrap();
            assert!(is_whole(&contents), "file {index} while it is written");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for index in 0..FILES {
            let contents = fs::read_to_string(path(index)).unwrap();
            assert!(is_whole(&contents), "file {index} after {kill} kills");
        }
        let temporary_files = names(&directory.path("")).len() - FILES;
        assert!(temporary_files <= FILES, "{:?}", names(&directory.path("")));
        let removed = remove_temporary_files(directory.path(""), Duration::ZERO).unwrap();
        assert_eq!(removed.len(), temporary_files);
        assert_eq!(names(&directory.path("")).len(), FILES);
        left += temporary_files;
    }
    println!("{} kills left {left} temporary_files", kills());
}
