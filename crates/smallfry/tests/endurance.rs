//! Mixed work, again and again, on a slow disk of which some calls fail: descriptors, threads and
//! memory must not grow. Each kind of work alone has its own tests of what is left after an error.
//!
//! `SMALLFRY_TEST_SECONDS` is how long it works, 3 unless told.
#![cfg(all(
    target_os = "linux",
    feature = "archive",
    feature = "hash",
    feature = "tree"
))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::Directory;
use common::unix::{child_directory, is_root, output_of_child};
use smallfry::Durability;
use smallfry::archive::{Format, Packer, Unpacker};
use smallfry::bulk::{Reader, Writer};
use smallfry::close::{Closer, FastCloseable};
use smallfry::hash::Hasher;
use smallfry::tree::{Copier, Mirror, Remover};
use smallfry_slowfs::{Mount, Options, Profile};

/// The resources that a leak would show in.
#[derive(Clone, Copy, Debug)]
struct Use {
    descriptors: usize,
    threads: usize,
    memory: u64,
}

/// The memory by which the allocator's own bookkeeping may move the highest of many looks, in
/// bytes.
const SLACK: u64 = 8 << 20;

/// The most threads that may wait for work between two steps: they close files, and how many pay is
/// measured anew each time.
const MAX_THREADS: usize = 72;

impl Use {
    fn now() -> Self {
        let count = |directory| fs::read_dir(directory).unwrap().count();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = resident.and_then(|rest| rest.split_whitespace().next());
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            memory: kibibytes.unwrap().parse::<u64>().unwrap() << 10,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            descriptors: self.descriptors.max(other.descriptors),
            threads: self.threads.max(other.threads),
            memory: self.memory.max(other.memory),
        }
    }
}

/// The directory of the round's work, and chance.
struct Work {
    root: PathBuf,
    random: fastrand::Rng,
    failed: u64,
}

impl Work {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Counts what has failed, which must name its path.
    fn note<T>(&mut self, outcome: Result<T, impl std::fmt::Display>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                let told = error.to_string();
                assert!(told.contains('/'), "no path in: {told}");
                self.failed += 1;
                None
            }
        }
    }

    /// One thing that a program does.
    fn step(&mut self) {
        let [tree, copy, archive] = ["tree", "copy", "archive.tar.gz"].map(|name| self.path(name));
        match self.random.u8(..9) {
            0 | 1 => self.write(&tree),
            2 => self.read(&tree),
            3 => {
                let copied = Copier::new().copy(&tree, &copy);
                self.note(copied);
            }
            4 => {
                let mirrored = Mirror::new().delete(true).run(&tree, &copy);
                self.note(mirrored);
            }
            5 => {
                let packed = Packer::new().pack(Format::TarGz, &archive, [(&tree, "tree")]);
                self.note(packed);
            }
            6 => {
                let unpacked = Unpacker::new().unpack(&archive, self.path("unpacked"));
                self.note(unpacked);
            }
            7 => {
                let digest = Hasher::new().tree(&tree);
                self.note(digest);
            }
            _ => {
                let which = ["tree", "copy", "unpacked"][self.random.usize(..3)];
                let removed = Remover::new().missing_ok(true).remove(self.path(which));
                self.note(removed);
                self.close_later();
            }
        }
    }

    fn write(&mut self, tree: &Path) {
        let mut writer = Writer::new();
        writer.create_parents(true).replace(self.random.bool());
        if self.random.bool() {
            writer.durability(Durability::Full);
        }
        let length = self.random.usize(..20_000);
        let files = (0..20).map(|at| (tree.join(format!("d{}/{at}", at % 3)), vec![b'x'; length]));
        let written = writer.write(files).into_result();
        self.note(written);
    }

    fn read(&mut self, tree: &Path) {
        let paths: Vec<_> = (0..20)
            .map(|at| tree.join(format!("d{}/{at}", at % 3)))
            .collect();
        for (_, contents) in Reader::new().read(&paths) {
            if let Some(contents) = self.note(contents) {
                assert!(contents.iter().all(|&byte| byte == b'x'));
            }
        }
    }

    fn close_later(&mut self) {
        for at in 0..5 {
            if let Ok(file) = File::create(self.path(&format!("later{at}"))) {
                let mut file = file.fast_close();
                let _ = file.write_all(b"x");
            }
        }
        self.failed += Closer::global().drain().len() as u64;
    }
}

#[test]
fn descriptors_threads_and_memory_stay_as_they_are() {
    const TEST: &str = "descriptors_threads_and_memory_stay_as_they_are";
    if !is_root() || !Path::new("/dev/fuse").exists() {
        return common::skip(TEST, "it needs root and /dev/fuse");
    }
    let directory = Directory::new();
    let [real, shown] = ["real", "shown"].map(|name| directory.path(name));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&shown).unwrap();
    let mut options = Options::new(Profile::windows_close());
    options.faults = vec!["any:every211:EIO".parse().unwrap()];
    let mut mount = Mount::new(&real, Some(&shown), &options).unwrap();
    // This process serves the disk, so another one works.
    let told = output_of_child("work", &directory.path(""), &[] as &[&str]);
    println!("{told}");
    mount.unmount().unwrap();
}

#[test]
#[ignore = "it is run by another test"]
fn work() {
    let seconds = std::env::var("SMALLFRY_TEST_SECONDS").map_or(3, |told| told.parse().unwrap());
    let mut work = Work {
        root: child_directory().join("shown"),
        random: fastrand::Rng::with_seed(7),
        failed: 0,
    };
    let began = Instant::now();
    let length = Duration::from_secs(seconds);
    let (mut steps, mut early, mut late) = (0_u64, Use::now(), None::<Use>);
    // The first third warms up: pools of threads and the allocator get what they keep.
    while began.elapsed() < length {
        work.step();
        steps += 1;
        let now = Use::now();
        if began.elapsed() < length / 3 {
            early = early.max(now);
        } else {
            late = Some(late.map_or(now, |late| late.max(now)));
        }
    }
    let late = late.unwrap();
    println!(
        "{steps} steps, {} failed, {early:?}, then {late:?}",
        work.failed
    );
    assert!(work.failed > 0);
    assert!(late.descriptors <= early.descriptors);
    assert!(late.threads <= MAX_THREADS);
    assert!(late.memory <= early.memory + SLACK);
}
