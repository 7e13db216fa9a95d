//! What names a request, and the part of the disk that it wants.

/// Names a request that is answered later.
pub type RequestId = u64;

/// A run of bytes on the simulated disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) position: u64,
    pub(super) bytes: u64,
    pub(super) write: bool,
}
