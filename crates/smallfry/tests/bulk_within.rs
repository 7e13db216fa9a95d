//! Batches beneath a directory. An attacker who can make links must not lead them out, whether the
//! system resolves paths in one call, refuses to, or does so only sometimes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use common::{Directory, assert_error, strategies};
use smallfry::Operation;
use smallfry::bulk::{Files, Reader, Strategy, Writer};

/// Files of each batch.
const COUNT: usize = 30;

fn reader(strategy: Strategy, directory: &Path) -> Reader {
    let mut reader = Reader::new();
    reader.strategy(strategy).within(directory).unwrap();
    reader
}

fn writer(strategy: Strategy, directory: &Path) -> Writer {
    let mut writer = Writer::new();
    writer.strategy(strategy).within(directory).unwrap();
    writer
}

fn files(strategy: Strategy, directory: &Path) -> Files {
    let mut files = Files::new();
    files.strategy(strategy).within(directory).unwrap();
    files
}

/// Does every operation beneath a directory, and leaves only directories there.
fn do_everything(strategy: Strategy, directory: &Path) {
    let name = |i: usize| format!("{}/new/{i}", i % 3);
    let copy = |i: usize| format!("{}/new/../copy {i}", i % 3);
    let contents = |i: usize| i.to_string().repeat(i * 100);

    let mut writer = writer(strategy, directory);
    writer.create_parents(true).only_if_changed(true);
    let entries = || (0..COUNT).map(|i| (name(i), contents(i)));
    let report = writer.write(entries());
    assert_eq!(report.written(), COUNT, "{:?}", report.errors().next());
    let report = writer.write(entries());
    assert_eq!(report.unchanged(), COUNT, "{:?}", report.errors().next());

    let files = files(strategy, directory);
    let copied = files.copy((0..COUNT).map(|i| (name(i), copy(i))));
    let found = files.stat((0..COUNT).map(copy));
    for i in 0..COUNT {
        let length = contents(i).len() as u64;
        assert_eq!(*copied[i].as_ref().unwrap(), length);
        assert_eq!(found[i].as_ref().unwrap().len(), length);
        assert_eq!(
            fs::read(directory.join(name(i))).unwrap(),
            contents(i).as_bytes()
        );
    }
    for (i, read) in reader(strategy, directory).read((0..COUNT).map(copy)) {
        assert_eq!(*read.unwrap(), *contents(i).as_bytes());
    }

    let removed = files.remove((0..COUNT).flat_map(|i| [name(i), copy(i)]));
    removed.into_iter().for_each(Result::unwrap);
    for parent in ["0/new", "1", "2"] {
        fs::remove_dir_all(directory.join(parent)).unwrap();
    }
}

#[test]
fn every_operation_works_beneath_a_directory() {
    let dir = Directory::new();
    for strategy in strategies() {
        do_everything(strategy, &dir.path(""));
    }
}

#[test]
fn no_path_leads_out() {
    let dir = Directory::new();
    let (inside, secret) = (dir.path("in"), dir.path("out/secret"));
    for directory in ["in/d", "out"] {
        fs::create_dir_all(dir.path(directory)).unwrap();
    }
    fs::write(&secret, "secret").unwrap();
    fs::write(inside.join("a"), "a").unwrap();
    let mut ways: Vec<PathBuf> = ["../out/secret", "d/../../out/secret", "../new/file"]
        .map(PathBuf::from)
        .into();
    ways.push(secret.clone());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../out", inside.join("link")).unwrap();
        std::os::unix::fs::symlink(&secret, inside.join("d/link")).unwrap();
        ways.extend(["link/secret", "d/link"].map(PathBuf::from));
    }
    for strategy in strategies() {
        let files = files(strategy, &inside);
        let refused = |error: smallfry::Error, operation, path: &Path| {
            assert_error(&error, operation, Some(path), ErrorKind::PermissionDenied);
        };
        for (way, (_, result)) in ways.iter().zip(reader(strategy, &inside).read(&ways)) {
            refused(result.unwrap_err(), Operation::Open, way);
        }
        let mut writer = writer(strategy, &inside);
        writer.create_parents(true);
        let results = writer
            .write(ways.iter().map(|way| (way, "x")))
            .into_results();
        for (way, result) in ways.iter().zip(results) {
            refused(result.unwrap_err(), Operation::Open, way);
        }
        for (way, result) in ways.iter().zip(files.stat(&ways)) {
            refused(result.unwrap_err(), Operation::Stat, way);
        }
        for (way, result) in ways
            .iter()
            .zip(files.copy(ways.iter().map(|way| (way, "copy"))))
        {
            refused(result.unwrap_err(), Operation::Copy, way);
        }
        for result in files.copy(ways.iter().map(|way| ("a", way))) {
            refused(result.unwrap_err(), Operation::Copy, Path::new("a"));
        }
        // The last one is a link itself, and is removed.
        let ways = &ways[..ways.len() - 1];
        for (way, result) in ways.iter().zip(files.remove(ways)) {
            refused(result.unwrap_err(), Operation::Unlink, way);
        }
    }
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 2);
    assert!(!inside.join("copy").exists());
}

#[test]
fn special_files_are_not_copied_over_files() {
    let dir = Directory::new();
    fs::create_dir(dir.path("d")).unwrap();
    fs::write(dir.path("to"), "kept").unwrap();
    for strategy in strategies() {
        for result in files(strategy, &dir.path("")).copy([("d", "to"), ("missing", "to")]) {
            assert_eq!(result.unwrap_err().operation(), Operation::Copy);
        }
        assert_eq!(fs::read(dir.path("to")).unwrap(), b"kept");
    }
}

#[test]
fn names_that_differ_only_in_case_are_refused_where_they_are_one_file() {
    let folds_case = cfg!(any(windows, target_vendor = "apple"));
    for strategy in strategies() {
        let dir = Directory::new();
        let entries = [("a", "1"), ("./a", "2"), ("A", "3"), ("b", "4")];
        let report = writer(strategy, &dir.path("")).write(entries);
        for (index, error) in report.errors() {
            assert!(folds_case && (index != 3), "{error}");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(report.errors().count() > 0, folds_case);
        assert_eq!(fs::read(dir.path("b")).unwrap(), b"4");
        if !folds_case {
            assert_eq!(fs::read(dir.path("a")).unwrap(), b"2");
            assert_eq!(fs::read(dir.path("A")).unwrap(), b"3");
        }
    }
}

/// Linux resolves paths with `openat2`. It fails with `EAGAIN` while directories are renamed, is
/// missing from old kernels, and is refused by filters of containers, perhaps from a moment after
/// the directory was opened. For lack of descriptors it is called again.
#[cfg(unix)]
#[test]
fn failures_of_openat2_change_nothing() {
    use common::unix::{can_trace, run_child, strace};
    if !can_trace("failures_of_openat2_change_nothing") {
        return;
    }
    // The first call of a directory finds out whether there is an openat2.
    for inject in [
        "EAGAIN:when=2+2",
        "EAGAIN:when=2+",
        "ENOSYS:when=1+",
        "ENOSYS:when=2+",
        "EPERM:when=1+",
        "EPERM:when=2+3",
        "EMFILE:when=2+3",
        "ENFILE:when=3+4",
    ] {
        let dir = Directory::new();
        let inject = format!("inject=openat2:error={inject}");
        let options = ["-e", "trace=openat2", "-e", &inject];
        run_child("child_beneath", &dir, &strace(&dir, options));
        let log = fs::read_to_string(dir.path("log")).unwrap();
        assert!(
            log.contains("(INJECTED)"),
            "{inject}: nothing injected\n{log}"
        );
    }
}

#[cfg(unix)]
#[test]
#[ignore = "a child"]
fn child_beneath() {
    use common::unix::{child_directory, is_child};
    if !is_child() {
        return;
    }
    for strategy in strategies() {
        do_everything(strategy, &child_directory());
    }
}
