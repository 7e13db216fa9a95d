//! Names of requests, and the places on the disk that they want.

/// The name of a request that is answered later.
pub type RequestId = u64;

/// A run of bytes on the simulated disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) position: u64,
    pub(super) bytes: u64,
    pub(super) write: bool,
}
