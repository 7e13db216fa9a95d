//! Unpacks archives.

mod admission;
mod destination;
mod entry;
mod length;
mod limits;
mod name;
mod options;
mod spool;
mod spread;
mod tar;
mod unpacking;
mod window;
mod zip;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::format::{Format, HEADER};
use crate::error::{Error, Operation};
use crate::tree::{Existing, Report, TreeError};
use length::Length;
use options::Options;
use unpacking::{Fault, Unpacking};
use window::Window;

/// Unpacks archives: tar, tar.gz, tar.zst and zip. The first bytes of an archive tell its format.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (archive, to) = (directory.path().join("site.tar"), directory.path().join("site"));
/// # let mut builder = tar::Builder::new(std::fs::File::create(&archive)?);
/// # let mut header = tar::Header::new_gnu();
/// # header.set_size(4);
/// # header.set_mode(0o644);
/// # builder.append_data(&mut header, "pages/index.html", &b"<h1>"[..])?;
/// # builder.finish()?;
/// use smallfry::archive::Unpacker;
///
/// let report = Unpacker::new().unpack(&archive, &to)?;
/// assert_eq!((report.files, report.directories, report.bytes), (1, 1, 4));
/// assert_eq!(std::fs::read(to.join("pages/index.html"))?, b"<h1>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unpacker {
    options: Options,
}

impl Default for Unpacker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unpacker {
    /// Makes one that replaces files, sets their times, and sets no limit.
    pub fn new() -> Self {
        Self {
            options: Options::new(),
        }
    }

    /// Sets how many operations run at once.
    pub fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.options.strategy = strategy;
        self
    }

    /// Lets `control` stop the unpacking and show its progress. Small files that were begun are
    /// finished, and a large one is removed.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.options.control = control.clone();
        self
    }

    /// Sets what happens to a file or link that is there already. Directories are merged. If the
    /// process is killed, a new file may be half written under its name, and [`Existing::Keep`]
    /// keeps it in the next run.
    pub fn existing(&mut self, existing: Existing) -> &mut Self {
        self.options.existing = existing;
        self
    }

    /// Drops so many names from the start of each path, and entries that have no more. It is 0 by
    /// default.
    pub fn strip_components(&mut self, count: usize) -> &mut Self {
        self.options.strip_components = count;
        self
    }

    /// Gives entries the times of modification that the archive states. It is on by default.
    pub fn times(&mut self, times: bool) -> &mut Self {
        self.options.times = times;
        self
    }

    /// Gives entries exactly the permissions that the archive states. It is off by default, and
    /// the umask is subtracted.
    pub fn permissions(&mut self, permissions: bool) -> &mut Self {
        self.options.permissions = permissions;
        self
    }

    /// Makes also symbolic links to absolute paths and out of the destination, and those that may
    /// lead out by way of another link. It is off by default, and they are errors. Entries never go
    /// through them.
    pub fn links_may_leave(&mut self, links_may_leave: bool) -> &mut Self {
        self.options.links_may_leave = links_may_leave;
        self
    }

    /// Lets the last one of several files of one name win, as in a tar that was appended to. It is
    /// off by default, and the later ones are errors.
    pub fn last_wins(&mut self, last_wins: bool) -> &mut Self {
        self.options.last_wins = last_wins;
        self
    }

    /// Stops at an archive with more entries. There is no limit by default.
    pub fn max_entries(&mut self, entries: u64) -> &mut Self {
        self.options.limits.entries = entries;
        self
    }

    /// Stops at an archive whose files have more bytes together. There is no limit by default.
    pub fn max_bytes(&mut self, bytes: u64) -> &mut Self {
        self.options.limits.bytes = bytes;
        self
    }

    /// Stops at an archive that becomes more than `ratio` times as large, and larger than 1 MiB.
    /// There is no limit by default. What gzip makes of a file is at least a 1,032nd of it. Of an
    /// archive whose length is not known, what was read until the header of a file counts.
    pub fn max_ratio(&mut self, ratio: u64) -> &mut Self {
        self.options.limits.ratio = ratio;
        self
    }

    /// Unpacks only entries for whose paths below the destination `wanted` returns true. It is
    /// asked for each entry, on the calling thread.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.options.filter = Some(Arc::new(wanted));
        self
    }

    /// Calls `on_entry` with the path below the destination of each file and link that was
    /// written. It is called by several threads.
    pub fn on_entry(&mut self, on_entry: impl Fn(&Path) + Send + Sync + 'static) -> &mut Self {
        self.options.on_entry = Some(Arc::new(on_entry));
        self
    }

    /// Unpacks the archive at `archive` into the directory `to`, which is made if it is missing.
    ///
    /// A file that is there already is replaced in one step. A directory that is there keeps its
    /// permissions. An entry that cannot be unpacked is an error, and the rest is unpacked. Links
    /// are made after all files, and the times of directories are set last. Holes of sparse files
    /// larger than 1 MiB are kept.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an error for each entry that was not unpacked. Its operation is
    /// [`Open`](Operation::Open) for a refused name or kind, [`Write`](Operation::Write),
    /// [`Mkdir`](Operation::Mkdir), [`Symlink`](Operation::Symlink) or [`Link`](Operation::Link).
    /// Where the archive is damaged, truncated, of an unknown format or beyond a limit, it is
    /// [`Read`](Operation::Read) with the path of the archive. The entries of a tar up to there are
    /// unpacked, and those of a zip that are whole.
    pub fn unpack(
        &self,
        archive: impl AsRef<Path>,
        to: impl AsRef<Path>,
    ) -> Result<Report, TreeError> {
        let archive = archive.as_ref();
        let file =
            File::open(archive).map_err(|reason| Error::at(Operation::Open, archive, reason))?;
        let status = file.metadata().ok().filter(Metadata::is_file);
        let length = status.map(|status| status.len());
        let mut reader = Window::new(&file);
        let format = recognize(&mut reader);
        match format {
            Ok(Format::Zip) if length.is_some() => {
                let unpacking = Unpacking::new(&self.options, archive, to.as_ref())?;
                zip::unpack(&unpacking, zip::Source::File(Arc::new(file)));
                unpacking.destination.results.end()
            }
            Ok(Format::Zip) => self.unpack_zip_from(reader, archive, to.as_ref()),
            format => self.unpack_tar(format, reader, length, archive, to.as_ref()),
        }
    }

    /// Unpacks an archive that is in memory.
    ///
    /// # Errors
    ///
    /// The errors of [`unpack`](Self::unpack). Those of the archive have an empty path.
    pub fn unpack_bytes(&self, archive: &[u8], to: impl AsRef<Path>) -> Result<Report, TreeError> {
        if let Ok(Format::Zip) = Format::of(archive) {
            let unpacking = Unpacking::new(&self.options, Path::new(""), to.as_ref())?;
            zip::unpack(&unpacking, zip::Source::Bytes(archive));
            return unpacking.destination.results.end();
        }
        let length = Some(archive.len() as u64);
        let mut reader = Window::new(archive);
        let format = recognize(&mut reader);
        self.unpack_tar(format, reader, length, Path::new(""), to.as_ref())
    }

    /// Unpacks an archive that is read from its start to its end.
    ///
    /// A tar is unpacked while it is read. A zip is first written to a file without a name in `to`,
    /// since the list of its entries is at its end. [`unpack`](Self::unpack) does the same with a
    /// zip from a pipe.
    ///
    /// # Errors
    ///
    /// The errors of [`unpack`](Self::unpack). Those of the archive have an empty path. A zip is
    /// refused that is itself more than 16 MiB longer than [`max_bytes`](Self::max_bytes).
    pub fn unpack_from(
        &self,
        reader: impl Read,
        to: impl AsRef<Path>,
    ) -> Result<Report, TreeError> {
        let mut reader = Window::new(reader);
        match recognize(&mut reader) {
            Ok(Format::Zip) => self.unpack_zip_from(reader, Path::new(""), to.as_ref()),
            format => self.unpack_tar(format, reader, None, Path::new(""), to.as_ref()),
        }
    }

    /// Unpacks a zip that is read from its start to its end.
    fn unpack_zip_from(
        &self,
        reader: Window<impl Read>,
        archive: &Path,
        to: &Path,
    ) -> Result<Report, TreeError> {
        let unpacking = Unpacking::new(&self.options, archive, to)?;
        match spool::spool(reader, to, &self.options) {
            Ok(file) => zip::unpack(&unpacking, zip::Source::File(Arc::new(file))),
            Err(Fault::Reading(reason)) => unpacking.fail_archive(reason),
            Err(Fault::Writing(reason)) => {
                let error = Error::at(Operation::Write, to, reason);
                unpacking.destination.results.fail(error);
            }
            Err(Fault::Cancelled) => {}
        }
        unpacking.destination.results.end()
    }

    /// Unpacks a tar. `length` is that of the archive in bytes; `None` if it is not known.
    fn unpack_tar(
        &self,
        format: io::Result<Format>,
        reader: Window<impl Read>,
        length: Option<u64>,
        archive: &Path,
        to: &Path,
    ) -> Result<Report, TreeError> {
        let archived = Length {
            used: reader.used(),
            known: length,
        };
        let decompressed = format.and_then(|format| {
            let mut tar = Window::new(format.decompress(reader)?);
            match recognize(&mut tar)? {
                Format::Tar => Ok(tar),
                _ => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "no tar is in the compressed bytes",
                )),
            }
        });
        let tar = decompressed.map_err(|reason| Error::at(Operation::Read, archive, reason))?;
        let unpacking = Unpacking::new(&self.options, archive, to)?;
        tar::unpack(&unpacking, tar, &archived);
        unpacking.destination.results.end()
    }
}

/// Recognizes the format of an archive, and uses none of its bytes.
fn recognize(reader: &mut Window<impl Read>) -> io::Result<Format> {
    reader.fill_to(HEADER)?;
    Format::of(reader.unused())
}
