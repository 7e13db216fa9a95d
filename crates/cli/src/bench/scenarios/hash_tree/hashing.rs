//! A digest that is made from pieces.

use super::Function;
use sha2::{Digest as _, Sha256};
use smallfry::hash::Digest;

/// A digest in the making.
pub(super) enum Hashing {
    Sha256(Sha256),
    Blake3(Box<blake3::Hasher>),
}

impl Hashing {
    pub(super) fn new(function: Function) -> Self {
        match function {
            Function::Sha256 => Self::Sha256(Sha256::new()),
            Function::Blake3 => Self::Blake3(Box::default()),
        }
    }

    pub(super) fn update(&mut self, contents: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(contents),
            Self::Blake3(hasher) => drop(hasher.update(contents)),
        }
    }

    pub(super) fn finish(self) -> Digest {
        match self {
            Self::Sha256(hasher) => (&hasher.finalize().0).into(),
            Self::Blake3(hasher) => hasher.finalize().as_bytes().into(),
        }
    }
}
