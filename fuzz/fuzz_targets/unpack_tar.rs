//! Unpacking any bytes as a tar ends without a panic, and nothing is written outside.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut tar = bytes.to_vec();
    smallfry_fuzz::correct_checksums(&mut tar);
    smallfry_fuzz::unpack(&tar);
});
