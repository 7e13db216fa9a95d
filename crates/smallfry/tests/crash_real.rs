//! Power failures on real file systems. The model in the other tests is our own, and could be wrong
//! in our favour. Here ext4, XFS and Btrfs themselves judge. They live on a loop device whose
//! backing file is on a simulated disk that records every write and flush. From that record the
//! disk is restored as if it had been cut off at some moment, with any part of the unflushed
//! writes. Then the file system's own tools repair it, it is mounted, and the files are checked.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use common::skip;
use common::unix::is_root;
use common::workload::{Workload, judge, prepare, run};
use smallfry::Durability::{Data, Full};
use smallfry_slowfs::crash::{ACKNOWLEDGEMENT, Crash, Log, Model};
use smallfry_slowfs::{Mount, Options, Profile};

/// Cuts for each file system: `SMALLFRY_TEST_CUTS`.
fn cuts() -> u64 {
    let count = std::env::var("SMALLFRY_TEST_CUTS");
    count.map_or(10, |count| count.parse().unwrap())
}

/// A file system, with its tools and options.
struct Kind {
    name: &'static str,
    make: &'static [&'static str],
    /// In MiB. No file system can be made on much less.
    size: u64,
    /// True if the file system orders its writes. One that does not keeps a promise only while
    /// nothing is written, so it is cut off only at the end.
    is_ordered: bool,
    /// Run on the disk before it is mounted, and after.
    check_before: &'static [&'static str],
    check_after: &'static [&'static str],
}

const EXT4: Kind = Kind {
    name: "ext4",
    make: &[
        "mkfs.ext4",
        "-q",
        "-F",
        "-E",
        "lazy_itable_init=0,lazy_journal_init=0",
    ],
    is_ordered: true,
    size: 64,
    // Replays the journal, and finds nothing else to do.
    check_before: &["e2fsck", "-p"],
    check_after: &["e2fsck", "-fn"],
};
const EXT4_WITHOUT_JOURNAL: Kind = Kind {
    make: &[
        "mkfs.ext4",
        "-q",
        "-F",
        "-O",
        "^has_journal",
        "-E",
        "lazy_itable_init=0",
    ],
    is_ordered: false,
    // All of its tables may be wrong.
    check_before: &["e2fsck", "-fy"],
    ..EXT4
};
const XFS: Kind = Kind {
    name: "xfs",
    make: &["mkfs.xfs", "-q", "-f"],
    is_ordered: true,
    size: 320,
    // It replays its log when it is mounted.
    check_before: &["true"],
    check_after: &["xfs_repair", "-n"],
};
const BTRFS: Kind = Kind {
    name: "btrfs",
    make: &["mkfs.btrfs", "-q", "-f"],
    is_ordered: true,
    size: 128,
    check_before: &["btrfs", "check", "-q"],
    check_after: &["btrfs", "check", "-q"],
};

fn command(words: &[&str], last: &Path) -> Output {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(last).output().unwrap()
}

#[track_caller]
fn succeed(words: &[&str], last: &Path) -> String {
    let output = command(words, last);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A file as a disk, mounted. Dropping it removes everything.
struct Mounted {
    device: PathBuf,
    directory: PathBuf,
}

impl Mounted {
    /// Fails with the system's message.
    fn new(kind: &Kind, image: &Path, directory: &Path) -> Result<Self, String> {
        let device = succeed(&["losetup", "--find", "--show"], image);
        let this = Self {
            device: device.into(),
            directory: directory.to_owned(),
        };
        let device = this.device.to_str().unwrap();
        let output = command(&["mount", "-t", kind.name, device], directory);
        if output.status.success() {
            return Ok(this);
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Not mounted if that failed. Both are busy while another program, such as `blkid`, looks
        // at them.
        for words in [&["umount"][..], &["losetup", "--detach"]] {
            let last = if words.len() == 1 {
                &self.directory
            } else {
                &self.device
            };
            for _ in 0..20 {
                let output = command(words, last);
                let told = String::from_utf8_lossy(&output.stderr);
                if output.status.success() || told.contains("not mounted") {
                    break;
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// The directory for disks: in memory, if there is a file system there.
fn work_directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        return tempfile::tempdir_in(memory).unwrap();
    }
    tempfile::tempdir().unwrap()
}

/// Runs the programs on that file system, and cuts it off again and again. Returns the broken
/// promises.
fn cut(kind: &Kind, workload: Workload) -> Option<Vec<String>> {
    let test = format!("crash_real on {}", kind.name);
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip(&test, "it needs root and /dev/fuse");
        return None;
    }
    if Command::new(kind.make[0]).arg("-V").output().is_err() {
        skip(&test, &format!("no {}", kind.make[0]));
        return None;
    }
    let root = work_directory();
    let [real, shown, files, cut] = ["real", "shown", "files", "cut"].map(|name| {
        let path = root.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    });
    let image = real.join("disk");
    File::create(&image)
        .unwrap()
        .set_len(kind.size << 20)
        .unwrap();
    succeed(kind.make, &image);
    match Mounted::new(kind, &image, &files) {
        Ok(mounted) => {
            prepare(&files);
            drop(mounted);
        }
        Err(reason) => {
            skip(&test, &reason);
            return None;
        }
    }
    let mut options = Options::new(Profile::none());
    options.record = true;
    let mount = Mount::new(&real, Some(&shown), &options).unwrap();
    let mounted = Mounted::new(kind, &shown.join("disk"), &files).unwrap();
    run(&files, workload, |told| {
        let path = shown.join(format!("{ACKNOWLEDGEMENT}{told}"));
        assert!(fs::symlink_metadata(path).is_err());
    });
    // Before it is unmounted, which flushes everything.
    let log = mount.log().unwrap();
    drop(mounted);
    drop(mount);
    let image = cut.join("disk");
    let broken = (0..cuts()).filter_map(|number| {
        let before_the_end = if kind.is_ordered { number } else { 0 };
        let point =
            log.len() - (before_the_end * log.len() as u64 / (cuts() + cuts() / 4 + 1)) as usize;
        let broken = check(kind, &log, (point, number), &image, &files).err();
        broken.map(|what| format!("cut off after {point} of {} operations: {what}", log.len()))
    });
    let broken: Vec<_> = broken.collect();
    println!(
        "{}: {} cuts, {} break a promise",
        kind.name,
        cuts(),
        broken.len()
    );
    Some(broken)
}

/// Returns what is wrong with the disk after a cut.
fn check(
    kind: &Kind,
    log: &Log,
    (point, seed): (usize, u64),
    image: &Path,
    files: &Path,
) -> Result<(), String> {
    let disk = log.find(Path::new("disk")).unwrap();
    log.image(disk, point, seed, &File::create(image).unwrap())
        .unwrap();
    let tool = |words: &[&str]| {
        let output = command(words, image);
        // e2fsck exits with 1 after a repair, such as a replayed journal.
        if matches!(output.status.code(), Some(0 | 1)) {
            return Ok(());
        }
        Err(format!("{words:?}: {output:?}"))
    };
    tool(kind.check_before)?;
    let mounted = Mounted::new(kind, image, files)?;
    let crash = Crash {
        point,
        model: Model::Weak,
        seed,
    };
    let told = log.crash(crash).acknowledged();
    let told = told.iter().map(|told| told.to_str().unwrap());
    let judged = judge(told, |file| fs::read(files.join(file)).ok());
    drop(mounted);
    tool(kind.check_after)?;
    judged
}

fn keeps_what_was_promised(kind: &Kind) {
    let workload = Workload {
        levels: &[Full, Data],
        rounds: 3,
    };
    if let Some(broken) = cut(kind, workload) {
        assert!(broken.is_empty(), "{}: {broken:#?}", kind.name);
    }
}

#[test]
fn ext4_keeps_the_promises() {
    keeps_what_was_promised(&EXT4);
}

#[test]
fn ext4_without_a_journal_keeps_the_promises() {
    keeps_what_was_promised(&EXT4_WITHOUT_JOURNAL);
}

#[test]
fn xfs_keeps_the_promises() {
    keeps_what_was_promised(&XFS);
}

#[test]
fn btrfs_keeps_the_promises() {
    keeps_what_was_promised(&BTRFS);
}

/// Checks the judge itself: data that are never flushed are lost.
#[test]
fn unflushed_data_are_lost() {
    let workload = Workload {
        levels: &[smallfry::Durability::None],
        rounds: 3,
    };
    if let Some(broken) = cut(&EXT4, workload) {
        assert!(!broken.is_empty());
    }
}
