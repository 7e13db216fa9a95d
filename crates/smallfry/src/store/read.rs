//! Reads an object whole.

use std::io;
use std::path::Path;

use futures_util::StreamExt;
use object_store::{GetOptions, GetRange};
use pollster::block_on;
use smallfry_workers::TaskContext;

use super::Location;
use super::failure::Failure;
use super::retry::retry;
use crate::error::{Error, Operation, too_large};

/// The memory that an object is read into.
pub(crate) trait Sink {
    /// Takes memory for an object of `size` bytes, and forgets what was added before.
    fn begin(&mut self, size: usize, context: &mut TaskContext<'_>) -> io::Result<()>;

    /// Adds the next bytes.
    fn add(&mut self, bytes: &[u8]);
}

/// The part of an object that has come.
struct Part {
    come: usize,
    /// The size of the object in bytes.
    size: usize,
    /// The version of which it is a part, if the server has told that.
    e_tag: Option<String>,
}

/// Reads the object that the URL `path` names. After a cut connection only the rest is asked for.
/// An object of more than `largest` bytes is refused, and no memory is taken for it.
pub(crate) fn read(
    path: &Path,
    largest: u64,
    sink: &mut impl Sink,
    context: &mut TaskContext<'_>,
) -> Result<(), Error> {
    let location = Location::parse(path)?;
    let mut part = None;
    let size = retry(context, |context| {
        read_on(&location, largest, &mut part, sink, context)
    });
    let size = size.map_err(|reason| Error::at(Operation::Read, path, reason))?;
    context.moved(size);
    Ok(())
}

/// Reads the rest of an object. Returns the size of the object.
fn read_on(
    location: &Location,
    largest: u64,
    part: &mut Option<Part>,
    sink: &mut impl Sink,
    context: &mut TaskContext<'_>,
) -> Result<usize, Failure> {
    // Without a tag the rest could be that of another version.
    *part = part.take().filter(|part| part.e_tag.is_some());
    let options = part.as_ref().map_or_else(GetOptions::default, |part| {
        GetOptions::default()
            .with_range(Some(GetRange::Offset(part.come as u64)))
            .with_if_match(part.e_tag.clone())
    });
    let request = location.store.client.get_opts(&location.key, options);
    let answer = match block_on(request).map_err(Failure::from) {
        // The version whose rest was asked for is gone.
        Err(Failure::Final(reason)) if reason.kind() == io::ErrorKind::AlreadyExists => {
            let reason = "the object has changed while it was read";
            return Err(Failure::Final(io::Error::other(reason)));
        }
        answer => answer?,
    };
    let here = match part {
        Some(here) => here,
        none => {
            let told = answer.meta.size;
            let size = usize::try_from(told).ok().filter(|_| told <= largest);
            let size = size.ok_or_else(|| Failure::Final(too_large(told, largest)))?;
            sink.begin(size, context).map_err(Failure::Final)?;
            none.insert(Part {
                come: 0,
                size,
                e_tag: answer.meta.e_tag.clone(),
            })
        }
    };
    let before = here.come;
    let mut pieces = answer.into_stream();
    let failure = loop {
        match block_on(pieces.next()) {
            Some(Ok(piece)) if piece.len() <= here.size - here.come => {
                sink.add(&piece);
                here.come += piece.len();
            }
            Some(Ok(_)) => break Failure::Final(io::ErrorKind::InvalidData.into()),
            Some(Err(error)) => break Failure::from(error),
            None if here.come == here.size => return Ok(here.size),
            None => break Failure::Broken(io::ErrorKind::UnexpectedEof.into()),
        }
    };
    Err(match failure {
        Failure::Broken(reason) if here.come > before => Failure::Cut(reason),
        failure => failure,
    })
}
