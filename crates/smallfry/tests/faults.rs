//! A disk on which one call fails: each call of a small tree's copy, mirror, removal, packing,
//! unpacking and hash, one after the other. A disk fails at any of them, and a real one never at
//! the same. The call must be an error with a path or change nothing, files must be whole, nothing
//! temporary may be left, and the same again must end it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::trees::describe;
use common::unix::{is_root, symlink};
use common::{names, skip};
use smallfry::archive::{Format, Packer, Unpacker};
use smallfry::bulk::Strategy;
use smallfry::hash::Hasher;
use smallfry::tree::{Copier, Mirror, Remover, TreeError};
use smallfry_slowfs::{Mount, Options, Profile};

/// Contents that take several calls, and that tell where they come from.
fn contents(of: &str) -> Vec<u8> {
    of.repeat(100_000).into_bytes()
}

/// The files of the tree. Those that are there already in a copy come first.
const FILES: [&str; 5] = ["a", "d/b", "d/e/c", "large", "z"];
const OLDER: &[&str] = &["a", "d/b"];

/// Makes the tree `from`, with a link and a further name.
fn make_tree(place: &Path) {
    let from = place.join("from");
    fs::create_dir_all(from.join("d/e")).unwrap();
    fs::create_dir(from.join("empty")).unwrap();
    for name in FILES {
        let contents = match name {
            // It is not read as a whole.
            "large" => [contents("new"), contents("end")].concat().repeat(3),
            "z" => Vec::new(),
            name => contents(name),
        };
        fs::write(from.join(name), contents).unwrap();
    }
    fs::hard_link(from.join("a"), from.join("same")).unwrap();
    symlink("a", from.join("link")).unwrap();
}

/// Makes older files in `to`, and one that is nowhere else.
fn make_older(place: &Path) {
    let to = place.join("to");
    fs::create_dir_all(to.join("d")).unwrap();
    fs::create_dir(to.join("gone")).unwrap();
    for name in OLDER.iter().chain(&["gone/file"]) {
        fs::write(to.join(name), contents("older")).unwrap();
    }
}

/// Returns the kinds of all entries, and the contents of files.
fn kinds(root: &Path) -> BTreeMap<PathBuf, (char, Vec<u8>)> {
    let entries = describe(root).into_iter();
    entries
        .map(|(path, (kind, _, contents, _))| (path, (kind, contents)))
        .collect()
}

/// Checks that each entry of `to` is that of `from` or an older one.
fn assert_whole(place: &Path) {
    let from = kinds(&place.join("from"));
    let to = kinds(&place.join("to"));
    let old = ('f', contents("older"));
    for (path, entry) in &to {
        let is_new = from.get(path) == Some(entry);
        let is_old = *entry == old || path == Path::new("gone");
        assert!(is_new || is_old, "{} is not whole", path.display());
    }
    for name in OLDER {
        assert!(to.contains_key(Path::new(name)), "{name} is lost");
    }
}

/// Checks that `to` has all that `from` has.
fn assert_copied(place: &Path) {
    let mut from = describe(&place.join("from"));
    from.retain(|path, _| !path.starts_with("gone"));
    let mut to = describe(&place.join("to"));
    to.retain(|path, _| !path.starts_with("gone"));
    assert_eq!(
        to.keys().collect::<Vec<_>>(),
        from.keys().collect::<Vec<_>>()
    );
    for (path, entry) in to {
        let is_same = entry == from[&path];
        assert!(is_same, "{} is not that of the source", path.display());
    }
}

/// An operation on a tree, and what must hold of the directory that the disk shows.
struct Case {
    prepare: fn(&Path),
    work: fn(&Path, Strategy) -> Result<(), TreeError>,
    /// After an error. It gets the paths of errors.
    assert_harmless: fn(&Path, &[PathBuf]),
    /// After a success.
    assert_done: fn(&Path),
}

/// The number of files in a mount that this process has open. It also serves the mount.
fn open_files(mount: &Mount) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = links.filter_map(|link| fs::read_link(link.path()).ok());
    paths.filter(|path| path.starts_with(mount.path())).count()
}

fn fail_each_call(test: &str, case: &Case) {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        return skip(test, "it needs root and /dev/fuse");
    }
    let mut strategies = vec![Strategy::CallingThread];
    if std::env::var_os("SMALLFRY_SOAK").is_some() {
        strategies.push(Strategy::Threads(3.try_into().unwrap()));
    }
    for strategy in strategies {
        let calls = (1..10_000).find(|&number| !fails_well(case, strategy, number));
        let calls = calls.unwrap();
        println!("{test}: {strategy:?}, {calls} calls");
        assert!(calls > 20);
    }
}

/// Lets the call of this number fail. Returns false if there are not so many.
fn fails_well(case: &Case, strategy: Strategy, number: u32) -> bool {
    let root = tempfile::tempdir().unwrap();
    let [real, shown] = ["real", "shown"].map(|name| root.path().join(name));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&shown).unwrap();
    (case.prepare)(&real);
    let mut options = Options::new(Profile::none());
    options.faults = vec![format!("any:{number}:EIO").parse().unwrap()];
    let mount = Mount::new(&real, Some(&shown), &options).unwrap();

    let result = (case.work)(mount.path(), strategy);
    assert_eq!(open_files(&mount), 0, "call {number}: {result:?}");
    let is_met = mount.failed_calls() > 0;
    for directory in ["", "to", "to/d"] {
        let left = names(&real.join(directory));
        let is_temporary = |name: &String| name.ends_with(".smallfry");
        assert!(!left.iter().any(is_temporary), "call {number}: {left:?}");
    }
    match result {
        Ok(()) => (case.assert_done)(&real),
        Err(error) => {
            assert!(is_met, "{error}");
            let mut errors = error.errors().iter();
            let is_fault = |error: &smallfry::Error| error.raw_os_error() == Some(libc::EIO);
            assert!(errors.any(is_fault), "call {number}: {error}");
            let paths = error.errors().iter().map(|error| {
                let path = error.path().unwrap();
                let below = path.strip_prefix(&shown);
                below.unwrap_or_else(|_| panic!("{error}")).to_owned()
            });
            (case.assert_harmless)(&real, &paths.collect::<Vec<_>>());
        }
    }
    if is_met {
        println!("again after call {number}");
        (case.work)(mount.path(), strategy).unwrap();
        (case.assert_done)(&real);
    }
    is_met
}

#[test]
fn a_copy_fails_well_at_each_call() {
    fail_each_call(
        "a_copy_fails_well_at_each_call",
        &Case {
            prepare: |place| {
                make_tree(place);
                make_older(place);
            },
            work: |place, strategy| {
                let mut copier = Copier::new();
                copier.strategy(strategy);
                copier.copy(place.join("from"), place.join("to")).map(drop)
            },
            assert_harmless: |place, _| assert_whole(place),
            assert_done: assert_copied,
        },
    );
}

#[test]
fn a_mirror_fails_well_at_each_call() {
    fail_each_call(
        "a_mirror_fails_well_at_each_call",
        &Case {
            prepare: |place| {
                make_tree(place);
                make_older(place);
            },
            work: |place, strategy| {
                let mut mirror = Mirror::new();
                mirror.delete(true).strategy(strategy);
                mirror.run(place.join("from"), place.join("to")).map(drop)
            },
            assert_harmless: |place, _| assert_whole(place),
            assert_done: |place| {
                assert_copied(place);
                assert!(!place.join("to/gone").exists());
            },
        },
    );
}

#[test]
fn a_removal_fails_well_at_each_call() {
    fn assert_beside_is_kept(place: &Path) {
        assert_eq!(fs::read(place.join("to/a")).unwrap(), contents("older"));
    }
    fail_each_call(
        "a_removal_fails_well_at_each_call",
        &Case {
            prepare: |place| {
                make_tree(place);
                make_older(place);
                symlink("../to", place.join("from/out")).unwrap();
            },
            work: |place, strategy| {
                let mut remover = Remover::new();
                remover.missing_ok(true).strategy(strategy);
                remover.remove(place.join("from")).map(drop)
            },
            assert_harmless: |place, _| {
                assert!(place.join("from").exists());
                assert_beside_is_kept(place);
            },
            assert_done: |place| {
                assert!(!place.join("from").exists());
                assert_beside_is_kept(place);
            },
        },
    );
}

#[test]
fn a_hash_fails_well_at_each_call() {
    fail_each_call(
        "a_hash_fails_well_at_each_call",
        &Case {
            prepare: |place| {
                make_tree(place);
                fs::create_dir_all(place.join("to/d")).unwrap();
                let digest = Hasher::new().tree(place.join("from")).unwrap().digest;
                fs::write(place.join("digest"), digest.to_string()).unwrap();
            },
            work: |place, strategy| {
                let mut hasher = Hasher::new();
                let tree = hasher.strategy(strategy).tree(place.join("from"))?;
                // Outside of the disk, where no call fails.
                let expected = place.with_file_name("real").join("digest");
                let expected = fs::read_to_string(expected).unwrap();
                assert_eq!(tree.digest.to_string(), expected);
                Ok(())
            },
            assert_harmless: |_, _| {},
            assert_done: |_| {},
        },
    );
}

fn unpack(place: &Path, strategy: Strategy) -> Result<(), TreeError> {
    let mut unpacker = Unpacker::new();
    unpacker.strategy(strategy).permissions(true);
    let result = unpacker.unpack(place.join("archive"), place.join("to"));
    result.map(drop)
}

fn unpack_fails_well(test: &str, prepare: fn(&Path)) {
    fail_each_call(
        test,
        &Case {
            prepare,
            work: unpack,
            assert_harmless: |place, _| assert_whole(place),
            assert_done: assert_copied,
        },
    );
}

/// Makes an archive, and older files where it is to be unpacked.
fn make_archive(place: &Path, format: Format) {
    make_tree(place);
    make_older(place);
    if format == Format::Zip {
        // A zip has no further names.
        fs::remove_file(place.join("from/same")).unwrap();
    }
    let sources = [(place.join("from"), "")];
    let packed = Packer::new().pack(format, place.join("archive"), sources);
    packed.unwrap();
}

#[test]
fn unpacking_a_tar_fails_well_at_each_call() {
    unpack_fails_well("unpacking_a_tar_fails_well_at_each_call", |place| {
        make_archive(place, Format::Tar);
    });
}

#[test]
fn unpacking_a_zip_fails_well_at_each_call() {
    unpack_fails_well("unpacking_a_zip_fails_well_at_each_call", |place| {
        make_archive(place, Format::Zip);
    });
}

/// The archive, which replaces an older one, is in the tree itself. So it must leave out both.
fn pack_fails_well(test: &str, work: fn(&Path, Strategy) -> Result<(), TreeError>) {
    /// Unpacks the archive, or returns false if it is the older one.
    fn has_packed(place: &Path) -> bool {
        let archive = place.join("from/archive");
        let out = place.join("out");
        if out.exists() {
            fs::remove_dir_all(&out).unwrap();
        }
        let is_new = fs::read(&archive).unwrap() != b"old";
        if is_new {
            Unpacker::new().unpack(archive, out).unwrap();
        }
        is_new
    }
    fail_each_call(
        test,
        &Case {
            prepare: |place| {
                make_tree(place);
                fs::write(place.join("from/archive"), "old").unwrap();
                fs::create_dir_all(place.join("to/d")).unwrap();
            },
            work,
            assert_harmless: |place, failed| {
                if !has_packed(place) {
                    return;
                }
                let from = kinds(&place.join("from"));
                for (path, entry) in kinds(&place.join("out")) {
                    let is_failed = failed.contains(&Path::new("from").join(&path));
                    let is_same = from.get(&path) == Some(&entry);
                    assert!(is_same || is_failed, "{}", path.display());
                }
            },
            assert_done: |place| {
                assert!(has_packed(place));
                let mut from = kinds(&place.join("from"));
                from.remove(Path::new("archive"));
                let out = kinds(&place.join("out"));
                assert!(out == from, "{:?}", out.keys());
            },
        },
    );
}

fn pack(place: &Path, strategy: Strategy, format: Format) -> Result<(), TreeError> {
    let sources = [(place.join("from"), "")];
    let mut packer = Packer::new();
    let result = packer
        .strategy(strategy)
        .pack(format, place.join("from/archive"), sources);
    result.map(drop)
}

#[test]
fn packing_a_tar_fails_well_at_each_call() {
    pack_fails_well(
        "packing_a_tar_fails_well_at_each_call",
        |place, strategy| pack(place, strategy, Format::Tar),
    );
}

#[test]
fn packing_a_zip_fails_well_at_each_call() {
    pack_fails_well(
        "packing_a_zip_fails_well_at_each_call",
        |place, strategy| pack(place, strategy, Format::Zip),
    );
}
