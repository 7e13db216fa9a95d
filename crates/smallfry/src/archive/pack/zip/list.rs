//! The list of entries, which is written last. It is kept as bytes, which are deflated when they
//! are many: a million entries take 71 MiB otherwise.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::Counted;
use super::entry::{Entry, Fields, LARGE, VERSION_64};
use crate::archive::invalid::invalid;

/// The bytes that are deflated at a time. Shorter lists never are.
const BLOCK: usize = 256 << 10;
/// The length in bytes of a header without its name and extra field.
const HEADER: usize = 46;

/// The list of entries.
pub(super) struct List {
    /// The headers of the last entries.
    last: Vec<u8>,
    /// The headers of the entries before them.
    deflated: Option<DeflateEncoder<Vec<u8>>>,
    count: u64,
    version: u16,
    /// A key of each name.
    keys: Vec<u64>,
    hasher: RandomState,
}

impl List {
    pub(super) fn new() -> Self {
        Self {
            last: Vec::new(),
            deflated: None,
            count: 0,
            version: 10,
            keys: Vec::new(),
            hasher: RandomState::new(),
        }
    }

    pub(super) fn add(&mut self, entry: &Entry) -> io::Result<()> {
        self.last.extend_from_slice(&entry.list_header());
        self.count += 1;
        self.version = self.version.max(entry.version());
        self.keys.push(self.hasher.hash_one(entry.name.as_bytes()));
        if self.last.len() < BLOCK {
            return Ok(());
        }
        let new = || DeflateEncoder::new(Vec::new(), Compression::fast());
        let deflated = self.deflated.get_or_insert_with(new);
        deflated.write_all(&self.last)?;
        self.last.clear();
        Ok(())
    }

    /// Writes the list and the end of the zip.
    pub(super) fn write<W: Write>(mut self, writer: &mut Counted<W>) -> io::Result<()> {
        let deflated = self.deflated.take().map(DeflateEncoder::finish);
        let headers = Headers {
            deflated: deflated.transpose()?,
            last: self.last,
        };
        if let Some(name) = headers.name_of_several(&mut self.keys, &self.hasher)? {
            return Err(invalid(&format!("several entries have the name {name}")));
        }
        let start = writer.position;
        io::copy(&mut headers.read(), writer)?;
        let size = writer.position - start;
        writer.write_all(&end(self.count, start, size, self.version))
    }
}

/// The headers of all entries.
struct Headers {
    deflated: Option<Vec<u8>>,
    last: Vec<u8>,
}

impl Headers {
    fn read(&self) -> impl Read + '_ {
        let first: Box<dyn Read + '_> = match &self.deflated {
            Some(deflated) => Box::new(DeflateDecoder::new(&**deflated)),
            None => Box::new(io::empty()),
        };
        first.chain(&*self.last)
    }

    /// Returns a name that several entries have. Keys that are the same need not be those of one
    /// name, so names are compared then.
    fn name_of_several(
        &self,
        keys: &mut [u64],
        hasher: &RandomState,
    ) -> io::Result<Option<String>> {
        keys.sort_unstable();
        let pairs = keys.windows(2).filter(|pair| pair[0] == pair[1]);
        let suspected: HashSet<_> = pairs.map(|pair| pair[0]).collect();
        if suspected.is_empty() {
            return Ok(None);
        }
        let mut names = HashSet::new();
        let mut reader = self.read();
        let mut header = [0; HEADER];
        for _ in keys {
            reader.read_exact(&mut header)?;
            let length = |at| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
            let mut name = vec![0; length(28)];
            reader.read_exact(&mut name)?;
            reader.read_exact(&mut vec![0; length(30)])?;
            if !suspected.contains(&hasher.hash_one(&*name)) {
                continue;
            }
            if names.contains(&name) {
                return Ok(Some(String::from_utf8_lossy(&name).into_owned()));
            }
            names.insert(name);
        }
        Ok(None)
    }
}

/// Returns the end of a zip whose list of `count` entries is at `start`.
fn end(count: u64, start: u64, size: u64, version: u16) -> Vec<u8> {
    let few = u16::try_from(count).unwrap_or(u16::MAX);
    let mut end = Fields::default();
    let is_large = few == u16::MAX || start.max(size) >= LARGE;
    if is_large {
        let version = version.max(VERSION_64);
        end = end
            .bytes(b"PK\x06\x06")
            // The length of what follows in this record.
            .eight(44)
            .two(version)
            .two(version)
            .four(0)
            .four(0)
            .eight(count)
            .eight(count)
            .eight(size)
            .eight(start)
            .bytes(b"PK\x06\x07")
            .four(0)
            .eight(start + size)
            .four(1);
    }
    end.bytes(b"PK\x05\x06")
        .two(0)
        .two(0)
        .two(few)
        .two(few)
        .four(if is_large { u32::MAX } else { size as u32 })
        .four(start.min(LARGE) as u32)
        .two(0)
        .0
}
