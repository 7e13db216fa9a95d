//! The facts that the list of a zip has of an entry.

use std::time::{Duration, SystemTime};

use flate2::Crc;
use rawzip::extra_fields::ExtraFieldId;
use rawzip::{CreatorSystem, ZipFileHeaderRecord};

use super::cp437;
use crate::sys;

/// The bits of a mode that tell the kind of file.
pub(super) const KIND: u32 = 0o170_000;
pub(super) const DIRECTORY: u32 = 0o040_000;
pub(super) const REGULAR: u32 = 0o100_000;
pub(super) const PIPE: u32 = 0o010_000;
pub(super) const LINK: u32 = 0o120_000;

/// The attributes of DOS.
const DOS_READ_ONLY: u32 = 0x01;
const DOS_DIRECTORY: u32 = 0x10;

type Record<'r> = ZipFileHeaderRecord<'r>;

/// Returns the bytes of the name. Info-ZIP adds a name in UTF-8, which counts if its checksum is
/// that of the other name.
pub(super) fn raw_name<'r>(record: &'r Record<'_>) -> &'r [u8] {
    let bytes = record.file_path().as_bytes();
    let mut name = bytes;
    for (id, field) in record.extra_fields() {
        if id != ExtraFieldId::INFO_ZIP_UNICODE_PATH {
            continue;
        }
        // A version, a checksum, and a name.
        if let Some((&[_, ref checksum @ ..], other)) = field.split_first_chunk::<5>()
            && *checksum == checksum_of(bytes)
            && str::from_utf8(other).is_ok()
        {
            name = other;
        }
    }
    name
}

fn checksum_of(bytes: &[u8]) -> [u8; 4] {
    let mut checksum = Crc::new();
    checksum.update(bytes);
    checksum.sum().to_le_bytes()
}

/// Returns the name in UTF-8, with slashes between its parts.
pub(super) fn name(record: &Record<'_>) -> Vec<u8> {
    let mut name = raw_name(record).to_vec();
    if str::from_utf8(&name).is_err() {
        name = cp437::decode(&name).into_bytes();
    }
    let is_dos = record.version_made_by().creator_system() == CreatorSystem::FAT;
    if is_dos && !name.contains(&b'/') {
        // Some programs of Windows write its own separator, against the format.
        name.iter_mut()
            .filter(|byte| **byte == b'\\')
            .for_each(|byte| *byte = b'/');
    }
    name
}

/// Returns true if the name is that of a directory.
pub(super) fn is_directory(record: &Record<'_>) -> bool {
    matches!(raw_name(record).last(), Some(b'/' | b'\\'))
}

/// Returns the permissions and the kind of file, or 0 if they are not stated.
pub(super) fn mode(record: &Record<'_>) -> u32 {
    let attributes = record.external_attributes();
    if attributes == 0 || record.version_made_by().creator_system() != CreatorSystem::FAT {
        return attributes >> 16;
    }
    let mode = if attributes & DOS_DIRECTORY == 0 {
        REGULAR | 0o664
    } else {
        DIRECTORY | 0o775
    };
    if attributes & DOS_READ_ONLY == 0 {
        mode
    } else {
        mode & !0o222
    }
}

/// Returns the time of modification. The time in the list of entries has no time zone, so it is
/// taken for one of this machine.
pub(super) fn modified(record: &Record<'_>) -> Option<SystemTime> {
    for (id, field) in record.extra_fields() {
        if id == ExtraFieldId::EXTENDED_TIMESTAMP
            && let Some([_, first, second, third, fourth]) = field.first_chunk()
        {
            let seconds = u32::from_le_bytes([*first, *second, *third, *fourth]);
            let since = Duration::from_secs(seconds.into());
            return SystemTime::UNIX_EPOCH.checked_add(since);
        }
    }
    let dos = record.last_modified_dos();
    let parts = [
        dos.month(),
        dos.day(),
        dos.hour(),
        dos.minute(),
        dos.second(),
    ];
    // Parts that are out of range were replaced, but such a date is none.
    let [date, time] = [dos.packed_date(), dos.packed_time()];
    let stated = [date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63];
    let mut pairs = parts.iter().zip(stated);
    if !pairs.all(|(&part, stated)| u16::from(part) == stated) {
        return None;
    }
    sys::local_time(dos.year(), parts)
}
