//! The end of a zip, which tells where the list of its entries is.

use std::io;

use rawzip::{ReaderAt, ZipLocator};

use super::source::{Reader, Source};
use super::{Zip, into_io};
use crate::archive::invalid::invalid;

/// The length in bytes of the last record, without the comment behind it.
const RECORD: u64 = 22;
/// The length of the record before it that tells where one with numbers of 64 bits is.
const LOCATOR: u64 = 20;
/// The length of that record.
const LARGE_RECORD: u64 = 56;

/// Opens a zip. Its comment may have what looks like an end, so the last end is taken with which
/// there is a list.
pub(super) fn open<'a>(source: Source<'a>, buffer: &mut [u8]) -> io::Result<Zip<'a>> {
    let length = source.length()?;
    let first = length.saturating_sub(RECORD + u64::from(u16::MAX));
    let reader = Reader::new(source, length);
    let mut end = length;
    let mut reason = None;
    loop {
        let locator = ZipLocator::new().max_search_space(end.saturating_sub(first));
        let position = match locator.locate_in_reader(reader.clone(), buffer, end) {
            Ok(zip) => zip.eocd_offset(),
            Err((_, error)) => match error.eocd_offset() {
                Some(position) => position,
                None => return Err(reason.unwrap_or_else(|| into_io(error))),
            },
        };
        let error = match stated(&reader, position) {
            Ok(Stated { skipped, is_end }) => match open_at(&reader, skipped, position, buffer) {
                Ok(zip) => return Ok(zip),
                // The list is there, but damaged. Another end would be that of another zip.
                Err(error) if is_end => return Err(error),
                Err(error) => error,
            },
            Err(error) => error,
        };
        reason = reason.or(Some(error));
        end = position;
    }
}

/// Opens the zip that begins after `skipped` bytes and whose last record is at `position`.
fn open_at<'a>(
    reader: &Reader<'a>,
    skipped: u64,
    position: u64,
    buffer: &mut [u8],
) -> io::Result<Zip<'a>> {
    let mut reader = reader.clone();
    reader.skipped = skipped;
    // The search begins so that it finds this record, and none in its own fields.
    let end = position - skipped + 4;
    let locator = ZipLocator::new().max_search_space(4);
    let located = locator.locate_in_reader(reader, buffer, end);
    let zip = located.map_err(|(_, error)| into_io(error))?;
    match zip.entries(buffer).next_entry() {
        Err(error) if zip.entries_hint() > 0 => Err(into_io(error)),
        Ok(None) if zip.entries_hint() > 0 => Err(invalid("the zip has no list of its entries")),
        _ => Ok(zip),
    }
}

/// The facts that the last record of a zip states.
struct Stated {
    /// The number of bytes before the zip. Its positions are counted from there, so the list is not
    /// where it is stated to be, but ends at the records.
    skipped: u64,
    /// A list ends there, so it is no bytes that only look like a last record.
    is_end: bool,
}

/// Reads the last record, which is at `position`.
fn stated(reader: &Reader<'_>, position: u64) -> io::Result<Stated> {
    let mut record = [0; RECORD as usize];
    reader.read_exact_at(&mut record, position)?;
    let two = |at| number(&record, at, 2);
    let is_whole = [two(4), two(6)]
        .iter()
        .all(|disk| [0, 0xffff].contains(disk));
    if !is_whole || two(8) != two(10) {
        let reason = "a zip that was split into several files is not supported";
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    let (end, size, offset) = match large_record(reader, position)? {
        Some(stated) => stated,
        None => (position, number(&record, 12, 4), number(&record, 16, 4)),
    };
    let start = end.checked_sub(size);
    let skipped = start.and_then(|start| start.checked_sub(offset));
    let is_end = match (start, skipped) {
        (Some(start), Some(_)) => is_at(reader, start, *b"PK\x01\x02")?,
        _ => false,
    };
    Ok(Stated {
        skipped: skipped.filter(|_| is_end).unwrap_or(0),
        is_end,
    })
}

/// Returns the position of the record with numbers of 64 bits, if it is right before the one that
/// locates it, and the size and the position of the list that it states.
fn large_record(reader: &Reader<'_>, position: u64) -> io::Result<Option<(u64, u64, u64)>> {
    let Some(locator) = position.checked_sub(LOCATOR) else {
        return Ok(None);
    };
    let Some(start) = locator.checked_sub(LARGE_RECORD) else {
        return Ok(None);
    };
    if !is_at(reader, locator, *b"PK\x06\x07")? || !is_at(reader, start, *b"PK\x06\x06")? {
        return Ok(None);
    }
    let mut record = [0; LARGE_RECORD as usize];
    reader.read_exact_at(&mut record, start)?;
    Ok(Some((
        start,
        number(&record, 40, 8),
        number(&record, 48, 8),
    )))
}

/// Returns a number of `length` bytes, the lowest of which is the first.
fn number(record: &[u8], at: usize, length: usize) -> u64 {
    let bytes = record.iter().skip(at).take(length).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn is_at(reader: &Reader<'_>, position: u64, signature: [u8; 4]) -> io::Result<bool> {
    let mut bytes = [0; 4];
    match reader.read_exact_at(&mut bytes, position) {
        Ok(()) => Ok(bytes == signature),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
