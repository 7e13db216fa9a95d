//! Reads an object whole.

use std::io;
use std::path::Path;

use futures_util::StreamExt;
use object_store::{GetOptions, GetRange, ObjectMeta};
use pollster::block_on;
use smallfry_workers::TaskContext;

use super::Location;
use super::failure::Failure;
use super::retry::retry;
use crate::bulk::{Arena, Bytes};
use crate::error::{Error, Operation, too_large};

/// The part of an object that has come.
struct Part {
    contents: Bytes,
    /// The size of the object in bytes.
    size: usize,
    /// The version of which it is a part, if the server has told that.
    e_tag: Option<String>,
}

/// Reads the object that the URL `path` names into memory of `arena`. After a cut connection only
/// the rest is asked for. An object of more than `largest` bytes is refused, and no memory is taken
/// for it.
pub(crate) fn read(
    path: &Path,
    largest: u64,
    arena: &mut Arena,
    context: &mut TaskContext<'_>,
) -> Result<Bytes, Error> {
    let location = Location::parse(path)?;
    read_object(&location, largest, arena, context)
        .map_err(|reason| Error::at(Operation::Read, path, reason))
}

fn read_object(
    location: &Location,
    largest: u64,
    arena: &mut Arena,
    context: &mut TaskContext<'_>,
) -> io::Result<Bytes> {
    let mut part: Option<Part> = None;
    retry(context, |context| {
        // Without a tag the rest could be that of another version.
        part = part.take().filter(|part| part.e_tag.is_some());
        let options = part
            .as_ref()
            .map_or_else(GetOptions::default, |part| GetOptions {
                range: Some(GetRange::Offset(part.contents.len() as u64)),
                if_match: part.e_tag.clone(),
                ..GetOptions::default()
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
        let here = match &mut part {
            Some(here) => here,
            none => none.insert(Part::begin(answer.meta.clone(), largest, arena, context)?),
        };
        let before = here.contents.len();
        let mut pieces = answer.into_stream();
        let failure = loop {
            match block_on(pieces.next()) {
                Some(Ok(piece)) => here.contents.extend_from_slice(&piece),
                Some(Err(error)) => break Failure::from(error),
                None if here.contents.len() == here.size => return Ok(()),
                None => break Failure::Broken(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        Err(match failure {
            Failure::Broken(reason) if here.contents.len() > before => Failure::Cut(reason),
            failure => failure,
        })
    })?;
    let contents = part.expect("it has come").contents;
    context.moved(contents.len());
    Ok(contents)
}

impl Part {
    /// Takes memory for an object.
    fn begin(
        meta: ObjectMeta,
        largest: u64,
        arena: &mut Arena,
        context: &mut TaskContext<'_>,
    ) -> Result<Self, Failure> {
        let size = usize::try_from(meta.size)
            .ok()
            .filter(|_| meta.size <= largest);
        let size = size.ok_or_else(|| Failure::Final(too_large(meta.size, largest)))?;
        context.reserve(meta.size);
        let contents = arena.allocate(size);
        let contents = contents.ok_or_else(|| Failure::Final(io::ErrorKind::OutOfMemory.into()))?;
        Ok(Self {
            contents,
            size,
            e_tag: meta.e_tag,
        })
    }
}
