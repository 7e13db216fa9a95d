//! The outcome of an unmount.

/// The outcome of an unmount.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unmounted {
    /// It was unmounted, and no file in it was open.
    Clean,
    /// It was unmounted while files were open in it, which now fail with `ENOTCONN`.
    Busy,
    /// Another program had unmounted it.
    Already,
    /// It is still mounted, because another mount covers it. Unmount that one first.
    Covered,
}
