//! Mirroring whole trees. The user trusts it with the only backup: it must have each entry, delete
//! nothing that the source may have, and write to no file outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use common::platform::{mode_of, number_of, set_mode, set_modified, symlink};
#[cfg(unix)]
use common::skip;
#[cfg(unix)]
use common::trees::while_exchanged;
use common::trees::{Described, describe, make_tree};
#[cfg(unix)]
use common::unix::{
    SmallDisk, can_trace, child_directory, is_child, is_root, make_fifo, run_child, strace,
};
use common::{Directory, assert_error, names, strategies};
use smallfry::Operation;
use smallfry::bulk::{Control, Strategy};
use smallfry::tree::{Mirror, Remover, Report};

/// Everything that a mirror has in common with its source, and times of modification.
type Whole = (Described, BTreeMap<PathBuf, SystemTime>, u32);

fn whole(root: &Path) -> Whole {
    let described = describe(root);
    let time = |path: &Path| fs::symlink_metadata(path).unwrap().modified().unwrap();
    let mut times: BTreeMap<_, _> = described
        .keys()
        .map(|path| (path.clone(), time(&root.join(path))))
        .collect();
    times.insert(PathBuf::new(), time(root));
    (described, times, mode_of(root))
}

/// Compares two trees, and shows only what differs.
#[track_caller]
fn assert_same(to: &Path, from: &Path, context: &str) {
    let [to, from] = [to, from].map(whole);
    let short = |whole: &Whole, path: &Path| {
        let entry = whole.0.get(path).map(|(kind, mode, bytes, first)| {
            let start = bytes.get(..9).unwrap_or(bytes).to_owned();
            (*kind, *mode, bytes.len(), start, first.clone())
        });
        (entry, whole.1.get(path).copied())
    };
    for path in to.1.keys().chain(from.1.keys()) {
        let is_same = to.0.get(path) == from.0.get(path) && to.1.get(path) == from.1.get(path);
        let [to, from] = [&to, &from].map(|whole| short(whole, path));
        assert!(
            is_same,
            "{context}, {}: {to:?} and {from:?}",
            path.display()
        );
    }
    assert_eq!(to.2, from.2, "{context}");
}

/// Removes anything, also what is read-only.
fn remove(path: &Path) {
    Remover::new().remove(path).unwrap();
}

/// Returns the paths of all entries, and whether each is a directory, a link or a file.
fn entries_of(root: &Path) -> Vec<(PathBuf, char)> {
    let mut entries = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                directories.push(path.clone());
            }
            let kind = match (kind.is_dir(), kind.is_symlink()) {
                (true, _) => 'd',
                (_, true) => 'l',
                _ => 'f',
            };
            entries.push((path, kind));
        }
    }
    entries.sort();
    entries
}

/// Changes entries of a tree at random.
fn change(root: &Path, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..40) {
        let index = random.u64(..);
        let entries = entries_of(root);
        if entries.is_empty() {
            return;
        }
        let (path, kind) = &entries[random.usize(..entries.len())];
        match (random.u32(..9), kind) {
            (0, _) => remove(path),
            (1, 'f') => {
                set_mode(path, 0o600);
                fs::write(path, vec![8; random.usize(..9000)]).unwrap();
            }
            (2, 'f') => {
                set_mode(path, 0o600);
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                file.write_all(b"more").unwrap();
            }
            (3, 'f' | 'd') => set_mode(path, [0o700, 0o755, 0o640, 0o500][random.usize(..4)]),
            (4, 'f' | 'd') => {
                let time = SystemTime::UNIX_EPOCH + Duration::from_micros(random.u64(..1 << 50));
                set_modified(path, time);
            }
            (5, _) => {
                let place = if *kind == 'd' { path } else { root };
                fs::create_dir(place.join(format!("new {index}"))).unwrap();
                fs::write(place.join(format!("file {index}")), "new").unwrap();
            }
            (6, 'f' | 'l') => {
                remove(path);
                fs::create_dir(path).unwrap();
                fs::write(path.join("was a file"), "new").unwrap();
            }
            (6, _) => {
                remove(path);
                if random.bool() || symlink("was a directory", path).is_err() {
                    fs::write(path, "was a directory").unwrap();
                }
            }
            (7, _) => fs::rename(path, root.join(format!("moved {index}"))).unwrap(),
            (8, 'f') => fs::hard_link(path, root.join(format!("other {index}"))).unwrap(),
            _ => {}
        }
    }
}

/// Collects changes, sorted.
#[derive(Clone, Default)]
struct Changes(Arc<Mutex<Vec<(PathBuf, String)>>>);

impl Changes {
    fn of(mirror: &mut Mirror) -> Self {
        let changes = Self::default();
        let list = Arc::clone(&changes.0);
        mirror.on_change(move |change, path| {
            let change = (path.to_owned(), change.name().to_owned());
            list.lock().unwrap().push(change);
        });
        changes
    }

    fn take(&self) -> Vec<(PathBuf, String)> {
        let mut changes = std::mem::take(&mut *self.0.lock().unwrap());
        changes.sort();
        changes
    }
}

fn mirror(delete: bool) -> Mirror {
    let mut mirror = Mirror::new();
    mirror.delete(delete);
    mirror
}

fn changed(report: Report) -> u64 {
    report.files + report.directories + report.deleted
}

#[test]
fn mirror_has_each_entry_and_a_second_run_changes_nothing() {
    // Wine takes many times as long for each call.
    let seeds = if cfg!(windows) { 1 } else { 6 };
    for seed in 0..seeds {
        let directory = Directory::new();
        let [from, to] = ["from", "to"].map(|name| directory.path(name));
        make_tree(&from, seed);
        let expected = whole(&from);
        let count = expected.1.len() as u64;
        for strategy in strategies() {
            let mut mirror = mirror(true);
            let changes = Changes::of(mirror.strategy(strategy));
            let report = mirror.run(&from, &to).unwrap();
            assert_eq!(whole(&to), expected, "seed {seed}");
            assert_eq!(
                (report.files + report.directories, report.unchanged),
                (count, 0)
            );
            assert_eq!(changes.take().len() as u64, count);
            for by_contents in [false, true] {
                let report = mirror.contents(by_contents).run(&from, &to).unwrap();
                assert_eq!(
                    (changed(report), report.unchanged),
                    (0, count),
                    "seed {seed}"
                );
                assert_eq!(changes.take(), []);
            }
            assert_eq!(whole(&to), expected);
            Remover::new().remove(&to).unwrap();
        }
        assert_eq!(whole(&from), expected);
    }
}

#[test]
fn mirror_follows_changes_as_a_dry_run_has_told() {
    let seeds = if cfg!(windows) { 1 } else { 12 };
    for seed in 0..seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let directory = Directory::new();
        let [from, to] = ["from", "to"].map(|name| directory.path(name));
        make_tree(&from, seed);
        mirror(true).run(&from, &to).unwrap();
        for round in 0..3 {
            change(&from, &mut random);
            if random.bool() {
                change(&to, &mut random);
            }
            let before = whole(&to);
            let mut mirror = mirror(true);
            // Several threads may begin with another name of a file.
            mirror.strategy(Strategy::CallingThread);
            let changes = Changes::of(&mut mirror);
            let told = mirror.dry_run(true).run(&from, &to).unwrap();
            let listed = changes.take();
            assert_eq!(whole(&to), before, "seed {seed}");
            let done = mirror.dry_run(false).run(&from, &to).unwrap();
            assert_same(&to, &from, &format!("seed {seed}, round {round}"));
            assert_eq!(changes.take(), listed, "seed {seed}, round {round}");
            assert_eq!(done, told, "seed {seed}, round {round}");
            assert_eq!(changed(mirror.run(&from, &to).unwrap()), 0, "seed {seed}");
            change(&from, &mut random);
            mirror.strategy(strategies()[random.usize(..4)]);
            mirror.run(&from, &to).unwrap();
            assert_same(&to, &from, &format!("seed {seed}, round {round}"));
            changes.take();
        }
    }
}

/// The last name of a file gets its new permissions, and the others are replaced before.
#[cfg(unix)]
#[test]
fn a_dry_run_knows_the_names_that_a_file_would_lose() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    for root in [&from, &to] {
        fs::create_dir(root).unwrap();
    }
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["x", "y", "z"] {
        fs::write(from.join(name), "same").unwrap();
        set_modified(&from.join(name), time);
        set_mode(&from.join(name), 0o600);
    }
    fs::write(to.join("x"), "same").unwrap();
    set_modified(&to.join("x"), time);
    set_mode(&to.join("x"), 0o644);
    for name in ["y", "z"] {
        fs::hard_link(to.join("x"), to.join(name)).unwrap();
    }
    let mut mirror = mirror(true);
    mirror.strategy(Strategy::CallingThread);
    let changes = Changes::of(&mut mirror);
    let told = mirror.dry_run(true).run(&from, &to).unwrap();
    let listed = changes.take();
    let done = mirror.dry_run(false).run(&from, &to).unwrap();
    let has_set = |(_, change): &(PathBuf, String)| change == "set attributes";
    assert!(listed.iter().any(has_set), "{listed:?}");
    assert_eq!(changes.take(), listed);
    assert_eq!(done, told);
    assert_same(&to, &from, "");
}

#[cfg(unix)]
#[test]
fn mirror_is_the_same_as_that_of_rsync() {
    let rsync = |options: &[&str], from: &Path, to: &Path| {
        let mut from = from.as_os_str().to_owned();
        from.push("/");
        let mut command = Command::new("rsync");
        command.args(options).arg(from).arg(to).output()
    };
    if Command::new("rsync").arg("--version").output().is_err() {
        return skip("mirror_is_the_same_as_that_of_rsync", "no rsync");
    }
    for seed in 0..5 {
        let mut random = fastrand::Rng::with_seed(seed);
        let directory = Directory::new();
        let [from, to, other] = ["from", "to", "other"].map(|name| directory.path(name));
        make_tree(&from, seed);
        for _ in 0..3 {
            mirror(true).run(&from, &to).unwrap();
            let output = rsync(&["-aH", "--delete", "--modify-window=-1"], &from, &other).unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(whole(&to).0, whole(&other).0, "seed {seed}");
            let output = rsync(&["-aHnic", "--delete", "--modify-window=-1"], &from, &to).unwrap();
            assert!(
                output.status.success() && output.stdout.is_empty(),
                "{output:?}"
            );
            // Times of rsync are whole enough to be the same.
            let report = mirror(true).dry_run(true).run(&from, &other).unwrap();
            assert_eq!(changed(report), 0, "seed {seed}");
            change(&from, &mut random);
        }
    }
}

#[test]
fn contents_finds_changes_of_the_same_size_and_time() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("large"), vec![1; 300_000]).unwrap();
    fs::write(from.join("same"), "same").unwrap();
    mirror(false).run(&from, &to).unwrap();
    let time = fs::metadata(from.join("large"))
        .unwrap()
        .modified()
        .unwrap();
    let mut bytes = vec![1; 300_000];
    bytes[299_999] = 2;
    fs::write(from.join("large"), &bytes).unwrap();
    set_modified(&from.join("large"), time);
    set_modified(&from.join("same"), SystemTime::UNIX_EPOCH);
    let number = number_of(&to.join("same"));

    let mut mirror = mirror(false);
    mirror.contents(true);
    let changes = Changes::of(&mut mirror);
    let report = mirror.run(&from, &to).unwrap();
    assert_eq!((report.files, report.bytes), (2, 300_000));
    let expected = [("large", "update"), ("same", "set attributes")]
        .map(|(path, change)| (PathBuf::from(path), change.to_owned()));
    assert_eq!(changes.take(), expected);
    assert_eq!(whole(&to), whole(&from));
    assert_eq!(number_of(&to.join("same")), number);
}

#[test]
fn permissions_alone_are_set_without_copying() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("sub/file"), "text").unwrap();
    mirror(false).run(&from, &to).unwrap();
    let number = number_of(&to.join("sub/file"));
    for (mode, of_directory) in [(0o451, 0o711), (0o640, 0o755)] {
        set_mode(&from.join("sub/file"), mode);
        set_mode(&from.join("sub"), of_directory);
        let report = mirror(false).run(&from, &to).unwrap();
        assert_eq!((report.files, report.bytes), (1, 0));
        assert_eq!(report.directories, u64::from(cfg!(unix)));
        assert_eq!(whole(&to), whole(&from));
        assert_eq!(number_of(&to.join("sub/file")), number);
    }
}

#[test]
fn other_names_of_a_file_are_not_written_through() {
    let directory = Directory::new();
    let [from, to, kept] = ["from", "to", "kept"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    for name in ["contents", "mode"] {
        fs::write(from.join(name), "old").unwrap();
    }
    mirror(false).run(&from, &to).unwrap();
    fs::create_dir(&kept).unwrap();
    for name in ["contents", "mode"] {
        fs::hard_link(to.join(name), kept.join(name)).unwrap();
    }
    let before = whole(&kept);
    fs::write(from.join("contents"), "newer").unwrap();
    set_mode(&from.join("mode"), 0o400);
    mirror(false).run(&from, &to).unwrap();
    assert_eq!(whole(&to), whole(&from));
    assert_eq!(whole(&kept), before);
}

#[test]
fn an_entry_of_another_kind_is_replaced() {
    let directory = Directory::new();
    let [from, to, outside] = ["from", "to", "outside"].map(|name| directory.path(name));
    for path in [&from, &to, &outside] {
        fs::create_dir(path).unwrap();
    }
    fs::write(outside.join("kept"), "").unwrap();
    for (name, target) in [
        ("directory for link", &outside),
        ("file for link", &outside),
    ] {
        assert!(symlink(target, to.join(name)).is_ok() || cfg!(windows));
    }
    for name in ["directory for link", "directory for file"] {
        fs::create_dir(from.join(name)).unwrap();
        fs::write(from.join(name).join("inner"), "").unwrap();
    }
    for name in ["file for link", "file for directory"] {
        fs::write(from.join(name), "new").unwrap();
    }
    if symlink("target", from.join("link for directory")).is_err() {
        fs::write(from.join("link for directory"), "no link").unwrap();
    }
    fs::write(to.join("directory for file"), "").unwrap();
    for name in ["file for directory", "link for directory"] {
        fs::create_dir(to.join(name)).unwrap();
        fs::write(to.join(name).join("inner"), "").unwrap();
    }
    for dry_run in [true, false] {
        let error = mirror(false).dry_run(dry_run).run(&from, &to).unwrap_err();
        let mut paths = Vec::new();
        for error in error.errors() {
            assert_eq!(error.operation(), Operation::Copy);
            assert_eq!(error.kind(), ErrorKind::IsADirectory);
            paths.push(error.destination().unwrap().to_owned());
        }
        paths.sort();
        let expected = ["file for directory", "link for directory"].map(|name| to.join(name));
        assert_eq!(paths, expected);
    }
    assert!(to.join("file for directory/inner").exists());
    assert!(to.join("directory for link/inner").exists());
    mirror(true).run(&from, &to).unwrap();
    assert_eq!(whole(&to), whole(&from));
    assert_eq!(names(&outside), ["kept"]);
}

#[test]
fn unwanted_entries_are_neither_copied_nor_deleted() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    for (root, name) in [
        (&from, "a.map"),
        (&from, "a.js"),
        (&to, "old.map"),
        (&to, "old.js"),
    ] {
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join(name), name).unwrap();
        fs::write(root.join("sub").join(name), name).unwrap();
    }
    for name in ["gone/deep/x.map", "gone/deep/x.js", "gone/y.js"] {
        fs::create_dir_all(to.join("gone/deep")).unwrap();
        fs::write(to.join(name), "").unwrap();
    }
    let mut mirror = mirror(true);
    mirror.filter(|path| path.extension().is_none_or(|extension| extension != "map"));
    let report = mirror.run(&from, &to).unwrap();
    assert_eq!(report.deleted, 4);
    assert_eq!(names(&to), ["a.js", "gone", "old.map", "sub"]);
    assert_eq!(names(&to.join("sub")), ["a.js", "old.map"]);
    assert_eq!(names(&to.join("gone/deep")), ["x.map"]);
    assert_eq!(names(&to.join("gone")), ["deep"]);
}

#[test]
fn a_source_that_cannot_be_meant_deletes_nothing() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(to.join("sub/from")).unwrap();
    fs::write(to.join("sub/file"), "kept").unwrap();
    fs::write(directory.path("file"), "").unwrap();
    let can_link = symlink("to", directory.path("link")).is_ok();
    let before = whole(&directory.path(""));
    let refused = |from: &Path, to: &Path| {
        let error = mirror(true).run(from, to).unwrap_err();
        let [error] = error.into_errors().try_into().unwrap();
        error
    };
    let error = refused(&from, &to);
    assert_error(&error, Operation::Readdir, Some(&from), ErrorKind::NotFound);
    let file = directory.path("file");
    let error = refused(&file, &to);
    assert_error(
        &error,
        Operation::Readdir,
        Some(&file),
        ErrorKind::NotADirectory,
    );
    let [sub, link] = ["to/sub", "link"].map(|name| directory.path(name));
    let (new, through_link) = (to.join("sub/new"), directory.path("link/"));
    let mut inside = vec![(&to, &to), (&to, &sub), (&to, &new), (&sub, &to)];
    let mut no_directories = vec![&file];
    if can_link {
        inside.extend([(&link, &sub), (&sub, &through_link)]);
        no_directories.push(&link);
    }
    for (from, to) in inside {
        let error = refused(from, to);
        assert_error(&error, Operation::Copy, Some(from), ErrorKind::InvalidInput);
    }
    fs::create_dir(&from).unwrap();
    for to in no_directories {
        let error = refused(&from, to);
        assert_error(
            &error,
            Operation::Copy,
            Some(&from),
            ErrorKind::NotADirectory,
        );
    }
    fs::remove_dir(&from).unwrap();
    assert_eq!(whole(&directory.path("")).0, before.0);
}

#[cfg(unix)]
#[test]
fn special_files_are_errors_and_stay() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    make_fifo(&from.join("pipe"));
    fs::create_dir_all(to.join("pipe/sub")).unwrap();
    for dry_run in [true, false] {
        let error = mirror(true).dry_run(dry_run).run(&from, &to).unwrap_err();
        let [error] = error.errors() else {
            panic!("{error}")
        };
        let pipe = from.join("pipe");
        assert_error(error, Operation::Copy, Some(&pipe), ErrorKind::Unsupported);
        assert!(to.join("pipe/sub").exists());
    }
}

#[cfg(unix)]
#[test]
#[ignore = "a child"]
fn child_mirrors() {
    if !is_child() {
        return;
    }
    let path = |name: &str| child_directory().join(name);
    let error = mirror(true)
        .strategy(Strategy::CallingThread)
        .run(path("from"), path("to"))
        .unwrap_err();
    let [error] = error.errors() else {
        panic!("{error}")
    };
    assert_eq!(error.operation(), Operation::Readdir);
    assert_eq!(error.path(), Some(&*path("from/sub")));
}

#[cfg(unix)]
#[test]
fn nothing_is_deleted_where_the_source_cannot_be_read() {
    const TEST: &str = "nothing_is_deleted_where_the_source_cannot_be_read";
    if !can_trace(TEST) {
        return;
    }
    for when in ["1", "2"] {
        let directory = Directory::new();
        for name in ["from/sub/new", "to/sub/old", "to/old"] {
            let path = directory.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let inject = format!("inject=getdents64:error=EIO:when={when}");
        let sub = directory.path("from/sub").to_str().unwrap().to_owned();
        let options = ["-e", "trace=getdents64", "-e", &inject, "-P", &sub];
        let mut under = strace(&directory, options);
        // A filter in the kernel knows no paths.
        under.retain(|argument| argument != "--seccomp-bpf");
        run_child("child_mirrors", &directory, &under);
        assert!(directory.path("to/sub/old").exists());
        assert!(!directory.path("to/old").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_old_files_whole_and_another_run_ends_it() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    for index in 0..20 {
        fs::write(from.join(index.to_string()), vec![1; 20_000]).unwrap();
    }
    let disk = match SmallDisk::mount(&to, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => {
            return skip(
                "a_full_disk_leaves_old_files_whole_and_another_run_ends_it",
                &reason,
            );
        }
    };
    mirror(true).run(&from, disk.path()).unwrap();
    for index in 0..20 {
        fs::write(from.join(index.to_string()), vec![2; 200_000]).unwrap();
    }
    let error = mirror(true).run(&from, &to).unwrap_err();
    for error in error.errors() {
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        assert_eq!(error.operation(), Operation::Copy);
    }
    assert_eq!(names(&to), names(&from));
    for name in names(&to) {
        let bytes = fs::read(to.join(name)).unwrap();
        assert!(bytes == vec![1; 20_000] || bytes == vec![2; 200_000]);
    }
    for index in 3..20 {
        fs::remove_file(from.join(index.to_string())).unwrap();
    }
    // What is gone is deleted even if not all of the rest has room before.
    drop(mirror(true).run(&from, &to));
    mirror(true).run(&from, &to).unwrap();
    assert_eq!(whole(&to), whole(&from));
}

#[cfg(unix)]
#[test]
fn directories_that_may_not_be_written_are_mirrored() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("closed/sub")).unwrap();
    fs::write(from.join("closed/first"), "text").unwrap();
    fs::hard_link(from.join("closed/first"), from.join("closed/sub/second")).unwrap();
    for round in 0..3 {
        fs::write(from.join(format!("closed/{round}")), "new").unwrap();
        if round == 2 {
            fs::remove_file(from.join("closed/0")).unwrap();
        }
        for name in ["closed/sub", "closed"] {
            set_mode(&from.join(name), 0o555);
        }
        mirror(true).run(&from, &to).unwrap();
        assert_eq!(whole(&to), whole(&from));
        for root in [&from, &to] {
            for name in ["closed", "closed/sub"] {
                let mode = if root == &from { 0o755 } else { 0o555 };
                set_mode(&root.join(name), mode);
            }
        }
    }
    for name in ["closed", "closed/sub"] {
        set_mode(&to.join(name), 0o755);
    }
}

#[cfg(unix)]
#[test]
fn mirror_stays_on_its_file_system() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    for root in [&from, &to] {
        fs::create_dir(root).unwrap();
    }
    fs::create_dir(to.join("mount")).unwrap();
    fs::write(to.join("mount/kept"), "").unwrap();
    let [mount, extra] = [from.join("mount"), to.join("extra")];
    let disks = [&mount, &extra].map(|path| SmallDisk::mount(path, "size=1m"));
    if let [Err(reason), _] | [_, Err(reason)] = &disks {
        return skip("mirror_stays_on_its_file_system", reason);
    }
    fs::write(mount.join("other"), "").unwrap();
    fs::write(extra.join("kept"), "").unwrap();
    let error = mirror(true).mounts(false).run(&from, &to).unwrap_err();
    let [error] = error.errors() else {
        panic!("{error}")
    };
    assert_error(
        error,
        Operation::Rmdir,
        Some(&extra),
        ErrorKind::CrossesDevices,
    );
    assert_eq!(names(&to.join("mount")), ["kept"]);
    assert_eq!(names(&extra), ["kept"]);
    mirror(true).run(&from, &to).unwrap_err();
    assert_eq!(names(&to.join("mount")), ["other"]);
}

#[test]
fn a_cancelled_mirror_deletes_nothing() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    make_tree(&from, 5);
    make_tree(&to, 6);
    let before = describe(&to);
    let control = Control::new();
    control.cancel();
    let report = mirror(true).control(&control).run(&from, &to).unwrap();
    assert_eq!((report.files, report.deleted), (0, 0));
    assert_eq!(describe(&to), before);
}

#[cfg(unix)]
#[test]
fn an_exchanged_directory_leads_no_deletion_out() {
    let directory = Directory::new();
    let [from, to, outside] = ["from", "to", "outside"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("a")).unwrap();
    fs::create_dir(&outside).unwrap();
    for index in 0..50 {
        fs::write(outside.join(index.to_string()), "kept").unwrap();
    }
    for round in 0..100 {
        let target = to.join("a/b");
        fs::create_dir_all(&target).unwrap();
        for index in 0..50 {
            fs::write(target.join(index.to_string()), "deleted").unwrap();
        }
        symlink(&outside, to.join("a/link")).unwrap();
        let mut deleting = mirror(true);
        deleting.strategy(strategies()[round % 4]);
        drop(while_exchanged(&to, || deleting.run(&from, &to)));
        assert_eq!(names(&outside).len(), 50);
        mirror(true).run(&from, &to).unwrap();
        assert_eq!(names(&to.join("a")), [""; 0]);
    }
}

/// The source or the mirror has a directory that is exchanged for a link to other files.
#[cfg(unix)]
#[test]
fn an_exchanged_directory_leads_no_mirror_out() {
    let directory = Directory::new();
    let [from, to, outside] = ["from", "to", "outside"].map(|name| directory.path(name));
    fs::create_dir(&outside).unwrap();
    for index in 0..50 {
        // One half of the names is in the source, and the other half is not.
        fs::write(outside.join((2 * index).to_string()), "kept").unwrap();
    }
    set_mode(&outside, 0o700);
    let before = whole(&outside);
    for round in 0..80 {
        for root in [&from, &to] {
            fs::create_dir_all(root.join("a/b")).unwrap();
        }
        for index in 0..50 {
            fs::write(from.join(format!("a/b/{index}")), "mirrored").unwrap();
        }
        let exchanged = if round % 2 == 0 { &from } else { &to };
        symlink(&outside, exchanged.join("a/link")).unwrap();
        let mut mirror = mirror(round % 3 == 0);
        mirror.strategy(strategies()[round / 2 % 4]);
        drop(while_exchanged(exchanged, || mirror.run(&from, &to)));
        // Nothing is written outside, and nothing is read there.
        assert!(whole(&outside) == before, "round {round}");
        let mirrored = describe(&to);
        let is_kept = |entry: &(char, u32, Vec<u8>, PathBuf)| entry.2 == b"kept";
        assert!(!mirrored.values().any(is_kept), "round {round}");
        for root in [&from, &to] {
            Remover::new().remove(root).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn a_mirror_of_another_user_is_reported() {
    // Root may do everything, except with a file that may not be changed.
    const TEST: &str = "a_mirror_of_another_user_is_reported";
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    for name in ["fixed", "other"] {
        fs::write(from.join(name), "old").unwrap();
    }
    mirror(true).run(&from, &to).unwrap();
    let protect = |flag| {
        Command::new("chattr")
            .arg(flag)
            .arg(to.join("fixed"))
            .status()
    };
    if !is_root() || !protect("+i").is_ok_and(|status| status.success()) {
        return skip(TEST, "chattr does not work here");
    }
    for name in ["fixed", "other"] {
        fs::write(from.join(name), "newer").unwrap();
    }
    let error = mirror(true).run(&from, &to).unwrap_err();
    protect("-i").unwrap();
    let [error] = error.errors() else {
        panic!("{error}")
    };
    assert_eq!(error.destination(), Some(&*to.join("fixed")));
    assert_eq!(fs::read(to.join("fixed")).unwrap(), b"old");
    assert_eq!(fs::read(to.join("other")).unwrap(), b"newer");
    assert_eq!(names(&to), ["fixed", "other"]);
}
