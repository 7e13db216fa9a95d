//! How an unmount went.

/// How an unmount went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unmounted {
    /// Nobody used it.
    Clean,
    /// Something in it was open, and now fails with `ENOTCONN`.
    Busy,
    /// Somebody else had unmounted it.
    Already,
    /// It was not: another mount covers it, which has to be unmounted first. It serves on.
    Covered,
}
