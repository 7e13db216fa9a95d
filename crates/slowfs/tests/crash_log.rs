//! States after a crash, made from logs without a disk. A model that loses too much makes correct
//! programs look wrong. One that loses too little passes programs that lose people's files, above
//! all those that forget to flush the directory. Each promise is therefore tested from both sides:
//! data that must survive always do, and data that may be lost are lost in some state.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use smallfry_slowfs::crash::{Attributes, Crash, Inode, Kind, Log, Model, Survivors};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

const ROOT: Inode = Inode::ROOT;
const SEEDS: u64 = 400;

fn name(text: &str) -> &OsStr {
    text.as_ref()
}

fn file(log: &mut Log, directory: Inode, text: &str, bytes: &[u8]) -> Inode {
    let file = log
        .make(directory, name(text), Kind::File, Attributes::default())
        .unwrap();
    log.write(file, 0, bytes).unwrap();
    file
}

fn directory(log: &mut Log, parent: Inode, text: &str) -> Inode {
    log.make(parent, name(text), Kind::Directory, Attributes::default())
        .unwrap()
}

/// States after the whole log.
fn states(log: &Log, model: Model) -> impl Iterator<Item = Survivors<'_>> {
    let point = log.len();
    (0..SEEDS).map(move |seed| log.crash(Crash { point, model, seed }))
}

fn text(survivors: &Survivors, path: &str) -> Option<String> {
    let bytes = survivors.get(path.as_ref())?.read().unwrap();
    Some(String::from_utf8(bytes).unwrap())
}

/// The possible contents of a path after the whole log. A missing file is `-`.
fn outcomes(log: &Log, model: Model, path: &str) -> BTreeSet<String> {
    states(log, model)
        .map(|survivors| text(&survivors, path).unwrap_or_else(|| "-".to_owned()))
        .collect()
}

fn set<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

/// A file replaced by another one, with these flushes.
fn replaced(flush_file: bool, flush_directory: bool) -> Log {
    let mut log = Log::default();
    file(&mut log, ROOT, "file", b"old");
    log.set_baseline();
    let new = file(&mut log, ROOT, "new", b"newer");
    if flush_file {
        log.flush(new, false).unwrap();
    }
    log.rename((ROOT, name("new")), (ROOT, name("file")))
        .unwrap();
    if flush_directory {
        log.flush(ROOT, false).unwrap();
    }
    log
}

#[test]
fn a_name_needs_its_directory_flushed_in_weak() {
    let found = |log: &Log| outcomes(log, Model::Weak, "file");
    assert_eq!(found(&replaced(true, false)), set(["old", "newer"]));
    assert_eq!(found(&replaced(true, true)), set(["newer"]));
    let unflushed = found(&replaced(false, true));
    assert!(unflushed.is_superset(&set(["", "newer", "\0\0\0\0\0"])));
    assert!(!unflushed.contains("old"));
}

#[test]
fn flushing_a_file_flushes_its_name_in_ordered() {
    let mut log = replaced(true, false);
    assert_eq!(
        outcomes(&log, Model::Ordered, "file"),
        set(["old", "newer"])
    );
    let file = log.find(Path::new("file")).unwrap();
    log.flush(file, false).unwrap();
    assert_eq!(outcomes(&log, Model::Ordered, "file"), set(["newer"]));
    assert_eq!(outcomes(&log, Model::Weak, "file"), set(["old", "newer"]));
}

#[test]
fn an_unflushed_replacement_may_be_empty_in_ordered() {
    let found = outcomes(&replaced(false, true), Model::Ordered, "file");
    // Never bytes that nobody wrote: data come before the size.
    assert_eq!(found, set(["", "newer"]));
    let found = outcomes(&replaced(false, false), Model::Ordered, "file");
    assert_eq!(found, set(["old", "", "newer"]));
}

#[test]
fn a_grown_file_may_be_short_but_holds_written_bytes_in_ordered() {
    let mut log = Log::default();
    let bytes: Vec<u8> = (0..20_000_u32).map(|byte| byte as u8 | 1).collect();
    file(&mut log, ROOT, "file", &bytes);
    log.flush(ROOT, false).unwrap();
    let mut lengths = BTreeSet::new();
    for survivors in states(&log, Model::Ordered) {
        let found = survivors.read(Path::new("file")).unwrap();
        assert_eq!(found, bytes[..found.len()]);
        lengths.insert(found.len());
    }
    assert_eq!(lengths, [0, 4096, 8192, 12288, 16384, 20_000].into());
}

#[test]
fn a_truncated_and_rewritten_file_may_be_empty_in_each_model() {
    let mut log = Log::default();
    let file = file(&mut log, ROOT, "file", b"old");
    log.set_baseline();
    log.resize(file, 0).unwrap();
    log.write(file, 0, b"newer").unwrap();
    for model in Model::ALL {
        let found = outcomes(&log, model, "file");
        assert!(found.is_superset(&set(["old", "", "newer"])), "{found:?}");
    }
    log.flush(file, true).unwrap();
    for model in Model::ALL {
        assert_eq!(outcomes(&log, model, "file"), set(["newer"]));
    }
}

#[test]
fn overwritten_data_may_be_torn_at_sectors_and_pages() {
    let mut log = Log::default();
    let written = file(&mut log, ROOT, "file", &[b'a'; 8192]);
    log.set_baseline();
    log.write(written, 0, &[b'b'; 8192]).unwrap();
    for model in Model::ALL {
        let mut places = BTreeSet::new();
        for survivors in states(&log, model) {
            let bytes = survivors.read(Path::new("file")).unwrap();
            assert_eq!(bytes.len(), 8192);
            let edges = bytes.windows(2).enumerate();
            places.extend(
                edges
                    .filter(|(_, two)| two[0] != two[1])
                    .map(|(at, _)| at + 1),
            );
        }
        assert!(
            places.contains(&4096) && places.contains(&512),
            "{places:?}"
        );
        assert!(places.iter().all(|place| place % 512 == 0), "{places:?}");
    }
    log.flush(written, true).unwrap();
    for model in Model::ALL {
        for survivors in states(&log, model) {
            let bytes = survivors.read(Path::new("file")).unwrap();
            assert_eq!(bytes, [b'b'; 8192]);
        }
    }
}

#[test]
fn a_new_directory_needs_its_parent_flushed_in_weak() {
    let mut log = Log::default();
    let made = directory(&mut log, ROOT, "dir");
    let written = file(&mut log, made, "file", b"text");
    log.flush(written, false).unwrap();
    log.flush(made, false).unwrap();
    assert_eq!(outcomes(&log, Model::Weak, "dir/file"), set(["-", "text"]));
    assert_eq!(outcomes(&log, Model::Ordered, "dir/file"), set(["text"]));
    log.flush(ROOT, false).unwrap();
    assert_eq!(outcomes(&log, Model::Weak, "dir/file"), set(["text"]));
}

/// For each state, which of two names exist.
fn pairs(log: &Log, model: Model, one: &str, other: &str) -> BTreeSet<(bool, bool)> {
    let there = |survivors: &Survivors, path: &str| survivors.get(path.as_ref()).is_some();
    states(log, model)
        .map(|survivors| (there(&survivors, one), there(&survivors, other)))
        .collect()
}

#[test]
fn a_rename_leaves_one_name_in_each_model() {
    let mut log = Log::default();
    let (here, there) = (
        directory(&mut log, ROOT, "here"),
        directory(&mut log, ROOT, "there"),
    );
    file(&mut log, here, "file", b"text");
    log.set_baseline();
    log.rename((here, name("file")), (there, name("moved")))
        .unwrap();
    let either = BTreeSet::from([(true, false), (false, true)]);
    for model in Model::ALL {
        assert_eq!(pairs(&log, model, "here/file", "there/moved"), either);
    }
    // Moved on, with another file under the old name.
    log.rename((there, name("moved")), (ROOT, name("last")))
        .unwrap();
    file(&mut log, here, "file", b"another");
    for model in Model::ALL {
        for survivors in states(&log, model) {
            let places = ["here/file", "there/moved", "last"];
            let found = places.map(|place| survivors.get(place.as_ref()));
            let old = found
                .into_iter()
                .flatten()
                .filter(|found| found.size() == 4);
            assert_eq!(old.count(), 1);
        }
    }
    log.flush(ROOT, false).unwrap();
    for survivors in states(&log, Model::Weak) {
        assert_eq!(text(&survivors, "last").unwrap(), "text");
        assert!(survivors.get("there/moved".as_ref()).is_none());
    }
}

#[test]
fn exchanged_names_are_in_one_order_or_the_other() {
    let mut log = Log::default();
    let made = directory(&mut log, ROOT, "dir");
    file(&mut log, ROOT, "one", b"1");
    file(&mut log, made, "two", b"2");
    log.set_baseline();
    log.exchange((ROOT, name("one")), (made, name("two")))
        .unwrap();
    for model in Model::ALL {
        let found: BTreeSet<_> = states(&log, model)
            .map(|survivors| ["one", "dir/two"].map(|path| text(&survivors, path).unwrap()))
            .collect();
        let wanted = [["1", "2"], ["2", "1"]].map(|pair| pair.map(str::to_owned));
        assert_eq!(found, wanted.into());
    }
}

/// If moves of directories were independent, each directory could end up inside the other, and both
/// out of reach.
#[test]
fn moved_directories_stay_reachable() {
    let mut log = Log::default();
    let one = directory(&mut log, ROOT, "one");
    let two = directory(&mut log, one, "two");
    log.set_baseline();
    log.rename((one, name("two")), (ROOT, name("two"))).unwrap();
    log.rename((ROOT, name("one")), (two, name("one"))).unwrap();
    for model in Model::ALL {
        for survivors in states(&log, model) {
            assert_eq!(survivors.all().len(), 2);
        }
    }
}

#[test]
fn an_ended_flush_covers_operations_before_its_start() {
    let mut log = Log::default();
    let written = file(&mut log, ROOT, "file", b"1");
    log.set_baseline();
    let begun = log.len();
    log.write(written, 0, b"2").unwrap();
    log.flushed(written, false, begun).unwrap();
    assert_eq!(outcomes(&log, Model::Weak, "file"), set(["1", "2"]));
    log.flush(written, false).unwrap();
    assert_eq!(outcomes(&log, Model::Weak, "file"), set(["2"]));
    // Before it ended it promised nothing.
    let point = log.len() - 1;
    let model = Model::Weak;
    let found = (0..SEEDS).map(|seed| text(&log.crash(Crash { point, model, seed }), "file"));
    assert!(found.flatten().any(|text| text == "1"));
}

#[test]
fn fdatasync_keeps_contents_and_size_and_fsync_the_mode_too() {
    let mut log = Log::default();
    let written = file(&mut log, ROOT, "file", b"1");
    log.set_baseline();
    log.write(written, 0, b"22").unwrap();
    let changed = Attributes {
        mode: 0o600,
        ..Attributes::default()
    };
    log.change(written, changed).unwrap();
    log.flush(written, true).unwrap();
    let modes = |log: &Log| -> BTreeSet<u32> {
        let found = states(log, Model::Weak);
        found
            .map(|survivors| survivors.get("file".as_ref()).unwrap().attributes().mode)
            .collect()
    };
    assert_eq!(outcomes(&log, Model::Weak, "file"), set(["22"]));
    assert_eq!(modes(&log), [0, 0o600].into());
    log.flush(written, false).unwrap();
    assert_eq!(modes(&log), [0o600].into());
}

#[test]
fn acknowledgements_are_those_before_the_crash_in_order() {
    let mut log = Log::default();
    for number in 0..5 {
        file(&mut log, ROOT, &number.to_string(), b"");
        log.acknowledge(name(&number.to_string()));
    }
    for point in 0..=log.len() {
        let survivors = log.crash(Crash {
            point,
            model: Model::Weak,
            seed: 1,
        });
        let wanted: Vec<OsString> = (0..point / 2)
            .map(|number| number.to_string().into())
            .collect();
        assert_eq!(survivors.acknowledged(), wanted);
    }
}

#[test]
fn impossible_operations_are_refused() {
    let mut log = Log::default();
    let made = directory(&mut log, ROOT, "dir");
    let written = file(&mut log, made, "file", b"text");
    let length = log.len();
    let kind = |outcome: io::Result<()>| outcome.unwrap_err().kind();
    let plain = Attributes::default();
    for wrong in ["", ".", "..", "a/b", "/"] {
        let outcome = log.make(ROOT, name(wrong), Kind::File, plain);
        assert_eq!(kind(outcome.map(drop)), io::ErrorKind::InvalidInput);
        let outcome = log.rename((made, name("file")), (ROOT, name(wrong)));
        assert_eq!(kind(outcome), io::ErrorKind::InvalidInput);
    }
    let outcome = log.make(made, name("file"), Kind::File, plain).map(drop);
    assert_eq!(kind(outcome), io::ErrorKind::AlreadyExists);
    let outcome = log.make(written, name("x"), Kind::File, plain).map(drop);
    assert_eq!(kind(outcome), io::ErrorKind::NotADirectory);
    assert_eq!(
        kind(log.remove(ROOT, name("dir"))),
        io::ErrorKind::DirectoryNotEmpty
    );
    assert_eq!(kind(log.remove(ROOT, name("x"))), io::ErrorKind::NotFound);
    let outcome = log.rename((ROOT, name("dir")), (made, name("x")));
    assert_eq!(kind(outcome), io::ErrorKind::InvalidInput);
    let outcome = log.rename((ROOT, name("dir")), (made, name("file")));
    assert_eq!(kind(outcome), io::ErrorKind::NotADirectory);
    assert_eq!(
        kind(log.link(made, ROOT, name("x"))),
        io::ErrorKind::PermissionDenied
    );
    assert_eq!(kind(log.write(made, 0, b"x")), io::ErrorKind::IsADirectory);
    assert_eq!(
        kind(log.write(written, u64::MAX, b"x")),
        io::ErrorKind::FileTooLarge
    );
    assert_eq!(
        kind(log.resize(written, u64::MAX)),
        io::ErrorKind::FileTooLarge
    );
    assert_eq!(log.len(), length);
    // An inode of another log.
    let stranger = file(&mut log, ROOT, "last", b"");
    let mut other = Log::default();
    assert_eq!(
        kind(other.write(stranger, 0, b"x")),
        io::ErrorKind::NotFound
    );
    assert_eq!(kind(other.flush(stranger, false)), io::ErrorKind::NotFound);
    // Holes of any size cost nothing, but such a file cannot be read as a whole.
    log.resize(written, 1 << 60).unwrap();
    log.zero(written, 0, 1 << 60).unwrap();
    for survivors in states(&log, Model::Weak).take(20) {
        let _ = survivors.get("dir/file".as_ref()).map(|found| found.size());
    }
}

#[test]
fn a_log_is_described_in_words() {
    let mut log = replaced(true, true);
    log.acknowledge(name("done"));
    let told: Vec<String> = (0..log.len())
        .map(|index| log.describe(index).unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "create new",
            "write file 5 bytes at 0",
            "fsync file, begun at 2",
            "rename new file",
            "fsync ., begun at 4",
            "acknowledge done"
        ]
    );
    assert_eq!(log.describe(log.len()), None);
}

#[test]
fn survivors_are_restored_as_a_real_tree() {
    let mut log = Log::default();
    let made = directory(&mut log, ROOT, "dir");
    let written = file(&mut log, made, "file", &[7; 5000]);
    log.link(written, ROOT, name("link")).unwrap();
    log.resize(written, 3 << 20).unwrap();
    let changed = Attributes {
        mode: 0o640,
        ..Attributes::default()
    };
    log.change(written, changed).unwrap();
    log.change(
        made,
        Attributes {
            mode: 0o755,
            ..changed
        },
    )
    .unwrap();
    log.make(ROOT, name("pipe"), Kind::Special, changed)
        .unwrap();
    #[cfg(target_os = "linux")]
    log.make(made, name("to"), Kind::Symlink("../link".into()), changed)
        .unwrap();
    log.set_baseline();
    let survivors = log.crash(Crash {
        point: usize::MAX,
        model: Model::Ordered,
        seed: 1,
    });
    let dir = tempfile::tempdir().unwrap();
    survivors.restore(dir.path()).unwrap();
    let bytes = fs::read(dir.path().join("dir/file")).unwrap();
    assert_eq!(bytes, survivors.read(Path::new("link")).unwrap());
    assert_eq!((bytes.len(), &bytes[..5000]), (3 << 20, &[7; 5000][..]));
    assert!(!dir.path().join("pipe").exists());
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let stat = fs::metadata(dir.path().join("dir/to")).unwrap();
        assert_eq!((stat.mode() & 0o7777, stat.nlink()), (0o640, 2));
        assert!(stat.blocks() * 512 < 1 << 20);
    }
    let error = survivors.restore(dir.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot make "), "{error}");
}
