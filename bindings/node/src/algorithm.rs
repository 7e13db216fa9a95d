//! The algorithms of digests, by the numbers that JavaScript has for them.

use smallfry::hash::Algorithm;

/// Returns the algorithm of a number, which `lib/bulk/hash.ts` knows, too.
pub(crate) const fn numbered(number: i32) -> Algorithm {
    match number {
        1 => Algorithm::Sha256,
        2 => Algorithm::Sha1,
        3 => Algorithm::GitBlob,
        _ => Algorithm::Blake3,
    }
}
