//! Durability on every system. Levels and replacement change what survives a crash, never what is
//! written, and impossible requests are refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use common::{Directory, assert_error, names};
use smallfry::bulk::Writer;
use smallfry::durable::{remove_temporary_files, sync_dir, sync_file};
use smallfry::{Durability, Operation, Outcome, WriteOptions};

const LEVELS: [Durability; 3] = [Durability::None, Durability::Data, Durability::Full];

/// Every level, in place and replaced.
fn all_options() -> impl Iterator<Item = WriteOptions> {
    LEVELS.into_iter().flat_map(|level| {
        [false, true].map(|replace| {
            let mut options = WriteOptions::new();
            options.durability(level).replace(replace);
            options
        })
    })
}

#[test]
fn the_contents_are_the_same_at_every_level() {
    for mut options in all_options() {
        let dir = Directory::new();
        let path = dir.path("a");
        for text in ["", "first", "2", &"long".repeat(100_000)] {
            assert_eq!(options.write(&path, text).unwrap(), Outcome::Written);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        options.append(true);
        fs::write(&path, "one ").unwrap();
        options.write(&path, "two ").unwrap();
        options.write(dir.path("b"), "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one two ");
        assert_eq!(fs::read_to_string(dir.path("b")).unwrap(), "new");
        assert_eq!(names(&dir.path("")), ["a", "b"]);
    }
}

#[test]
fn missing_directories_are_made() {
    for mut options in all_options() {
        let dir = Directory::new();
        let path = dir.path("x/y/z/a");
        let error = options.write(&path, "text").unwrap_err();
        assert_error(&error, Operation::Open, Some(&path), ErrorKind::NotFound);
        options.create_parents(true).write(&path, "text").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(names(&dir.path("x/y/z")), ["a"]);
    }
}

#[test]
fn unchanged_files_are_not_written() {
    for mut options in all_options() {
        let dir = Directory::new();
        let path = dir.path("a");
        options.only_if_changed(true);
        assert_eq!(options.write(&path, "text").unwrap(), Outcome::Written);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(options.write(&path, "text").unwrap(), Outcome::Unchanged);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
        assert_eq!(options.write(&path, "next").unwrap(), Outcome::Written);
        assert_eq!(fs::read_to_string(&path).unwrap(), "next");
    }
}

#[test]
fn contradictory_options_are_refused() {
    let dir = Directory::new();
    let path = dir.path("a");
    let mut options = WriteOptions::new();
    let error = options.replace(true).create_new(true).write(&path, "x");
    assert_error(
        &error.unwrap_err(),
        Operation::Open,
        Some(&path),
        ErrorKind::InvalidInput,
    );
    let file = fs::File::create(&path).unwrap();
    let error = WriteOptions::new().replace(true).write_to(&file, "x");
    assert_error(
        &error.unwrap_err(),
        Operation::Write,
        None,
        ErrorKind::InvalidInput,
    );
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn an_open_file_and_a_directory_are_flushed() {
    let dir = Directory::new();
    let path = dir.path("a");
    let file = fs::File::create(&path).unwrap();
    for level in LEVELS {
        let mut options = WriteOptions::new();
        options.durability(level).write_to(&file, "text ").unwrap();
        sync_file(&file, level).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), b"text text text ");
    sync_dir(dir.path("")).unwrap();
    if cfg!(unix) {
        let missing = dir.path("missing");
        let error = sync_dir(&missing).unwrap_err();
        assert_error(&error, Operation::Open, Some(&missing), ErrorKind::NotFound);
    }
}

#[test]
fn a_directory_is_not_replaced() {
    for options in all_options() {
        let dir = Directory::new();
        let path = dir.path("a");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "text").unwrap();
        let error = options.write(&path, "text").unwrap_err();
        assert_eq!(
            (error.operation(), error.path()),
            (Operation::Open, Some(&*path))
        );
        assert_eq!(names(&dir.path("")), ["a"]);
        assert_eq!(names(&path), ["inside"]);
    }
    let mut options = WriteOptions::new();
    for path in ["", "/", "..", "a/", "a/.."] {
        let error = options.replace(true).write(path, "text").unwrap_err();
        assert_error(
            &error,
            Operation::Open,
            Some(Path::new(path)),
            ErrorKind::IsADirectory,
        );
    }
}

#[test]
fn a_batch_writes_the_same_as_single_writes() {
    for level in LEVELS {
        for replace in [false, true] {
            let dir = Directory::new();
            let path = |index: usize| dir.path(&format!("{}/{index}", index % 7));
            let mut writer = Writer::new();
            writer
                .create_parents(true)
                .durability(level)
                .replace(replace);
            for round in 0..2 {
                let text = |index: usize| format!("{round} {index}").repeat(index);
                let report = writer.write((0..300).map(|index| (path(index), text(index))));
                assert_eq!(report.written(), 300, "{:?}", report.errors().next());
                for index in 0..300 {
                    assert_eq!(fs::read_to_string(path(index)).unwrap(), text(index));
                }
            }
            for directory in 0..7 {
                let names = names(&dir.path(&directory.to_string()));
                assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
            }
        }
    }
}

#[test]
fn the_last_write_to_a_path_wins() {
    // More than are ever open at a time.
    let count = match std::env::var_os("SMALLFRY_TEST_ALL") {
        Some(_) => 2000,
        None => 1100,
    };
    for level in LEVELS {
        for replace in [false, true] {
            let dir = Directory::new();
            let path = dir.path("a");
            let mut writer = Writer::new();
            writer.durability(level).replace(replace);
            let entries = (0..count).map(|index| (&path, index.to_string()));
            let report = writer.write(entries);
            assert_eq!(report.written(), count, "{:?}", report.errors().next());
            let last = (count - 1).to_string();
            assert_eq!(fs::read_to_string(&path).unwrap(), last);
            // Each is compared with the contents that the previous one leaves, although that has no
            // name yet.
            writer.only_if_changed(true);
            let report = writer.write([(&path, "x"), (&path, &last), (&path, &last), (&path, "y")]);
            assert_eq!(report.errors().count(), 0);
            assert_eq!(fs::read_to_string(&path).unwrap(), "y");
            assert_eq!(names(&dir.path("")), ["a"]);
        }
    }
}

#[test]
fn errors_of_a_batch_belong_to_their_entries() {
    for level in LEVELS {
        for replace in [false, true] {
            let dir = Directory::new();
            fs::create_dir(dir.path("directory")).unwrap();
            let entries = ["a", "missing/b", "directory", "c"];
            let mut writer = Writer::new();
            writer.durability(level).replace(replace);
            let report = writer.write(entries.map(|name| (dir.path(name), name)));
            let failed: Vec<_> = report.errors().map(|(index, _)| index).collect();
            assert_eq!(failed, [1, 2]);
            for (index, error) in report.errors() {
                let path = dir.path(entries[index]);
                assert_eq!(
                    (error.operation(), error.path()),
                    (Operation::Open, Some(&*path))
                );
            }
            assert_eq!(names(&dir.path("")), ["a", "c", "directory"]);
        }
    }
}

#[test]
fn old_temporary_files_are_removed() {
    let dir = Directory::new();
    let left = dir.path(".app.js.0123456789abcdef.smallfry");
    let others = ["app.js", ".app.js.smallfry", ".app.js.0123456789abcdef"];
    for name in others {
        fs::write(dir.path(name), "").unwrap();
    }
    fs::write(&left, "").unwrap();
    fs::create_dir(dir.path(".dir.0123456789abcdef.smallfry")).unwrap();
    let hour = Duration::from_secs(3600);
    assert!(
        remove_temporary_files(dir.path(""), hour)
            .unwrap()
            .is_empty()
    );
    let removed = remove_temporary_files(dir.path(""), Duration::ZERO).unwrap();
    assert_eq!(removed, std::slice::from_ref(&left));
    assert_eq!(names(&dir.path("")).len(), others.len() + 1);
    let missing = dir.path("missing");
    let error = remove_temporary_files(&missing, hour).unwrap_err();
    assert_error(
        &error,
        Operation::Readdir,
        Some(&missing),
        ErrorKind::NotFound,
    );
}
