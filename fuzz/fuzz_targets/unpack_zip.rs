//! Unpacking any bytes as a zip ends without a panic, and nothing is written outside.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smallfry::archive::Unpacker;

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("there is room");
    let archive = directory.path().join("archive");
    let start = if bytes.starts_with(b"PK") {
        &b""[..]
    } else {
        b"PK\x03\x04"
    };
    std::fs::write(&archive, [start, bytes].concat()).expect("there is room");
    let mut unpacker = Unpacker::new();
    unpacker.max_bytes(1 << 20).links_may_leave(true);
    let _ = unpacker.unpack(&archive, directory.path().join("in"));
    let mut names = std::fs::read_dir(directory.path()).expect("it is there");
    let is_known = |name: std::ffi::OsString| name == "in" || name == "archive";
    assert!(names.all(|entry| entry.is_ok_and(|entry| is_known(entry.file_name()))));
});
