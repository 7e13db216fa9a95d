//! The way in which a copy comes to its contents.

/// The way in which the copy of a file comes to its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The file is new, and shares its blocks with its source until one of both is changed, where
    /// the file system can do that: Btrfs, XFS, APFS, `ReFS`. The first file from one file system to
    /// another shows that. Small files are cloned only where that takes less time, which the first
    /// 32 show; on APFS all are cloned, and have the attributes and the access control list of their
    /// source.
    #[default]
    Auto,
    /// The same for all files, and it is an error where the file system cannot do that.
    /// `cp --reflink=always` does the same.
    ///
    /// [ioctl_ficlone(2)](https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html),
    /// [clonefile(2)](https://www.manpagez.com/man/2/fclonefileat/),
    /// [block cloning](https://learn.microsoft.com/windows/win32/fileio/block-cloning)
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
