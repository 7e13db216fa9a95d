//! Archives on a full disk, and beside a program that exchanges directories and files for links
//! while they are packed or unpacked. Such a program wants a file to be written, or to be read,
//! that it may not write or read itself.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::archives::{Entry, errors, gzip, tar_of, zip_of};
use common::unix::{SmallDisk, symlink};
use common::{Directory, names, skip, strategies};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use smallfry::Operation;
use smallfry::archive::{Format, Packer, Unpacker};
use tar::EntryType;

const FORMATS: [Format; 4] = [Format::Tar, Format::TarGz, Format::TarZst, Format::Zip];

/// Where a part of a sparse file begins, and its length. Both are multiples of the size of a block,
/// so that a file system can tell it from holes.
type Part = (u64, usize);

/// The names, parts and lengths of sparse files.
const SPARSE: [(&str, &[Part], u64); 4] = [
    ("start", &[(0, 8192)], 64 << 20),
    (
        "ä middle",
        &[(1 << 20, 4096), (40 << 20, 1 << 20)],
        64 << 20,
    ),
    ("end", &[((64 << 20) - 4096, 4096)], 64 << 20),
    ("nothing", &[], 3 << 30),
];

#[test]
fn pack_keeps_holes_in_a_tar_for_gnu_tar_and_unpack() {
    let directory = Directory::new();
    let from = directory.path("from");
    // Longer than the header of ustar has room for.
    let deep = from.join("d".repeat(90)).join("e".repeat(90));
    fs::create_dir_all(&deep).unwrap();
    for place in [&from, &deep] {
        for (name, parts, size) in SPARSE {
            let file = fs::File::create(place.join(name)).unwrap();
            for (index, (at, length)) in parts.iter().enumerate() {
                let bytes = vec![b'a' + u8::try_from(index).unwrap(); *length];
                file.write_all_at(&bytes, *at).unwrap();
            }
            file.set_len(size).unwrap();
        }
    }
    if fs::metadata(from.join("start")).unwrap().blocks() > 64 {
        let reason = "the file system has no holes";
        return skip("pack_keeps_holes_in_a_tar_for_gnu_tar_and_unpack", reason);
    }
    let archive = directory.path("archive");
    let packed = Packer::new().pack(Format::Tar, &archive, [(&from, "")]);
    assert_eq!(packed.unwrap().files, 8);
    assert!(fs::metadata(&archive).unwrap().len() < 4 << 20);
    let [ours, theirs] = ["ours", "theirs"].map(|name| directory.path(name));
    Unpacker::new().unpack(&archive, &ours).unwrap();
    fs::create_dir(&theirs).unwrap();
    let mut tar = Command::new("tar");
    let tar = tar.arg("-xf").arg(&archive).arg("-C").arg(&theirs).status();
    assert!(tar.unwrap().success());
    for to in [ours, theirs] {
        let deep = to.join("d".repeat(90)).join("e".repeat(90));
        for (name, parts, size) in SPARSE {
            for place in [&to, &deep] {
                let file = fs::File::open(place.join(name)).unwrap();
                let found = file.metadata().unwrap();
                let stored: usize = parts.iter().map(|(_, length)| length).sum();
                assert_eq!(found.len(), size, "{name}");
                assert!(found.blocks() * 512 <= stored as u64 + (64 << 10), "{name}");
                for (index, (at, length)) in parts.iter().enumerate() {
                    let mut bytes = vec![0; *length];
                    file.read_exact_at(&mut bytes, *at).unwrap();
                    let expected = b'a' + u8::try_from(index).unwrap();
                    assert!(bytes.iter().all(|byte| *byte == expected), "{name}");
                }
            }
        }
    }
}

#[test]
fn unpack_leaves_no_half_file_on_a_full_disk() {
    let test = "unpack_leaves_no_half_file_on_a_full_disk";
    let contents = "0123456789".repeat(20_000);
    let large = contents.repeat(8);
    let names_of: Vec<_> = (0..20).map(|index| format!("d/{index}")).collect();
    let mut entries: Vec<_> = names_of.iter().map(|name| (&**name, &*contents)).collect();
    entries.insert(0, ("d/large", &*large));
    let files = entries.iter().map(|(name, it)| Entry::file(name, it));
    let files: Vec<_> = files.collect();
    for archive in [tar_of(&files), gzip(&tar_of(&files)), zip_of(&entries)] {
        for strategy in strategies() {
            let directory = Directory::new();
            let mount = directory.path("mount");
            let disk = match SmallDisk::mount(&mount, "size=1m") {
                Ok(disk) => disk,
                Err(reason) => return skip(test, &reason),
            };
            let to = disk.path().join("to");
            fs::create_dir_all(to.join("d")).unwrap();
            fs::write(to.join("d/large"), "old").unwrap();
            let mut unpacker = Unpacker::new();
            let result = unpacker.strategy(strategy).unpack_bytes(&archive, &to);
            let error = result.unwrap_err();
            let done = names(&to.join("d"));
            assert_eq!(fs::read(to.join("d/large")).unwrap(), b"old");
            for name in done.iter().filter(|name| *name != "large") {
                assert!(name.parse::<u32>().is_ok(), "{name} is left");
                assert_eq!(
                    fs::read_to_string(to.join("d").join(name)).unwrap(),
                    contents
                );
            }
            assert_eq!(error.report().files, done.len() as u64 - 1);
            assert_eq!(error.errors().len() + done.len(), entries.len() + 1);
            for error in error.errors() {
                assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                assert_eq!(error.operation(), Operation::Write);
                let path = error.path().unwrap().strip_prefix(&to).unwrap();
                assert!(entries.iter().any(|(name, _)| Path::new(name) == path));
            }
        }
    }
}

#[test]
fn pack_keeps_the_older_archive_on_a_full_disk() {
    let test = "pack_keeps_the_older_archive_on_a_full_disk";
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir(&from).unwrap();
    for index in 0..40 {
        // Nothing makes it smaller.
        let noise: Vec<u8> = (0..100_000).map(|_| fastrand::u8(..)).collect();
        fs::write(from.join(index.to_string()), noise).unwrap();
    }
    let mount = directory.path("mount");
    let disk = match SmallDisk::mount(&mount, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => return skip(test, &reason),
    };
    let archive = disk.path().join("archive");
    for format in FORMATS {
        for old in [None, Some("old")] {
            if let Some(old) = old {
                // A tmpfs that was full may count freed pages late.
                let began = Instant::now();
                while let Err(error) = fs::write(&archive, old) {
                    assert!(began.elapsed() < Duration::from_secs(60), "{error}");
                }
            }
            let errors = errors(Packer::new().pack(format, &archive, [(&from, "")]));
            assert_eq!(errors.len(), 1, "{errors:?}");
            common::assert_error(
                &errors[0],
                Operation::Write,
                Some(&archive),
                ErrorKind::StorageFull,
            );
            assert_eq!(fs::read_to_string(&archive).ok().as_deref(), old);
            assert_eq!(names(disk.path()).len(), usize::from(old.is_some()));
        }
        fs::remove_file(&archive).unwrap();
    }
}

/// Exchanges two entries all the time while `work` is done.
fn while_exchanging(one: &Path, other: &Path, work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = || renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
            while !stop.load(Ordering::Relaxed) {
                // `one` may not be there yet, or no longer.
                _ = exchange();
            }
        });
        work();
        stop.store(true, Ordering::Relaxed);
    });
}

/// All that unpacking could change: contents, permissions, names of the same file and times.
type State = BTreeMap<PathBuf, (Vec<u8>, u32, u64, i64, i64)>;

fn state(directory: &Path) -> State {
    let entries = names(directory);
    let paths = entries.iter().map(|name| directory.join(name));
    paths
        .chain([directory.to_owned()])
        .map(|path| {
            let status = fs::symlink_metadata(&path).unwrap();
            let contents = fs::read(&path).unwrap_or_default();
            let (mode, links) = (status.mode(), status.nlink());
            let times = (status.mtime(), status.ctime_nsec());
            (path, (contents, mode, links, times.0, times.1))
        })
        .collect()
}

#[test]
fn an_exchanged_directory_leads_no_unpacking_out() {
    let directory = Directory::new();
    let [to, outside] = ["to", "outside"].map(|name| directory.path(name));
    fs::create_dir(&outside).unwrap();
    let files: Vec<_> = (0..30).map(|index| format!("a/b/{index}")).collect();
    for index in 0..30 {
        fs::write(outside.join(index.to_string()), "kept").unwrap();
    }
    let [place, link] = ["a/b", "a/link"].map(|name| to.join(name));
    let mut entries = vec![Entry::of(EntryType::Directory, "a/b", "")];
    entries.extend(files.iter().map(|name| Entry::file(name, "new")));
    entries.extend([
        Entry::of(EntryType::Symlink, "a/b/symlink", "0"),
        // The file outside may not get a name inside.
        Entry::of(EntryType::Link, "a/stolen", "a/b/1"),
        Entry::of(EntryType::Link, "a/b/hard", "a/b/2"),
        Entry::file("a/b/below/file", "new"),
    ]);
    let tar = tar_of(&entries);
    let zipped: Vec<_> = files.iter().map(|name| (&**name, "new")).collect();
    let zip = zip_of(&zipped);
    let before = state(&outside);
    let mut refused = 0;
    for round in 0..200 {
        fs::create_dir_all(&place).unwrap();
        symlink(&outside, &link).unwrap();
        while_exchanging(&place, &link, || {
            let mut unpacker = Unpacker::new();
            unpacker.strategy(strategies()[round % 4]);
            let archive = if round % 3 == 0 { &zip } else { &tar };
            refused += usize::from(unpacker.unpack_bytes(archive, &to).is_err());
        });
        assert!(state(&outside) == before, "round {round}");
        assert_ne!(
            fs::read(to.join("a/stolen")).ok().as_deref(),
            Some(&b"kept"[..])
        );
        fs::remove_dir_all(&to).unwrap();
    }
    println!("{refused} of 200 have met the link");
    assert!(refused > 0);
}

/// Exchanges `inside` and a link to `outside` while the tree is packed. No bytes of what is outside
/// may come into an archive.
fn assert_packed_from_inside(inside: &str, outside: &str) {
    // It is nowhere in the headers.
    const SECRET: u8 = 0xff;
    let directory = Directory::new();
    let tree = directory.path("tree");
    for place in [tree.join("a/b"), directory.path("outside")] {
        fs::create_dir_all(&place).unwrap();
        for index in 0..30 {
            let contents = if place.starts_with(&tree) {
                b'x'
            } else {
                SECRET
            };
            // A large file is not read ahead.
            let length = if index == 0 { 2 << 20 } else { 10 };
            fs::write(place.join(index.to_string()), vec![contents; length]).unwrap();
        }
    }
    let link = tree.join("link");
    symlink(directory.path(outside), &link).unwrap();
    let mut met = 0;
    while_exchanging(&tree.join(inside), &link, || {
        for round in 0..100 {
            let mut archive = Vec::new();
            let mut packer = Packer::new();
            packer.strategy(strategies()[round % 4]);
            let result = packer.pack_to(Format::Tar, &mut archive, [(&tree, "")]);
            met += usize::from(result.is_err());
            assert!(!archive.contains(&SECRET), "round {round}");
        }
    });
    println!("{met} of 100 have met the link");
}

#[test]
fn an_exchanged_directory_leads_no_packing_out() {
    assert_packed_from_inside("a/b", "outside");
}

#[test]
fn an_exchanged_file_leads_no_packing_out() {
    for name in ["0", "7"] {
        assert_packed_from_inside(&format!("a/b/{name}"), &format!("outside/{name}"));
    }
}
