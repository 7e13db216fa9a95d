//! Reads entries ahead: small files whole, and what there is to know of the others.

use std::io;
use std::path::PathBuf;

use smallfry_workers::{Task, TaskContext};

use super::listing::Found;
use crate::error::Operation;
use crate::raw;
use crate::sys::{self, EntryStatus, Kind};
use crate::tree::directory::Directories;

/// The maximum length in bytes of a file that is read as a whole.
pub(super) const SMALL: u64 = 1 << 20;

/// The task of reading one entry.
pub(super) struct Reading<'r>(pub(super) &'r Directories);

/// An entry that was read.
pub(super) enum Content {
    Directory,
    Link(PathBuf),
    File(Vec<u8>),
    /// A file that is too large to be read ahead.
    Large,
}

type Read = io::Result<(EntryStatus, Content)>;

impl Task for Reading<'_> {
    type Input = Found;
    /// `None` for one that was cancelled.
    type Output = Option<(Found, Read)>;
    type Scratch = ();

    fn run(&self, (): &mut (), found: Found, context: &mut TaskContext<'_>) -> Self::Output {
        let read = self.read(&found, context);
        Some((found, read))
    }

    fn cancelled(&self, _: Found) -> Self::Output {
        None
    }

    fn failed(&self, output: &Self::Output) -> bool {
        !matches!(output, Some((_, Ok(_))))
    }
}

impl Reading<'_> {
    fn read(&self, found: &Found, context: &mut TaskContext<'_>) -> Read {
        let Self(directories) = self;
        let directory = directories.open(&found.directory)?;
        let name = &found.name;
        match found.kind {
            Kind::Directory => Ok((directory.status_of(name)?, Content::Directory)),
            Kind::Link => {
                let target = directory.read_link(name)?;
                let target = sys::target_path(&target).ok_or_else(other_link)?.to_owned();
                Ok((directory.status_of(name)?, Content::Link(target)))
            }
            Kind::File => {
                let file = directories.with_descriptors(|| Ok(directory.open_file(name)?))?;
                let status = sys::entry_status(raw::borrow(&file))?;
                if status.kind != Kind::File {
                    let reason = "the file was replaced by something else meanwhile";
                    return Err(io::Error::other(reason));
                }
                if status.size > SMALL {
                    return Ok((status, Content::Large));
                }
                context.reserve(status.size);
                // One byte more, so that the last read finds the end.
                let size = usize::try_from(status.size).unwrap_or(0);
                let mut contents = Vec::with_capacity(size + 1);
                while sys::read_spare(raw::borrow(&file), &mut contents)? > 0 {
                    if contents.len() == contents.capacity() {
                        contents.reserve(contents.len());
                    }
                    if contents.len() as u64 > SMALL {
                        return Ok((status, Content::Large));
                    }
                }
                context.moved(contents.len());
                Ok((status, Content::File(contents)))
            }
            Kind::Special => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "pipes, sockets and devices are not packed",
            )),
        }
    }
}

fn other_link() -> io::Error {
    let reason = "only symbolic links and junctions are packed";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

/// Returns the operation that an error of an entry belongs to.
pub(super) fn operation_of(kind: Kind) -> Operation {
    match kind {
        Kind::Directory => Operation::Stat,
        Kind::Link => Operation::Readlink,
        Kind::File | Kind::Special => Operation::Read,
    }
}
