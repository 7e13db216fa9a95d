//! Reads a zip by its list of entries, which is at its end. Workers inflate the entries.
//!
//! [APPNOTE.TXT](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use smallfry_workers::Control;
use zip::ExtraField;
use zip::read::ZipFile;
use zip::{System, ZipArchive, result::ZipError};

use super::admission::{Admission, Admitted, Candidate, Kind};
use super::entry::Input;
use super::unpacking::{Contents, Fault, NewFile, Unpacking};
use crate::archive::invalid::invalid;
use crate::sys;

/// The bytes that a worker reads and inflates at a time.
const PIECE: usize = 128 << 10;
/// The bytes of a zip that are read at a time.
const READ_AHEAD: usize = 32 << 10;
/// The maximum length in bytes of a link's target.
const MAX_TARGET: u64 = 4096;

type Zip<'a> = ZipArchive<Shared<'a>>;

/// The bytes of a zip.
#[derive(Clone)]
pub(super) enum Source<'a> {
    File(Arc<File>),
    Bytes(&'a [u8]),
}

/// Unpacks all entries of a zip.
pub(super) fn unpack(unpacking: &Unpacking<'_>, source: Source<'_>) {
    let mut admission = Admission::new(unpacking);
    let opened = Shared::new(source).and_then(|shared| {
        let length = shared.length;
        Ok((ZipArchive::new(shared).map_err(into_io)?, length))
    });
    let (mut zip, length) = match opened {
        Ok(opened) => opened,
        Err(reason) => {
            unpacking.fail_archive(reason);
            return;
        }
    };
    // Such a zip can become any number of times as large. An unreadable entry is found later.
    if zip.has_overlapping_entries().unwrap_or(false) {
        unpacking.fail_archive(invalid("the entries of the zip overlap"));
        return;
    }
    if zip.has_duplicate_names() && !unpacking.options.last_wins {
        let reason = "the zip has several entries of one name, of which the last was unpacked";
        unpacking.fail_archive(invalid(reason));
    }
    let entries = Entries {
        zip: zip.clone(),
        control: &unpacking.options.control,
    };
    let mut indexes = 0..zip.len();
    let count = zip.len() as u64;
    let inputs = std::iter::from_fn(|| {
        loop {
            let index = indexes.next()?;
            unpacking.options.control.reach(index as u64, count);
            let admitted = match candidate(&mut zip, index) {
                Ok(candidate) => admission.admit(candidate, length),
                Err(reason) => {
                    unpacking.fail_archive(reason);
                    continue;
                }
            };
            match admitted {
                Ok(Admitted::File(meta)) => return Some(Input::File(meta, index)),
                Ok(Admitted::Directory(path)) => return Some(Input::Directory(path)),
                Ok(Admitted::Nothing) => {}
                Err(reason) => {
                    unpacking.fail_archive(reason);
                    indexes = 0..0;
                }
            }
        }
    });
    unpacking.write_all(&entries, inputs);
    unpacking.finish(admission.later);
}

/// Reads what the list says of an entry, and the target of a link.
fn candidate(zip: &mut Zip<'_>, index: usize) -> io::Result<Candidate> {
    /// The bits of a mode that tell the kind of file.
    const KIND: u32 = 0o170_000;
    const DIRECTORY: u32 = 0o040_000;
    const REGULAR: u32 = 0o100_000;
    const LINK: u32 = 0o120_000;
    let mut entry = zip.by_index_raw(index).map_err(into_io)?;
    let mut name = entry.name().map_err(into_io)?.into_owned().into_bytes();
    if entry.system() == System::Dos && !name.contains(&b'/') {
        // Some programs of Windows write its own separator, against the format.
        name.iter_mut()
            .filter(|byte| **byte == b'\\')
            .for_each(|byte| *byte = b'/');
    }
    let mode = entry.unix_mode();
    let kind = match mode.map_or(0, |mode| mode & KIND) {
        _ if entry.is_dir() => Kind::Directory,
        0 | REGULAR => Kind::File(entry.size()),
        DIRECTORY => Kind::Directory,
        LINK => {
            drop(entry);
            let mut target = Vec::new();
            let link = zip.by_index(index).map_err(into_io)?;
            link.take(MAX_TARGET).read_to_end(&mut target)?;
            entry = zip.by_index_raw(index).map_err(into_io)?;
            Kind::Link(target)
        }
        _ => Kind::Other,
    };
    let permissions = match mode.map_or(0, |mode| mode & 0o777) {
        0 if matches!(kind, Kind::Directory) => 0o777,
        0 => 0o666,
        mode => mode,
    };
    Ok(Candidate {
        name,
        kind,
        mode: permissions,
        modified: modified(&entry),
    })
}

/// Returns the time of modification. The time in the list of entries has no time zone, so it is
/// taken for one of this machine.
fn modified<R: Read>(entry: &ZipFile<'_, R>) -> Option<SystemTime> {
    for field in entry.extra_data_fields() {
        if let ExtraField::ExtendedTimestamp(times) = field
            && let Some(seconds) = times.mod_time()
        {
            let since = Duration::from_secs(seconds.into());
            return SystemTime::UNIX_EPOCH.checked_add(since);
        }
    }
    let time = entry.last_modified()?;
    sys::local_time(
        time.year(),
        [
            time.month(),
            time.day(),
            time.hour(),
            time.minute(),
            time.second(),
        ],
    )
}

fn into_io(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        ZipError::UnsupportedArchive(reason) => io::Error::new(io::ErrorKind::Unsupported, reason),
        ZipError::InvalidArchive(reason) => {
            invalid(&format!("the zip is damaged or cut off: {reason}"))
        }
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

/// The entries of a zip, named by their numbers.
struct Entries<'a> {
    zip: Zip<'a>,
    control: &'a Control,
}

/// The memory of a worker.
#[derive(Default)]
struct Scratch<'a> {
    zip: Option<Zip<'a>>,
    piece: Vec<u8>,
}

impl<'a> Contents for Entries<'a> {
    type Of = usize;
    type Scratch = Scratch<'a>;

    fn weight(&self, _: &usize) -> u64 {
        0
    }

    fn copy(
        &self,
        index: usize,
        scratch: &mut Scratch<'a>,
        file: &mut NewFile<'_>,
    ) -> Result<(), Fault> {
        let reading = |error| Fault::Reading(into_io(error));
        let zip = scratch.zip.get_or_insert_with(|| self.zip.clone());
        let piece = &mut scratch.piece;
        piece.resize(PIECE, 0);
        let mut entry = zip.by_index(index).map_err(reading)?;
        // Larger contents than stated would pass the limits.
        let mut left = entry.size();
        loop {
            if self.control.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            match entry.read(piece) {
                Ok(0) if left == 0 => return Ok(()),
                Ok(0) => return Err(Fault::Reading(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => {
                    left = left.checked_sub(count as u64).ok_or_else(|| {
                        Fault::Reading(invalid("the entry is larger than it states"))
                    })?;
                    file.write(&piece[..count])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Reading(error)),
            }
        }
    }
}

impl Source<'_> {
    fn length(&self) -> io::Result<u64> {
        Ok(match self {
            Self::File(file) => file.metadata()?.len(),
            Self::Bytes(bytes) => bytes.len() as u64,
        })
    }

    /// Reads bytes from a position on. Returns 0 at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => sys::read_at(file, buffer, position),
            Self::Bytes(bytes) => {
                let start = usize::try_from(position).unwrap_or(usize::MAX);
                bytes.get(start..).unwrap_or_default().read(buffer)
            }
        }
    }
}

/// Bytes that several threads read, each at its own position and with its own memory.
struct Shared<'a> {
    source: Source<'a>,
    length: u64,
    position: u64,
    /// The bytes from `start` on.
    ahead: Vec<u8>,
    start: u64,
}

impl Clone for Shared<'_> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            length: self.length,
            position: self.position,
            ahead: Vec::new(),
            start: 0,
        }
    }
}

impl<'a> Shared<'a> {
    fn new(source: Source<'a>) -> io::Result<Self> {
        Ok(Self {
            length: source.length()?,
            source,
            position: 0,
            ahead: Vec::new(),
            start: 0,
        })
    }

    /// Returns the bytes at the position that are in memory.
    fn ahead(&self) -> &[u8] {
        let place = self.position.checked_sub(self.start);
        let place = place.and_then(|place| usize::try_from(place).ok());
        place
            .and_then(|place| self.ahead.get(place..))
            .unwrap_or(&[])
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        self.ahead.resize(READ_AHEAD, 0);
        self.start = self.position;
        let read = self.source.read_at(&mut self.ahead, self.position);
        self.ahead.truncate(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }
}

impl Read for Shared<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ahead().is_empty() {
            if buffer.len() >= READ_AHEAD {
                let count = self.source.read_at(buffer, self.position)?;
                self.position += count as u64;
                return Ok(count);
            }
            self.read_ahead()?;
        }
        let count = self.ahead().read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Shared<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
