//! Unpacking any bytes as a tar.zst ends without a panic, and nothing is written outside.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The magic number of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Makes a frame that is not compressed. Compressed ones come from the bytes themselves.
///
/// [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1)
fn frame(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("libFuzzer makes short ones");
    let mut frame = [&MAGIC[..], &[0xa0], &length.to_le_bytes()].concat();
    frame.extend(&(length << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

fuzz_target!(|bytes: &[u8]| {
    smallfry_fuzz::unpack_compressed(bytes, &MAGIC, frame);
});
