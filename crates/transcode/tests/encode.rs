//! Encoding, compared with std, for every length, piece and chunk. Text is converted in pieces and
//! arrives in chunks, and every edge between them can fall into a surrogate pair. A pair must
//! survive each edge, and a lone surrogate must become exactly one U+FFFD.

use proptest::prelude::*;
use smallfry_transcode::{Encoder, Scratch, Text, encode, encode_to_vec, utf8_len};

/// The bytes that std makes of the same text.
fn expected(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Latin1(bytes) => bytes.iter().copied().map(char::from).collect::<String>(),
        Text::Utf16(units) => String::from_utf16_lossy(units),
    }
    .into_bytes()
}

/// The calls that the sink gets.
fn calls(text: Text<'_>, scratch: &mut Scratch) -> Vec<Vec<u8>> {
    let mut calls = Vec::new();
    let result = encode(text, scratch, |utf8| {
        calls.push(utf8.to_vec());
        Ok::<(), ()>(())
    });
    assert_eq!(result, Ok(()));
    calls
}

/// Units that are often surrogates, in pairs and alone, and otherwise have every length in UTF-8.
fn units(max: usize) -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        4 => 0x20..0x7f_u16,
        2 => 0x80..0x800_u16,
        2 => 0x800..0xd800_u16,
        2 => 0xd800..0xdc00_u16,
        2 => 0xdc00..0xe000_u16,
        1 => 0xe000..=0xffff_u16,
    ];
    let pair = (0xd800..0xdc00_u16, 0xdc00..0xe000_u16).prop_map(|(high, low)| vec![high, low]);
    let run = (any::<u16>(), 1..80_usize).prop_map(|(unit, count)| vec![unit; count]);
    let part = prop_oneof![8 => unit.prop_map(|unit| vec![unit]), 3 => pair, 1 => run];
    prop::collection::vec(part, 0..max).prop_map(|parts| parts.concat())
}

fn latin1(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..max),
        prop::collection::vec(0..0x80_u8, 0..max),
        (prop::collection::vec(0..0x80_u8, 0..max), 0x80..=0xff_u8).prop_map(
            |(mut ascii, last)| {
                ascii.push(last);
                ascii
            }
        ),
    ]
}

proptest! {
    #[test]
    fn encoding_utf16_agrees_with_std(units in units(300), limit in 0..600_usize) {
        let text = Text::Utf16(&units);
        let expected = expected(text);
        prop_assert_eq!(utf8_len(text), expected.len());
        let bytes = encode_to_vec(text);
        prop_assert_eq!(&bytes, &expected);

        let mut scratch = Scratch::with_limit(limit);
        let calls = calls(text, &mut scratch);
        prop_assert_eq!(calls.concat(), &expected[..]);
        prop_assert!(scratch.capacity() <= scratch.limit());
        prop_assert!(calls.iter().all(|call| !call.is_empty()));
        prop_assert!(calls.iter().all(|call| std::str::from_utf8(call).is_ok()));
        if expected.len() <= scratch.limit() {
            prop_assert!(calls.len() <= 1);
        }
    }

    #[test]
    fn encoding_latin1_agrees_with_std(bytes in latin1(500), limit in 0..600_usize) {
        let text = Text::Latin1(&bytes);
        let expected = expected(text);
        prop_assert_eq!(utf8_len(text), expected.len());
        prop_assert_eq!(encode_to_vec(text), expected.clone());

        let mut scratch = Scratch::with_limit(limit);
        let calls = calls(text, &mut scratch);
        prop_assert_eq!(calls.concat(), &expected[..]);
        prop_assert!(scratch.capacity() <= scratch.limit());
        if expected.len() <= scratch.limit() || bytes.is_ascii() {
            prop_assert!(calls.len() <= 1);
        }
    }

    #[test]
    fn chunks_encode_like_the_whole_text(
        units in units(300),
        cuts in prop::collection::vec(0..40_usize, 0..60),
        limit in 0..200_usize,
    ) {
        let mut scratch = Scratch::with_limit(limit);
        let mut encoder = Encoder::new();
        let mut out = Vec::new();
        let mut sink = |utf8: &[u8]| {
            assert!(std::str::from_utf8(utf8).is_ok());
            out.extend_from_slice(utf8);
            Ok::<(), ()>(())
        };
        let mut rest = &units[..];
        for cut in cuts.into_iter().chain([usize::MAX]) {
            let (chunk, after) = rest.split_at(cut.min(rest.len()));
            rest = after;
            prop_assert_eq!(encoder.feed(Text::Utf16(chunk), &mut scratch, &mut sink), Ok(()));
        }
        prop_assert_eq!(encoder.finish(&mut sink), Ok(()));
        prop_assert_eq!(out, String::from_utf16_lossy(&units).into_bytes());
    }

    #[test]
    fn a_reused_scratch_keeps_nothing_of_earlier_texts(texts in prop::collection::vec(units(60), 1..8)) {
        let mut scratch = Scratch::with_limit(256);
        for units in &texts {
            let text = Text::Utf16(units);
            prop_assert_eq!(calls(text, &mut scratch).concat(), expected(text));
        }
    }
}

/// The library works in blocks of 8 to 64 units, so each length around them and each kind of end is
/// tried.
#[test]
fn every_short_length_encodes_like_std() {
    let ends: [&[u16]; 6] = [
        &[],
        &[0xd800],
        &[0xdc00],
        &[0xd83d, 0xde00],
        &[0xde00, 0xd83d],
        &[0xd800, 0x61],
    ];
    for fill in [0x61, 0xe9, 0x20ac] {
        for length in 0..200 {
            for end in ends {
                let mut units = vec![fill; length];
                units.extend_from_slice(end);
                let text = Text::Utf16(&units);
                assert_eq!(
                    encode_to_vec(text),
                    expected(text),
                    "{fill:x} x {length} {end:x?}"
                );
            }
        }
    }
}

/// Puts a pair at each place around the edges of the pieces that long text is converted in.
#[test]
fn pairs_survive_the_edges_of_parts() {
    let mut scratch = Scratch::with_limit(1 << 20);
    for start in (32_768 - 3..32_768 + 3).chain(87_381 - 4..87_381 + 4) {
        let mut units = vec![0x20ac_u16; 400_000];
        units[start] = 0xd83d;
        units[start + 1] = 0xde00;
        let text = Text::Utf16(&units);
        let calls = calls(text, &mut scratch);
        assert!(calls.len() > 1);
        assert_eq!(calls.concat(), expected(text), "pair at {start}");
        assert_eq!(encode_to_vec(text), expected(text), "pair at {start}");
    }
}

#[test]
fn ascii_is_not_copied() {
    let bytes = vec![b'a'; 10 << 20];
    let mut scratch = Scratch::new();
    let mut calls = 0;
    let result = encode(Text::Latin1(&bytes), &mut scratch, |utf8| {
        assert_eq!(utf8.as_ptr_range(), bytes.as_ptr_range());
        calls += 1;
        Ok::<(), ()>(())
    });
    assert_eq!((result, calls, scratch.capacity()), (Ok(()), 1, 0));
}

#[test]
fn empty_text_makes_no_call() {
    let mut scratch = Scratch::new();
    for text in [Text::Latin1(&[]), Text::Utf16(&[])] {
        assert!(text.is_empty());
        assert_eq!(calls(text, &mut scratch), Vec::<Vec<u8>>::new());
        assert_eq!(encode_to_vec(text), b"");
        let mut encoder = Encoder::new();
        let fail = |_: &[u8]| Err(());
        assert_eq!(encoder.feed(text, &mut scratch, fail), Ok(()));
        assert_eq!(encoder.finish(fail), Ok(()));
    }
}

#[test]
fn text_up_to_the_limit_takes_one_call() {
    // The worst case is three times the limit, and the result just fits the limit.
    let units = vec![0x61_u16; 1000];
    let mut scratch = Scratch::with_limit(1000);
    assert_eq!(calls(Text::Utf16(&units), &mut scratch).len(), 1);
    let mut scratch = Scratch::with_limit(999);
    assert!(calls(Text::Utf16(&units), &mut scratch).len() > 1);
}

#[test]
fn the_first_error_of_the_sink_ends_encoding() {
    let units = vec![0x20ac_u16; 10_000];
    let mut scratch = Scratch::with_limit(1024);
    let mut calls = 0;
    let result = encode(Text::Utf16(&units), &mut scratch, |_| {
        calls += 1;
        if calls == 3 { Err("full") } else { Ok(()) }
    });
    assert_eq!((result, calls), (Err("full"), 3));

    // The encoder forgets the surrogate that it held back, because its text is over.
    let mut encoder = Encoder::new();
    assert_eq!(
        encoder.feed(Text::Utf16(&[0x61, 0xd800]), &mut scratch, |_| Err("full")),
        Err("full")
    );
    assert_eq!(encoder.finish(|_| Err("called")), Ok(()));
}

#[test]
fn a_surrogate_held_back_is_alone_before_latin1() {
    let mut scratch = Scratch::new();
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    let mut sink = |utf8: &[u8]| {
        out.extend_from_slice(utf8);
        Ok::<(), ()>(())
    };
    for text in [
        Text::Utf16(&[0xd83d]),
        Text::Latin1(b""),
        Text::Latin1(b"\xe9"),
    ] {
        assert_eq!(encoder.feed(text, &mut scratch, &mut sink), Ok(()));
    }
    assert_eq!(encoder.finish(&mut sink), Ok(()));
    assert_eq!(out, "\u{fffd}é".as_bytes());
}

/// Memory stays under the limit, and a text of nothing but errors takes linear time: 100 MB in a
/// moment, not in hours.
#[test]
fn a_long_text_needs_no_long_buffer() {
    let lone = vec![0xdc00_u16; 10 << 20];
    let cases: [(&[u16], usize); 2] = [(&lone, 3), (&vec![0x20ac; 34 << 20], 3)];
    for (units, bytes_each) in cases {
        let mut scratch = Scratch::new();
        let mut length = 0;
        let result = encode(Text::Utf16(units), &mut scratch, |utf8| {
            length += utf8.len();
            Ok::<(), ()>(())
        });
        assert_eq!((result, length), (Ok(()), units.len() * bytes_each));
        assert!(scratch.capacity() <= Scratch::DEFAULT_LIMIT);
    }

    let latin1 = vec![0xe9_u8; 100 << 20];
    let mut scratch = Scratch::new();
    let mut length = 0;
    let result = encode(Text::Latin1(&latin1), &mut scratch, |utf8| {
        length += utf8.len();
        Ok::<(), ()>(())
    });
    assert_eq!((result, length), (Ok(()), latin1.len() * 2));
    assert!(scratch.capacity() <= Scratch::DEFAULT_LIMIT);
}
