//! Copies that are flushed. A copy that a power failure cuts off must leave each replaced file
//! whole, and what was acknowledged must be there. A real disk shows a missing flush once in a
//! thousand crashes, so the crashes are simulated on a mount that records all operations.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use common::unix::{can_trace, child_directory, is_child, is_root, run_child, set_mode, strace};
use common::{Directory, skip};
use smallfry::Durability::{self, Data, Full};
use smallfry::tree::Copier;
use smallfry_slowfs::crash::{ACKNOWLEDGEMENT, Crash, Log, Model};
use smallfry_slowfs::{Mount, Options, Profile};

/// The files of the source: their contents and permissions.
fn files() -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let file = |number: usize| {
        let path = match number % 4 {
            0 => format!("old{number}"),
            1 => format!("new{number}"),
            2 => format!("a/b/new{number}"),
            _ => format!("old/file{number}"),
        };
        let contents = format!("{number} ").repeat(1 + number * 200);
        let mode = [0o644, 0o600, 0o755][number % 3];
        (path.into(), (contents.into_bytes(), mode))
    };
    (0..12).map(file).collect()
}

const OLD: &[u8] = b"the old contents";

fn make_source(from: &Path) {
    for (path, (contents, mode)) in files() {
        let path = from.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        set_mode(&path, mode);
    }
}

/// Makes a destination that has some of the files already.
fn make_destination(to: &Path) {
    for path in files()
        .keys()
        .filter(|path| path.to_str().unwrap().contains("old"))
    {
        fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
        fs::write(to.join(path), OLD).unwrap();
    }
}

/// Records a copy at that level.
fn record(test: &str, level: Durability) -> Option<Log> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip(test, "it needs root and /dev/fuse");
        return None;
    }
    let directory = Directory::new();
    let [real, shown, from] = ["real", "shown", "from"].map(|name| directory.path(name));
    for path in [&real, &shown, &from] {
        fs::create_dir(path).unwrap();
    }
    make_source(&from);
    make_destination(&real.join("to"));
    let mut options = Options::new(Profile::none());
    options.record = true;
    let mount = Mount::new(&real, Some(&shown), &options).unwrap();
    let report = Copier::new()
        .durability(level)
        .copy(&from, mount.path().join("to"))
        .unwrap();
    assert_eq!(report.files, 12);
    // No file has such a name, and looking it up is recorded.
    let told = mount.path().join(format!("{ACKNOWLEDGEMENT}done"));
    assert!(fs::symlink_metadata(told).is_err());
    mount.log()
}

/// Counts the crashes of each model that break a promise.
fn broken(log: &Log, level: Durability) -> Vec<String> {
    let files = files();
    let mut broken = Vec::new();
    for model in Model::ALL {
        for point in 0..=log.len() {
            let seed = point as u64;
            let survivors = log.crash(Crash { point, model, seed });
            let is_acknowledged = !survivors.acknowledged().is_empty();
            for (path, (contents, mode)) in &files {
                let found = survivors.get(&Path::new("to").join(path));
                let read = found.as_ref().map(|found| found.read().unwrap());
                let is_old = path.to_str().unwrap().contains("old");
                let is_kept = match &read {
                    Some(read) if is_acknowledged && level == Full => read == contents,
                    Some(read) if is_old => read == contents || read == OLD,
                    Some(read) => !is_acknowledged || read == contents,
                    None => !(is_old || is_acknowledged && level == Full),
                };
                let has_mode = found.is_none_or(|found| {
                    !is_acknowledged || level != Full || found.attributes().mode & 0o777 == *mode
                });
                if !is_kept || !has_mode {
                    broken.push(format!(
                        "{model}, {point} of {}: {}",
                        log.len(),
                        path.display()
                    ));
                }
            }
        }
    }
    broken
}

#[test]
fn a_flushed_copy_survives_and_replaced_files_are_whole() {
    for level in [Data, Full] {
        let Some(log) = record("a_flushed_copy_survives", level) else {
            return;
        };
        let broken = broken(&log, level);
        assert!(broken.is_empty(), "{level:?}: {}", broken.join("\n"));
    }
}

#[test]
fn each_missing_flush_of_a_copy_breaks_a_promise() {
    let Some(log) = record("each_missing_flush_of_a_copy", Full) else {
        return;
    };
    // Without the flushes of files, or without those of directories.
    for is_file in [true, false] {
        let without = log.without_flushes(|_, kind, _| {
            is_file == matches!(kind, smallfry_slowfs::crash::Kind::File)
        });
        assert!(!broken(&without, Full).is_empty(), "files: {is_file}");
    }
}

/// Returns the names of the calls that flush in the child, in their order.
fn flushes(work: &str) -> Vec<String> {
    let directory = Directory::new();
    fs::write(directory.path("work"), work).unwrap();
    make_source(&directory.path("from"));
    fs::create_dir(directory.path("above")).unwrap();
    let calls = ["-e", "trace=fsync,fdatasync,syncfs"];
    run_child("child_that_copies", &directory, &strace(&directory, calls));
    let log = fs::read_to_string(directory.path("log")).unwrap();
    let names = log.lines().filter_map(|line| {
        let (call, _) = line.split_once(' ')?.1.trim_start().split_once('(')?;
        Some(call.to_owned())
    });
    names.filter(|name| name.contains("sync")).collect()
}

#[test]
#[ignore = "a child"]
fn child_that_copies() {
    if !is_child() {
        return;
    }
    let directory = child_directory();
    let work = fs::read_to_string(directory.join("work")).unwrap();
    let level = if work.contains("full") { Full } else { Data };
    let to = directory.join("above/to");
    if work.contains("replace") {
        make_destination(&to);
    }
    let copied = Copier::new()
        .durability(level)
        .copy(directory.join("from"), to);
    assert_eq!(copied.unwrap().files, 12);
}

#[test]
fn a_whole_file_system_is_flushed_once() {
    let test = "a_whole_file_system_is_flushed_once";
    if !can_trace(test) {
        return;
    }
    let directory = Directory::new();
    // The block devices of ext4, XFS and Btrfs; memory and overlays have other numbers.
    let is_on_disk = fs::metadata(directory.path("")).unwrap().dev() >> 8 != 0;
    if !is_on_disk {
        return println!("skipped {test}: the temporary directory is not on a disk");
    }
    assert_eq!(flushes("new data"), ["syncfs", "fsync"]);
    // The directory above has a new name.
    assert_eq!(flushes("new full"), ["fsync", "syncfs", "fsync"]);
    let replacing = flushes("replace full");
    assert_eq!(replacing.len(), 6 + 2, "{replacing:?}");
    assert_eq!(replacing[6..], ["syncfs", "fsync"]);
}
