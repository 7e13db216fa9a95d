//! A digest, and its hexadecimal digits.

use std::fmt;
use std::str::FromStr;

/// The maximum length of a digest in bytes.
const MAX_LENGTH: usize = 32;

/// The digest of a file or tree.
///
/// It prints as lower-case hexadecimal digits, and is parsed from digits of either case.
///
/// ```
/// use smallfry::hash::Digest;
///
/// let digest: Digest = "A9993E364706816ABA3E25717850C26C9CD0D89D".parse()?;
/// assert_eq!(digest.as_bytes()[..2], [0xa9, 0x99]);
/// assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// # Ok::<(), smallfry::hash::ParseDigestError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The digest, and zeros after it.
    bytes: [u8; MAX_LENGTH],
    length: u8,
}

impl Digest {
    /// Returns the bytes: 32 of BLAKE3 and SHA-256, 20 of SHA-1.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }
}

impl From<&[u8; 32]> for Digest {
    fn from(bytes: &[u8; 32]) -> Self {
        Self {
            bytes: *bytes,
            length: 32,
        }
    }
}

impl From<&[u8; 20]> for Digest {
    fn from(short: &[u8; 20]) -> Self {
        let mut bytes = [0; MAX_LENGTH];
        bytes[..20].copy_from_slice(short);
        Self { bytes, length: 20 }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 2 * MAX_LENGTH];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.as_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        let text = &text[..2 * self.as_bytes().len()];
        f.pad(std::str::from_utf8(text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The error of a text that is not the digits of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseDigestError(());

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest has 40 or 64 hexadecimal digits")
    }
}

impl std::error::Error for ParseDigestError {}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        if !matches!(text.len(), 40 | 64) {
            return Err(ParseDigestError(()));
        }
        let mut bytes = [0; MAX_LENGTH];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                return Err(ParseDigestError(()));
            };
            *byte = (high << 4 | low) as u8;
        }
        Ok(Self {
            bytes,
            length: (text.len() / 2) as u8,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn digests_are_parsed_from_what_they_print() {
        for digest in [Digest::from(&[0xfe; 32]), Digest::from(&[0x0a; 20])] {
            assert_eq!(digest.to_string().parse(), Ok(digest));
        }
        let wrong = ["", "ab", &"g".repeat(40), &"a".repeat(41), &"é".repeat(20)];
        for text in wrong {
            assert_eq!(text.parse::<Digest>(), Err(ParseDigestError(())), "{text}");
        }
    }
}
