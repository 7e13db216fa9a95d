//! Conditions that only Windows has: files that another program keeps from being replaced, paths
//! longer than 260 characters, attributes.
#![cfg(windows)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use common::{Directory, assert_error};
use smallfry::bulk::{Reader, Writer};
use smallfry::{Operation, WriteOptions};

const FILE_SHARE_READ: u32 = 1;
const FILE_ATTRIBUTE_HIDDEN: u32 = 2;
const ERROR_ACCESS_DENIED: i32 = 5;
const ERROR_SHARING_VIOLATION: i32 = 32;

/// Opens a file like programs that want it for themselves: others may read it, but neither write
/// nor remove it.
fn hold(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).share_mode(FILE_SHARE_READ);
    options.open(path).unwrap()
}

#[test]
fn rename_waits_while_source_or_target_is_open() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    for held in [&from, &to] {
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let held = hold(held);
        let holder = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            drop(held);
        });
        smallfry::fs::rename(&from, &to).unwrap();
        holder.join().unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "new");
        assert!(!from.exists());
    }
}

#[test]
fn rename_gives_up_on_a_target_that_stays_open() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    fs::write(&from, "new").unwrap();
    fs::write(&to, "old").unwrap();
    let held = hold(&to);
    let error = smallfry::fs::rename(&from, &to).unwrap_err();
    assert_eq!(error.operation(), Operation::Rename);
    assert_eq!(error.path(), Some(&*from));
    assert_eq!(error.destination(), Some(&*to));
    assert!(
        matches!(
            error.raw_os_error(),
            Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION)
        ),
        "{error}"
    );
    drop(held);
    assert_eq!(fs::read_to_string(&from).unwrap(), "new");
    assert_eq!(fs::read_to_string(&to).unwrap(), "old");
}

#[test]
fn rename_replaces_no_read_only_target() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    fs::write(&from, "new").unwrap();
    WriteOptions::new().mode(0o444).write(&to, "old").unwrap();
    let result = smallfry::fs::rename(&from, &to);
    // Wine replaces it.
    if let Err(error) = result {
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let mut permissions = fs::metadata(&to).unwrap().permissions();
        #[allow(
            clippy::permissions_set_readonly_false,
            reason = "on Windows it says just that"
        )]
        permissions.set_readonly(false);
        fs::set_permissions(&to, permissions).unwrap();
    }
}

#[test]
fn open_files_can_be_read_renamed_and_removed_by_others() {
    let directory = Directory::new();
    let (path, other) = (directory.path("a"), directory.path("b"));
    fs::write(&path, "text").unwrap();
    let text = path.to_str().unwrap();
    let name = std::ffi::CString::new(text).unwrap();
    let file = smallfry::raw::open(&name, smallfry::raw::O_RDWR, 0).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    fs::rename(&path, &other).unwrap();
    fs::remove_file(&other).unwrap();
    smallfry::raw::close(file).unwrap();
}

#[test]
fn a_file_opened_without_sharing_is_an_error() {
    let directory = Directory::new();
    let path = directory.path("a");
    fs::write(&path, "text").unwrap();
    let held = OpenOptions::new()
        .read(true)
        .share_mode(0)
        .open(&path)
        .unwrap();
    let error = smallfry::fs::read(&path).unwrap_err();
    assert_eq!(error.operation(), Operation::Open);
    assert_eq!(error.raw_os_error(), Some(ERROR_SHARING_VIOLATION));
    let error = smallfry::fs::write(&path, "new").unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ERROR_SHARING_VIOLATION));
    drop(held);
    assert_eq!(smallfry::fs::read(&path).unwrap(), b"text");
}

#[test]
fn hidden_files_are_written_and_stay_hidden() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    drop(
        options
            .attributes(FILE_ATTRIBUTE_HIDDEN)
            .open(&path)
            .unwrap(),
    );
    smallfry::fs::write(&path, "text").unwrap();
    let attributes = std::os::windows::fs::MetadataExt::file_attributes;
    assert_ne!(
        attributes(&fs::metadata(&path).unwrap()) & FILE_ATTRIBUTE_HIDDEN,
        0
    );
}

/// A path of some 700 characters beneath `directory`, whose directories do not exist.
fn long_path(directory: &Directory, name: &str) -> PathBuf {
    let mut path = directory.path("");
    for _ in 0..6 {
        path.push("a-name-of-many-characters".repeat(4));
    }
    path.join(name)
}

#[test]
fn long_paths_need_no_prefix() {
    let directory = Directory::new();
    let (path, other) = (long_path(&directory, "a"), long_path(&directory, "b"));
    assert!(path.as_os_str().len() > 600);
    assert!(!path.to_str().unwrap().starts_with(r"\\?\"));
    let error = smallfry::fs::read(&path).unwrap_err();
    assert_error(&error, Operation::Open, Some(&path), ErrorKind::NotFound);

    let mut options = WriteOptions::new();
    options.create_parents(true).write(&path, "one").unwrap();
    smallfry::fs::append(&path, " two").unwrap();
    assert_eq!(smallfry::fs::read(&path).unwrap(), b"one two");
    assert_eq!(smallfry::fs::copy(&path, &other).unwrap(), 7);
    smallfry::fs::rename(&other, path.with_file_name("c")).unwrap();
    let c = smallfry::fs::read_to_string(path.with_file_name("c"));
    assert_eq!(c.unwrap(), "one two");

    // Slashes and dots too, which behind the prefix would be parts of names.
    let untidy = path.parent().unwrap().join("./x/../a");
    let untidy = PathBuf::from(untidy.to_str().unwrap().replace('\\', "/"));
    assert_eq!(smallfry::fs::read(untidy).unwrap(), b"one two");
}

#[test]
fn batches_take_long_paths() {
    let directory = Directory::new();
    let paths: Vec<_> = (0..40)
        .map(|index| long_path(&directory, &index.to_string()))
        .collect();
    let mut writer = Writer::new();
    writer.create_parents(true);
    let entries = paths.iter().map(|path| (path, "text"));
    writer.write(entries).into_result().unwrap();
    for result in Reader::new().read(&paths) {
        assert_eq!(&*result.1.unwrap(), b"text");
    }

    // Beneath a directory the kernel itself gets the name, and it has no such limit.
    let root = directory.path("");
    let mut within = Writer::new();
    within.within(&root).unwrap();
    let relative = paths[0].strip_prefix(&root).unwrap();
    within.write([(relative, "new")]).into_result().unwrap();
    assert_eq!(smallfry::fs::read(&paths[0]).unwrap(), b"new");
}

#[test]
fn long_relative_paths_begin_at_the_working_directory() {
    // No other test changes the directory, or uses relative paths that must exist.
    let directory = Directory::new();
    std::env::set_current_dir(directory.path("")).unwrap();
    let path = long_path(&directory, "a");
    let relative = path.strip_prefix(directory.path("")).unwrap();
    let mut options = WriteOptions::new();
    options
        .create_parents(true)
        .write(relative, "text")
        .unwrap();
    assert_eq!(smallfry::fs::read(relative).unwrap(), b"text");
    assert_eq!(smallfry::fs::read(&path).unwrap(), b"text");
    // A directory in use cannot be removed.
    std::env::set_current_dir(std::env::temp_dir()).unwrap();
}
