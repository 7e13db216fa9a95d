//! Copying and removing whole trees where only Windows has the condition: files that are read-only
//! or held by other programs, drives, names in any case, streams, junctions.
#![cfg(windows)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::platform::{mode_of, set_mode};
use common::{Directory, assert_error, names};
use smallfry::Operation;
use smallfry::bulk::Strategy;
use smallfry::tree::{Copier, Existing, Links, Mirror, Remover};

const FILE_SHARE_READ: u32 = 1;
const FILE_ATTRIBUTE_HIDDEN: u32 = 2;

/// Opens a file like programs that want it for themselves: others may read it, but neither write
/// nor remove it.
fn hold(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).share_mode(FILE_SHARE_READ);
    options.open(path).unwrap()
}

#[test]
fn copy_replaces_and_remove_takes_read_only_files() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), "text").unwrap();
    set_mode(&from.join("a"), 0o444);
    for _ in 0..2 {
        assert_eq!(Copier::new().copy(&from, &to).unwrap().files, 1);
        assert!(fs::metadata(to.join("a")).unwrap().permissions().readonly());
        assert_eq!(names(&to), ["a"]);
    }
    for tree in [&from, &to] {
        assert_eq!(Remover::new().remove(tree).unwrap().files, 1);
        assert!(!tree.exists());
    }
}

#[test]
fn remove_leaves_other_names_of_a_file_read_only() {
    let directory = Directory::new();
    let [removed, kept] = ["removed", "kept"].map(|name| directory.path(name));
    fs::write(&kept, "text").unwrap();
    fs::hard_link(&kept, &removed).unwrap();
    set_mode(&kept, 0o444);
    Remover::new().remove(&removed).unwrap();
    assert_eq!(names(&directory.path("")), ["kept"]);
    assert!(fs::metadata(&kept).unwrap().permissions().readonly());

    // All threads remove names of one file.
    fs::create_dir(&removed).unwrap();
    for index in 0..200 {
        fs::hard_link(&kept, removed.join(index.to_string())).unwrap();
    }
    let threads = NonZeroUsize::new(4).unwrap();
    let mut remover = Remover::new();
    remover.strategy(Strategy::Threads(threads));
    assert_eq!(remover.remove(&removed).unwrap().files, 200);
    assert!(fs::metadata(&kept).unwrap().permissions().readonly());
    set_mode(&kept, 0o666);
}

#[test]
fn mirror_follows_attributes_and_replaces_and_deletes_read_only_files() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    for name in ["changed", "gone"] {
        fs::write(from.join(name), "text").unwrap();
        set_mode(&from.join(name), 0o444);
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    options.attributes(FILE_ATTRIBUTE_HIDDEN);
    drop(options.open(from.join("hidden")).unwrap());
    let mut mirror = Mirror::new();
    mirror.delete(true);
    mirror.run(&from, &to).unwrap();
    assert!(mode_of(&to.join("hidden")) != 0);
    assert_eq!(mirror.run(&from, &to).unwrap().unchanged, 4);

    for name in ["changed", "gone"] {
        set_mode(&from.join(name), 0o666);
    }
    fs::write(from.join("changed"), "longer text").unwrap();
    fs::remove_file(from.join("gone")).unwrap();
    let report = mirror.run(&from, &to).unwrap();
    assert_eq!((report.files, report.deleted), (1, 1));
    assert_eq!(names(&to), ["changed", "hidden"]);
    assert_eq!(fs::read(to.join("changed")).unwrap(), b"longer text");
    for name in names(&to) {
        assert_eq!(mode_of(&to.join(&name)), mode_of(&from.join(&name)));
    }
}

#[test]
fn copy_keeps_hidden_files_hidden() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    options.attributes(FILE_ATTRIBUTE_HIDDEN);
    drop(options.open(&from).unwrap());
    Copier::new().copy(&from, &to).unwrap();
    assert_eq!(mode_of(&to), mode_of(&from));
}

#[test]
fn remove_waits_for_a_file_that_is_held_for_a_moment() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("a"), "").unwrap();
    let held = hold(&tree.join("a"));
    let holder = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(held);
    });
    assert_eq!(Remover::new().remove(&tree).unwrap().files, 1);
    holder.join().unwrap();
    assert!(!tree.exists());
}

#[test]
fn remove_gives_up_on_files_that_stay_held_and_goes_on() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir_all(tree.join("kept")).unwrap();
    fs::create_dir_all(tree.join("other")).unwrap();
    for index in 0..20 {
        fs::write(tree.join("kept").join(index.to_string()), "").unwrap();
    }
    fs::write(tree.join("other/a"), "").unwrap();
    let held: Vec<_> = (0..10)
        .map(|index: u32| hold(&tree.join("kept").join(index.to_string())))
        .collect();
    let began = Instant::now();
    let error = Remover::new().remove(&tree).unwrap_err();
    // The wait is bounded for a directory, not for each file.
    assert!(began.elapsed() < Duration::from_secs(8));
    drop(held);
    assert_eq!(error.errors().len(), 10, "{error}");
    assert!(
        error
            .errors()
            .iter()
            .all(|it| it.operation() == Operation::Unlink)
    );
    assert_eq!(
        (names(&tree), names(&tree.join("kept")).len()),
        (vec!["kept".into()], 10)
    );
    Remover::new().remove(&tree).unwrap();
}

#[test]
fn copy_replaces_a_file_that_another_program_reads() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::write(&from, "new").unwrap();
    fs::write(&to, "old").unwrap();
    let held = hold(&to);
    let holder = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(held);
    });
    Copier::new().copy(&from, &to).unwrap();
    holder.join().unwrap();
    assert_eq!(fs::read_to_string(&to).unwrap(), "new");
    assert_eq!(names(&directory.path("")), ["from", "to"]);
}

#[test]
fn remove_refuses_drives_and_devices() {
    for path in [
        r"C:\",
        "C:/",
        "C:",
        r"\\?\C:\",
        r"\\?\C:",
        r"\",
        "/",
        r"\\.\C:\",
        ".",
        r".\",
        "..",
        "...",
        "NUL",
        r"\\?\C:\.",
        r"\\server\share",
        r"\\server\share\",
    ] {
        let error = Remover::new().remove(path).unwrap_err();
        assert_error(
            &error.errors()[0],
            Operation::Rmdir,
            Some(Path::new(path)),
            ErrorKind::InvalidInput,
        );
    }
}

#[test]
fn paths_take_both_separators_and_the_verbatim_prefix() {
    let directory = Directory::new();
    let root = directory.path("");
    let root = root.to_str().unwrap().trim_end_matches('\\');
    for path in [
        format!(r"{root}\tree"),
        format!(r"{root}\tree\"),
        format!("{root}/tree/"),
        format!(r"\\?\{root}\tree"),
        format!(r"{root}\tree. ."),
    ] {
        let copy = format!("{root}/copy/");
        fs::create_dir(directory.path("tree")).unwrap();
        fs::write(directory.path("tree/a"), "").unwrap();
        assert_eq!(Copier::new().copy(&path, &copy).unwrap().files, 1, "{path}");
        assert_eq!(Remover::new().remove(&path).unwrap().files, 1, "{path}");
        Remover::new().remove(&copy).unwrap();
        assert_eq!(names(Path::new(root)), [""; 0]);
    }
}

#[test]
fn a_tree_is_not_copied_into_itself_in_other_case() {
    let directory = Directory::new();
    fs::create_dir(directory.path("tree")).unwrap();
    fs::write(directory.path("tree/file"), "text").unwrap();
    for to in ["TREE", "Tree/new"] {
        let from = directory.path("tree");
        let error = Copier::new().copy(&from, directory.path(to)).unwrap_err();
        let kind = ErrorKind::InvalidInput;
        assert_error(&error.errors()[0], Operation::Copy, Some(&from), kind);
    }
    let [from, to] = ["tree/file", "tree/FILE"].map(|name| directory.path(name));
    let error = Copier::new().copy(&from, &to).unwrap_err();
    assert_eq!(error.errors()[0].kind(), ErrorKind::InvalidInput);
    assert_eq!(fs::read_to_string(&from).unwrap(), "text");
    assert_eq!(names(&directory.path("tree")), ["file"]);
}

#[test]
fn streams_are_refused() {
    let directory = Directory::new();
    fs::write(directory.path("a"), "text").unwrap();
    Remover::new().remove(directory.path("a:b")).unwrap_err();
    Copier::new()
        .existing(Existing::Refuse)
        .copy(directory.path("a"), directory.path("a:b"))
        .unwrap_err();
    assert_eq!(fs::read_to_string(directory.path("a")).unwrap(), "text");
}

#[test]
fn trees_may_be_deeper_than_directories_are_open_and_paths_are_long() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    let mut path = from.clone();
    for level in 0..300 {
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), level.to_string()).unwrap();
        path.push("below");
    }
    let report = Copier::new().copy(&from, &to).unwrap();
    assert_eq!((report.files, report.directories), (300, 300));
    for tree in [&from, &to] {
        let report = Remover::new().remove(tree).unwrap();
        assert_eq!((report.files, report.directories), (300, 300));
        assert!(!tree.exists());
    }
}

#[test]
fn junctions_are_copied_and_removed_themselves() {
    let directory = Directory::new();
    let outside = directory.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "text").unwrap();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    let mut make = Command::new("cmd");
    make.args(["/c", "mklink", "/J"]);
    make.arg(from.join("junction")).arg(&outside);
    make.output().unwrap();
    if let Err(error) = fs::read_link(from.join("junction")) {
        return println!("skipped: no junctions are made: {error}");
    }
    assert_eq!(Copier::new().copy(&from, &to).unwrap().files, 1);
    assert_eq!(fs::read_link(to.join("junction")).unwrap(), outside);
    // One that is there is replaced.
    assert_eq!(Copier::new().copy(&from, &to).unwrap().files, 1);
    for tree in [&from, &to] {
        assert_eq!(Remover::new().remove(tree).unwrap().files, 1);
    }
    assert_eq!(names(&outside), ["file"]);
}

#[test]
fn copy_refuses_to_keep_or_follow_what_it_cannot() {
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir(&from).unwrap();
    let refused = [
        Copier::new().owner(true).clone(),
        Copier::new().access_lists(true).clone(),
        Copier::new().attributes(true).clone(),
        Copier::new().links(Links::Follow).clone(),
    ];
    for copier in refused {
        let error = copier.copy(&from, directory.path("to")).unwrap_err();
        assert_eq!(error.errors()[0].kind(), ErrorKind::Unsupported, "{error}");
        assert!(!directory.path("to").exists());
    }
}
