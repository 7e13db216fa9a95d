//! The packing of one archive: a listing, entries that are read ahead, and a format.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use smallfry_workers::{Batch, BatchOptions, Stream};

use super::compress::Compress;
use super::listing::{Found, Listing};
use super::options::Options;
use super::reading::{Content, Reading, operation_of};
use super::sink::{Facts, Sink};
use super::tar::Tar;
use super::zip::Zip;
use crate::archive::format::Format;
use crate::durable::{Replacement, is_temporary_of};
use crate::error::{Error, Operation};
use crate::path::max_workers;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, EntryStatus, Identity, Kind, OpenDirectory};
use crate::tree::directory::Directories;
use crate::tree::report::Results;
use crate::tree::{Report, TreeError};

/// The bytes of a large file that are read at a time, and of the archive that are written.
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

/// The files of the archive itself, which are left out.
struct ArchiveFiles {
    /// The archive, and the one that it replaces.
    files: [Option<Identity>; 2],
    /// `None` if it cannot be listed.
    directory: Option<Identity>,
    path: PathBuf,
}

impl ArchiveFiles {
    /// Finds them for the new archive that is to get the absolute path `path`.
    fn find(new: Identity, path: &Path) -> io::Result<Self> {
        let above = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let name = sys::last_name(path).ok_or(io::ErrorKind::InvalidInput)?;
        let open = match OpenDirectory::open(above) {
            // Nothing that is in it is packed then, but by another name.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Self {
                    files: [Some(new), None],
                    directory: None,
                    path: path.to_owned(),
                });
            }
            open => open?,
        };
        let old = match open.status_of(&name).map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?.identity),
        };
        Ok(Self {
            files: [Some(new), old],
            directory: Some(open.status()?.identity),
            path: path.to_owned(),
        })
    }

    /// Returns true for one of them, or for a temporary file that a killed process has left.
    fn has(&self, found: &Found, status: &EntryStatus) -> bool {
        let is_temporary = || {
            status.kind == Kind::File
                && Some(found.directory.identity()) == self.directory
                && is_temporary_of(sys::as_path(&found.name).as_os_str(), &self.path)
        };
        self.files.contains(&Some(status.identity)) || is_temporary()
    }
}

/// The reason why nothing more can be packed.
enum Stop {
    Cancelled,
    /// The archive cannot be written.
    Writing(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
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

/// The entries that are written one after the other.
struct Writing<'w, S> {
    options: &'w Options,
    directories: &'w Directories,
    results: &'w Results,
    own: Option<&'w ArchiveFiles>,
    names: &'w mut HashMap<Identity, PathBuf>,
    sink: &'w mut S,
}

impl<S: Sink> Writing<'_, S> {
    #[cold]
    fn fail(&self, found: &Found, reason: io::Error) {
        let error = Error::at(operation_of(found.kind), &found.source, reason);
        self.results.fail(error);
    }

    fn add(&mut self, found: &Found, status: &EntryStatus, content: Content) -> Result<(), Stop> {
        if self.own.is_some_and(|own| own.has(found, status)) {
            return Ok(());
        }
        let path = &found.path;
        let mut facts = self.facts(status);
        match content {
            Content::Directory => {
                facts.size = 0;
                if let Err(reason) = self.sink.directory(path, &facts) {
                    return self.refuse(found, reason);
                }
                self.results.add_directory();
                self.tell(path);
                return Ok(());
            }
            Content::Link(target) => {
                facts.size = 0;
                if let Err(reason) = self.sink.link(path, &target, &facts) {
                    return self.refuse(found, reason);
                }
                self.added(path, 0);
                return Ok(());
            }
            Content::File(_) | Content::Large => {}
        }
        if status.names > 1
            && let Some(first) = self.names.get(&status.identity)
            && self.sink.hard_link(path, first, &facts)?
        {
            self.added(path, 0);
            return Ok(());
        }
        if status.names > 1 {
            self.names
                .entry(status.identity)
                .or_insert_with(|| path.clone());
        }
        if let Content::File(contents) = content {
            facts.size = contents.len() as u64;
            if let Err(reason) = self.sink.begin_file(path, &facts) {
                return self.refuse(found, reason);
            }
            self.sink.contents(&contents)?;
        } else {
            let file = self.open(found);
            let parts = file.as_ref().and_then(|file| self.parts_of(file, status));
            let begun = match &parts {
                Some(parts) => self.sink.begin_sparse(path, &facts, parts),
                None => Ok(false),
            };
            let begun = match begun {
                Ok(false) => self.sink.begin_file(path, &facts).map(|()| false),
                begun => begun,
            };
            let parts = match begun {
                Ok(true) => {
                    let parts = parts.unwrap_or_default();
                    let stored: u64 = parts.iter().map(|(_, length)| length).sum();
                    self.options.control.moved(status.size - stored);
                    parts
                }
                Ok(false) => vec![(0, status.size)],
                Err(reason) => return self.refuse(found, reason),
            };
            self.add_large(found, file, &parts)?;
        }
        self.sink.end_file()?;
        self.added(path, facts.size);
        Ok(())
    }

    fn added(&self, path: &Path, bytes: u64) {
        self.results.add_file(bytes);
        self.tell(path);
    }

    /// Tells the caller about an entry.
    fn tell(&self, path: &Path) {
        if let Some(on_entry) = &self.options.on_entry {
            on_entry(path);
        }
    }

    /// Notes an entry whose name the format cannot have. Another error is one of the archive.
    fn refuse(&self, found: &Found, reason: io::Error) -> Result<(), Stop> {
        if reason.kind() != io::ErrorKind::InvalidInput {
            return Err(reason.into());
        }
        self.fail(found, reason);
        Ok(())
    }

    /// Opens a large file. `None` if that failed, which is reported.
    fn open(&self, found: &Found) -> Option<File> {
        let opened = self
            .directories
            .open(&found.directory)
            .and_then(|directory| {
                self.directories
                    .with_descriptors(|| Ok(directory.open_file(&found.name)?))
            });
        let opened = opened.map_err(|reason| self.fail(found, reason));
        opened.ok().map(File::from)
    }

    /// Returns the parts of a file between its holes. `None` if it has none, or if other copies of it
    /// would have others and the archive is to be the same.
    fn parts_of(&self, file: &File, status: &EntryStatus) -> Option<Vec<(u64, u64)>> {
        if !status.is_sparse() || self.options.reproducible {
            return None;
        }
        // An error here is one of reading, too.
        sys::data_parts(raw::borrow(file), status.size).ok()
    }

    /// Packs parts of a file, zeros if it has become shorter.
    fn add_large(
        &mut self,
        found: &Found,
        mut file: Option<File>,
        parts: &[(u64, u64)],
    ) -> Result<(), Stop> {
        for (start, length) in parts {
            self.add_part(found, &mut file, *start, *length)?;
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        found: &Found,
        file: &mut Option<File>,
        start: u64,
        length: u64,
    ) -> Result<(), Stop> {
        if let Some(open) = file
            && let Err(reason) = open.seek(SeekFrom::Start(start))
        {
            self.fail(found, reason);
            *file = None;
        }
        let mut piece: Vec<u8> = Vec::with_capacity(PIECE);
        let mut left = length;
        while left > 0 {
            if self.options.control.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            piece.clear();
            if let Some(open) = file {
                match sys::read_spare(raw::borrow(open), &mut piece) {
                    Ok(0) => {
                        let reason = "the file has become shorter, and was filled with zeros";
                        self.fail(found, io::Error::other(reason));
                        *file = None;
                    }
                    Ok(_) => {}
                    Err(errno) => {
                        self.fail(found, errno.into());
                        *file = None;
                    }
                }
            }
            if file.is_none() {
                piece.resize(PIECE, 0);
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            piece.truncate(most);
            self.sink.contents(&piece)?;
            left -= piece.len() as u64;
            self.options.control.moved(piece.len() as u64);
        }
        Ok(())
    }

    fn facts(&self, status: &EntryStatus) -> Facts {
        let (owner, group) = status.owner_and_group();
        let mut facts = Facts {
            mode: status.mode & 0o7777,
            owner: owner.into(),
            group: group.into(),
            modified: u64::try_from(status.modified().0).unwrap_or(0),
            size: status.size,
        };
        if self.options.reproducible {
            facts.mode = if facts.mode & 0o100 == 0 {
                0o644
            } else {
                0o755
            };
            facts.owner = 0;
            facts.group = 0;
            facts.modified = 0;
        }
        facts
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
