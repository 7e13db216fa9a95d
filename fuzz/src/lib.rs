//! Functions that several programs for libFuzzer share.

use std::fs;

use smallfry::archive::Unpacker;

/// Makes the checksums of the headers of a tar right. Only such headers are parsed, and a right
/// checksum is hard to guess.
pub fn correct_checksums(tar: &mut [u8]) {
    for block in tar.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}

/// Unpacks an archive into a directory, beside which nothing may be written.
pub fn unpack(archive: &[u8]) {
    let directory = tempfile::tempdir().expect("there is room");
    let mut unpacker = Unpacker::new();
    unpacker.max_bytes(1 << 20).links_may_leave(true);
    let _ = unpacker.unpack_from(archive, directory.path().join("in"));
    let mut names = fs::read_dir(directory.path()).expect("it is there");
    assert!(names.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "in")));
}

/// Unpacks bytes as a compressed tar: as they are, after the magic number of the compression, and
/// as a tar that `compress` makes into two parts.
pub fn unpack_compressed(bytes: &[u8], magic: &[u8], compress: fn(&[u8]) -> Vec<u8>) {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    if first % 2 == 0 {
        unpack(&[magic, bytes].concat());
        return;
    }
    let mut tar = bytes.to_vec();
    correct_checksums(&mut tar);
    let (start, rest) = tar.split_at(tar.len() * usize::from(first) / 256);
    unpack(&[compress(start), compress(rest)].concat());
}
