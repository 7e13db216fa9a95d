//! Compares how fast libraries convert texts of several kinds and lengths. Its table led to this
//! crate's choice.
//!
//! `cargo run --release -p smallfry-transcode --example compare_libraries`
//!
//! The candidates of a row run in turn within each round, so a machine that slows down slows all of
//! them. A cell is the median over the rounds, in nanoseconds for one conversion into an existing
//! buffer.
//!
//! Sources end in slack. A conversion loads 64 bytes at a time, masked. If a short source lies
//! right before an output in memory, those loads wait for the stores of the round before, and 12
//! units take twice as long as they should.

#![allow(unsafe_code, reason = "it calls other libraries")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use smallfry_transcode::{
    DecodeScratch, Decoded, Scratch, Text, decode_with, encode, is_ascii, utf8_len,
};

const LENGTHS: [usize; 6] = [12, 1_024, 12_288, 18_432, 102_400, 1_048_576];
const ROUNDS: usize = 41;
const TIME_PER_SAMPLE: Duration = Duration::from_micros(300);

/// A job with its source and buffers. It returns a value that depends on all of the work.
type Job<'a> = Box<dyn FnMut() -> usize + 'a>;

fn main() {
    println!("| job | text | units | smallfry | simdutf | encoding_rs | std |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for length in LENGTHS {
        for (name, characters) in LATIN1_TEXTS {
            let source = apart(
                cycle(characters, length).map(|character| u8::try_from(character).unwrap_or(b'?')),
            );
            row("Latin-1 to UTF-8", name, length, latin1_to_utf8(&source));
        }
        for (name, characters) in ALL_TEXTS {
            let source = apart(
                cycle(characters, length)
                    .map(|character| u16::try_from(u32::from(character)).unwrap_or(0xd800)),
            );
            row("UTF-16 to UTF-8", name, length, utf16_to_utf8(&source));
            row("UTF-8 length", name, length, utf8_length(&source));
        }
        for (name, characters) in &ALL_TEXTS[..4] {
            let text: String = cycle(characters, length).collect();
            let source = apart(text.bytes());
            row("UTF-8 to either", name, length, from_utf8(&source));
        }
        let source = apart(std::iter::repeat_n(b'a', length));
        row("is ASCII", "ascii", length, all_ascii(&source));
    }
}

const LATIN1_TEXTS: [(&str, &str); 3] = [
    ("ascii", "abcdefgh"),
    ("latin1, every 8th", "abcdefgé"),
    ("latin1, dense", "éàüñ"),
];

/// The last text is for UTF-16 only: U+10FFFF stands for a lone surrogate, which a `char` cannot
/// be.
const ALL_TEXTS: [(&str, &str); 5] = [
    ("ascii", "abcdefgh"),
    ("latin1, every 8th", "abcdefgé"),
    ("mixed", "aé漢b字ü"),
    ("3-byte", "漢字仮名"),
    ("lone surrogates", "\u{10ffff}"),
];

/// Bytes after each source that are never written.
const SLACK: usize = 256;

/// Collects `items` with slack after them.
fn apart<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut source = Vec::with_capacity(items.size_hint().0 + SLACK);
    source.extend(items);
    source
}

fn cycle(characters: &str, length: usize) -> impl Iterator<Item = char> {
    characters.chars().cycle().take(length)
}

fn latin1_to_utf8(source: &[u8]) -> [Option<Job<'_>>; 4] {
    let mut scratch = Scratch::new();
    let mut simdutf_out = vec![0; source.len() * 2];
    let mut encoding_out = vec![0; source.len() * 2];
    let mut std_out = Vec::with_capacity(source.len() * 2);
    [
        Some(Box::new(move || {
            let mut total = 0;
            let _ = encode(Text::Latin1(source), &mut scratch, |utf8| {
                total += black_box(utf8).len();
                Ok::<(), ()>(())
            });
            total
        })),
        Some(Box::new(move || {
            // SAFETY: the buffer has two bytes for each of the source.
            unsafe {
                simdutf::convert_latin1_to_utf8(
                    source.as_ptr(),
                    source.len(),
                    simdutf_out.as_mut_ptr(),
                )
            }
        })),
        Some(Box::new(move || {
            encoding_rs::mem::convert_latin1_to_utf8(source, &mut encoding_out)
        })),
        Some(Box::new(move || {
            std_out.clear();
            for &byte in source {
                let mut buffer = [0; 4];
                std_out.extend_from_slice(char::from(byte).encode_utf8(&mut buffer).as_bytes());
            }
            std_out.len()
        })),
    ]
}

fn utf16_to_utf8(source: &[u16]) -> [Option<Job<'_>>; 4] {
    let mut scratch = Scratch::new();
    let mut simdutf_out = vec![0; source.len() * 3];
    let mut encoding_out = vec![0; source.len() * 3];
    let mut std_out = String::with_capacity(source.len() * 3);
    let is_well_formed = simdutf::validate_utf16(source);
    [
        Some(Box::new(move || {
            let mut total = 0;
            let _ = encode(Text::Utf16(source), &mut scratch, |utf8| {
                total += black_box(utf8).len();
                Ok::<(), ()>(())
            });
            total
        })),
        is_well_formed.then(|| -> Job<'_> {
            Box::new(move || {
                // SAFETY: the buffer has three bytes for each unit of the source.
                unsafe {
                    simdutf::convert_utf16_to_utf8(
                        source.as_ptr(),
                        source.len(),
                        simdutf_out.as_mut_ptr(),
                    )
                }
            })
        }),
        Some(Box::new(move || {
            encoding_rs::mem::convert_utf16_to_utf8(source, &mut encoding_out)
        })),
        Some(Box::new(move || {
            std_out.clear();
            std_out.extend(
                char::decode_utf16(source.iter().copied())
                    .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
            std_out.len()
        })),
    ]
}

fn utf8_length(source: &[u16]) -> [Option<Job<'_>>; 4] {
    [
        Some(Box::new(move || utf8_len(Text::Utf16(source)))),
        Some(Box::new(move || simdutf::utf8_length_from_utf16(source))),
        None,
        Some(Box::new(move || {
            char::decode_utf16(source.iter().copied())
                .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8())
                .sum()
        })),
    ]
}

fn from_utf8(source: &[u8]) -> [Option<Job<'_>>; 4] {
    let mut scratch = DecodeScratch::new();
    let mut simdutf_out = vec![0; source.len()];
    let mut encoding_out = vec![0; source.len() + 1];
    let mut std_out = Vec::with_capacity(source.len());
    [
        Some(Box::new(move || match decode_with(source, &mut scratch) {
            Decoded::Latin1(latin1) => latin1.len(),
            Decoded::Utf16(units) => units.len(),
            _ => source.len(),
        })),
        Some(Box::new(move || {
            // SAFETY: the buffer has a unit for each byte of the source.
            unsafe {
                simdutf::convert_utf8_to_utf16(
                    source.as_ptr(),
                    source.len(),
                    simdutf_out.as_mut_ptr(),
                )
            }
        })),
        Some(Box::new(move || {
            encoding_rs::mem::convert_utf8_to_utf16(source, &mut encoding_out)
        })),
        Some(Box::new(move || {
            std_out.clear();
            if let Ok(text) = std::str::from_utf8(source) {
                std_out.extend(text.encode_utf16());
            }
            std_out.len()
        })),
    ]
}

fn all_ascii(source: &[u8]) -> [Option<Job<'_>>; 4] {
    [
        Some(Box::new(move || usize::from(is_ascii(source)))),
        Some(Box::new(move || {
            usize::from(simdutf::validate_ascii(source))
        })),
        Some(Box::new(move || {
            usize::from(encoding_rs::mem::is_ascii(source))
        })),
        Some(Box::new(move || usize::from(source.is_ascii()))),
    ]
}

fn row(job: &str, text: &str, length: usize, mut candidates: [Option<Job<'_>>; 4]) {
    let mut samples: [Vec<f64>; 4] = Default::default();
    let repeats = candidates
        .each_mut()
        .map(|candidate| candidate.as_mut().map_or(0, repeats_per_sample));
    for _ in 0..ROUNDS {
        for ((candidate, samples), repeats) in candidates.iter_mut().zip(&mut samples).zip(repeats)
        {
            if let Some(candidate) = candidate {
                let start = Instant::now();
                for _ in 0..repeats {
                    black_box(candidate());
                }
                samples.push(start.elapsed().as_nanos() as f64 / f64::from(repeats));
            }
        }
    }
    print!("| {job} | {text} | {length} |");
    for samples in &mut samples {
        samples.sort_by(f64::total_cmp);
        match samples.get(samples.len() / 2) {
            Some(median) if *median < 100.0 => print!(" {median:.1} |"),
            Some(median) => print!(" {median:.0} |"),
            None => print!(" |"),
        }
    }
    println!();
}

fn repeats_per_sample(candidate: &mut Job<'_>) -> u32 {
    let mut repeats = 1_u32;
    loop {
        let start = Instant::now();
        for _ in 0..repeats {
            black_box(candidate());
        }
        if start.elapsed() >= TIME_PER_SAMPLE || repeats > 1 << 24 {
            return repeats;
        }
        repeats *= 2;
    }
}
