//! Renaming replaces a file in one step, or leaves everything as it is.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::ErrorKind;

use common::{Directory, assert_error};
use smallfry::Operation;

#[test]
fn rename_replaces_an_existing_file() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    for (contents, old) in [("one", None), ("two", Some("older")), ("", Some("x"))] {
        fs::write(&from, contents).unwrap();
        if let Some(old) = old {
            fs::write(&to, old).unwrap();
        }
        smallfry::fs::rename(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), contents);
        assert!(!from.exists());
    }
}

#[test]
fn rename_moves_directories() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("file"), "text").unwrap();
    smallfry::fs::rename(&from, &to).unwrap();
    assert_eq!(fs::read_to_string(to.join("file")).unwrap(), "text");
}

#[test]
fn errors_name_both_paths() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    let error = smallfry::fs::rename(&from, &to).unwrap_err();
    assert_error(&error, Operation::Rename, Some(&from), ErrorKind::NotFound);
    assert_eq!(error.destination(), Some(&*to));
    let printed = format!("rename {} to {}: ", from.display(), to.display());
    assert!(error.to_string().starts_with(&printed), "{error}");

    for (from, to) in [("nul\0", "b"), ("a", "nul\0")] {
        let error = smallfry::fs::rename(from, to).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn a_directory_is_not_replaced_by_a_file() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    fs::write(&from, "text").unwrap();
    fs::create_dir(&to).unwrap();
    fs::write(to.join("file"), "").unwrap();
    let error = smallfry::fs::rename(&from, &to).unwrap_err();
    assert_eq!(error.operation(), Operation::Rename);
    assert_eq!(fs::read_to_string(&from).unwrap(), "text");
}
