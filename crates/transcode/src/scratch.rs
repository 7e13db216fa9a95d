//! The buffer that conversions write to.

use std::fmt;

/// A buffer that is kept between conversions, so that its memory is allocated and paged in once.
///
/// It starts empty, grows as needed, and never grows beyond its limit.
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

/// The minimum limit. A smaller one would cost more calls than it saves memory, and a character
/// might not fit.
const MIN_LIMIT: usize = 64;

/// The size of the first allocation, so that short texts of different lengths share one.
const MIN_CAPACITY: usize = 4096;

impl Scratch {
    /// The default limit: 4 MiB.
    pub const DEFAULT_LIMIT: usize = 4 << 20;

    /// Makes an empty scratch with the default limit.
    pub const fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// Makes an empty scratch that never holds more than `limit` bytes, or 64 if that is more.
    pub const fn with_limit(limit: usize) -> Self {
        let limit = if limit < MIN_LIMIT { MIN_LIMIT } else { limit };
        Self {
            buffer: Vec::new(),
            limit,
        }
    }

    /// The maximum number of bytes that it can hold.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The number of bytes that it holds now.
    pub const fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Frees its memory. The next conversion allocates anew.
    pub fn release(&mut self) {
        self.buffer = Vec::new();
    }

    /// Returns an empty buffer with room for `bytes`, or for as many as the limit allows.
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
        // At least doubled, so that texts of slowly growing length do not allocate each time. Freed
        // first, so that two buffers never exist at once and nothing is copied.
        let doubled = self.buffer.capacity().saturating_mul(2);
        let capacity = bytes.max(doubled).max(MIN_CAPACITY).min(self.limit);
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
