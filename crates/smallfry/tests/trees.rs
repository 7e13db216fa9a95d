//! Copying and removing whole trees.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
#[cfg(unix)]
use std::io::{Seek, SeekFrom};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::platform::{mode_of, names_of, number_of, set_modified, symlink};
#[cfg(unix)]
use common::skip;
use common::trees::{describe, make_tree, while_exchanged};
#[cfg(unix)]
use common::unix::{SmallDisk, is_root, make_fifo, set_mode};
use common::{Directory, assert_error, names, strategies};
use smallfry::Operation;
use smallfry::bulk::Control;
use smallfry::tree::{Copier, Existing, Remover};

#[test]
fn copy_and_remove_take_every_kind_of_entry() {
    // Wine takes many times as long for each call.
    let seeds = if cfg!(windows) { 2 } else { 12 };
    for seed in 0..seeds {
        let directory = Directory::new();
        let [from, to] = ["from", "to"].map(|name| directory.path(name));
        make_tree(&from, seed);
        let before = describe(&from);
        let count = |kind: bool| before.values().filter(|it| (it.0 == 'd') == kind).count() as u64;
        for strategy in strategies() {
            let report = Copier::new().strategy(strategy).copy(&from, &to).unwrap();
            assert_eq!(describe(&to), before, "seed {seed}");
            assert_eq!(
                (report.files, report.directories),
                (count(false), count(true) + 1)
            );
            assert_eq!(mode_of(&to), mode_of(&from));
            let report = Remover::new().strategy(strategy).remove(&to).unwrap();
            assert_eq!(
                (report.files, report.directories),
                (count(false), count(true) + 1)
            );
            assert!(!to.exists());
        }
        assert_eq!(describe(&from), before);
    }
}

#[cfg(unix)]
#[test]
fn copy_is_the_same_for_tar() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    let archive = directory.path("archive");
    make_tree(&from, 77);
    Copier::new().times(true).copy(&from, &to).unwrap();
    let tar = |flag: &str, place: &Path| {
        let mut tar = Command::new("tar");
        tar.env("LC_ALL", "C").args([flag, "--file"]).arg(&archive);
        tar.arg("--directory").arg(place).arg(".").output()
    };
    if !tar("--create", &from).is_ok_and(|output| output.status.success()) {
        return skip("copy_is_the_same_for_tar", "there is no tar");
    }
    // It compares kinds, contents, targets, permissions, owners, times and hard links.
    let compared = tar("--compare", &to).unwrap();
    let differences = String::from_utf8_lossy(&compared.stdout).into_owned();
    // The times of links are not copied.
    let differences: Vec<_> = differences
        .lines()
        .filter(|line| {
            let is_link = |name: &str| to.join(name).is_symlink();
            !line
                .split_once(": Mod time differs")
                .is_some_and(|(name, _)| is_link(name))
        })
        .collect();
    assert!(differences.is_empty(), "{differences:?}");
}

#[cfg(unix)]
#[test]
fn copy_keeps_holes() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    let mut file = File::create(&from).unwrap();
    file.seek(SeekFrom::Start(8 << 20)).unwrap();
    file.write_all(b"middle").unwrap();
    file.set_len(32 << 20).unwrap();
    let blocks = |path: &Path| fs::metadata(path).unwrap().blocks();
    if blocks(&from) * 512 >= 1 << 20 {
        return skip("copy_keeps_holes", "this file system has no holes");
    }
    Copier::new().copy(&from, &to).unwrap();
    assert!(blocks(&to) * 512 < 1 << 20);
    assert!(fs::read(&to).unwrap() == fs::read(&from).unwrap());
}

#[test]
fn copy_keeps_times_if_asked() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("sub/file"), "text").unwrap();
    for name in ["sub/file", "sub", ""] {
        let at = std::time::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
        set_modified(&from.join(name), at);
    }
    Copier::new().times(true).copy(&from, &to).unwrap();
    for name in ["sub/file", "sub", ""] {
        let time = |root: &Path| fs::metadata(root.join(name)).unwrap().modified().unwrap();
        assert_eq!(time(&to), time(&from), "{name}");
    }
}

#[test]
fn copy_merges_directories_and_treats_existing_files_as_asked() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("sub/a"), "new").unwrap();
    fs::write(from.join("sub/b"), "new").unwrap();
    let prepare = || {
        drop(fs::remove_dir_all(&to));
        fs::create_dir_all(to.join("sub")).unwrap();
        fs::write(to.join("sub/a"), "old").unwrap();
        fs::write(to.join("sub/c"), "old").unwrap();
    };
    let read = |name: &str| fs::read_to_string(to.join(name)).unwrap();

    prepare();
    // A reader of the old file keeps it whole.
    let before = number_of(&to.join("sub/a"));
    assert_eq!(Copier::new().copy(&from, &to).unwrap().files, 2);
    assert_eq!(
        [read("sub/a"), read("sub/b"), read("sub/c")],
        ["new", "new", "old"]
    );
    assert_ne!(number_of(&to.join("sub/a")), before);
    assert_eq!(names(&to.join("sub")), ["a", "b", "c"]);

    prepare();
    let report = Copier::new()
        .existing(Existing::Keep)
        .copy(&from, &to)
        .unwrap();
    assert_eq!(report.files, 1);
    assert_eq!([read("sub/a"), read("sub/b")], ["old", "new"]);

    prepare();
    let error = Copier::new()
        .existing(Existing::Refuse)
        .copy(&from, &to)
        .unwrap_err();
    assert_eq!(error.report().files, 1);
    let [error] = error.errors() else {
        panic!("{error}")
    };
    assert_error(
        error,
        Operation::Copy,
        Some(&from.join("sub/a")),
        ErrorKind::AlreadyExists,
    );
    assert_eq!(error.destination(), Some(&*to.join("sub/a")));
    assert_eq!([read("sub/a"), read("sub/b")], ["old", "new"]);

    // What is of another kind stays.
    prepare();
    fs::create_dir(to.join("sub/b")).unwrap();
    let error = Copier::new().copy(&from, &to).unwrap_err();
    assert_eq!(error.errors()[0].kind(), ErrorKind::IsADirectory);
    fs::remove_dir_all(to.join("sub")).unwrap();
    fs::write(to.join("sub"), "file").unwrap();
    Copier::new().copy(&from, &to).unwrap_err();
    assert_eq!(read("sub"), "file");
}

#[cfg(unix)]
#[test]
fn copy_leaves_the_permissions_of_a_directory_that_was_there() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    for (root, mode) in [(&from, 0o755), (&to, 0o1777)] {
        fs::create_dir_all(root.join("sub")).unwrap();
        set_mode(&root.join("sub"), mode);
        set_mode(root, mode);
    }
    fs::create_dir(from.join("new")).unwrap();
    set_mode(&from.join("new"), 0o711);
    Copier::new().times(true).copy(&from, &to).unwrap();
    let mode = |name: &str| mode_of(&to.join(name));
    assert_eq!(
        [mode(""), mode("sub"), mode("new")],
        [0o1777, 0o1777, 0o711]
    );
}

#[test]
fn copy_makes_no_name_of_a_file_that_was_kept() {
    for strategy in strategies() {
        let directory = Directory::new();
        let [from, to] = ["from", "to"].map(|name| directory.path(name));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("0"), "new").unwrap();
        for index in 1..9 {
            fs::hard_link(from.join("0"), from.join(index.to_string())).unwrap();
        }
        // Whichever name comes first, half of them are kept.
        for index in [0, 2, 5, 8] {
            fs::write(to.join(index.to_string()), "old").unwrap();
        }
        let mut copier = Copier::new();
        copier.strategy(strategy).existing(Existing::Keep);
        assert_eq!(copier.copy(&from, &to).unwrap().files, 5);
        let read = |index: u32| fs::read_to_string(to.join(index.to_string())).unwrap();
        let names_of = |index: u32| names_of(&to.join(index.to_string()));
        for index in 0..9 {
            let is_kept = [0, 2, 5, 8].contains(&index);
            assert_eq!(read(index), if is_kept { "old" } else { "new" });
            assert_eq!(names_of(index), if is_kept { 1 } else { 5 });
        }
    }
}

#[test]
fn copy_does_not_follow_links_below_the_destination() {
    let directory = Directory::new();
    let [from, to, outside] = ["from", "to", "outside"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("sub/a"), "new").unwrap();
    fs::write(from.join("b"), "new").unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("b"), "old").unwrap();
    fs::create_dir(&to).unwrap();
    if let Err(error) = symlink(&outside, to.join("sub")) {
        return println!("skipped: no links are made: {error}");
    }
    symlink(outside.join("b"), to.join("b")).unwrap();
    Copier::new().copy(&from, &to).unwrap_err();
    assert_eq!(names(&outside), ["b"]);
    assert_eq!(fs::read_to_string(outside.join("b")).unwrap(), "old");
    assert!(fs::symlink_metadata(to.join("b")).unwrap().is_file());
}

#[test]
fn copy_refuses_what_cannot_be_right() {
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("file"), "text").unwrap();
    let has_link = symlink(&from, directory.path("link")).is_ok();

    for to in [
        "from",
        "from/new",
        "from/sub/new",
        "from/sub/../new",
        "link/new",
    ] {
        if to == "link/new" && !has_link {
            continue;
        }
        let error = Copier::new().copy(&from, directory.path(to)).unwrap_err();
        assert_error(
            &error.errors()[0],
            Operation::Copy,
            Some(&from),
            ErrorKind::InvalidInput,
        );
    }
    assert_eq!(names(&from), ["file", "sub"]);

    let file = from.join("file");
    let error = Copier::new().copy(&file, &file).unwrap_err();
    assert_eq!(error.errors()[0].kind(), ErrorKind::InvalidInput);
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    for (from, to) in [
        ("none", "to"),
        ("from", "none/to"),
        ("from/file", "none/to"),
        ("from/file/", "to2"),
    ] {
        Copier::new()
            .copy(directory.path(from), directory.path(to))
            .unwrap_err();
    }
}

#[cfg(unix)]
#[test]
fn copy_refuses_pipes_and_copies_the_rest() {
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("file"), "text").unwrap();
    make_fifo(&from.join("pipe"));
    let error = Copier::new().copy(&from, directory.path("to")).unwrap_err();
    let [error] = error.errors() else {
        panic!("{error}")
    };
    assert_error(
        error,
        Operation::Copy,
        Some(&from.join("pipe")),
        ErrorKind::Unsupported,
    );
    assert_eq!(names(&directory.path("to")), ["file", "sub"]);
}

#[test]
fn copy_leaves_out_what_the_filter_does_not_want() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("a/skip")).unwrap();
    fs::create_dir_all(from.join("skip")).unwrap();
    for name in ["a/1", "a/skip/2", "skip/3", "4"] {
        fs::write(from.join(name), "").unwrap();
    }
    let mut copier = Copier::new();
    copier.filter(|path| !path.ends_with("skip") && path != Path::new("4"));
    copier.copy(&from, &to).unwrap();
    assert_eq!(
        describe(&to).into_keys().collect::<Vec<_>>(),
        ["a", "a/1"].map(PathBuf::from)
    );
}

#[cfg(unix)]
#[test]
fn copy_leaves_no_half_file_on_a_full_disk() {
    let directory = Directory::new();
    let (from, mount) = (directory.path("from"), directory.path("mount"));
    fs::create_dir(&from).unwrap();
    for index in 0..40 {
        fs::write(from.join(index.to_string()), vec![1; 50_000]).unwrap();
    }
    let disk = match SmallDisk::mount(&mount, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => return skip("copy_leaves_no_half_file_on_a_full_disk", &reason),
    };
    let to = disk.path().join("to");
    let error = Copier::new().copy(&from, &to).unwrap_err();
    assert!(
        error
            .errors()
            .iter()
            .all(|error| error.kind() == ErrorKind::StorageFull),
        "{error}"
    );
    let whole = fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len());
    let whole: Vec<_> = whole.collect();
    assert!(whole.iter().all(|&length| length == 50_000), "{whole:?}");
    assert_eq!(error.report().files, whole.len() as u64);
    assert_eq!(error.errors().len() + whole.len(), 40);
}

#[test]
fn remove_takes_files_and_links_themselves() {
    let directory = Directory::new();
    let outside = directory.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "text").unwrap();
    for name in ["to outside", "tree/to outside", "tree/to file", "tree/gone"] {
        let path = directory.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let target = match name {
            "tree/to file" => outside.join("file"),
            "tree/gone" => PathBuf::from("gone"),
            _ => outside.clone(),
        };
        if let Err(error) = symlink(target, path) {
            return println!("skipped: no links are made: {error}");
        }
    }
    #[cfg(unix)]
    make_fifo(&directory.path("tree/pipe"));
    Remover::new()
        .remove(directory.path("to outside/"))
        .unwrap_err();
    for name in ["to outside", "tree"] {
        Remover::new().remove(directory.path(name)).unwrap();
    }
    assert_eq!(names(&directory.path("")), ["outside"]);
    assert_eq!(names(&outside), ["file"]);
    Remover::new().remove(outside.join("file")).unwrap();
    assert_eq!(names(&outside), [""; 0]);
}

#[test]
fn remove_takes_a_file_whose_other_name_is_open() {
    let directory = Directory::new();
    let [tree, outside] = ["tree", "outside"].map(|name| directory.path(name));
    fs::create_dir_all(tree.join("below")).unwrap();
    fs::write(&outside, "kept").unwrap();
    fs::hard_link(&outside, tree.join("below/name")).unwrap();
    let open = File::open(&outside).unwrap();
    let closing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(open);
    });
    let report = Remover::new().remove(&tree).unwrap();
    closing.join().unwrap();
    assert_eq!((report.files, report.directories), (1, 2));
    assert!(!tree.exists());
    assert_eq!(fs::read(&outside).unwrap(), b"kept");
}

#[test]
fn remove_refuses_what_cannot_be_meant() {
    let directory = Directory::new();
    fs::create_dir_all(directory.path("a/b")).unwrap();
    for name in ["a/.", "a/..", "a/b/..", "a/./", ".."] {
        let error = Remover::new().remove(directory.path(name)).unwrap_err();
        let path = directory.path(name);
        assert_error(
            &error.errors()[0],
            Operation::Rmdir,
            Some(&path),
            ErrorKind::InvalidInput,
        );
    }
    for name in ["/", ".", "..", "//", "/.", ""] {
        Remover::new().remove(name).unwrap_err();
    }
    assert_eq!(names(&directory.path("a")), ["b"]);

    let missing = directory.path("none");
    let error = Remover::new().remove(&missing).unwrap_err();
    assert_error(
        &error.errors()[0],
        Operation::Unlink,
        Some(&missing),
        ErrorKind::NotFound,
    );
    assert_eq!(
        Remover::new()
            .missing_ok(true)
            .remove(&missing)
            .unwrap()
            .files,
        0
    );
}

#[test]
fn set_aside_renames_beside_and_refuses_what_remove_does() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    make_tree(&tree, 1);
    let before = describe(&tree);
    for name in ["tree/.", "tree/..", ".."] {
        let path = directory.path(name);
        let error = Remover::new().set_aside(&path, |_| Ok(())).unwrap_err();
        assert_error(
            &error,
            Operation::Rmdir,
            Some(&path),
            ErrorKind::InvalidInput,
        );
    }
    let reason = || std::io::Error::other("no");
    Remover::new()
        .set_aside(&tree, |_| Err(reason()))
        .unwrap_err();
    assert_eq!(describe(&tree), before);
    let none = directory.path("none");
    let error = Remover::new().set_aside(&none, |_| Ok(())).unwrap_err();
    assert_error(&error, Operation::Unlink, Some(&none), ErrorKind::NotFound);
    let mut announced = PathBuf::new();
    let aside = Remover::new()
        .set_aside(&tree, |path| {
            announced = path.to_owned();
            Ok(())
        })
        .unwrap();
    assert!(!tree.exists());
    assert_eq!(announced, aside);
    assert_eq!(aside.parent(), tree.parent());
    let name = aside.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with(".tree.") && name.ends_with(".smallfry"),
        "{name}"
    );
    assert_eq!(describe(&aside), before);
    #[cfg(unix)]
    {
        symlink(&aside, directory.path("link")).unwrap();
        let link = Remover::new()
            .set_aside(directory.path("link"), |_| Ok(()))
            .unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        Remover::new().remove(link).unwrap();
    }
    Remover::new().remove(aside).unwrap();
    assert_eq!(names(&directory.path("")), [""; 0]);
}

#[cfg(unix)]
#[test]
fn remove_stays_on_its_file_system() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "").unwrap();
    let mount = tree.join("mount");
    let disk = match SmallDisk::mount(&mount, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => return skip("remove_stays_on_its_file_system", &reason),
    };
    fs::write(disk.path().join("kept"), "").unwrap();
    for path in [&tree, &mount] {
        let error = Remover::new().remove(path).unwrap_err();
        assert_eq!(error.errors().len(), 1, "{error}");
        assert_eq!(error.errors()[0].path(), Some(&*mount));
        assert_eq!(error.errors()[0].operation(), Operation::Rmdir);
    }
    assert_eq!(
        (names(&tree), names(&mount)),
        (vec!["mount".into()], vec!["kept".into()])
    );
    // The mount point itself is busy.
    Remover::new().mounts(true).remove(&tree).unwrap_err();
    assert_eq!(names(&mount), [""; 0]);
}

/// Such a mount has the device of the tree. Builds in containers have them.
#[cfg(unix)]
#[test]
fn remove_keeps_what_is_in_a_directory_that_is_mounted_once_more() {
    let directory = Directory::new();
    let source = directory.path("source");
    let mount = directory.path("tree/mount");
    fs::create_dir_all(source.join("sub")).unwrap();
    fs::create_dir(directory.path("tree")).unwrap();
    let bound = match SmallDisk::bind(&source, &mount) {
        Ok(bound) => bound,
        Err(reason) => {
            return skip(
                "remove_keeps_what_is_in_a_directory_that_is_mounted_once_more",
                &reason,
            );
        }
    };
    for path in [directory.path("tree"), mount.clone()] {
        let error = Remover::new().remove(path).unwrap_err();
        assert_eq!(error.errors().len(), 1, "{error}");
        assert_eq!(error.errors()[0].path(), Some(&*mount));
    }
    Remover::new().set_aside(&mount, |_| Ok(())).unwrap_err();
    assert_eq!(names(&source), ["sub"]);
    Remover::new().mounts(true).remove(&mount).unwrap_err();
    assert_eq!(names(&source), [""; 0]);
    drop(bound);
}

#[cfg(unix)]
#[test]
fn remove_goes_on_after_an_error() {
    if is_root() {
        // Root may do everything, except in a directory that may only be added to.
        let directory = Directory::new();
        let tree = directory.path("tree");
        fs::create_dir_all(tree.join("kept")).unwrap();
        fs::create_dir_all(tree.join("other")).unwrap();
        for name in ["kept/a", "kept/b", "other/c"] {
            fs::write(tree.join(name), "").unwrap();
        }
        let protect = |flag| {
            Command::new("chattr")
                .arg(flag)
                .arg(tree.join("kept"))
                .status()
        };
        if !protect("+a").is_ok_and(|status| status.success()) {
            return skip("remove_goes_on_after_an_error", "chattr does not work here");
        }
        let error = Remover::new().remove(&tree).unwrap_err();
        protect("-a").unwrap();
        let mut paths: Vec<_> = error
            .errors()
            .iter()
            .map(|it| it.path().unwrap().to_owned())
            .collect();
        paths.sort();
        assert_eq!(paths, [tree.join("kept/a"), tree.join("kept/b")]);
        assert_eq!(names(&tree), ["kept"]);
    } else {
        let directory = Directory::new();
        let tree = directory.path("tree");
        fs::create_dir_all(tree.join("kept")).unwrap();
        fs::write(tree.join("kept/a"), "").unwrap();
        fs::write(tree.join("b"), "").unwrap();
        set_mode(&tree.join("kept"), 0o555);
        let error = Remover::new().remove(&tree).unwrap_err();
        set_mode(&tree.join("kept"), 0o755);
        let [error] = error.errors() else {
            panic!("{error}")
        };
        assert_error(
            error,
            Operation::Unlink,
            Some(&tree.join("kept/a")),
            ErrorKind::PermissionDenied,
        );
        assert_eq!(names(&tree), ["kept"]);
    }
}

#[test]
fn a_cancelled_copy_or_removal_begins_nothing_more() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    make_tree(&from, 5);
    let before = describe(&from);
    let control = Control::new();
    control.cancel();
    let report = Copier::new().control(&control).copy(&from, &to).unwrap();
    assert_eq!((report.files, names(&to).len()), (0, 0));
    let report = Remover::new().control(&control).remove(&from).unwrap();
    assert_eq!((report.files, report.directories), (0, 0));
    assert_eq!(describe(&from), before);
}

#[test]
fn the_control_shows_the_progress() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    make_tree(&from, 6);
    let control = Control::new();
    let report = Copier::new().control(&control).copy(&from, &to).unwrap();
    let progress = control.progress();
    assert_eq!((progress.failed, progress.bytes), (0, report.bytes));
    assert!(progress.operations >= report.directories);
}

#[test]
fn an_exchanged_directory_leads_nobody_out() {
    let directory = Directory::new();
    let outside = directory.path("outside");
    fs::create_dir(&outside).unwrap();
    for index in 0..50 {
        fs::write(outside.join(index.to_string()), "kept").unwrap();
    }
    let tree = directory.path("tree");
    for round in 0..150 {
        let target = tree.join("a/b");
        fs::create_dir_all(&target).unwrap();
        for index in 0..50 {
            fs::write(target.join(index.to_string()), "removed").unwrap();
        }
        if let Err(error) = symlink(&outside, tree.join("a/link")) {
            return println!("skipped: no links are made: {error}");
        }
        while_exchanged(&tree, || {
            if round % 2 == 0 {
                let copy = directory.path("copy");
                drop(Copier::new().copy(&tree, &copy));
                // The link may be copied, as a link, and what is outside never.
                let copied = describe(&copy);
                assert!(!copied.values().any(|entry| entry.2 == b"kept"));
                Remover::new().remove(&copy).unwrap();
            } else {
                drop(Remover::new().remove(&tree));
            }
        });
        assert_eq!(names(&outside).len(), 50);
        Remover::new().missing_ok(true).remove(&tree).unwrap();
    }
}

#[test]
fn an_exchanged_destination_leads_no_copy_out() {
    let directory = Directory::new();
    let [from, to, outside] = ["from", "to", "outside"].map(|name| directory.path(name));
    fs::create_dir_all(from.join("a/b")).unwrap();
    fs::create_dir(&outside).unwrap();
    for index in 0..50 {
        fs::write(from.join(format!("a/b/{index}")), "written").unwrap();
        // One half of the names is there, and the other half is not.
        fs::write(outside.join((2 * index).to_string()), "kept").unwrap();
    }
    let found = || {
        (
            describe(&outside),
            outside.metadata().unwrap().modified().unwrap(),
        )
    };
    let before = found();
    for round in 0..60 {
        fs::create_dir_all(to.join("a/b")).unwrap();
        if let Err(error) = symlink(&outside, to.join("a/link")) {
            return println!("skipped: no links are made: {error}");
        }
        let mut copier = Copier::new();
        copier.strategy(strategies()[round % 4]).times(true);
        drop(while_exchanged(&to, || copier.copy(&from, &to)));
        // Not even the time of the directory has changed.
        assert!(found() == before, "round {round}");
        Remover::new().remove(&to).unwrap();
    }
}

#[test]
fn a_wide_directory_is_shared_among_threads() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    fs::create_dir(&from).unwrap();
    for index in 0..3000 {
        let mut file = File::create(from.join(index.to_string())).unwrap();
        file.write_all(index.to_string().as_bytes()).unwrap();
    }
    for strategy in strategies() {
        assert_eq!(
            Copier::new()
                .strategy(strategy)
                .copy(&from, &to)
                .unwrap()
                .files,
            3000
        );
        for index in [0, 1, 1500, 2999] {
            let path = to.join(index.to_string());
            assert_eq!(fs::read_to_string(path).unwrap(), index.to_string());
        }
        assert_eq!(
            Remover::new().strategy(strategy).remove(&to).unwrap().files,
            3000
        );
    }
}
