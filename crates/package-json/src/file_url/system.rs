//! The systems that a path can belong to.

/// The system of a path, like the option `windows` of Node's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// Paths like `/home/me`.
    Posix,
    /// Paths like `C:\Users\me` and `\\server\share`.
    Windows,
}

impl System {
    /// The system that this is compiled for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Posix
    };

    pub(super) fn is_separator(self, byte: u8) -> bool {
        byte == b'/' || self == Self::Windows && byte == b'\\'
    }

    pub(super) fn separator(self) -> char {
        match self {
            Self::Posix => '/',
            Self::Windows => '\\',
        }
    }
}
