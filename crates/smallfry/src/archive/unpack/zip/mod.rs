//! Reads a zip by its list of entries, which is at its end. Workers inflate the entries.
//!
//! [APPNOTE.TXT](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)

mod contents;
mod cp437;
mod end;
mod list;
mod record;
mod source;

use std::io;

use rawzip::{ErrorKind, ZipArchive, ZipFileHeaderRecord};
use smallfry_workers::Control;

use super::admission::{Admission, Admitted, Candidate, Kind};
use super::entry::Input;
use super::unpacking::{Contents, Fault, NewFile, Unpacking};
use crate::archive::invalid::invalid;
use contents::{Inflater, Place};
use list::{Entries, List};
use source::Reader;

pub(super) use source::Source;

/// The maximum length in bytes of a link's target.
const MAX_TARGET: u64 = 4096;

type Zip<'a> = ZipArchive<Reader<'a>>;

/// Unpacks all entries of a zip.
pub(super) fn unpack(unpacking: &Unpacking<'_>, source: Source<'_>) {
    let Some((list, length)) = open(unpacking, source) else {
        return;
    };
    let mut admission = Admission::new(unpacking);
    let files = Files {
        zip: list.zip.clone(),
        control: &unpacking.options.control,
    };
    let mut buffer = list::buffer();
    let mut entries = Entries::new(&list, &mut buffer);
    let mut links = Inflater::new(&list.zip);
    let mut reached = 0..list.len();
    let inputs = std::iter::from_fn(|| {
        loop {
            let (number, entry) = match entries.next() {
                Ok(found) => found?,
                Err(reason) => {
                    unpacking.fail_archive(reason);
                    entries.end();
                    continue;
                }
            };
            files.control.reach(reached.next()?, reached.end);
            let place = Place::of(&entry);
            let is_readable = !list.unreadable.contains(&number);
            let candidate = match candidate(&entry, &place, is_readable, &mut links) {
                Ok(candidate) => candidate,
                Err(reason) => {
                    unpacking.fail_archive(reason);
                    continue;
                }
            };
            match admission.admit(candidate, length) {
                Ok(Admitted::File(meta)) => return Some(Input::File(meta, place)),
                Ok(Admitted::Directory(path)) => return Some(Input::Directory(path)),
                Ok(Admitted::Nothing) => {}
                Err(reason) => {
                    unpacking.fail_archive(reason);
                    entries.end();
                }
            }
        }
    });
    unpacking.write_all(&files, inputs);
    unpacking.finish(admission.later);
}

/// Reads the list of a zip. Returns it and the length of the zip in bytes, or `None` if nothing is
/// to be unpacked, which is reported.
fn open<'a>(unpacking: &Unpacking<'_>, source: Source<'a>) -> Option<(List<'a>, u64)> {
    let length = source.length();
    let opened = length.and_then(|length| Ok((List::read(source)?, length)));
    let opened = opened.map_err(|reason| unpacking.fail_archive(reason));
    let (mut list, length) = opened.ok()?;
    if let Some(reason) = list.damage.take() {
        unpacking.fail_archive(reason);
    }
    // Such a zip can become any number of times as large.
    if list.overlap {
        unpacking.fail_archive(invalid("the entries of the zip overlap"));
        return None;
    }
    if !list.replaced.is_empty() && !unpacking.options.last_wins {
        let reason = "the zip has several entries of one name, of which the last was unpacked";
        unpacking.fail_archive(invalid(reason));
    }
    Some((list, length))
}

/// Returns the facts that the list has of an entry, and the target of a link.
fn candidate(
    entry: &ZipFileHeaderRecord<'_>,
    place: &Place,
    is_readable: bool,
    links: &mut Inflater<'_>,
) -> io::Result<Candidate> {
    let name = record::name(entry);
    let failed = |reason: io::Error| {
        let name = String::from_utf8_lossy(&name);
        io::Error::new(reason.kind(), format!("{name}: {reason}"))
    };
    if !is_readable {
        links.check(place).map_err(failed)?;
    }
    let mode = record::mode(entry);
    let kind = match mode & record::KIND {
        _ if record::is_directory(entry) => Kind::Directory,
        // Info-ZIP calls it a pipe if it has read the contents from one.
        0 | record::REGULAR | record::PIPE => Kind::File(entry.uncompressed_size_hint()),
        record::DIRECTORY => Kind::Directory,
        record::LINK => Kind::Link(target(entry, place, links).map_err(failed)?),
        _ => Kind::Other,
    };
    let permissions = match mode & 0o777 {
        0 if matches!(kind, Kind::Directory) => 0o777,
        0 => 0o666,
        mode => mode,
    };
    Ok(Candidate {
        kind,
        mode: permissions,
        modified: record::modified(entry),
        name,
    })
}

/// Reads the target of a link.
fn target(
    entry: &ZipFileHeaderRecord<'_>,
    place: &Place,
    links: &mut Inflater<'_>,
) -> io::Result<Vec<u8>> {
    if entry.uncompressed_size_hint() > MAX_TARGET {
        return Err(invalid("the target of the link is too long"));
    }
    let mut target = Vec::new();
    links.copy(place, |piece| {
        target.extend_from_slice(piece);
        io::Result::Ok(())
    })?;
    Ok(target)
}

fn into_io(error: rawzip::Error) -> io::Error {
    let reason = match error.into_kind() {
        ErrorKind::IO(error) => return error,
        ErrorKind::MissingEndOfCentralDirectory => "the record at its end is missing",
        ErrorKind::Eof => return cut_off(),
        ErrorKind::InvalidSignature { .. } => "a header is not where it is stated to be",
        _ => "the record at its end is wrong",
    };
    invalid(&format!("the zip is damaged or cut off: {reason}"))
}

/// Returns the error of a zip that is shorter than stated.
fn cut_off() -> io::Error {
    let reason = "the zip is damaged or cut off: it has fewer bytes than it states";
    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
}

/// The files of a zip.
struct Files<'a> {
    zip: Zip<'a>,
    control: &'a Control,
}

impl<'a> Contents for Files<'a> {
    type Of = Place;
    type Scratch = Option<Inflater<'a>>;

    fn weight(&self, _: &Place) -> u64 {
        0
    }

    fn copy(
        &self,
        place: Place,
        scratch: &mut Self::Scratch,
        file: &mut NewFile<'_>,
    ) -> Result<(), Fault> {
        let inflater = scratch.get_or_insert_with(|| Inflater::new(&self.zip));
        inflater.copy(&place, |piece| {
            if self.control.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            file.write(piece)
        })
    }
}
