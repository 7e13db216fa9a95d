//! Converts the strings of JavaScript and Java to UTF-8 and back, about as fast as memory can be
//! read.
//!
//! Their engines hold text as Latin-1 (one byte for each character up to U+00FF) or as UTF-16.
//! Files hold UTF-8.
//!
//! - Use [`encode`] to write a string to a file. Keep its [`Scratch`] from one string to the next.
//! - Use [`Encoder`] when the string arrives in chunks.
//! - Use [`encode_to_vec`] to keep the bytes, and [`utf8_len`] to know their number beforehand.
//! - Use [`decode_with`] to make a string from a file's bytes if the runtime copies the result, and
//!   [`decode`] if it keeps the result.
//! - Use [`is_ascii`] to know whether bytes are the same in all three encodings.
//!
//! ```
//! use smallfry_transcode::{Scratch, Text, encode};
//!
//! let mut scratch = Scratch::new();
//! let mut file = Vec::new();
//! encode(Text::Latin1(b"caf\xe9"), &mut scratch, |utf8| {
//!     file.extend_from_slice(utf8);
//!     Ok::<(), std::io::Error>(())
//! })?;
//! assert_eq!(file, "café".as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Memory
//!
//! Text whose UTF-8 is certain to fit under the scratch's limit goes to the sink in one call, so
//! that a write to a file is one system call. Longer text takes several calls, and memory stays
//! under the limit however long the text is. ASCII held as Latin-1 is not copied: the sink gets the
//! source itself.
//!
//! # Speed
//!
//! The conversions are those of simdutf, chosen by measurement, with two exceptions. UTF-16 without
//! surrogates is converted by `avx512.c` on processors with AVX-512 (VBMI2). On processors with
//! AVX2 alone `avx2.rs` converts UTF-16 and Latin-1. With `SIMDUTF_FORCE_IMPLEMENTATION=haswell` in
//! the environment, this crate and simdutf use no AVX-512. The table has nanoseconds per conversion
//! on an AMD EPYC (Zen 4), which has AVX-512, by `cargo run --release -p
//! smallfry-transcode --example compare_libraries`:
//!
//! | | text | units | smallfry | `encoding_rs` | std |
//! |---|---|--:|--:|--:|--:|
//! | Latin-1 to UTF-8 | ASCII | 12 | 3.4 | 10 | 38 |
//! | | ASCII | 12,288 | 110 | 1,880 | 33,300 |
//! | | every 8th not ASCII | 12,288 | 660 | 7,100 | 37,800 |
//! | UTF-16 to UTF-8 | 1 to 3 bytes | 12 | 18 | 22 | 25 |
//! | | 1 to 3 bytes | 18,432 | 3,470 | 39,700 | 35,500 |
//! | | 3 bytes | 1,048,576 | 198,000 | 1,720,000 | 2,580,000 |
//! | | lone surrogates only | 1,024 | 2,020 | 1,680 | 2,500 |
//! | [`decode_with`] | 1 to 3 bytes | 18,432 | 7,020 | 41,600 | 43,800 |
//!
//! simdutf is C++. It needs a C++ compiler to build, and the C++ standard library to run.
//!
//! # What is not promised
//!
//! - Ill-formed UTF-16, which JavaScript allows, does not survive a round trip. Each surrogate
//!   without its partner becomes U+FFFD, as the Encoding Standard and Node.js have it, and cannot
//!   be told from a real U+FFFD afterwards.
//! - [`decode`] does not repair bytes that are not UTF-8: it returns [`Decoded::Invalid`].

#![allow(
    unsafe_code,
    reason = "it has instructions for vectors, and a library in C++"
)]

mod avx2;
mod avx512;
mod convert;
mod decode;
mod encode;
mod scratch;

pub use decode::{DecodeScratch, Decoded, decode, decode_with, is_ascii};
pub use encode::{Encoder, Text, encode, encode_to_vec, outruns_simdutf, utf8_len};
pub use scratch::Scratch;

/// Its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
