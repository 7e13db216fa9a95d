//! Compressed files. Each may be several that were written one after the other.

use std::error::Error;
use std::io::{self, BufRead, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::invalid::invalid;

/// The members of a gzip file. Zeros may follow them, with which tapes and blocks are filled.
///
/// [RFC 1952](https://www.rfc-editor.org/rfc/rfc1952#section-2.2)
pub(super) struct Members<R: BufRead>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(Some(GzDecoder::new(reader)))
    }

    fn next(mut reader: R) -> io::Result<Self> {
        loop {
            let bytes = reader.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            match bytes.get(zeros) {
                Some(0x1f) => {
                    reader.consume(zeros);
                    return Ok(Self::new(reader));
                }
                Some(_) => {
                    return Err(invalid(
                        "there are other bytes after the end of the gzip data",
                    ));
                }
                None if zeros == 0 => return Ok(Self(None)),
                None => reader.consume(zeros),
            }
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut decoder) = self.0.take() {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.0 = Some(decoder);
                return Ok(count);
            }
            *self = Self::next(decoder.into_inner())?;
        }
        Ok(0)
    }
}

/// The magic number of a frame.
pub(super) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A magic number that was read, and what comes after it.
type Frame<R> = Chain<Cursor<[u8; 4]>, R>;

/// The frames of a zstd file. Skippable ones are passed over.
///
/// [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878#section-3.1)
pub(super) struct Frames<R: BufRead>(Option<StreamingDecoder<Frame<R>, FrameDecoder>>);

impl<R: BufRead> Frames<R> {
    pub(super) fn new(mut reader: R) -> io::Result<Self> {
        while !reader.fill_buf()?.is_empty() {
            let mut magic = [0; 4];
            reader.read_exact(&mut magic)?;
            if magic == ZSTD {
                let decoder = StreamingDecoder::new(Cursor::new(magic).chain(reader));
                let decoder = decoder.map_err(|error| cause_of(io::Error::other(error)))?;
                return Ok(Self(Some(decoder)));
            }
            if !is_skippable(magic) {
                return Err(invalid(
                    "there are other bytes after the end of the zstd data",
                ));
            }
            let mut length = [0; 4];
            reader.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            let skipped = io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
            if skipped < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Self(None))
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut decoder) = self.0.take() {
            let count = decoder.read(buffer).map_err(cause_of)?;
            if count > 0 || buffer.is_empty() {
                self.0 = Some(decoder);
                return Ok(count);
            }
            let (_, reader) = decoder.into_inner().into_inner();
            *self = Self::new(reader)?;
        }
        Ok(0)
    }
}

/// Returns the error of the reader that a decoder has met, since that prints as its internals.
fn cause_of(error: io::Error) -> io::Error {
    let mut cause = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    while let Some(inner) = cause {
        if let Some(reader) = inner.downcast_ref::<io::Error>() {
            let kind = reader.kind();
            return match kind {
                io::ErrorKind::UnexpectedEof => io::Error::new(kind, "the zstd data is cut off"),
                _ => io::Error::new(kind, reader.to_string()),
            };
        }
        cause = inner.source();
    }
    error
}

/// Tells whether a frame of zstd has data of users, which no decompressor reads.
pub(super) fn is_skippable(magic: [u8; 4]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}
