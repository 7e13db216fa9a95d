//! The packing of one archive: a listing, entries that are read ahead, and a format.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use smallfry_workers::{Batch, BatchOptions, Stream};

use super::archive_files::ArchiveFiles;
use super::compress::Compress;
use super::listing::Listing;
use super::options::Options;
use super::reading::Reading;
use super::sink::Sink;
use super::tar::Tar;
use super::writing::{Stop, Writing};
use super::zip::Zip;
use crate::archive::format::Format;
use crate::durable::Replacement;
use crate::error::{Error, Operation};
use crate::path::max_workers;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, Identity};
use crate::tree::directory::Directories;
use crate::tree::report::Results;
use crate::tree::{Report, TreeError};

/// The bytes of the archive that are written at a time.
const PIECE: usize = 256 << 10;

/// The packing of one archive.
pub(super) struct Packing<'o> {
    options: &'o Options,
    sources: Vec<(PathBuf, PathBuf)>,
    directories: Directories,
    results: Results,
    /// `None` for an archive that is a stream.
    own: Option<ArchiveFiles>,
    /// The first names of files that have several.
    names: HashMap<Identity, PathBuf>,
}

impl<'o> Packing<'o> {
    pub(super) fn new<P: Into<PathBuf>, N: Into<PathBuf>>(
        options: &'o Options,
        sources: impl IntoIterator<Item = (P, N)>,
    ) -> Self {
        let sources = sources.into_iter();
        Self {
            options,
            sources: sources
                .map(|(path, name)| (path.into(), name.into()))
                .collect(),
            directories: Directories::new(),
            results: Results::default(),
            own: None,
            names: HashMap::new(),
        }
    }

    pub(super) fn into_file(mut self, format: Format, archive: &Path) -> Result<Report, TreeError> {
        if let Err(reason) = self.write_file(format, archive) {
            self.results
                .fail(Error::at(Operation::Write, archive, reason));
        }
        self.results.end()
    }

    pub(super) fn into_writer(
        mut self,
        format: Format,
        writer: impl Write,
    ) -> Result<Report, TreeError> {
        if let Err(Stop::Writing(reason)) = self.write(format, writer) {
            let error = Error::at(Operation::Write, Path::new(""), reason);
            self.results.fail(error);
        }
        self.results.end()
    }

    fn write_file(&mut self, format: Format, archive: &Path) -> io::Result<()> {
        match fs::metadata(archive) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // A pipe or device is written to, never replaced.
            Ok(there) if !there.is_file() => {
                let stream = OpenOptions::new().write(true).open(archive)?;
                return match self.write(format, stream) {
                    Err(Stop::Writing(reason)) => Err(reason),
                    Err(Stop::Cancelled) | Ok(()) => Ok(()),
                };
            }
            _ => {}
        }
        let begun = Replacement::begin(archive, 0o666).map_err(Error::into_io_error);
        let (replacement, file) = begun?;
        let new = sys::entry_status(raw::borrow(&file))?.identity;
        self.own = Some(ArchiveFiles::find(new, replacement.target())?);
        match self.write(format, Output(&file)) {
            // The new entry is removed.
            Err(Stop::Cancelled) => return Ok(()),
            Err(Stop::Writing(reason)) => return Err(reason),
            // An older archive is worth more.
            Ok(()) if self.results.has_only_failed() => return Ok(()),
            Ok(()) => {}
        }
        replacement.commit(file).map_err(Error::into_io_error)
    }

    fn write(&mut self, format: Format, writer: impl Write) -> Result<(), Stop> {
        let writer = io::BufWriter::with_capacity(PIECE, writer);
        let level = self.options.level;
        let mut writer = match format {
            Format::Tar => self.pack(Tar::new(Compress::Plain(writer)))?,
            Format::TarGz => self.pack(Tar::new(Compress::gzip(writer, level)))?,
            Format::TarZst => self.pack(Tar::new(Compress::zstd(writer)))?,
            Format::Zip => self.pack(Zip::new(writer, level))?,
        };
        Ok(writer.flush()?)
    }

    fn pack<S: Sink>(&mut self, mut sink: S) -> Result<S::Writer, Stop> {
        let sources = std::mem::take(&mut self.sources);
        let Self {
            options,
            directories,
            results,
            own,
            names,
            ..
        } = self;
        let mut writing = Writing {
            options,
            directories,
            results,
            own: own.as_ref(),
            names,
            sink: &mut sink,
        };
        let batch = BatchOptions {
            strategy: options.strategy,
            max_workers: max_workers(),
            control: options.control.clone(),
            ..BatchOptions::default()
        };
        let listing = Listing::new(options, directories, results, sources);
        std::thread::scope(|scope| {
            let batch = Batch::new(Reading(directories), batch, scope);
            for (_, read) in Stream::new(batch, listing, true) {
                let Some((found, read)) = read else {
                    return Err(Stop::Cancelled);
                };
                match read {
                    Ok((status, content)) => writing.add(&found, &status, content)?,
                    Err(reason) => writing.fail(&found, reason),
                }
            }
            Ok(())
        })?;
        if options.control.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        Ok(sink.finish()?)
    }
}

/// The open archive.
struct Output<'f>(&'f OwnedFile);

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(raw::write(raw::borrow(self.0), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
