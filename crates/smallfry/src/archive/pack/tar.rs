//! Writes a tar, with pax headers for what ustar has no room for.

use std::io::{self, Write};
use std::path::Path;

use tar_core::builder::EntryBuilder;
use tar_core::{EntryType, HEADER_SIZE, PAX_MTIME, SparseEntry};

use super::compress::Compress;
use super::name;
use super::sink::{Facts, Sink};

/// The end of a tar is filled with zeros up to a multiple of this, as other programs do.
const RECORD: u64 = 10_240;

/// The maximum number of parts between holes. Others may refuse a longer map.
const MAX_PARTS: usize = 4096;
/// The maximum size in bytes of these parts. A larger one would not fit into the header, to which the
/// map is added.
const MAX_STORED: u64 = 4 << 30;

pub(super) struct Tar<W: Write> {
    writer: Compress<W>,
    length: u64,
}

impl<W: Write> Tar<W> {
    pub(super) fn new(writer: Compress<W>) -> Self {
        Self { writer, length: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.writer.write_all(bytes)
    }

    fn fill_to(&mut self, multiple: u64) -> io::Result<()> {
        let missing = self.length.next_multiple_of(multiple) - self.length;
        let zeros = vec![0; usize::try_from(missing).unwrap_or(0)];
        self.put(&zeros)
    }

    fn header(
        &mut self,
        kind: EntryType,
        path: &Path,
        target: Option<&Path>,
        facts: &Facts,
        parts: Option<&[(u64, u64)]>,
    ) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let mut name = name::bytes_of(path)?.into_owned();
        if kind == EntryType::Directory {
            name.push(b'/');
        }
        let mut builder = EntryBuilder::new_ustar();
        builder.path(name).entry_type(kind);
        if let Some(target) = target {
            builder.link_name(name::bytes_of(target)?);
        }
        // The header has no time before 1970.
        let modified = u64::try_from(facts.modified).unwrap_or_else(|_| {
            builder.add_pax(PAX_MTIME, facts.modified.to_string());
            0
        });
        builder
            .mode(facts.mode)
            .and_then(|it| it.uid(facts.owner))
            .and_then(|it| it.gid(facts.group))
            .and_then(|it| it.size(stored_size(facts, parts)))
            .and_then(|it| it.mtime(modified))
            .map_err(invalid)?;
        if let Some(parts) = parts {
            let entry = |&(offset, length): &(u64, u64)| SparseEntry { offset, length };
            let mut map: Vec<_> = parts.iter().map(entry).collect();
            // As GNU tar does: the end of a file that ends with a hole.
            if parts
                .last()
                .is_none_or(|(at, length)| at + length < facts.size)
            {
                map.push(entry(&(facts.size, 0)));
            }
            builder.sparse(&map, facts.size);
        }
        let header = builder.finish_bytes();
        self.put(&header)
    }
}

/// Returns the number of bytes of contents that follow a header.
fn stored_size(facts: &Facts, parts: Option<&[(u64, u64)]>) -> u64 {
    match parts {
        Some(parts) => parts.iter().map(|(_, length)| length).sum(),
        None => facts.size,
    }
}

impl<W: Write> Sink for Tar<W> {
    type Writer = W;

    fn directory(&mut self, path: &Path, facts: &Facts) -> io::Result<()> {
        self.header(EntryType::Directory, path, None, facts, None)
    }

    fn link(&mut self, path: &Path, target: &Path, facts: &Facts) -> io::Result<()> {
        self.header(EntryType::Symlink, path, Some(target), facts, None)
    }

    fn hard_link(&mut self, path: &Path, first: &Path, facts: &Facts) -> io::Result<bool> {
        let facts = Facts { size: 0, ..*facts };
        self.header(EntryType::Link, path, Some(first), &facts, None)?;
        Ok(true)
    }

    fn begin_file(&mut self, path: &Path, facts: &Facts) -> io::Result<()> {
        self.header(EntryType::Regular, path, None, facts, None)
    }

    fn begin_sparse(
        &mut self,
        path: &Path,
        facts: &Facts,
        parts: &[(u64, u64)],
    ) -> io::Result<bool> {
        if parts.len() > MAX_PARTS || stored_size(facts, Some(parts)) > MAX_STORED {
            self.begin_file(path, facts)?;
            return Ok(false);
        }
        self.header(EntryType::Regular, path, None, facts, Some(parts))?;
        Ok(true)
    }

    fn contents(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(bytes)
    }

    fn end_file(&mut self) -> io::Result<()> {
        self.fill_to(HEADER_SIZE as u64)
    }

    fn finish(mut self) -> io::Result<W> {
        self.put(&[0; 2 * HEADER_SIZE])?;
        self.fill_to(RECORD)?;
        self.writer.finish()
    }
}
