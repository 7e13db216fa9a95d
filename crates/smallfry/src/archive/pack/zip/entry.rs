//! The headers of an entry.

use std::io;

use super::super::sink::Facts;
use crate::sys;

/// The value of a number of 32 bits that is too large for them. It is in an extra field then.
pub(super) const LARGE: u64 = u32::MAX as u64;
/// The number of bytes by which compressed contents may be longer than the contents, and more.
const MARGIN: u64 = 16 << 20;

/// The version of the format that has numbers of 64 bits.
pub(super) const VERSION_64: u16 = 45;
/// The version that has directories and compressed files.
const VERSION: u16 = 20;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The sizes and the checksum come behind the contents.
const HAS_DESCRIPTOR: u16 = 1 << 3;
const IS_UTF8: u16 = 1 << 11;

/// The systems whose attributes an entry has.
const DOS: u16 = 0;
const UNIX: u16 = 3;
/// The attribute of a directory in DOS.
const DOS_DIRECTORY: u32 = 0x10;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
}

/// An entry. The last three are known when its contents were written.
pub(super) struct Entry {
    pub(super) name: String,
    kind: Kind,
    /// The date and time, in the time zone of this machine.
    date: [u16; 2],
    attributes: u32,
    /// The position of its first header.
    position: u64,
    /// Its sizes have 64 bits.
    is_large: bool,
    pub(super) checksum: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
}

impl Entry {
    pub(super) fn new(
        mut name: String,
        kind: Kind,
        facts: &Facts,
        position: u64,
    ) -> io::Result<Self> {
        if kind == Kind::Directory {
            name.push('/');
        }
        if u16::try_from(name.len()).is_err() {
            let reason = "the path is longer than 65,535 bytes, which a zip cannot have";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        Ok(Self {
            name,
            kind,
            date: dos_date(facts.modified),
            attributes: attributes(kind, facts.mode),
            position,
            is_large: facts.size >= LARGE - MARGIN,
            checksum: 0,
            compressed: 0,
            size: 0,
        })
    }

    pub(super) fn version(&self) -> u16 {
        if self.is_large { VERSION_64 } else { VERSION }
    }

    fn has_dos_attributes(&self) -> bool {
        // DOS has no links.
        cfg!(windows) && self.kind != Kind::Link
    }

    /// The fields that both headers have.
    fn common(&self) -> Fields {
        let is_file = self.kind != Kind::Directory;
        let descriptor = if is_file { HAS_DESCRIPTOR } else { 0 };
        let encoding = if self.name.is_ascii() { 0 } else { IS_UTF8 };
        let [date, time] = self.date;
        Fields::default()
            .two(self.version())
            .two(descriptor | encoding)
            .two(if is_file { DEFLATED } else { STORED })
            .two(time)
            .two(date)
    }

    /// Returns the header before the contents.
    pub(super) fn local_header(&self) -> Vec<u8> {
        // The values come behind the contents, but the field tells readers that they have 64 bits.
        let extra = if self.is_large {
            extra_field(&[0, 0])
        } else {
            Vec::new()
        };
        let header = Fields::default()
            .bytes(b"PK\x03\x04")
            .bytes(&self.common().0)
            .four(0)
            .four(0)
            .four(0)
            .two(self.name.len() as u16)
            .two(extra.len() as u16);
        header.bytes(self.name.as_bytes()).bytes(&extra).0
    }

    /// Returns the descriptor behind the contents.
    pub(super) fn descriptor(&self) -> Vec<u8> {
        let start = Fields::default().bytes(b"PK\x07\x08").four(self.checksum);
        if self.is_large {
            start.eight(self.compressed).eight(self.size).0
        } else {
            let [compressed, size] = [self.compressed, self.size];
            start.four(compressed as u32).four(size as u32).0
        }
    }

    /// Returns the header in the list of entries.
    pub(super) fn list_header(&self) -> Vec<u8> {
        let mut large = Vec::new();
        let mut sizes = [self.compressed, self.size];
        if self.is_large {
            large.extend([self.size, self.compressed]);
            sizes = [LARGE; 2];
        }
        if self.position >= LARGE {
            large.push(self.position);
        }
        let extra = if large.is_empty() {
            Vec::new()
        } else {
            extra_field(&large)
        };
        let system = if self.has_dos_attributes() { DOS } else { UNIX };
        let header = Fields::default()
            .bytes(b"PK\x01\x02")
            .two(system << 8 | self.version())
            .bytes(&self.common().0)
            .four(self.checksum)
            .four(sizes[0] as u32)
            .four(sizes[1] as u32)
            .two(self.name.len() as u16)
            .two(extra.len() as u16)
            // No comment, the first and only disk, and no internal attributes.
            .bytes(&[0; 6])
            .four(self.attributes)
            .four(self.position.min(LARGE) as u32);
        header.bytes(self.name.as_bytes()).bytes(&extra).0
    }
}

/// Returns the extra field of numbers of 64 bits.
fn extra_field(numbers: &[u64]) -> Vec<u8> {
    let start = Fields::default().two(1).two(8 * numbers.len() as u16);
    let add = |fields: Fields, number: &u64| fields.eight(*number);
    numbers.iter().fold(start, add).0
}

fn attributes(kind: Kind, mode: u32) -> u32 {
    let mode = match kind {
        Kind::File => 0o100_000 | mode & 0o777,
        Kind::Directory => 0o040_000 | mode & 0o777,
        Kind::Link => 0o120_000 | mode,
    };
    let is_dos_directory = cfg!(windows) && kind == Kind::Directory;
    mode << 16 | if is_dos_directory { DOS_DIRECTORY } else { 0 }
}

/// Returns a date and time as DOS has them, or its first one for one that it cannot have.
fn dos_date(seconds: i64) -> [u16; 2] {
    match u64::try_from(seconds).ok().and_then(sys::local_date) {
        Some([year @ 1980..=2107, month, day, hour, minute, second]) => [
            (year - 1980) << 9 | month << 5 | day,
            // A leap second has no room.
            hour << 11 | minute << 5 | second.min(58) >> 1,
        ],
        _ => [1 << 5 | 1, 0],
    }
}

/// Numbers one after the other, the lowest byte of each first.
#[derive(Default)]
pub(super) struct Fields(pub(super) Vec<u8>);

impl Fields {
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn two(self, number: u16) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn four(self, number: u32) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn eight(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }
}
