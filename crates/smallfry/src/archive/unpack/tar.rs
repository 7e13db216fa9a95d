//! Reads a tar from its start to its end: ustar, pax, and the long names and sparse files of GNU.
//!
//! [tar(5)](https://man.freebsd.org/cgi/man.cgi?query=tar&sektion=5),
//! [pax](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html)

use std::io::{self, BufRead as _, Read};
use std::time::{Duration, SystemTime};

use tar_core::parse::{Limits, ParseError, ParseEvent, ParsedEntry, Parser};
use tar_core::{
    EntryType, PAX_GNU_SPARSE_MAJOR, PAX_GNU_SPARSE_MAP, PAX_GNU_SPARSE_MINOR,
    PAX_GNU_SPARSE_NUMBYTES, PAX_GNU_SPARSE_OFFSET, PAX_GNU_SPARSE_REALSIZE, PAX_GNU_SPARSE_SIZE,
    PAX_MTIME, PAX_SIZE, PaxExtensions, SparseEntry,
};

use super::super::format::HEADER;
use super::admission::{Admission, Admitted, Candidate, Kind};
use super::entry::{Input, Meta};
use super::length::Length;
use super::unpacking::{Contents, Fault, NewFile, Unpacking};
use super::window::Window;
use crate::archive::invalid::invalid;

/// The maximum length in bytes of a file that is read as a whole, for a worker to write it. The
/// calling thread writes larger ones itself.
const SMALL: u64 = 1 << 20;
/// The maximum length in bytes of all headers of an entry, with the map of a sparse file.
const MAX_HEADERS: usize = 64 << 20;
/// The maximum number of parts between the holes of a sparse file.
const MAX_PARTS: usize = 1 << 20;

/// Unpacks all entries of a tar in an archive of length `archived`.
pub(super) fn unpack<R: Read>(unpacking: &Unpacking<'_>, mut bytes: Window<R>, archived: &Length) {
    let mut admission = Admission::new(unpacking);
    let mut parser = Parser::new(Limits {
        max_sparse_entries: MAX_PARTS,
        ..Limits::default()
    });
    // Such an entry is refused alone, not the rest of the archive with it.
    parser.set_allow_empty_path(true);
    // An owner is not used, and `modified` reads the time. `check_lengths` looks at the rest.
    parser.set_ignore_pax_errors(true);
    let mut reading = Reading {
        unpacking,
        bytes: &mut bytes,
        parser,
        archived,
        admission: &mut admission,
        held: None,
        is_done: false,
    };
    loop {
        let inputs = std::iter::from_fn(|| match reading.next() {
            Ok(input) => input,
            Err(reason) => {
                reading.is_done = true;
                unpacking.fail_archive(reason);
                None
            }
        });
        unpacking.write_all(&InMemory, inputs);
        if reading.held.is_none() || unpacking.options.control.is_cancelled() {
            break;
        }
    }
    unpacking.finish(admission.later);
}

/// The entries that are still to be read.
struct Reading<'r, 'u, 'o, R> {
    unpacking: &'u Unpacking<'o>,
    bytes: &'r mut Window<R>,
    parser: Parser,
    archived: &'r Length,
    admission: &'r mut Admission<'u, 'o>,
    held: Option<Held>,
    is_done: bool,
}

/// A file that the calling thread writes once the workers have written those before it. One of them
/// may have the same name, and this one wins.
struct Held {
    meta: Meta,
    size: u64,
    sparse: Option<(Vec<SparseEntry>, u64)>,
    padding: u64,
}

/// A header, and those that were before it for the same entry.
struct Parsed {
    /// `None` for an entry about the archive itself, which is left out.
    candidate: Option<Candidate>,
    /// The length in the archive, in bytes.
    size: u64,
    /// The parts between holes, and the length of the file.
    sparse: Option<(Vec<SparseEntry>, u64)>,
}

impl<R: Read> Reading<'_, '_, '_, R> {
    /// Returns the next entry for a worker; `None` at the end, or before a held file.
    fn next(&mut self) -> io::Result<Option<Input<Vec<u8>>>> {
        if let Some(held) = self.held.take() {
            let length = self.write(&held.meta, held.size, held.sparse)?;
            self.skip(held.padding)?;
            if let Some(length) = length {
                return Ok(Some(Input::Written(length)));
            }
        }
        while let Some(parsed) = self.parse()? {
            let Parsed {
                candidate,
                size,
                sparse,
            } = parsed;
            let padded = size.checked_next_multiple_of(HEADER as u64);
            let padding = padded.ok_or(io::ErrorKind::InvalidData)? - size;
            let admitted = match candidate {
                Some(candidate) => self.admission.admit(candidate, self.archived.at_least())?,
                None => Admitted::Nothing,
            };
            let input = match admitted {
                Admitted::Nothing => {
                    self.skip(size)?;
                    None
                }
                Admitted::Directory(path) => {
                    self.skip(size)?;
                    Some(Input::Directory(path))
                }
                Admitted::File(meta) if size <= SMALL && sparse.is_none() => {
                    Some(Input::File(meta, self.read(size)?))
                }
                Admitted::File(meta) if self.unpacking.options.last_wins => {
                    self.held = Some(Held {
                        meta,
                        size,
                        sparse,
                        padding,
                    });
                    return Ok(None);
                }
                Admitted::File(meta) => self.write(&meta, size, sparse)?.map(Input::Written),
            };
            self.skip(padding)?;
            self.archived.tell(&self.unpacking.options.control);
            if input.is_some() {
                return Ok(input);
            }
        }
        Ok(None)
    }

    /// Parses the headers of the next entry. `None` at the end.
    fn parse(&mut self) -> io::Result<Option<Parsed>> {
        while !self.is_done {
            let (consumed, parsed) = match self.parser.parse(self.bytes.unused()) {
                Ok(ParseEvent::NeedData { min_bytes }) => {
                    self.read_more(min_bytes)?;
                    continue;
                }
                Ok(ParseEvent::Entry { consumed, entry }) => {
                    (consumed, Some(parsed(&entry, None)?))
                }
                Ok(ParseEvent::SparseEntry {
                    consumed,
                    entry,
                    sparse_map,
                    real_size,
                }) => (
                    consumed,
                    Some(parsed(&entry, Some((sparse_map, real_size)))?),
                ),
                // They are about the program that made the archive.
                Ok(ParseEvent::GlobalExtensions { consumed, .. }) => (consumed, None),
                Ok(ParseEvent::End { consumed }) => {
                    self.is_done = true;
                    (consumed, None)
                }
                Err(ParseError::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            };
            self.bytes.consume(consumed);
            if parsed.is_some() {
                return Ok(parsed);
            }
        }
        // A checksum at the end of the compressed bytes is checked only then.
        while !self.unpacking.options.control.is_cancelled() {
            let count = self.bytes.fill_buf()?.len();
            if count == 0 {
                break;
            }
            self.bytes.consume(count);
        }
        Ok(None)
    }

    /// Reads until `count` bytes are there, and one more at least. At the end it checks the mark.
    fn read_more(&mut self, count: usize) -> io::Result<()> {
        let there = self.bytes.unused().len();
        if there >= MAX_HEADERS {
            let reason = "the headers of an entry are too long";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        // The parser may ask for no more than there is, within the map of a sparse file.
        if !self.bytes.fill_to(count.max(there + 1))? {
            self.is_done = true;
            check_end(self.bytes.unused())?;
        }
        Ok(())
    }

    /// Reads contents that are not unpacked.
    fn skip(&mut self, length: u64) -> io::Result<()> {
        let control = &self.unpacking.options.control;
        let skipped = self.bytes.read_pieces(length, |_| {
            if control.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            Ok(())
        });
        match skipped {
            Ok(()) => Ok(()),
            Err(Fault::Cancelled) => {
                self.is_done = true;
                Ok(())
            }
            Err(Fault::Reading(error) | Fault::Writing(error)) => Err(error),
        }
    }

    fn read(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let mut contents = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        self.bytes.read_pieces(length, |bytes| {
            contents.extend_from_slice(bytes);
            io::Result::Ok(())
        })?;
        Ok(contents)
    }

    /// Writes a large or sparse file. Returns its length, or `None` if it was not written.
    fn write(
        &mut self,
        meta: &Meta,
        size: u64,
        sparse: Option<(Vec<SparseEntry>, u64)>,
    ) -> io::Result<Option<u64>> {
        let end = self.bytes.used().get() + size;
        let Self {
            unpacking,
            bytes,
            archived,
            ..
        } = self;
        let control = &unpacking.options.control;
        let mut is_cut = false;
        let length = unpacking.write_file(meta, |file| {
            let mut copy = |file: &mut NewFile<'_>, length| {
                let written = bytes.read_pieces(length, |bytes| {
                    if control.is_cancelled() {
                        return Err(Fault::Cancelled);
                    }
                    archived.tell(control);
                    file.write(bytes)
                });
                is_cut = matches!(written, Err(Fault::Reading(_)));
                written
            };
            let Some((parts, length)) = sparse else {
                return copy(file, size);
            };
            let mut left = size;
            for part in parts {
                left = left.checked_sub(part.length).ok_or_else(wrong_parts)?;
                file.skip_to(part.offset)?;
                copy(file, part.length)?;
            }
            file.end_at(length)
        });
        if is_cut || self.unpacking.options.control.is_cancelled() {
            // The error of the file says so. Nothing more is read for a caller that waits.
            self.is_done = true;
            return Ok(None);
        }
        // A file that is kept or failed was not read to its end.
        self.skip(end.saturating_sub(self.bytes.used().get()))?;
        Ok(length)
    }
}

fn wrong_parts() -> io::Error {
    let reason = "the parts of the sparse file are longer than the file";
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Checks the bytes that are left when the archive has ended. A block of zeros marks the end, and
/// two of them by the standard.
fn check_end(left: &[u8]) -> io::Result<()> {
    if left.len() >= HEADER && left.iter().all(|&byte| byte == 0) {
        return Ok(());
    }
    let reason = "the archive has no mark of its end, and may be truncated";
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason))
}

fn parsed(entry: &ParsedEntry<'_>, sparse: Option<(Vec<SparseEntry>, u64)>) -> io::Result<Parsed> {
    check_lengths(entry)?;
    let size = sparse.as_ref().map_or(entry.size, |(_, length)| *length);
    let kind = kind_of(entry, size);
    Ok(Parsed {
        candidate: kind.map(|kind| Candidate {
            name: entry.path.to_vec(),
            kind,
            mode: entry.mode,
            modified: modified(entry),
        }),
        size: entry.size,
        sparse,
    })
}

/// Checks the records that tell where the contents end and the next header begins. The parser
/// passes over a number that it cannot read.
fn check_lengths(entry: &ParsedEntry<'_>) -> io::Result<()> {
    for record in PaxExtensions::new(entry.pax.unwrap_or_default()).flatten() {
        let value = record.value().ok();
        let is_valid = match record.key() {
            Ok(
                PAX_SIZE
                | PAX_GNU_SPARSE_MAJOR
                | PAX_GNU_SPARSE_MINOR
                | PAX_GNU_SPARSE_NUMBYTES
                | PAX_GNU_SPARSE_OFFSET
                | PAX_GNU_SPARSE_REALSIZE
                | PAX_GNU_SPARSE_SIZE,
            ) => value.is_some_and(|value| value.parse::<u64>().is_ok()),
            Ok(PAX_GNU_SPARSE_MAP) => value.is_some(),
            _ => true,
        };
        if !is_valid {
            let key = String::from_utf8_lossy(record.key_bytes());
            return Err(invalid(&format!("the pax record `{key}` is no number")));
        }
    }
    Ok(())
}

/// Returns the kind of an entry; `None` if it is about the archive itself.
fn kind_of(entry: &ParsedEntry<'_>, size: u64) -> Option<Kind> {
    /// The name of a volume, and the table of a directory in an incremental backup of GNU.
    const ABOUT: &[u8] = b"VD";
    let target = || entry.link_target.as_deref().unwrap_or_default().to_vec();
    Some(match entry.entry_type {
        // A directory in an old tar, which has no kind for it.
        EntryType::Regular if entry.path.ends_with(b"/") => Kind::Directory,
        EntryType::Regular | EntryType::Continuous | EntryType::GnuSparse => Kind::File(size),
        EntryType::Directory => Kind::Directory,
        EntryType::Symlink => Kind::Link(target()),
        EntryType::Link => Kind::HardLink(target()),
        EntryType::Other(kind) if ABOUT.contains(&kind) => return None,
        _ => Kind::Other,
    })
}

/// Returns the time of modification; `None` if no system could have it. One that cannot be read
/// is left out, as GNU tar does, and that of the header counts.
fn modified(entry: &ParsedEntry<'_>) -> Option<SystemTime> {
    let records = PaxExtensions::new(entry.pax.unwrap_or_default()).flatten();
    let times = records.filter(|record| record.key() == Ok(PAX_MTIME));
    let last = times
        .last()
        .and_then(|record| time_of(record.value().ok()?));
    last.or_else(|| {
        // GNU tar writes negative seconds in binary, and the parser keeps their lower 64 bits.
        let seconds = entry.mtime.cast_signed();
        let distance = Duration::from_secs(seconds.unsigned_abs());
        if seconds < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(distance)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(distance)
        }
    })
}

/// Reads a time in seconds since 1970, which may have a fraction, and a sign before that.
fn time_of(text: &str) -> Option<SystemTime> {
    let (is_before, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    if ![seconds, fraction]
        .concat()
        .bytes()
        .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let nanoseconds: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let nanoseconds = nanoseconds.parse().ok()?;
    let distance = Duration::new(seconds.parse().ok()?, nanoseconds);
    if is_before {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

/// Files whose contents are in memory.
struct InMemory;

impl Contents for InMemory {
    type Of = Vec<u8>;
    type Scratch = ();

    fn weight(&self, contents: &Vec<u8>) -> u64 {
        contents.len() as u64
    }

    fn copy(&self, contents: Vec<u8>, (): &mut (), file: &mut NewFile<'_>) -> Result<(), Fault> {
        file.write(&contents)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn time_of_reads_fractions_and_signs() {
        let since = |text| {
            let time = time_of(text)?;
            time.duration_since(SystemTime::UNIX_EPOCH).ok()
        };
        assert_eq!(since("12"), Some(Duration::from_secs(12)));
        assert_eq!(since("12.5"), Some(Duration::from_millis(12_500)));
        // The digits of Windows end at 100 ns.
        assert_eq!(since("1.0000002009"), Some(Duration::new(1, 200)));
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(5500);
        assert_eq!(time_of("-5.5"), Some(before));
        for text in [
            "",
            "-",
            "x",
            "--1",
            "1e9",
            "1.x",
            "1.+1",
            "+1",
            ".5",
            "99999999999999999999",
        ] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
