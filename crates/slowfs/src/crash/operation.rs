//! Operations of a log.

use super::extents::Extents;
use super::node::{Attributes, Inode, Name};
use std::ffi::OsString;

/// An operation that had an effect.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// The inode was made with this name.
    Make(Inode, Name),
    Link(Inode, Name),
    Remove(Name),
    Rename {
        moved: Inode,
        from: Name,
        to: Name,
        /// The inode that moved the other way in an exchange.
        exchanged: Option<Inode>,
    },
    Write {
        inode: Inode,
        offset: u64,
        length: u64,
        /// Where the bytes are kept. `None`: they are zero, as in a hole.
        bytes: Option<u64>,
    },
    Resize(Inode, u64),
    Change(Inode, Attributes),
    /// A flush that began when there were `before` operations.
    Flush {
        inode: Inode,
        data_only: bool,
        before: usize,
    },
    Acknowledge(OsString),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) operation: Operation,
    /// Earlier operations without which this one cannot survive.
    pub(super) needs: Vec<usize>,
}

/// Applies an operation to the contents of a file.
pub(super) fn apply(contents: &mut Extents, operation: &Operation) {
    match *operation {
        Operation::Write {
            offset,
            length,
            bytes: Some(at),
            ..
        } => contents.write(offset, length, at),
        Operation::Write { offset, length, .. } => {
            contents.zero(offset, length);
            contents.size = contents.size.max(offset.saturating_add(length));
        }
        Operation::Resize(_, size) => contents.resize(size),
        _ => {}
    }
}
