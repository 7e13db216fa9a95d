//! Compresses a tar while it is written.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The bytes of each frame of zstd, before they are compressed.
const FRAME: usize = 4 << 20;

/// A writer that compresses, or not.
pub(super) enum Compress<W: Write> {
    Plain(W),
    Gzip(Box<GzEncoder<W>>),
    Zstd(Frames<W>),
}

impl<W: Write> Compress<W> {
    pub(super) fn gzip(writer: W, level: u32) -> Self {
        Self::Gzip(Box::new(GzEncoder::new(writer, Compression::new(level))))
    }

    pub(super) fn zstd(writer: W) -> Self {
        Self::Zstd(Frames {
            writer,
            bytes: Vec::with_capacity(FRAME),
        })
    }

    /// Writes the end of the compressed bytes.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(writer) => Ok(writer),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(mut frames) => {
                frames.end_frame()?;
                Ok(frames.writer)
            }
        }
    }
}

impl<W: Write> Write for Compress<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => writer.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(frames) => frames.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(frames) => frames.writer.flush(),
        }
    }
}

/// Frames of zstd, one after the other, as the format allows.
///
/// [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878#section-3)
pub(super) struct Frames<W> {
    writer: W,
    bytes: Vec<u8>,
}

impl<W: Write> Frames<W> {
    fn end_frame(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(&*self.bytes, CompressionLevel::Fastest);
        self.bytes.clear();
        self.writer.write_all(&frame)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(FRAME - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
        if self.bytes.len() == FRAME {
            self.end_frame()?;
        }
        Ok(count)
    }
}
