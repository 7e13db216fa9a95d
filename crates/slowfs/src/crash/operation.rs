//! What a log has of one call.

use super::extents::Extents;
use super::node::{Attributes, Inode, Name};
use std::ffi::OsString;

/// One thing that was done, and had an effect.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// The inode got its first name.
    Make(Inode, Name),
    Link(Inode, Name),
    Remove(Name),
    Rename {
        moved: Inode,
        from: Name,
        to: Name,
        /// What was there goes to where the other was.
        exchanged: Option<Inode>,
    },
    Write {
        inode: Inode,
        offset: u64,
        length: u64,
        /// Where its bytes are kept. `None`: they are zeros, as a hole's.
        bytes: Option<u64>,
    },
    Resize(Inode, u64),
    Change(Inode, Attributes),
    /// It was flushed, as it was when there were so many operations.
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
    /// Earlier operations without which this one makes no sense.
    pub(super) needs: Vec<usize>,
}

/// What an operation does to a file's contents.
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
