//! `smallfry cp`, `unpack`, `pack` and `rm` that are killed at different moments, as by a machine
//! that has no memory left. The same command again must end the work, and older files must be whole
//! all the time. `mirror` is in `tree.rs`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::place::{Place, list};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Kills of each command.
const KILLS: u32 = 8;
const FILES: usize = 400;

/// Makes a tree `from`, whose files tell their version and are easily caught half written.
fn make_tree(place: &Place, version: u8) {
    for index in 0..FILES {
        let directory = place.path(&format!("from/d{}/e", index % 7));
        fs::create_dir_all(&directory).unwrap();
        let length = 1000 + index * 50;
        fs::write(directory.join(index.to_string()), vec![version; length]).unwrap();
    }
}

/// The contents of the files of a tree.
fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let paths = list(root).into_iter();
    let files = paths.filter(|path| root.join(path).is_file());
    files
        .map(|path| (path.clone(), fs::read(root.join(path)).unwrap()))
        .collect()
}

fn is_temporary(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    name.starts_with('.') && name.ends_with(".smallfry")
}

/// Removes the temporary files that killed processes have left, and returns how many there were.
fn remove_temporary_files(root: &Path) -> usize {
    let left: Vec<_> = list(root)
        .into_iter()
        .filter(|it| is_temporary(it))
        .collect();
    for path in &left {
        fs::remove_file(root.join(path)).unwrap();
    }
    left.len()
}

/// Starts a command again and again and kills it, each time later within the time that it takes.
/// Then runs it to its end. `after_kill` looks at what is left.
fn kill_and_end(place: &Place, line: &str, takes: Duration, after_kill: impl Fn()) {
    let mut killed = 0;
    for kill in 1..=KILLS {
        let mut child = place.command(line).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(takes * kill / (KILLS + 1));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        after_kill();
    }
    assert!(killed > 0, "{line} was never killed");
    place.done(line);
}

/// Kills a command once while it has a temporary file in a directory, which stays there.
fn kill_with_temporary_file(place: &Place, line: &str, directory: &Path) {
    let has_one = || {
        let entries = fs::read_dir(directory).unwrap().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        names.any(|name| is_temporary(name.to_str().unwrap()))
    };
    while !has_one() {
        let mut child = place.command(line).stderr(Stdio::null()).spawn().unwrap();
        while !has_one() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Returns the time that a command takes.
fn time_of(place: &Place, line: &str) -> Duration {
    let began = Instant::now();
    place.done(line);
    began.elapsed()
}

/// Checks a command that writes `from` to `to`: once to nothing, and once over an older version.
fn assert_written(place: &Place, line: &str, prepare: impl Fn()) {
    let [from, to] = ["from", "to"].map(|name| place.path(name));
    make_tree(place, 1);
    prepare();
    let takes = time_of(place, line);
    fs::remove_dir_all(&to).unwrap();
    kill_and_end(place, line, takes, || {});
    remove_temporary_files(&to);
    let old = contents(&from);
    assert!(contents(&to) == old);

    make_tree(place, 2);
    prepare();
    let new = contents(&from);
    kill_and_end(place, line, takes, || {
        let there = contents(&to);
        for (path, old) in &old {
            let is_whole = [old, &new[path]].contains(&&there[path]);
            assert!(is_whole, "{path} is not whole");
        }
        let others = there.keys().filter(|path| !old.contains_key(*path));
        assert!(others.clone().all(|path| is_temporary(path)));
    });
    // Those of killed processes stay, and the last process has left none of its own.
    remove_temporary_files(&to);
    assert!(contents(&to) == new);
    assert!(list(&to) == list(&from));
    place.done(line);
    assert_eq!(remove_temporary_files(&to), 0);
}

#[test]
fn a_killed_cp_leaves_old_or_new_files_and_another_run_ends_it() {
    let place = Place::new();
    assert_written(&place, "cp -T from to", || {});
}

#[test]
fn a_killed_unpack_leaves_old_or_new_files_and_another_run_ends_it() {
    for archive in ["archive.tar", "archive.zip"] {
        let place = Place::new();
        let pack = format!("pack -C from {archive} .");
        let line = format!("unpack -C to {archive}");
        assert_written(&place, &line, || place.done(&pack));
    }
}

#[test]
fn a_killed_pack_keeps_the_older_archive_and_another_run_ends_it() {
    for archive in ["from/archive.tar", "from/archive.zip"] {
        let place = Place::new();
        make_tree(&place, 1);
        // The times of directories change with each temporary file.
        let line = format!("pack --reproducible {archive} from");
        let takes = time_of(&place, &line);
        let path = place.path(archive);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, "old").unwrap();
        let files = contents(&place.path("from")).len() - 1;
        kill_with_temporary_file(&place, &line, &place.path("from"));
        fs::write(&path, "old").unwrap();
        kill_and_end(&place, &line, takes, || {
            let there = fs::read(&path).unwrap();
            assert!(there == b"old" || there == whole);
        });
        // They are beside the archive, in the packed tree, and are not packed.
        let left = remove_temporary_files(&place.path("from"));
        assert!(left > 0, "nothing of the killed process is left");
        place.done(&format!("unpack -C to {archive}"));
        let unpacked = contents(&place.path("to/from"));
        assert_eq!(unpacked.len(), files, "with {left} temporary files");
        fs::remove_file(path).unwrap();
        assert!(unpacked == contents(&place.path("from")));
    }
}

#[test]
fn a_killed_rm_keeps_what_is_beside_and_another_run_ends_it() {
    let place = Place::new();
    make_tree(&place, 1);
    let beside = contents(&place.path("from"));
    place.done("cp from tree");
    let takes = time_of(&place, "rm tree");
    place.done("cp from tree");
    std::os::unix::fs::symlink("../from", place.path("tree/link")).unwrap();
    // It may be done before it is killed.
    kill_and_end(&place, "rm -f tree", takes, || {});
    assert!(!place.path("tree").exists());
    assert!(contents(&place.path("from")) == beside);
}
