//! Writes a zip.

use std::io::{self, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{DateTime, ZipWriter};

use super::name;
use super::sink::{Facts, Sink};
use crate::sys;

/// The mode that says that an entry is a link.
const LINK: u32 = 0o120_000;

pub(super) struct Zip<W: Write> {
    writer: ZipWriter<StreamWriter<W>>,
    level: u32,
}

impl<W: Write> Zip<W> {
    pub(super) fn new(writer: W, level: u32) -> Self {
        Self {
            writer: ZipWriter::new_stream(writer),
            level,
        }
    }
}

fn options(facts: &Facts) -> SimpleFileOptions {
    let date = sys::local_date(facts.modified);
    let date = date.and_then(|[year, month, day, hour, minute, second]| {
        let [month, day, hour, minute, second] =
            [month, day, hour, minute, second].map(|it| u8::try_from(it).unwrap_or(0));
        DateTime::from_date_and_time(year, month, day, hour, minute, second).ok()
    });
    SimpleFileOptions::default()
        .unix_permissions(facts.mode)
        .large_file(facts.size >= u32::MAX.into())
        .last_modified_time(date.unwrap_or_default())
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
        Ok(self.writer.add_directory(name_of(path)?, options(facts))?)
    }

    fn link(&mut self, path: &Path, target: &Path, facts: &Facts) -> io::Result<()> {
        let (name, target) = (name_of(path)?, name_of(target)?);
        // Its own way of adding links does not compress them, and then Java's ZipInputStream fails,
        // because the lengths come behind them.
        let options = options(facts).external_attributes((LINK | facts.mode) << 16);
        self.writer.start_file(name, options)?;
        self.writer.write_all(target.as_bytes())
    }

    fn hard_link(&mut self, _: &Path, _: &Path, _: &Facts) -> io::Result<bool> {
        Ok(false)
    }

    fn begin_file(&mut self, path: &Path, facts: &Facts) -> io::Result<()> {
        let options = options(facts).compression_level(Some(self.level.into()));
        Ok(self.writer.start_file(name_of(path)?, options)?)
    }

    fn begin_sparse(&mut self, path: &Path, facts: &Facts, _: &[(u64, u64)]) -> io::Result<bool> {
        self.begin_file(path, facts)?;
        Ok(false)
    }

    fn contents(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn end_file(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self) -> io::Result<W> {
        Ok(self.writer.finish()?.into_inner())
    }
}
