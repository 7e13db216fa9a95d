//! Generated trees with every kind of entry, and descriptions of them that can be compared.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::platform::{
    DIRECTORY_MODES, FILE_MODES, LONG, NAMES, SECONDS, mode_of, name_of, number_of, set_mode,
    set_modified, symlink,
};

/// Makes a tree with every kind of entry that is copied. The same seed makes the same tree.
pub(crate) fn make_tree(root: &Path, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    fs::create_dir(root).unwrap();
    let mut directories = vec![root.to_owned()];
    // Paths of more than 255 bytes.
    for _ in 0..3 {
        let path = directories[directories.len() - 1].join("l".repeat(LONG));
        fs::create_dir(&path).unwrap();
        directories.push(path);
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for index in 0..random.usize(20..250) {
        let place = directories[random.usize(..directories.len())].clone();
        let start = NAMES[random.usize(..NAMES.len())];
        let path = place.join(name_of(start, &index.to_string()));
        match random.u32(..12) {
            0 | 1 => {
                fs::create_dir(&path).unwrap();
                directories.push(path);
            }
            2 => {
                let long = "a/".repeat(LONG);
                let target = ["gone", "/etc", "..", ".", "a/../b", &long][random.usize(..6)];
                // Where links cannot be made, trees have none.
                assert!(symlink(target, &path).is_ok() || cfg!(windows));
            }
            3 if !files.is_empty() => {
                fs::hard_link(&files[random.usize(..files.len())], &path).unwrap();
            }
            4 => {
                // A hole, some bytes, and perhaps another hole.
                let mut file = File::create(&path).unwrap();
                file.seek(SeekFrom::Start(1 << 20)).unwrap();
                file.write_all(&[7; 5000]).unwrap();
                file.set_len((1 << 20) + random.u64(5000..3 << 20)).unwrap();
            }
            _ => {
                let length = [0, 1, 4096, random.usize(..700_000)][random.usize(..4)];
                let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
                fs::write(&path, bytes).unwrap();
                set_some_time(&path, &mut random);
                set_mode(&path, FILE_MODES[random.usize(..FILE_MODES.len())]);
                files.push(path);
            }
        }
    }
    for directory in directories.iter().rev() {
        set_some_time(directory, &mut random);
        set_mode(
            directory,
            DIRECTORY_MODES[random.usize(..DIRECTORY_MODES.len())],
        );
    }
}

/// Sets a time of modification, or leaves the present one.
fn set_some_time(path: &Path, random: &mut fastrand::Rng) {
    if random.bool() {
        return;
    }
    let seconds = SECONDS[random.usize(..SECONDS.len())];
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 {
        SystemTime::UNIX_EPOCH - distance
    } else {
        SystemTime::UNIX_EPOCH + distance
    };
    set_modified(path, time);
}

/// Works while another thread exchanges the directory `a/b` and the link `a/link` of a tree.
pub(crate) fn while_exchanged<T>(root: &Path, work: impl FnOnce() -> T) -> T {
    let [target, link, spare] = ["a/b", "a/link", "a/spare"].map(|name| root.join(name));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drop(fs::rename(&target, &spare));
                drop(fs::rename(&link, &target));
                drop(fs::rename(&spare, &link));
            }
        });
        // Waits until an exchange has begun.
        let mut tries = 0..100_000;
        while !target.is_symlink() && tries.next().is_some() {}
        // Otherwise the scope would wait for ever.
        let done = catch_unwind(AssertUnwindSafe(work));
        stop.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The entries of a tree by their paths. Each has its kind, permissions, contents or target, and
/// the first name of its file.
pub(crate) type Described = BTreeMap<PathBuf, (char, u32, Vec<u8>, PathBuf)>;

pub(crate) fn describe(root: &Path) -> Described {
    let mut described = Described::new();
    let mut first_names = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let mut paths: Vec<_> = fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.strip_prefix(root).unwrap().to_owned();
            let status = fs::symlink_metadata(&path).unwrap();
            let first = first_names
                .entry(number_of(&path))
                .or_insert(name.clone())
                .clone();
            let mode = mode_of(&path);
            let described_as = if status.is_dir() {
                directories.push(path);
                ('d', mode, Vec::new(), name.clone())
            } else if status.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                ('l', 0, target.into_os_string().into_encoded_bytes(), first)
            } else {
                ('f', mode, fs::read(&path).unwrap(), first)
            };
            described.insert(name, described_as);
        }
    }
    described
}
