//! No descriptor stays open, whatever fails. This is the only test of its file, and hence of its
//! process, since other tests open descriptors too.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::Directory;
use smallfry::WriteOptions;

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn no_descriptor_is_left_open() {
    let directory = Directory::new();
    let path = directory.path("a");
    let file = fs::File::create(directory.path("own")).unwrap();
    let before = open_descriptors();
    for _ in 0..100 {
        smallfry::fs::write(&path, "text").unwrap();
        smallfry::fs::append(&path, "text").unwrap();
        smallfry::fs::read(&path).unwrap();
        smallfry::fs::write_to(&file, "text").unwrap();
        for text in ["texttext", "other"] {
            WriteOptions::new()
                .only_if_changed(true)
                .write(&path, text)
                .unwrap();
        }
        fs::write(&path, b"\xff").unwrap();
        smallfry::fs::read_to_string(&path).unwrap_err();
        smallfry::fs::read(directory.path("")).unwrap_err();
        smallfry::fs::write("/dev/full", "text").unwrap_err();
        smallfry::fs::write(directory.path("no/file"), "text").unwrap_err();
        smallfry::fs::copy(&path, directory.path("no/file")).unwrap_err();
        WriteOptions::new()
            .create_new(true)
            .write(&path, "text")
            .unwrap_err();
    }
    assert_eq!(open_descriptors(), before);
    // The caller's own is still open.
    file.sync_all().unwrap();
}
