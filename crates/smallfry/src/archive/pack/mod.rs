//! Packs archives.

mod archive_files;
mod compress;
mod listing;
mod name;
mod options;
mod packing;
mod reading;
mod sink;
mod tar;
mod writing;
mod zip;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::Format;
use crate::tree::{Report, TreeError};
use options::Options;
use packing::Packing;

/// Packs files and trees into an archive.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (site, archive) = (directory.path().join("site"), directory.path().join("site.tgz"));
/// # std::fs::create_dir(&site)?;
/// # std::fs::write(site.join("index.html"), "<h1>")?;
/// use smallfry::archive::{Format, Packer, Unpacker};
///
/// let report = Packer::new().reproducible(true).pack(Format::TarGz, &archive, [(&site, "site")])?;
/// assert_eq!((report.files, report.directories, report.bytes), (1, 1, 4));
///
/// let to = directory.path().join("unpacked");
/// Unpacker::new().unpack(&archive, &to)?;
/// assert_eq!(std::fs::read(to.join("site/index.html"))?, b"<h1>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Packer {
    options: Options,
}

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

impl Packer {
    /// Makes one that keeps permissions and times of modification, and owners in a tar. A tar has
    /// whole seconds, as GNU tar writes them by default. A zip has every second one from 1980 to
    /// 2107, and the first day of 1980 for another time.
    pub fn new() -> Self {
        Self {
            options: Options::new(),
        }
    }

    /// Sets how many files are read at once.
    pub fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.options.strategy = strategy;
        self
    }

    /// Lets `control` stop the packing and show its progress. No archive is left then.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.options.control = control.clone();
        self
    }

    /// Makes the same archive of the same names and contents: with owner 0, permissions 0755 or
    /// 0644, and times of 1970, or 1980 in a zip, which knows no earlier ones. It is off by
    /// default.
    pub fn reproducible(&mut self, reproducible: bool) -> &mut Self {
        self.options.reproducible = reproducible;
        self
    }

    /// Sets the level of compression of a tar.gz or zip: from 1, which is fastest, to 9, which
    /// makes the smallest archive. It is 6 by default. Other numbers count as the next one of
    /// these. It means nothing for a tar and for a tar.zst, which is compressed as fast as
    /// possible.
    pub fn level(&mut self, level: u32) -> &mut Self {
        self.options.level = level.clamp(1, 9);
        self
    }

    /// Packs only entries for whose paths in the archive `wanted` returns true, and what is in such
    /// directories. It is called by one thread.
    pub fn filter(&mut self, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> &mut Self {
        self.options.filter = Some(Arc::new(wanted));
        self
    }

    /// Calls `on_entry` with the path in the archive of each entry that was packed, in the order of
    /// the archive. It is called by one thread.
    pub fn on_entry(&mut self, on_entry: impl Fn(&Path) + Send + Sync + 'static) -> &mut Self {
        self.options.on_entry = Some(Arc::new(on_entry));
        self
    }

    /// Packs `sources` into the archive at `archive`. Each source is a path and its name in the
    /// archive. An empty name stands for the contents of a directory.
    ///
    /// The archive gets its name in one step, when it is whole. Until then an older one stays, and
    /// it stays if nothing could be packed. The new one gets its permissions, owner and attributes.
    /// Nothing is flushed: after a power failure the archive may be empty. If the process is
    /// killed, a temporary file stays in the directory, which
    /// [`remove_temporary_files`](crate::durable::remove_temporary_files) removes. A symbolic link
    /// at `archive` stays, and its target is replaced. A pipe or device is written to.
    ///
    /// Each directory comes before its entries, which are sorted by the bytes of their names. Links
    /// are packed as links. In a tar, further names of a file are packed as hard links. The archive
    /// itself is left out, one that it replaces, and temporary files of it that a killed process
    /// has left. Extended attributes and access control lists are not packed.
    ///
    /// Holes of files larger than 1 MiB stay holes in a tar, in the format 1.0 of GNU's
    /// [sparse files](https://www.gnu.org/software/tar/manual/html_node/PAX-1.html). In a zip, and
    /// if it is to be reproducible, they are zeros, since a copy of a file may have others.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an error for each entry that could not be read. The others are packed. If
    /// the archive cannot be written, none is left, and the error has its path.
    pub fn pack<P: Into<PathBuf>, N: Into<PathBuf>>(
        &self,
        format: Format,
        archive: impl AsRef<Path>,
        sources: impl IntoIterator<Item = (P, N)>,
    ) -> Result<Report, TreeError> {
        Packing::new(&self.options, sources).into_file(format, archive.as_ref())
    }

    /// Packs `sources` into `writer`, as [`pack`](Self::pack) does. After an error of the writer,
    /// nothing more is written.
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](Self::pack). That of the writer has an empty path.
    pub fn pack_to<P: Into<PathBuf>, N: Into<PathBuf>>(
        &self,
        format: Format,
        writer: impl Write,
        sources: impl IntoIterator<Item = (P, N)>,
    ) -> Result<Report, TreeError> {
        Packing::new(&self.options, sources).into_writer(format, writer)
    }
}
