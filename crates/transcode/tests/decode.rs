//! Decoding, compared with std. A bug here would turn a file into wrong text without an error: the
//! string must have the smallest form that holds the text, and bytes that are not UTF-8 must never
//! be guessed at.

use proptest::prelude::*;
use smallfry_transcode::{DecodeScratch, Decoded, decode, decode_with, is_ascii};

fn expected(bytes: &[u8]) -> Decoded {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Decoded::Invalid;
    };
    if text.is_ascii() {
        return Decoded::Ascii;
    }
    match text.chars().map(u8::try_from).collect() {
        Ok(latin1) => Decoded::Latin1(latin1),
        Err(_) => Decoded::Utf16(text.encode_utf16().collect()),
    }
}

fn owned(decoded: Decoded<&[u8], &[u16]>) -> Decoded {
    match decoded {
        Decoded::Ascii => Decoded::Ascii,
        Decoded::Latin1(latin1) => Decoded::Latin1(latin1.to_vec()),
        Decoded::Utf16(units) => Decoded::Utf16(units.to_vec()),
        Decoded::Invalid => Decoded::Invalid,
    }
}

fn check(bytes: &[u8], scratch: &mut DecodeScratch) {
    let expected = expected(bytes);
    assert_eq!(owned(decode_with(bytes, scratch)), expected);
    assert_eq!(is_ascii(bytes), expected == Decoded::Ascii);
    let decoded = decode(bytes);
    assert_eq!(decoded, expected);
    match decoded {
        Decoded::Latin1(latin1) => assert_eq!(latin1.capacity(), latin1.len()),
        Decoded::Utf16(units) => assert_eq!(units.capacity(), units.len()),
        Decoded::Ascii | Decoded::Invalid => {}
    }
}

proptest! {
    #[test]
    fn decoding_text_agrees_with_std(
        texts in prop::collection::vec(prop_oneof![".{0,200}", "[ -~]{0,200}", "[ -ÿ]{0,200}"], 1..4),
    ) {
        let mut scratch = DecodeScratch::new();
        for text in texts {
            check(text.as_bytes(), &mut scratch);
        }
    }

    #[test]
    fn text_with_one_changed_byte_agrees_with_std(text in ".{1,200}", place in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = text.into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        check(&bytes, &mut DecodeScratch::new());
        check(&bytes[..place], &mut DecodeScratch::new());
    }

    #[test]
    fn decoding_any_bytes_agrees_with_std(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes, &mut DecodeScratch::new());
    }
}

#[test]
fn every_kind_of_ill_formed_utf8_is_invalid() {
    let mut scratch = DecodeScratch::new();
    let wrong: [&[u8]; 9] = [
        b"\x80",
        b"\xc3",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8",
        b"\xff",
        b"\xe2\x82",
    ];
    for wrong in wrong {
        for before in 0..140 {
            let mut bytes = vec![b'a'; before];
            bytes.extend_from_slice(wrong);
            check(&bytes, &mut scratch);
            bytes.extend_from_slice("é".as_bytes());
            check(&bytes, &mut scratch);
        }
    }
}

#[test]
fn a_byte_order_mark_is_kept() {
    assert_eq!(decode(b"\xef\xbb\xbfa"), Decoded::Utf16(vec![0xfeff, 0x61]));
}

/// Longer than what the scratch gives worst-case room for, then short again.
#[test]
fn a_scratch_decodes_long_and_short_texts_in_turn() {
    let mut scratch = DecodeScratch::new();
    for text in ["é", "漢", "😀"] {
        check(text.repeat(DecodeScratch::LIMIT).as_bytes(), &mut scratch);
        check(text.as_bytes(), &mut scratch);
        let mut bytes = text.repeat(DecodeScratch::LIMIT).into_bytes();
        bytes.push(0xff);
        check(&bytes, &mut scratch);
    }
}
