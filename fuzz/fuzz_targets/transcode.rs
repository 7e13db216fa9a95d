//! Conversions give what std's do: from any Latin-1 and UTF-16 to UTF-8, whole and in two chunks,
//! and from any bytes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smallfry_transcode::{
    Decoded, Encoder, Scratch, Text, decode, encode_to_vec, is_ascii, utf8_len,
};

fuzz_target!(|bytes: &[u8]| {
    let latin1: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    check(Text::Latin1(bytes), &latin1);
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_ne_bytes([pair[0], pair[1]]))
        .collect();
    check(Text::Utf16(&units), &String::from_utf16_lossy(&units));
    // A pair of surrogates may be split.
    let (first, rest) = units.split_at(
        bytes
            .first()
            .map_or(0, |&at| usize::from(at) % (units.len() + 1)),
    );
    let (mut encoder, mut scratch, mut out) = (Encoder::new(), Scratch::new(), Vec::new());
    let mut sink = |utf8: &[u8]| {
        out.extend_from_slice(utf8);
        Ok::<(), ()>(())
    };
    for part in [first, rest] {
        encoder
            .feed(Text::Utf16(part), &mut scratch, &mut sink)
            .expect("the sink takes all");
    }
    encoder.finish(&mut sink).expect("the sink takes all");
    assert_eq!(out, String::from_utf16_lossy(&units).as_bytes());

    assert_eq!(is_ascii(bytes), bytes.is_ascii());
    match (std::str::from_utf8(bytes), decode(bytes)) {
        (Ok(text), Decoded::Ascii) => assert!(text.is_ascii()),
        (Ok(text), Decoded::Latin1(latin1)) => {
            assert!(latin1.iter().map(|&byte| char::from(byte)).eq(text.chars()));
        }
        (Ok(text), Decoded::Utf16(units)) => assert!(units.iter().copied().eq(text.encode_utf16())),
        (Err(_), Decoded::Invalid) => {}
        (expected, found) => panic!("{found:?} instead of {expected:?}"),
    }
});

fn check(text: Text<'_>, expected: &str) {
    assert_eq!(utf8_len(text), expected.len());
    assert_eq!(encode_to_vec(text), expected.as_bytes());
}
