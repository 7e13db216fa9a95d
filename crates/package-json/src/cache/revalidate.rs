//! When a remembered answer is checked again.

use std::time::Duration;

/// When a remembered answer is checked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revalidate {
    /// Not before [`Cache::clear`](crate::Cache::clear) or
    /// [`Cache::invalidate`](crate::Cache::invalidate). Missing files are remembered as well, as in
    /// Node.
    Never,
    /// At each look-up, by one `stat` for each directory from the file's own up to the one that
    /// decides. In a batch each directory is checked once.
    ///
    /// A file counts as changed if its inode, its size or one of its times (modified, changed; in
    /// nanoseconds) differs. A file that was very new when it was read could change again without a
    /// new time. It is read again until it is older than 0.1 s, or than 2 s where the file system
    /// has no fractions of seconds.
    #[default]
    OnChange,
    /// Like `OnChange`, except for directories that were checked less than this time ago.
    After(Duration),
}
