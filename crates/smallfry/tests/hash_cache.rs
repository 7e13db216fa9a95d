//! Cached digests. The digest of a file that has changed meanwhile would be wrong, and nobody would
//! notice. So files are changed in each way that leaves their length and time of modification as
//! they were, and the cache itself is damaged at each byte.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use common::trees::{describe, make_tree};
use common::unix::{SmallDisk, set_mode, set_modified};
use common::{Directory, assert_error, names, skip, strategies};
use smallfry::Operation;
use smallfry::hash::{Algorithm, Cache, Digest, Hasher};

/// Waits until the digests of files that were changed before are kept.
fn settle() {
    thread::sleep(Duration::from_millis(2100));
}

fn digest_of(hasher: &Hasher, path: &Path) -> Digest {
    hasher.files([path]).next().unwrap().unwrap()
}

/// Writes other bytes to a file, and sets the time of modification back.
fn change_secretly(path: &Path, bytes: &[u8]) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), bytes.len() as u64);
    let mut file = File::options().write(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
    drop(file);
    set_modified(path, before.modified().unwrap());
    let after = fs::metadata(path).unwrap();
    assert_eq!(after.ino(), before.ino());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
}

#[test]
fn digests_are_the_same_with_and_without_a_cache_and_nothing_is_read_twice() {
    let directory = Directory::new();
    let (root, path) = (directory.path("root"), directory.path("cache"));
    make_tree(&root, 8);
    settle();
    let algorithms = [
        Algorithm::Blake3,
        Algorithm::Sha256,
        Algorithm::Sha1,
        Algorithm::GitBlob,
    ];
    for algorithm in algorithms {
        let cold = Hasher::new().algorithm(algorithm).tree(&root).unwrap();
        for (round, strategy) in strategies().into_iter().enumerate() {
            let cache = Cache::open(&path).unwrap();
            let mut hasher = Hasher::new();
            hasher.algorithm(algorithm).strategy(strategy).cache(&cache);
            let warm = hasher.tree(&root).unwrap();
            assert_eq!(warm.digest, cold.digest);
            assert_eq!(warm.report.files, cold.report.files);
            if round == 0 {
                // One file with several names may be read for each of them.
                assert!(warm.report.bytes > 0);
            } else {
                assert_eq!(warm.report.bytes, 0);
            }
            cache.save().unwrap();
            assert!(!cache.was_damaged());
        }
        let files = describe(&root).into_iter().filter(|(_, it)| it.0 == 'f');
        for (path, _) in files {
            let path = root.join(path);
            let cache = Cache::open(directory.path("cache")).unwrap();
            let mut hasher = Hasher::new();
            hasher.algorithm(algorithm);
            let cold = digest_of(&hasher, &path);
            assert_eq!(digest_of(hasher.cache(&cache), &path), cold);
        }
    }
    assert_eq!(names(&directory.path("")), ["cache", "root"]);
}

#[test]
fn a_file_with_the_same_length_and_time_of_modification_is_hashed_anew() {
    let directory = Directory::new();
    let [root, path] = ["root", "cache"].map(|name| directory.path(name));
    fs::create_dir(&root).unwrap();
    let file = root.join("a");
    fs::write(&file, "one").unwrap();
    fs::write(root.join("b"), "one").unwrap();
    settle();
    let cache = Cache::open(&path).unwrap();
    let mut hasher = Hasher::new();
    let before = hasher.cache(&cache).tree(&root).unwrap();
    cache.save().unwrap();
    change_secretly(&file, b"two");
    let plain = Hasher::new();
    for cache in [cache, Cache::open(&path).unwrap()] {
        let mut hasher = Hasher::new();
        let after = hasher.cache(&cache).tree(&root).unwrap();
        assert_ne!(after.digest, before.digest);
        assert_eq!(after.digest, plain.tree(&root).unwrap().digest);
        assert_eq!(after.report.bytes, 3, "only one file was read");
        assert_eq!(digest_of(&hasher, &file), digest_of(&plain, &file));
    }
    // Nor is a file with the digest of another one, by whatever name it comes.
    fs::rename(root.join("b"), &file).unwrap();
    let mut hasher = Hasher::new();
    let cache = Cache::open(&path).unwrap();
    let renamed = digest_of(hasher.cache(&cache), &file);
    assert_eq!(renamed, digest_of(&plain, &file));
    // The permission to execute a file counts.
    let before = hasher.tree(&root).unwrap().digest;
    set_mode(&file, 0o755);
    let after = hasher.tree(&root).unwrap().digest;
    assert_ne!(after, before);
    assert_eq!(after, plain.tree(&root).unwrap().digest);
}

/// Hashes and changes a file in the directory again and again, faster than the clock of files.
fn change_at_once(directory: &Path) {
    let [file, path] = ["file", "cache"].map(|name| directory.join(name));
    fs::write(&file, "0000").unwrap();
    for round in 1..300 {
        let cache = Cache::open(&path).unwrap();
        let mut hasher = Hasher::new();
        let digest = digest_of(hasher.cache(&cache), &file);
        assert_eq!(digest, digest_of(&Hasher::new(), &file), "{round}");
        cache.save().unwrap();
        change_secretly(&file, format!("{round:04}").as_bytes());
    }
}

#[test]
fn a_change_at_the_time_of_the_last_one_is_noticed() {
    let test = "a_change_at_the_time_of_the_last_one_is_noticed";
    let directory = Directory::new();
    change_at_once(&directory.path(""));
    // Its times have steps of some milliseconds. Linux 6.13 gives finer ones to others.
    let path = directory.path("disk");
    match SmallDisk::mount_type("ramfs", &path, "mode=755") {
        Ok(disk) => change_at_once(disk.path()),
        Err(reason) => skip(test, &reason),
    }
}

#[test]
fn a_damaged_cache_is_empty_and_another_file_is_not_replaced() {
    let directory = Directory::new();
    let [root, path] = ["root", "cache"].map(|name| directory.path(name));
    fs::create_dir(&root).unwrap();
    for name in ["a", "b"] {
        fs::write(root.join(name), name).unwrap();
    }
    settle();
    let cache = Cache::open(&path).unwrap();
    let whole = Hasher::new().cache(&cache).tree(&root).unwrap();
    cache.save().unwrap();
    let saved = fs::read(&path).unwrap();
    assert_eq!(saved.len(), 24 + 2 * 81 + 32);
    let check = |bytes: &[u8], at: usize| {
        fs::write(&path, bytes).unwrap();
        match Cache::open(&path) {
            Ok(cache) => {
                assert!(cache.was_damaged() || bytes.is_empty(), "{at}");
                let hashed = Hasher::new().cache(&cache).tree(&root).unwrap();
                assert_eq!(hashed.digest, whole.digest);
                assert_eq!(hashed.report.bytes, 2);
                cache.save().unwrap();
                assert_eq!(fs::read(&path).unwrap().len(), saved.len());
                assert!(!Cache::open(&path).unwrap().was_damaged());
            }
            Err(error) => {
                assert!(at < 24, "{at}");
                assert_error(&error, Operation::Read, Some(&path), ErrorKind::InvalidData);
                assert_eq!(fs::read(&path).unwrap(), bytes);
            }
        }
    };
    for at in 0..saved.len() {
        let mut damaged = saved.clone();
        damaged[at] ^= 0x55;
        check(&damaged, at);
        check(&saved[..at], at);
    }
    let error = Cache::open(&root).unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&root),
        ErrorKind::InvalidInput,
    );
}

#[test]
fn a_cache_that_cannot_be_saved_is_an_error() {
    let directory = Directory::new();
    let file = directory.path("file");
    fs::write(&file, "text").unwrap();
    settle();
    let path = directory.path("none/cache");
    let cache = Cache::open(&path).unwrap();
    digest_of(Hasher::new().cache(&cache), &file);
    let error = cache.save().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    // There is nothing to save.
    Cache::open(&path).unwrap().save().unwrap();
    assert_eq!(names(&directory.path("")), ["file"]);
}

#[test]
fn programs_that_save_at_once_leave_a_whole_cache() {
    let directory = Directory::new();
    let [root, path] = ["root", "cache"].map(|name| directory.path(name));
    make_tree(&root, 2);
    settle();
    let expected = Hasher::new().tree(&root).unwrap().digest;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..20 {
                    let cache = Cache::open(&path).unwrap();
                    assert!(!cache.was_damaged());
                    let mut hasher = Hasher::new();
                    let algorithm = [Algorithm::Blake3, Algorithm::Sha1][round % 2];
                    hasher.algorithm(algorithm).cache(&cache);
                    let digest = hasher.tree(&root).unwrap().digest;
                    assert!(algorithm != Algorithm::Blake3 || digest == expected);
                    cache.save().unwrap();
                }
            });
        }
    });
    assert_eq!(names(&directory.path("")), ["cache", "root"]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_of_the_system_itself_are_not_kept() {
    let directory = Directory::new();
    let path = directory.path("cache");
    let cache = Cache::open(&path).unwrap();
    let mut hasher = Hasher::new();
    hasher.cache(&cache);
    let files = ["/proc/uptime", "/proc/self/io", "/sys/kernel/uevent_seqnum"];
    for path in files
        .map(Path::new)
        .into_iter()
        .filter(|path| path.exists())
    {
        // Their times say that nothing has changed.
        let _held = File::open(path).unwrap();
        digest_of(&hasher, path);
        settle();
        let [first, second] = [(); 2].map(|()| {
            thread::sleep(Duration::from_millis(30));
            digest_of(&hasher, path)
        });
        if path == Path::new("/proc/uptime") {
            assert_ne!(first, second);
        }
    }
    cache.save().unwrap();
    assert!(!path.exists());
}
