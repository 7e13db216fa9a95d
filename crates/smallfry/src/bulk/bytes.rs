//! The contents of one file.

#![allow(unsafe_code, reason = "memory is filled by reads, not by zeros first")]

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::chunk::Chunk;
use crate::raw::{self, BorrowedFile, Errno};
use crate::sys::PAGE;

/// The maximum size in bytes of contents in ordinary memory that are better copied.
const MAX_COPIED: usize = 64 << 10;

/// The contents of one file of many, in memory that it owns.
///
/// It derefs to a slice of bytes. It may keep up to 2 MiB of its neighbours' memory mapped. If you
/// keep a few small ones for long, copy them with [`into_vec`](Self::into_vec).
pub struct Bytes {
    memory: Memory,
    /// The number of bytes that may be filled. `len` of them are.
    room: usize,
    len: usize,
}

enum Memory {
    /// A slot of a shared mapping.
    Part(Part),
    Own(Own),
}

/// Memory of the allocator. A raw pointer, since a value of another language may be over it when
/// this is moved.
struct Own(NonNull<[MaybeUninit<u8>]>);

impl Own {
    fn new(room: Box<[MaybeUninit<u8>]>) -> Self {
        Self(NonNull::from(Box::leak(room)))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: it comes from a box, and nothing uses it after this.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: it owns its memory as a box does.
unsafe impl Send for Own {}
// SAFETY: through a shared reference it is only read.
unsafe impl Sync for Own {}

struct Part {
    chunk: Arc<Chunk>,
    offset: usize,
    /// The number of bytes taken from the chunk.
    size: usize,
}

impl Part {
    fn base(&self) -> *mut u8 {
        // SAFETY: the chunk was cut with this offset inside its mapping, which lives as long as the
        // chunk.
        unsafe { self.chunk.base().add(self.offset) }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.chunk.remove(self.offset, self.size);
    }
}

impl Bytes {
    pub(super) fn part_of(chunk: Arc<Chunk>, offset: usize, size: usize, room: usize) -> Self {
        let memory = Memory::Part(Part {
            chunk,
            offset,
            size,
        });
        Self {
            memory,
            room,
            len: 0,
        }
    }

    /// Makes room for `room` bytes in ordinary memory. For one file at a time it is faster than an
    /// [`Arena`](super::Arena), since its pages were in use a moment ago.
    pub fn with_capacity(room: usize) -> Self {
        Self {
            memory: Memory::Own(Own::new(Box::new_uninit_slice(room))),
            room,
            len: 0,
        }
    }

    /// Makes room as [`with_capacity`](Self::with_capacity) does. Returns `None` if there is no
    /// memory.
    pub fn try_with_capacity(room: usize) -> Option<Self> {
        let mut bytes: Vec<MaybeUninit<u8>> = Vec::new();
        bytes.try_reserve_exact(room).ok()?;
        // SAFETY: there is room for so many, and they need not be initialised.
        unsafe { bytes.set_len(room) };
        Some(Self {
            memory: Memory::Own(Own::new(bytes.into_boxed_slice())),
            room,
            len: 0,
        })
    }

    /// Returns the part that holds no contents yet.
    fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        match &mut self.memory {
            // SAFETY: the part is `room` bytes at least, only this owner reaches them, and they
            // need not be initialised.
            Memory::Part(part) => unsafe {
                std::slice::from_raw_parts_mut(
                    part.base().add(self.len).cast(),
                    self.room - self.len,
                )
            },
            // SAFETY: as above.
            Memory::Own(own) => unsafe { &mut own.0.as_mut()[self.len..] },
        }
    }

    /// Returns the number of bytes for which there is room.
    pub const fn room(&self) -> usize {
        self.room - self.len
    }

    /// Adds the bytes of one [`raw::read`] of at most `max` bytes, and returns their number: 0 at
    /// the end of the file, or if there is no room.
    pub fn read(&mut self, file: BorrowedFile<'_>, max: usize) -> Result<usize, Errno> {
        let spare = self.spare();
        let max = max.min(spare.len());
        let count = raw::read(file, &mut spare[..max])?.len();
        self.len += count;
        Ok(count)
    }

    /// Adds as much of `bytes` as there is room for.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(self.room());
        for (place, byte) in self.spare().iter_mut().zip(&bytes[..count]) {
            place.write(*byte);
        }
        self.len += count;
    }

    /// Returns the address of the bytes, which outlives a move of this value. A front end can make
    /// a value of another language over them and keep the `Bytes` as long. It is `None` for
    /// contents that are better copied: those smaller than a page, or up to 64 KiB in ordinary
    /// memory.
    pub fn shareable(&self) -> Option<*mut u8> {
        match &self.memory {
            Memory::Part(part) if self.len >= PAGE => Some(part.base()),
            Memory::Own(own) if self.len > MAX_COPIED => Some(own.0.as_ptr().cast()),
            _ => None,
        }
    }

    /// Copies the contents to ordinary memory.
    pub fn into_vec(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.memory {
            // SAFETY: the first `len` bytes were filled, and only this owner reaches them.
            Memory::Part(part) => unsafe { std::slice::from_raw_parts(part.base(), self.len) },
            // SAFETY: as above.
            Memory::Own(own) => unsafe {
                std::slice::from_raw_parts(own.0.as_ptr().cast(), self.len)
            },
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        bytes.into_vec()
    }
}

impl PartialEq<[u8]> for Bytes {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bytes").field(&self.len()).finish()
    }
}
