//! The size and kind of an open file.

/// The size and kind of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The length in bytes, of a regular file only. Even there 0 may mean "not known", as under
    /// `/proc`.
    pub size: u64,
    /// True for a regular file: not a directory, pipe, terminal or device.
    pub is_regular: bool,
    /// True for a directory.
    pub is_directory: bool,
}

impl Status {
    pub(crate) const fn new(size: u64, is_regular: bool, is_directory: bool) -> Self {
        Self {
            size,
            is_regular,
            is_directory,
        }
    }
}
