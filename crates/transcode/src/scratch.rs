//! The buffer that conversion writes to.

use std::fmt;

/// A buffer that is kept between conversions, so that its memory is allocated and paged in once.
///
/// It starts empty, grows as needed, and never beyond its limit.
///
/// ```
/// let scratch = smallfry_transcode::Scratch::with_limit(1 << 20);
/// assert_eq!(scratch.limit(), 1 << 20);
/// assert_eq!(scratch.capacity(), 0);
/// ```
pub struct Scratch {
    buffer: Vec<u8>,
    limit: usize,
}

/// Below this a limit would cost more calls than it saves memory, and a character might not fit.
const LEAST_LIMIT: usize = 64;

/// The first allocation, so that short texts of different lengths share one.
const LEAST_CAPACITY: usize = 4096;

impl Scratch {
    /// 4 MiB.
    pub const DEFAULT_LIMIT: usize = 4 << 20;

    /// A scratch with the default limit. Allocates nothing yet.
    pub const fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// A scratch that never holds more than `limit` bytes, or 64 if that is less.
    pub const fn with_limit(limit: usize) -> Self {
        let limit = if limit < LEAST_LIMIT {
            LEAST_LIMIT
        } else {
            limit
        };
        Self {
            buffer: Vec::new(),
            limit,
        }
    }

    /// The most bytes it will ever hold.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes it holds now.
    pub const fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Gives its memory back. The next conversion allocates anew.
    pub fn release(&mut self) {
        self.buffer = Vec::new();
    }

    /// An empty buffer with room for `bytes`, or for as many as the limit allows.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        let bytes = bytes.min(self.limit);
        self.buffer.clear();
        if self.buffer.capacity() < bytes {
            self.grow(bytes);
        }
        &mut self.buffer
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        // At least doubled, so that texts that get longer little by little do not allocate each time; freed before, so
        // that two buffers never exist together and nothing is copied.
        let doubled = self.buffer.capacity().saturating_mul(2);
        let capacity = bytes.max(doubled).max(LEAST_CAPACITY).min(self.limit);
        self.buffer = Vec::new();
        self.buffer.reserve_exact(capacity);
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch")
            .field("capacity", &self.capacity())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
