//! Crashes of a real mount. The log must have everything that programs do, by whatever call. A call
//! that it misses would seem to survive every crash, or never to have happened. The states that a
//! log allows are tested in `crash_log.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, can_mount};
use rustix::fs::{FallocateFlags, RenameFlags, fallocate, renameat_with};
use smallfry_slowfs::crash::{ACKNOWLEDGEMENT, Crash, Kind, Log, Model, Survivors};
use smallfry_slowfs::{Mount, Options, Profile};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const SEEDS: u64 = 300;

impl Place {
    fn new(prepare: impl FnOnce(&Path)) -> Option<Self> {
        Self::failing(&[], prepare)
    }

    fn failing(faults: &[&str], prepare: impl FnOnce(&Path)) -> Option<Self> {
        let mut options = Options::new(Profile::none());
        options.record = true;
        options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::mounted(&options, prepare)
    }

    fn log(&self) -> Log {
        self.mount.log().unwrap()
    }

    fn flush(&self, directory: &str) {
        File::open(self.shown(directory))
            .unwrap()
            .sync_all()
            .unwrap();
    }

    fn acknowledge(&self, what: &str) {
        assert!(!self.shown(&format!("{ACKNOWLEDGEMENT}{what}")).exists());
    }
}

fn states(log: &Log, model: Model) -> impl Iterator<Item = Survivors<'_>> {
    let point = log.len();
    (0..SEEDS).map(move |seed| log.crash(Crash { point, model, seed }))
}

/// The possible contents of a path after the whole log. A missing file is `-`.
fn outcomes(log: &Log, model: Model, path: &str) -> BTreeSet<String> {
    states(log, model)
        .map(|survivors| match survivors.get(path.as_ref()) {
            Some(found) => String::from_utf8(found.read().unwrap()).unwrap(),
            None => "-".to_owned(),
        })
        .collect()
}

fn set<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

/// Replaces `file`, flushed or not.
fn replace(place: &Place, flush: bool) {
    let mut new = File::create(place.shown("new")).unwrap();
    new.write_all(b"newer").unwrap();
    if flush {
        new.sync_all().unwrap();
    }
    fs::rename(place.shown("new"), place.shown("file")).unwrap();
}

#[test]
fn a_missing_flush_of_the_directory_is_caught() {
    let Some(place) = Place::new(|real| fs::write(real.join("file"), "old").unwrap()) else {
        return;
    };
    replace(&place, true);
    let log = place.log();
    assert_eq!(outcomes(&log, Model::Weak, "file"), set(["old", "newer"]));
    place.flush("");
    let log = place.log();
    for model in Model::ALL {
        assert_eq!(outcomes(&log, model, "file"), set(["newer"]));
    }
}

#[test]
fn a_missing_flush_of_the_file_is_caught_in_ordered() {
    let Some(place) = Place::new(|real| fs::write(real.join("file"), "old").unwrap()) else {
        return;
    };
    replace(&place, false);
    let found = outcomes(&place.log(), Model::Ordered, "file");
    assert_eq!(found, set(["old", "", "newer"]));
    replace(&place, true);
    place.flush("");
    let found = outcomes(&place.log(), Model::Ordered, "file");
    assert_eq!(found, set(["newer"]));
}

#[test]
fn overwritten_data_without_a_flush_may_be_torn() {
    let Some(place) = Place::new(|real| fs::write(real.join("file"), [b'a'; 8192]).unwrap()) else {
        return;
    };
    let file = OpenOptions::new()
        .write(true)
        .open(place.shown("file"))
        .unwrap();
    file.write_all_at(&[b'b'; 8192], 0).unwrap();
    let torn = |log: &Log, model| {
        states(log, model)
            .map(|survivors| survivors.read(Path::new("file")).unwrap())
            .filter(|bytes| bytes.contains(&b'a') && bytes.contains(&b'b'))
            .count()
    };
    for model in Model::ALL {
        assert!(torn(&place.log(), model) > 0);
    }
    file.sync_data().unwrap();
    for model in Model::ALL {
        assert_eq!(outcomes(&place.log(), model, "file").len(), 1);
    }
}

#[test]
fn a_rename_leaves_one_name_and_one_directory_needs_another_flushed() {
    let Some(place) = Place::new(|real| fs::write(real.join("file"), "text").unwrap()) else {
        return;
    };
    fs::create_dir(place.shown("dir")).unwrap();
    place.flush("dir");
    let there = |log: &Log, path: &str| -> BTreeSet<bool> {
        let found = states(log, Model::Weak);
        found
            .map(|survivors| survivors.get(path.as_ref()).is_some())
            .collect()
    };
    assert_eq!(there(&place.log(), "dir"), [false, true].into());
    place.flush("");
    assert_eq!(there(&place.log(), "dir"), [true].into());
    fs::rename(place.shown("file"), place.shown("dir/moved")).unwrap();
    let log = place.log();
    for model in Model::ALL {
        let pairs: BTreeSet<_> = states(&log, model)
            .map(|survivors| {
                ["file", "dir/moved"].map(|path| survivors.get(path.as_ref()).is_some())
            })
            .collect();
        assert_eq!(pairs, [[false, true], [true, false]].into());
    }
}

#[test]
fn acknowledgements_are_recorded_each_time_and_in_order() {
    let Some(place) = Place::new(|_| {}) else {
        return;
    };
    fs::create_dir(place.shown("dir")).unwrap();
    let mut points = vec![place.log().len()];
    for what in ["one", "two", "two", "three"] {
        fs::write(place.shown("file"), what).unwrap();
        place.acknowledge(what);
        points.push(place.log().len());
    }
    assert!(!place.shown(&format!("dir/{ACKNOWLEDGEMENT}four")).exists());
    let log = place.log();
    let acknowledged = |point| {
        let model = Model::Weak;
        log.crash(Crash {
            point,
            model,
            seed: 1,
        })
        .acknowledged()
    };
    assert_eq!(
        acknowledged(log.len()),
        ["one", "two", "two", "three", "four"]
    );
    for (number, point) in points.into_iter().enumerate() {
        assert_eq!(acknowledged(point).len(), number);
    }
    // Such a name must not be confused with a file.
    let reserved = place.shown(&format!("{ACKNOWLEDGEMENT}x"));
    fs::write(place.shown("file"), "").unwrap();
    for outcome in [
        fs::write(&reserved, "").map(drop),
        fs::create_dir(&reserved),
        fs::rename(place.shown("file"), &reserved),
        fs::hard_link(place.shown("file"), &reserved),
        symlink("file", &reserved),
    ] {
        assert_eq!(outcome.unwrap_err().raw_os_error(), Some(1));
    }
}

#[test]
fn a_mount_that_does_not_record_has_no_log_and_no_reserved_names() {
    if !can_mount() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let mount = Mount::new(root.path(), None, &Options::new(Profile::none())).unwrap();
    assert!(mount.log().is_none());
    let name = root.path().join(format!("{ACKNOWLEDGEMENT}x"));
    fs::write(&name, "text").unwrap();
    assert_eq!(fs::read_to_string(&name).unwrap(), "text");
}

#[test]
fn a_flush_that_failed_promises_nothing() {
    let prepare = |real: &Path| fs::write(real.join("file"), "old").unwrap();
    let Some(place) = Place::failing(&["fsync:1:EIO", "fsyncdir:1:EIO"], prepare) else {
        return;
    };
    let file = OpenOptions::new()
        .write(true)
        .open(place.shown("file"))
        .unwrap();
    file.write_all_at(b"new", 0).unwrap();
    file.sync_all().unwrap_err();
    File::create(place.shown("other")).unwrap();
    File::open(place.mount.path())
        .unwrap()
        .sync_all()
        .unwrap_err();
    let log = place.log();
    assert!(outcomes(&log, Model::Weak, "file").contains("old"));
    assert!(outcomes(&log, Model::Weak, "other").contains("-"));
}

/// A tree as a program sees it.
type Seen = BTreeMap<PathBuf, (&'static str, u32, Vec<u8>)>;

fn seen_of(survivors: &Survivors) -> Seen {
    let all = survivors.all().into_iter();
    all.map(|(path, found)| {
        let mode = found.attributes().mode;
        let seen = match found.kind() {
            Kind::File => ("file", mode, found.read().unwrap()),
            Kind::Directory => ("directory", mode, Vec::new()),
            Kind::Symlink(to) => ("link", 0o777, to.as_os_str().as_encoded_bytes().to_vec()),
            Kind::Special => ("special", mode, Vec::new()),
        };
        (path, seen)
    })
    .collect()
}

fn seen_in(root: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(root.join(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let full = root.join(&path);
            let stat = fs::symlink_metadata(&full).unwrap();
            let (kind, bytes) = if stat.is_dir() {
                waiting.push(path.clone());
                ("directory", Vec::new())
            } else if stat.is_symlink() {
                let to = fs::read_link(&full).unwrap().into_os_string();
                ("link", to.into_encoded_bytes())
            } else if stat.is_file() {
                ("file", fs::read(&full).unwrap())
            } else {
                ("special", Vec::new())
            };
            seen.insert(path, (kind, stat.mode() & 0o7777, bytes));
        }
    }
    seen
}

/// Uses every call that changes something, on existing files and on new ones.
#[test]
fn a_log_of_every_kind_of_call_ends_as_the_directory() {
    let Some(place) = Place::new(|real| {
        fs::create_dir_all(real.join("old/inner")).unwrap();
        fs::write(real.join("old/file"), "before").unwrap();
        fs::hard_link(real.join("old/file"), real.join("old/link")).unwrap();
        fs::write(real.join("old/inner/removed"), "before").unwrap();
        symlink("file", real.join("old/symlink")).unwrap();
        let sparse = File::create(real.join("sparse")).unwrap();
        sparse.write_all_at(b"far", 1 << 20).unwrap();
        sparse.set_len(3 << 20).unwrap();
        let secret = fs::Permissions::from_mode(0o600);
        fs::set_permissions(real.join("sparse"), secret).unwrap();
    }) else {
        return;
    };
    let before = seen_in(place.mount.path());
    let at = |name: &str| place.shown(name);
    // New ones of each kind.
    fs::create_dir_all(at("new/inner")).unwrap();
    fs::write(at("new/file"), vec![b'x'; 300_000]).unwrap();
    symlink("to", at("new/symlink")).unwrap();
    fs::hard_link(at("new/file"), at("link")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o640);
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), pipe, mode, 0).unwrap();
    // Existing ones are changed.
    fs::write(at("old/file"), "after, and longer").unwrap();
    fs::remove_file(at("old/inner/removed")).unwrap();
    fs::remove_dir(at("old/inner")).unwrap();
    let mut append = OpenOptions::new();
    let mut append = append.append(true).open(at("old/link")).unwrap();
    append.write_all(b" still").unwrap();
    let open = OpenOptions::new().write(true).open(at("sparse")).unwrap();
    open.set_len(1_500_000).unwrap();
    let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&open, holes, (1 << 20) + 1, 10 << 20).unwrap();
    fallocate(&open, FallocateFlags::empty(), 0, 2_000_000).unwrap();
    fallocate(&open, FallocateFlags::KEEP_SIZE, 0, 4_000_000).unwrap();
    fallocate(&open, FallocateFlags::COLLAPSE_RANGE, 0, 4096).unwrap_err();
    fs::set_permissions(at("old/file"), fs::Permissions::from_mode(0o604)).unwrap();
    std::os::unix::fs::chown(at("new/file"), Some(1), Some(2)).unwrap();
    fs::copy(at("new/file"), at("copy")).unwrap();
    // Names.
    fs::rename(at("new"), at("old/moved")).unwrap();
    fs::rename(at("copy"), at("old/symlink")).unwrap();
    let here = File::open(place.mount.path()).unwrap();
    renameat_with(&here, "link", &here, "old", RenameFlags::EXCHANGE).unwrap();
    // One that is open without a name, and a number that is used again.
    let gone = File::create(at("gone")).unwrap();
    fs::remove_file(at("gone")).unwrap();
    gone.write_all_at(b"unseen", 0).unwrap();
    drop(gone);
    fs::write(at("again"), "seen").unwrap();
    let mut synced = OpenOptions::new();
    let synced = synced
        .write(true)
        .custom_flags(0o4_010_000)
        .open(at("again"));
    synced.unwrap().write_all(b"SEEN").unwrap();

    let mut log = place.log();
    assert_eq!(outcomes(&log, Model::Weak, "none"), set(["-"]));
    let first = log.crash(Crash {
        point: 0,
        model: Model::Weak,
        seed: 1,
    });
    assert_eq!(seen_of(&first), before);
    log.set_baseline();
    let last = log.crash(Crash {
        point: 0,
        model: Model::Weak,
        seed: 1,
    });
    let now = seen_in(place.mount.path());
    assert_eq!(seen_of(&last), now);
    assert_eq!(now, seen_in(&place.root.path().join("real")));
    let owner = last.get("link/moved/file".as_ref()).unwrap().attributes();
    assert_eq!((owner.user, owner.group), (1, 2));
    let dir = tempfile::tempdir().unwrap();
    last.restore(dir.path()).unwrap();
    let mut restored = now;
    restored.retain(|_, (kind, ..)| *kind != "special");
    assert_eq!(seen_in(dir.path()), restored);
}

#[test]
fn concurrent_writers_leave_a_log_that_ends_as_the_directory() {
    let Some(place) = Place::new(|_| {}) else {
        return;
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for round in 0..40 {
                    let name = format!("{}", (thread + round) % 5);
                    let new = place.shown(&format!("new{thread}"));
                    let mut file = File::create(&new).unwrap();
                    file.write_all(format!("{thread} {round}").as_bytes())
                        .unwrap();
                    file.sync_all().unwrap();
                    fs::rename(&new, place.shown(&name)).unwrap();
                    place.flush("");
                    place.acknowledge(&name);
                }
            });
        }
    });
    let log = place.log();
    let now = seen_in(place.mount.path());
    for model in Model::ALL {
        for survivors in states(&log, model) {
            assert_eq!(seen_of(&survivors), now);
            assert_eq!(survivors.acknowledged().len(), 160);
        }
    }
    // At no moment is acknowledged data missing or half there.
    for point in 0..=log.len() {
        for (seed, model) in (0..4).flat_map(|seed| Model::ALL.map(|model| (seed, model))) {
            let survivors = log.crash(Crash { point, model, seed });
            for name in survivors.acknowledged() {
                let text = String::from_utf8(survivors.read(name.as_ref()).unwrap()).unwrap();
                assert!(text.contains(' '), "{text:?}");
            }
        }
    }
}

#[test]
fn an_image_on_the_mount_is_replayed_in_blocks() {
    let Some(place) = Place::new(|real| {
        let disk = File::create(real.join("disk")).unwrap();
        disk.set_len(64 << 20).unwrap();
    }) else {
        return;
    };
    let disk = OpenOptions::new()
        .write(true)
        .open(place.shown("disk"))
        .unwrap();
    disk.write_all_at(&[1; 8192], 32 << 20).unwrap();
    disk.sync_data().unwrap();
    disk.write_all_at(&[2; 8192], 32 << 20).unwrap();
    let log = place.log();
    let file = log.find(Path::new("disk")).unwrap();
    let mut found = BTreeSet::new();
    for seed in 0..40 {
        let into = tempfile::tempfile().unwrap();
        log.image(file, log.len(), seed, &into).unwrap();
        assert_eq!(into.metadata().unwrap().len(), 64 << 20);
        let mut bytes = [0; 8192];
        into.read_exact_at(&mut bytes, 32 << 20).unwrap();
        let blocks = [&bytes[..4096], &bytes[4096..]];
        assert!(
            blocks
                .iter()
                .all(|block| block.iter().all(|byte| *byte == block[0]))
        );
        found.insert(blocks.map(|block| block[0]));
    }
    assert_eq!(found, [[1, 1], [1, 2], [2, 1], [2, 2]].into());
}

#[test]
fn a_tree_with_another_file_system_is_refused() {
    if !can_mount() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("inner")).unwrap();
    let plain = Options::new(Profile::none());
    let other = tempfile::tempdir().unwrap();
    let _inner = Mount::new(other.path(), Some(&root.path().join("inner")), &plain).unwrap();
    let mut options = plain;
    options.record = true;
    let refused = Mount::new(root.path(), None, &options).err().unwrap();
    assert!(
        refused.to_string().contains("another file system"),
        "{refused}"
    );
}
