//! A thing that a run leaves, reduced to what is compared.

use blake3::Hash;
use std::process::ExitStatus;

/// A thing as one run left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// What stays the same where only numbers or bytes differ.
    pub(super) shape: Shape,
    /// Of printed text, without the times in it.
    pub(super) contents: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    File,
    Executable,
    Directory,
    Link,
    /// A pipe, a socket, a device.
    Special,
    /// Printed text, its numbers left out.
    Text(Hash),
    Status(ExitStatus),
}
