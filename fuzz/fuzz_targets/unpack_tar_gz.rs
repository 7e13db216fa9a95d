//! Unpacking any bytes as a tar.gz ends without a panic, and nothing is written outside.
#![no_main]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("it is memory");
    encoder.finish().expect("it is memory")
}

fuzz_target!(|bytes: &[u8]| {
    smallfry_fuzz::unpack_compressed(bytes, &[0x1f, 0x8b], compress);
});
