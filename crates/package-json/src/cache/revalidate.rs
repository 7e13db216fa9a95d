//! When a remembered answer is checked again.

use std::time::Duration;

/// When a remembered answer is looked up again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revalidate {
    /// Not before [`Cache::clear`] or [`Cache::invalidate`]. That a file is missing is remembered as well, as Node does.
    Never,
    /// Each time, by one `stat` for each directory from the file's own up to the one that decides. A file was changed if its
    /// inode, its size or one of its times (modified, changed; in nanoseconds) is another. One that was so new when it was read
    /// that its times might stay the same if it changed at once is read again until it is older: 0.1 s, or 2 s where the file
    /// system has no fractions of seconds.
    ///
    /// In a batch each directory is looked at once.
    #[default]
    OnChange,
    /// As `OnChange`, but not of directories that were looked at so short a time ago.
    After(Duration),
}
