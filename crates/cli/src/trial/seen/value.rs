//! A result, reduced to what is compared.

use blake3::Hash;
use std::process::ExitStatus;

/// A result of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// The part that stays the same if only numbers or bytes differ.
    pub(super) shape: Shape,
    /// The contents. Printed text is hashed without times.
    pub(super) contents: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    File,
    Executable,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// Printed text without its numbers.
    Text(Hash),
    Status(ExitStatus),
}
