//! Reading whole files. The size that the system reports is only a hint, and files may change under
//! the reader.

mod common;

use std::fs;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{Directory, assert_error};
use smallfry::Operation;

#[test]
fn files_of_every_size_are_read_whole() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut buffer = Vec::new();
    for size in [0, 1, 7, 8191, 8192, 8193, 100_000, 3_000_000, 5] {
        let contents: Vec<u8> = (0..size).map(|i: u32| (i % 251) as u8).collect();
        fs::write(&path, &contents).unwrap();
        assert!(smallfry::fs::read(&path).unwrap() == contents, "{size}");
        assert_eq!(
            smallfry::fs::read_into(&path, &mut buffer).unwrap(),
            contents.len()
        );
        assert!(buffer == contents, "{size}");
        assert!(smallfry::fs::read_from(fs::File::open(&path).unwrap()).unwrap() == contents);
    }
}

#[test]
fn a_missing_file_is_an_error_with_its_path() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut buffer = vec![1, 2, 3];
    for error in [
        smallfry::fs::read(&path).unwrap_err(),
        smallfry::fs::read_to_string(&path).unwrap_err(),
        smallfry::fs::read_into(&path, &mut buffer).unwrap_err(),
    ] {
        assert_error(&error, Operation::Open, Some(&path), ErrorKind::NotFound);
    }
    assert_eq!(buffer, b"");
}

#[test]
fn strings_are_utf8_or_an_error_with_the_path() {
    let directory = Directory::new();
    let path = directory.path("a");
    for text in ["", "ascii", "é漢😀", "\u{feff}mark"] {
        fs::write(&path, text).unwrap();
        assert_eq!(smallfry::fs::read_to_string(&path).unwrap(), text);
    }
    for wrong in [&b"\xff"[..], b"a\x80", b"\xe2\x82", b"\xed\xa0\x80"] {
        fs::write(&path, wrong).unwrap();
        let error = smallfry::fs::read_to_string(&path).unwrap_err();
        assert_error(&error, Operation::Read, Some(&path), ErrorKind::InvalidData);
    }
}

/// A file that grows while it is read comes as it was at some moment: a whole number of records,
/// and never fewer than there were before.
#[test]
fn a_growing_file_is_read_as_of_one_moment() {
    const RECORD: &[u8] = b"0123456789abcdef";
    let directory = Directory::new();
    let path = directory.path("a");
    fs::write(&path, RECORD).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            for _ in 0..20_000 {
                file.write_all(RECORD).unwrap();
            }
            is_over.store(true, Ordering::Release);
        });
        let mut longest = 0;
        while !is_over.load(Ordering::Acquire) {
            let contents = smallfry::fs::read(&path).unwrap();
            assert_eq!(contents.len() % RECORD.len(), 0);
            assert!(contents.chunks(RECORD.len()).all(|record| record == RECORD));
            assert!(contents.len() >= longest);
            longest = contents.len();
        }
    });
}

/// A file that does not fit into memory is an error, not an abort.
#[cfg(target_os = "linux")]
#[test]
fn a_file_larger_than_memory_is_an_error() {
    let directory = Directory::new();
    let path = directory.path("a");
    let file = fs::File::create(&path).unwrap();
    // As large as the file system allows.
    let largest = (30..63).rev().find(|bits| file.set_len(1 << bits).is_ok());
    if largest.is_none_or(|bits| bits < 47) {
        // ext4 stops at 16 TiB, which an address space might hold.
        return println!(
            "skipped a_file_larger_than_memory_is_an_error: files here stop at 2^{largest:?}"
        );
    }
    let error = smallfry::fs::read(&path).unwrap_err();
    assert_error(&error, Operation::Read, Some(&path), ErrorKind::OutOfMemory);
}
