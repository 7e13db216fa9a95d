//! The way in which a copy comes to its contents.

/// The way in which the copy of a file comes to its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The file is new. See [`clone_blocks`](super::Copier::clone_blocks).
    #[default]
    Copy,
    /// The file is a further name of its source, and has its permissions, owner, attributes and
    /// times. Symbolic links and special files are linked as well. The system refuses it between
    /// file systems. `cp -lP` does the same.
    ///
    /// [link(2)](https://man7.org/linux/man-pages/man2/link.2.html)
    HardLink,
}
