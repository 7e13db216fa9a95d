//! The part of a file's status that changes with its contents.

/// The part of a file's status that changes with its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The length in bytes.
    pub(crate) size: u64,
    /// The time of modification, which programs can set: seconds since 1970, and nanoseconds.
    pub(crate) modified: (i64, u32),
    /// The time of the last change of anything, which the system alone sets.
    pub(crate) changed: (i64, u32),
}
