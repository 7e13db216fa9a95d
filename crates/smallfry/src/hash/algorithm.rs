//! The algorithms, and the state of one that is in the middle of a file.

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::digest::Digest;

/// A function that makes a digest.
///
/// SHA-1 and SHA-256 use the processor's own instructions for them where it has them, which is
/// found out at run time. BLAKE3 uses SSE2 to AVX-512, or NEON, in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// [BLAKE3](https://github.com/BLAKE3-team/BLAKE3-specs/blob/master/blake3.pdf) with 32 bytes.
    /// It is as safe as SHA-256 and faster.
    #[default]
    Blake3,
    /// [SHA-256](https://doi.org/10.6028/NIST.FIPS.180-4) with 32 bytes.
    Sha256,
    /// [SHA-1](https://doi.org/10.6028/NIST.FIPS.180-4) with 20 bytes. It is no longer safe against
    /// files that are made to have the same digest.
    Sha1,
    /// The name that git has for a file: SHA-1 of `blob`, a space, the length in decimal digits, a
    /// zero byte and the contents.
    ///
    /// [git-hash-object(1)](https://git-scm.com/docs/git-hash-object)
    GitBlob,
}

impl Algorithm {
    /// Returns the length of a digest in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Blake3 | Self::Sha256 => 32,
            Self::Sha1 | Self::GitBlob => 20,
        }
    }

    /// Returns true if the length of a file must be known before its contents are hashed.
    pub(super) const fn begins_with_length(self) -> bool {
        matches!(self, Self::GitBlob)
    }

    /// Hashes bytes as the contents of a file.
    pub(crate) fn hash(self, bytes: &[u8]) -> Digest {
        if self == Self::Blake3 {
            return blake3::hash(bytes).as_bytes().into();
        }
        let mut state = State::new(self, bytes.len() as u64);
        state.update(bytes);
        state.finish()
    }
}

/// The state of an algorithm after some of the contents of a file.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each file, on the stack"
)]
pub(super) enum State {
    Blake3(blake3::Hasher),
    Sha256(Sha256),
    Sha1(Sha1),
}

impl State {
    /// Begins a file. `length` counts if the algorithm [begins with
    /// it](Algorithm::begins_with_length).
    pub(super) fn new(algorithm: Algorithm, length: u64) -> Self {
        match algorithm {
            Algorithm::Blake3 => Self::Blake3(blake3::Hasher::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::GitBlob => {
                Self::Sha1(Sha1::new_with_prefix(format!("blob {length}\0").as_bytes()))
            }
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Blake3(state) => {
                state.update(bytes);
            }
            Self::Sha256(state) => state.update(bytes),
            Self::Sha1(state) => state.update(bytes),
        }
    }

    pub(super) fn finish(self) -> Digest {
        match self {
            Self::Blake3(state) => state.finalize().as_bytes().into(),
            Self::Sha256(state) => (&state.finalize().0).into(),
            Self::Sha1(state) => (&state.finalize().0).into(),
        }
    }
}
