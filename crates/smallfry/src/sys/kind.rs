//! The kind of an entry of a directory.

/// The kind of an entry, as its directory tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    /// A symbolic link. On Windows also a junction or a volume that is mounted there.
    Link,
    /// A pipe, socket or device.
    Special,
}
