//! Packs and unpacks archives: tar, tar.gz, tar.zst and zip.
//!
//! [`Packer`] reads ahead the files of a tree, and the calling thread writes them into an archive.
//! [`Unpacker`] writes the entries of an archive into a directory. The calling thread reads and
//! decompresses the archive. Small files are written by as many threads as pay, which is measured
//! meanwhile. The entries of a zip are also inflated by these threads.
//!
//! # Archives from strangers
//!
//! All entries stay in the directory. They go down from one open directory to the next by single
//! names and never through a link, neither one of the archive nor one that is there already. So
//! another program that exchanges a directory for a link cannot lead them elsewhere. These entries
//! are errors, and the others are unpacked:
//!
//! - absolute names, and names with `..`
//! - links to absolute paths or out of the directory, and links with `..` after a name that is no
//!   directory, unless they are [allowed](Unpacker::links_may_leave)
//! - devices, pipes and sockets
//! - on Windows, names and targets with a backslash, a colon, a dot or space at their end, or
//!   anything else that Windows takes for another name or a device
//! - a second entry of a name, unless the [last one wins](Unpacker::last_wins); also a name that
//!   differs in case only, on Windows and macOS
//!
//! Bits that let a program run as the owner or group of its file are not set. Set
//! [`max_bytes`](Unpacker::max_bytes) or [`max_ratio`](Unpacker::max_ratio) for archives that could
//! fill the disk.
//!
//! # Platform-specific behavior
//!
//! - Windows has no such permissions: those of an archive are ignored, and files are packed with
//!   0666, or 0444 if they are read-only. Paths in an archive have slashes, those of targets too.
//! - On Windows a symbolic link takes the privilege to make one, or developer mode. Each link is an
//!   error without these. Junctions are packed as symbolic links.
//!
//! # What is not promised
//!
//! - **A flush.** After a power failure files may be missing, empty or torn.
//! - **Owners, extended attributes and access control lists.** They are not restored.
//! - **A picture of one moment.** A tree that changes while it is packed is packed as each of its
//!   entries was when it was read.

mod callback;
mod decompress;
mod format;
mod invalid;
mod pack;
mod unpack;

pub use format::Format;
pub use pack::Packer;
pub use unpack::Unpacker;
