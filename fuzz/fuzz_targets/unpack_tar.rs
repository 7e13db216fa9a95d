//! Unpacking any bytes as a tar ends without a panic, and nothing is written outside.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smallfry::archive::Unpacker;

fuzz_target!(|bytes: &[u8]| {
    let mut archive = bytes.to_vec();
    // Only headers with the right checksum are parsed, which is hard to guess.
    for block in archive.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    let directory = tempfile::tempdir().expect("there is room");
    let mut unpacker = Unpacker::new();
    unpacker.max_bytes(1 << 20).links_may_leave(true);
    let _ = unpacker.unpack_from(&archive[..], directory.path().join("in"));
    let mut names = std::fs::read_dir(directory.path()).expect("it is there");
    assert!(names.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "in")));
});
