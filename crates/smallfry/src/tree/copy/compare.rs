//! Finds out whether a file or link differs from its copy.

use std::fs::File;
use std::io::{self, Read};

use super::entry::Transfer;
use crate::sys::{EntryStatus, Kind, LinkTarget};

/// The difference between a file or link and its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tree) enum Difference {
    Nothing,
    /// Permissions or times.
    Attributes,
    /// Another kind, or other contents.
    Contents,
}

/// The bytes of each file that are compared at a time.
const PIECE: usize = 128 << 10;

/// Compares an entry that is no directory with its copy. With `by_contents`, files of the same
/// size are compared byte by byte. `target` returns the target that the copy of a link gets.
pub(in crate::tree) fn compare(
    entry: &Transfer<'_>,
    from: &EntryStatus,
    to: &EntryStatus,
    target: impl FnOnce() -> io::Result<LinkTarget>,
    by_contents: bool,
) -> io::Result<Difference> {
    let has_same_time = is_same_time(from.modified(), to.modified());
    let is_same = from.kind == to.kind
        && match from.kind {
            Kind::File if from.size != to.size => false,
            Kind::File if by_contents => has_same_contents(entry)?,
            Kind::File => has_same_time,
            Kind::Link => has_same_time && target()? == entry.to.read_link(entry.new_name)?,
            Kind::Directory | Kind::Special => false,
        };
    Ok(if !is_same {
        Difference::Contents
    } else if has_same_attributes(from, to) {
        Difference::Nothing
    } else {
        Difference::Attributes
    })
}

/// Returns true if the permissions and the time of modification are those of the source.
pub(in crate::tree) fn has_same_attributes(from: &EntryStatus, to: &EntryStatus) -> bool {
    let has_mode = from.kind == Kind::Link || to.has_mode_of(from);
    has_mode && is_same_time(from.modified(), to.modified())
}

/// Returns true if a file system has stored the first time as the second one. Some keep whole
/// seconds, microseconds or tenths of them.
fn is_same_time((seconds, nanoseconds): (i64, i64), to: (i64, i64)) -> bool {
    let precisions = [1, 100, 1_000, 1_000_000_000];
    precisions
        .iter()
        .any(|precision| to == (seconds, nanoseconds - nanoseconds % precision))
}

fn has_same_contents(entry: &Transfer<'_>) -> io::Result<bool> {
    let mut from = File::from(entry.from.open_file(entry.name)?);
    let mut to = match entry.to.open_file(entry.new_name) {
        Ok(file) => File::from(file),
        // It is replaced then.
        Err(errno) if io::Error::from(errno).kind() == io::ErrorKind::PermissionDenied => {
            return Ok(false);
        }
        Err(errno) => return Err(errno.into()),
    };
    let mut pieces = [(); 2].map(|()| Vec::with_capacity(PIECE));
    loop {
        for (file, piece) in [&mut from, &mut to].into_iter().zip(&mut pieces) {
            piece.clear();
            file.take(PIECE as u64).read_to_end(piece)?;
        }
        if pieces[0] != pieces[1] {
            return Ok(false);
        }
        if pieces[0].len() < PIECE {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_same_time_allows_for_the_precision_of_the_copy() {
        let time = (7, 123_456_789);
        for nanoseconds in [123_456_789, 123_456_700, 123_456_000, 0] {
            assert!(is_same_time(time, (7, nanoseconds)));
        }
        for other in [
            (7, 123_456_788),
            (7, 123_000_000),
            (8, 123_456_789),
            (6, 0),
            (8, 0),
        ] {
            assert!(!is_same_time(time, other));
        }
        assert!(!is_same_time((7, 0), (7, 1)));
    }
}
