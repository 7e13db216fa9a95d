//! The contents of an entry of a zip.

use std::io::{self, Read};
use std::ops::Range;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use rawzip::{CompressionMethod, ZipArchiveEntryWayfinder, ZipFileHeaderRecord, ZipVerification};

use super::source::READ_AHEAD;
use super::{Zip, into_io};
use crate::archive::invalid::invalid;

/// The bytes of contents that a worker writes at a time.
const PIECE: usize = 128 << 10;

/// An entry whose contents are wanted.
pub(super) struct Place {
    way: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
}

impl Place {
    pub(super) fn of(record: &ZipFileHeaderRecord<'_>) -> Self {
        Self {
            way: record.wayfinder(),
            method: record.compression_method(),
            is_encrypted: record.flags().is_encrypted(),
        }
    }
}

/// The memory of a worker.
pub(super) struct Inflater<'a> {
    zip: Zip<'a>,
    inflate: Decompress,
    compressed: Vec<u8>,
    piece: Vec<u8>,
}

impl<'a> Inflater<'a> {
    pub(super) fn new(zip: &Zip<'a>) -> Self {
        Self {
            zip: zip.clone(),
            inflate: Decompress::new(false),
            compressed: vec![0; READ_AHEAD],
            piece: vec![0; PIECE],
        }
    }

    /// Checks the header before the contents.
    pub(super) fn check(&self, place: &Place) -> io::Result<()> {
        self.zip.get_entry(place.way).map(drop).map_err(into_io)
    }

    /// Gives the contents to `write`, one piece after the other.
    pub(super) fn copy<E: From<io::Error>>(
        &mut self,
        place: &Place,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if place.is_encrypted {
            return Err(unsupported("the entry is encrypted").into());
        }
        let entry = self.zip.get_entry(place.way).map_err(into_io)?;
        let mut reader = entry.reader();
        let stated = reader.claim_verifier();
        let mut contents = match place.method {
            CompressionMethod::STORE => Contents::Stored(&mut reader),
            CompressionMethod::DEFLATE => {
                self.inflate.reset(false);
                Contents::Deflated(Inflating {
                    reader: &mut reader,
                    inflate: &mut self.inflate,
                    compressed: &mut self.compressed,
                    left: 0..0,
                })
            }
            method => {
                let reason = format!("the compression method {method} is not supported");
                return Err(unsupported(&reason).into());
            }
        };
        let mut checksum = Crc::new();
        let mut size = 0;
        loop {
            let count = contents.fill(&mut self.piece)?;
            let piece = &self.piece[..count];
            checksum.update(piece);
            size += count as u64;
            // Larger contents than stated would pass the limits.
            if size > stated.uncompressed_size {
                return Err(invalid("the entry is larger than it states").into());
            }
            if count == 0 {
                break;
            }
            write(piece)?;
        }
        if size < stated.uncompressed_size {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let found = ZipVerification {
            crc: checksum.sum(),
            uncompressed_size: size,
        };
        let valid = stated.valid(found);
        Ok(valid.map_err(|_| invalid("the checksum of the contents is another"))?)
    }
}

fn unsupported(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

enum Contents<'c, R> {
    Stored(&'c mut R),
    Deflated(Inflating<'c, R>),
}

impl<R: Read> Contents<'_, R> {
    /// Fills a piece with what comes next. Only at the end are there fewer bytes, or none.
    fn fill(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < piece.len() {
            let left = &mut piece[count..];
            match match self {
                Self::Stored(reader) => reader.read(left),
                Self::Deflated(inflating) => inflating.read(left),
            } {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

/// Contents that are inflated.
struct Inflating<'c, R> {
    reader: &'c mut R,
    inflate: &'c mut Decompress,
    compressed: &'c mut [u8],
    /// The compressed bytes that were read and not inflated.
    left: Range<usize>,
}

impl<R: Read> Read for Inflating<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.left.is_empty() {
                self.left = 0..self.reader.read(self.compressed)?;
            }
            let is_end = self.left.is_empty();
            let [used, written] = [self.inflate.total_in(), self.inflate.total_out()];
            let input = &self.compressed[self.left.clone()];
            let status = self
                .inflate
                .decompress(input, buffer, FlushDecompress::None);
            let status = status.map_err(|_| invalid("the deflated contents are damaged"))?;
            let used = self.inflate.total_in() - used;
            let written = self.inflate.total_out() - written;
            self.left.start += usize::try_from(used).unwrap_or(0);
            if written > 0 || status == Status::StreamEnd {
                return Ok(usize::try_from(written).unwrap_or(0));
            }
            if is_end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
