//! The way in which a copy comes to its contents.

/// The way in which the copy of a file comes to its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The file is new, and shares its blocks with its source until one of both is changed, where
    /// the file system can do that (Btrfs, XFS). The first file shows that. Small files are cloned
    /// only where that takes less time, which the first 32 show.
    #[default]
    Auto,
    /// The same, and it is an error where the file system cannot do that. A system other than Linux
    /// never can. `cp --reflink=always` does the same.
    ///
    /// [ioctl_ficlone(2)](https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html)
    Clone,
    /// The file is new, and has blocks of its own.
    Copy,
    /// The file is a hard link to its source, and has its permissions, owner, attributes and
    /// times. Symbolic links and special files are linked as well. The system refuses it between
    /// file systems. `cp -lP` does the same.
    ///
    /// [link(2)](https://man7.org/linux/man-pages/man2/link.2.html)
    HardLink,
}
