//! The strings of JavaScript and Java as UTF-8, and back, at the speed of memory.
//!
//! Their engines hold text as Latin-1 (one byte for each character up to U+00FF) or as UTF-16. Files want UTF-8.
//!
//! # Which call for which job
//!
//! | job | call |
//! |---|---|
//! | write a string to a file | [`encode`] with a [`Scratch`] that lives on, and the write as its sink |
//! | write a string that arrives in chunks | [`Encoder`] |
//! | a string as bytes to keep | [`encode_to_vec`] |
//! | how long it will be | [`utf8_len`] |
//! | make a string from a file's bytes | [`decode_with`] if the runtime copies the result, [`decode`] if it keeps it |
//! | whether bytes are ASCII, and so already right in all three encodings | [`is_ascii`] |
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
//! Text whose UTF-8 is certain to fit under the scratch's limit goes to the sink in one call, so that a write to a file
//! is one system call. Longer text goes in several, and memory stays under the limit however long it is. ASCII held as
//! Latin-1 is not copied at all: the sink gets the source itself.
//!
//! # Speed
//!
//! The conversions are those of simdutf, chosen by measurement, but for UTF-16 without surrogates on processors with
//! AVX-512 (VBMI2), for which `avx512.c` is faster. Nanoseconds for one, AMD EPYC (Zen 4), which has it; by `cargo run --release -p smallfry-transcode --example compare_libraries`:
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
//! simdutf is C++ and needs a C++ compiler to build, and the C++ standard library where it runs.
//!
//! # What is not promised
//!
//! UTF-16 may be ill-formed, as in JavaScript: each surrogate without its partner becomes U+FFFD, as the Encoding
//! Standard and Node.js have it, and cannot be told afterwards from a real U+FFFD.

mod avx512;
mod convert;
mod decode;
mod encode;
mod scratch;

pub use decode::{DecodeScratch, Decoded, decode, decode_with, is_ascii};
pub use encode::{Encoder, Text, encode, encode_to_vec, outruns_simdutf, utf8_len};
pub use scratch::Scratch;
