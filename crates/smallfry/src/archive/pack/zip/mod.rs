//! Writes a zip to any writer. The sizes and the checksum of a file come behind its contents, since
//! nothing can be written again.
//!
//! The writers of the crates `zip` and `rawzip` keep 150 to 200 bytes of each entry until the end.
//! This one keeps 30, so that a million entries fit into 64 MiB.
//!
//! [APPNOTE.TXT](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)

mod entry;
mod list;

use std::io::{self, Write};
use std::path::Path;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::name;
use super::sink::{Facts, Sink};
use entry::{Entry, Kind};
use list::List;

/// The compressed bytes that are written at a time.
const PIECE: usize = 32 << 10;

pub(super) struct Zip<W: Write> {
    writer: Counted<W>,
    deflate: Compress,
    piece: Vec<u8>,
    checksum: Crc,
    /// The file whose contents are written.
    entry: Option<Entry>,
    list: List,
}

impl<W: Write> Zip<W> {
    pub(super) fn new(writer: W, level: u32) -> Self {
        Self {
            writer: Counted {
                writer,
                position: 0,
            },
            deflate: Compress::new(Compression::new(level), false),
            piece: Vec::with_capacity(PIECE),
            checksum: Crc::new(),
            entry: None,
            list: List::new(),
        }
    }

    fn begin(&mut self, path: &Path, kind: Kind, facts: &Facts) -> io::Result<()> {
        let entry = Entry::new(name_of(path)?, kind, facts, self.writer.position)?;
        self.writer.write_all(&entry.local_header())?;
        self.entry = Some(entry);
        Ok(())
    }

    fn deflate(&mut self, mut bytes: &[u8], flush: FlushCompress) -> io::Result<()> {
        loop {
            let before = self.deflate.total_in();
            let status = self.deflate.compress_vec(bytes, &mut self.piece, flush)?;
            let used = self.deflate.total_in() - before;
            bytes = &bytes[usize::try_from(used).unwrap_or(bytes.len())..];
            let is_finish = matches!(flush, FlushCompress::Finish);
            let is_done = if is_finish {
                status == Status::StreamEnd
            } else {
                bytes.is_empty()
            };
            if self.piece.len() == self.piece.capacity() || is_finish {
                self.writer.write_all(&self.piece)?;
                self.piece.clear();
            }
            if is_done {
                return Ok(());
            }
        }
    }
}

fn name_of(path: &Path) -> io::Result<String> {
    String::from_utf8(name::bytes_of(path)?.into_owned()).map_err(|_| {
        let reason = "the name is not UTF-8, which a zip cannot have";
        io::Error::new(io::ErrorKind::InvalidInput, reason)
    })
}

impl<W: Write> Sink for Zip<W> {
    type Writer = W;

    fn directory(&mut self, path: &Path, facts: &Facts) -> io::Result<()> {
        self.begin(path, Kind::Directory, facts)?;
        self.entry.take().map_or(Ok(()), |it| self.list.add(&it))
    }

    fn link(&mut self, path: &Path, target: &Path, facts: &Facts) -> io::Result<()> {
        let target = name_of(target)?;
        // Java's ZipInputStream fails at a link that is stored, because its length comes behind it.
        self.begin(path, Kind::Link, facts)?;
        self.contents(target.as_bytes())?;
        self.end_file()
    }

    fn hard_link(&mut self, _: &Path, _: &Path, _: &Facts) -> io::Result<bool> {
        Ok(false)
    }

    fn begin_file(&mut self, path: &Path, facts: &Facts) -> io::Result<()> {
        self.begin(path, Kind::File, facts)
    }

    fn begin_sparse(&mut self, path: &Path, facts: &Facts, _: &[(u64, u64)]) -> io::Result<bool> {
        self.begin_file(path, facts)?;
        Ok(false)
    }

    fn contents(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.deflate(bytes, FlushCompress::None)
    }

    fn end_file(&mut self) -> io::Result<()> {
        self.deflate(&[], FlushCompress::Finish)?;
        if let Some(mut entry) = self.entry.take() {
            entry.checksum = self.checksum.sum();
            entry.size = self.deflate.total_in();
            entry.compressed = self.deflate.total_out();
            self.writer.write_all(&entry.descriptor())?;
            self.list.add(&entry)?;
        }
        self.checksum.reset();
        self.deflate.reset();
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.list.write(&mut self.writer)?;
        Ok(self.writer.writer)
    }
}

/// A writer that knows how many bytes were written.
struct Counted<W> {
    writer: W,
    position: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
