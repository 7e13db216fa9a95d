//! Whole files: read, write, append, copy, rename.
//!
//! The functions are those of [`std::fs`] by name and by what they do; [`WriteOptions`] has what they lack. Errors name
//! their operation and path.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use crate::close::Closer;
use crate::durability::{self, Durability};
use crate::error::{Error, Operation};
use crate::parents::{Anywhere, Parents};
use crate::raw::{self, AsFile, BorrowedFile, OwnedFile, Status, is_out_of_descriptors};
use crate::sys;

/// First room for a file that does not tell its size: a pipe, or one under `/proc`.
const UNKNOWN_SIZE: usize = 8 * 1024;

/// How a file is opened to be compared. Without `O_NONBLOCK` a named pipe would wait for somebody to write to it.
pub(crate) const COMPARE_FLAGS: i32 = raw::O_RDONLY | raw::O_NONBLOCK;

/// Contents larger than this are not written over others: the larger, the less there is to gain, and the longer they are mixed.
const MAX_OVERWRITTEN: usize = 1 << 20;

/// How much of an existing file is held at a time to compare it with what is to be written.
const COMPARE_PIECE: usize = 16 * 1024;

/// Reads a whole file.
///
/// The size that the system tells is where the room for the contents comes from, not what ends the reading: files that
/// grow meanwhile, and files under `/proc` that call themselves empty, come whole.
///
/// # Errors
///
/// [`Operation::Open`], [`Operation::Fstat`] or [`Operation::Read`] with the system's reason. A directory opens, and
/// fails to be read. On Windows it does not open.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("a");
/// smallfry::fs::write(&path, b"\x00\xff")?;
/// assert_eq!(smallfry::fs::read(&path)?, b"\x00\xff");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
    let mut contents = Vec::new();
    // Closing a file that was only read has nothing to report, so dropping it will do.
    read_path(path.as_ref(), &mut contents)?;
    Ok(contents)
}

/// Reads a whole file that holds UTF-8.
///
/// # Errors
///
/// As [`read`]; and [`Operation::Read`] with [`io::ErrorKind::InvalidData`] if the contents are not UTF-8. A byte order
/// mark is kept.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("a");
/// smallfry::fs::write(&path, b"\xff")?;
/// let error = smallfry::fs::read_to_string(&path).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_to_string(path: impl AsRef<Path>) -> Result<String, Error> {
    let path = path.as_ref();
    utf8(path, read(path)?)
}

/// The contents of a file as a string.
#[inline]
pub(crate) fn utf8(path: &Path, contents: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(contents).map_err(|error| {
        let reason = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
        Error::at(Operation::Read, path, reason)
    })
}

/// Reads a whole file into `buffer`, in place of what it held, and returns the file's length.
///
/// For many files one after the other: the buffer is allocated once and its memory is warm.
///
/// # Errors
///
/// As [`read`]. The buffer then holds what was read up to the error.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # for name in ["a", "b"] { smallfry::fs::write(directory.path().join(name), name)?; }
/// let mut buffer = Vec::new();
/// let mut total = 0;
/// for name in ["a", "b"] {
///     total += smallfry::fs::read_into(directory.path().join(name), &mut buffer)?;
/// }
/// assert_eq!(total, 2);
/// assert_eq!(buffer, b"b");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_into(path: impl AsRef<Path>, buffer: &mut Vec<u8>) -> Result<usize, Error> {
    buffer.clear();
    read_path(path.as_ref(), buffer)?;
    Ok(buffer.len())
}

/// Reads an open file from its current position to its end. The file stays open, and its position is then at the end.
///
/// # Errors
///
/// [`Operation::Fstat`] or [`Operation::Read`]; the error has no path.
///
/// ```
/// use std::io::{Seek, SeekFrom, Write};
///
/// let mut file = tempfile::tempfile()?;
/// file.write_all(b"head body")?;
/// file.seek(SeekFrom::Start(5))?;
/// assert_eq!(smallfry::fs::read_from(&file)?, b"body");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn read_from(file: impl AsFile) -> Result<Vec<u8>, Error> {
    let mut contents = Vec::new();
    read_open(raw::borrow(&file), &mut contents)
        .map_err(|(operation, reason)| Error::on_open_file(operation, reason))?;
    Ok(contents)
}

/// Writes a whole file: made if missing, with mode 0666 less the umask; cut to nothing first if it exists.
///
/// # Errors
///
/// [`Operation::Open`], [`Operation::Write`] or [`Operation::Close`]. After the last two the file is there, with some
/// of the bytes or none.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// smallfry::fs::write(directory.path().join("a"), "text")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    write_path(path.as_ref(), WRITE_FLAGS, DEFAULT_MODE, bytes.as_ref())
}

/// Adds to the end of a file, made if missing.
///
/// # Errors
///
/// As [`write()`].
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("log");
/// smallfry::fs::append(&path, "one\n")?;
/// smallfry::fs::append(&path, "two\n")?;
/// assert_eq!(smallfry::fs::read(&path)?, b"one\ntwo\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn append(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let flags = raw::O_WRONLY | raw::O_CREAT | raw::O_APPEND;
    write_path(path.as_ref(), flags, DEFAULT_MODE, bytes.as_ref())
}

/// Writes all of `bytes` to an open file at its current position. The file stays open.
///
/// # Errors
///
/// [`Operation::Write`], without a path. Some of the bytes may have been written.
///
/// ```
/// let file = tempfile::tempfile()?;
/// smallfry::fs::write_to(&file, "one ")?;
/// smallfry::fs::write_to(&file, "two")?;
/// assert_eq!(file.metadata()?.len(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[inline]
pub fn write_to(file: impl AsFile, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    raw::write_all(raw::borrow(&file), bytes.as_ref())
        .map_err(|reason| Error::on_open_file(Operation::Write, reason))
}

/// Copies contents and permissions of one file to another and returns the length. What is there is replaced; a file
/// that is copied to itself is likely to end empty.
///
/// The kernel copies where it can (`copy_file_range`, `fclonefileat`, `CopyFileEx`) and so shares blocks on file systems
/// that do. On macOS this is [`std::fs::copy`], and what closing the copy reports is lost.
///
/// # Errors
///
/// [`Operation::Copy`] with both paths; its kind is [`io::ErrorKind::InvalidInput`] for a source that is not a regular
/// file, and the destination is not touched then. After other errors it may be there, with some of the bytes or none.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("a"), directory.path().join("b"));
/// smallfry::fs::write(&from, "text")?;
/// assert_eq!(smallfry::fs::copy(&from, &to)?, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    copy_path(from, to).map_err(|reason| Error::between(Operation::Copy, from, to, reason))
}

pub(crate) fn copy_path(from: &Path, to: &Path) -> io::Result<u64> {
    Closer::global().make_way(to);
    if sys::COPIES_BY_PATH {
        return sys::copy_by_path(from, to);
    }
    let source = open(from, raw::O_RDONLY, 0)?;
    let create = |flags, mode| open(to, flags, mode);
    let (length, destination) = copy_file(&source.into(), create)?;
    raw::close(destination)?;
    Ok(length)
}

/// As [`copy_path`], leaving both files to `close` with their paths, and whether they were written.
pub(crate) fn copy_and_leave(
    from: &Path,
    to: &Path,
    close: impl Fn(OwnedFile, &Path, bool) -> io::Result<()>,
) -> io::Result<u64> {
    if sys::COPIES_BY_PATH {
        return copy_path(from, to);
    }
    let source = File::from(open(from, raw::O_RDONLY, 0)?);
    let create = |flags, mode| open(to, flags, mode);
    let copied = copy_file(&source, create);
    // Nothing was written there that could be lost.
    drop(close(source.into(), from, false));
    let (length, destination) = copied?;
    close(destination, to, true)?;
    Ok(length)
}

/// Copies contents and permissions of an open file to one that `create` opens with these flags and this mode, and gives
/// the length and that file.
pub(crate) fn copy_file(
    source: &File,
    create: impl FnOnce(i32, u32) -> io::Result<OwnedFile>,
) -> io::Result<(u64, OwnedFile)> {
    let status = source.metadata()?;
    if !status.is_file() {
        // Found before the destination is cut.
        return Err(invalid_input("the source is not a regular file".into()));
    }
    let permissions = status.permissions();
    // With the mode of the source from the start: nobody is to read in between what is not for him.
    let destination = File::from(create(WRITE_FLAGS, sys::mode_of(&permissions))?);
    if destination.metadata()?.is_file() {
        destination.set_permissions(permissions)?;
    }
    let length = io::copy(&mut &*source, &mut &destination)?;
    Ok((length, destination.into()))
}

/// Gives a file or a directory another name, in one step: whoever opens `to` finds what was there before or what was
/// renamed, and never nothing. A file that is there is replaced. Both names must be on one file system.
///
/// On Windows a file cannot be replaced while somebody has it open without sharing its deletion, as virus scanners,
/// indexers and editors do for moments. So the system's refusal (access denied, a sharing or lock violation) is
/// taken for good only when it has lasted for about a second: it is asked again after 1 ms, 2 ms and so on, up to
/// 64 ms. A target that is a directory or read-only, which waiting does not change, fails at once. On other systems
/// nothing is waited for.
///
/// # Errors
///
/// [`Operation::Rename`] with both paths; [`Operation::Close`] or [`Operation::Write`] if the file's own close was pending
/// ([`smallfry::close`](crate::close)) and has failed. Nothing has changed then.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let (from, to) = (directory.path().join("a.new"), directory.path().join("a"));
/// smallfry::fs::write(&to, "old")?;
/// smallfry::fs::write(&from, "new")?;
/// smallfry::fs::rename(&from, &to)?;
/// assert_eq!(smallfry::fs::read(&to)?, b"new");
///
/// let error = smallfry::fs::rename(&from, &to).unwrap_err();
/// assert_eq!(error.operation(), smallfry::Operation::Rename);
/// assert_eq!(error.destination(), Some(to.as_path()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let closer = Closer::global();
    if sys::OPEN_FILES_ARE_IN_THE_WAY {
        // All of them: either may be a directory with such files in it.
        closer.wait();
    }
    // A server may have all of it only when it is closed, and nobody is to find less under the new name.
    closer.confirm(from)?;
    sys::rename(from, to).map_err(|reason| Error::between(Operation::Rename, from, to, reason))
}

/// What a write found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The bytes were written.
    Written,
    /// The file held exactly these bytes already and was left alone. Only with [`WriteOptions::only_if_changed`].
    Unchanged,
}

/// How to write a file. Starts as [`write()`] does it: made if missing, replaced if there, mode 0666 less the umask.
///
/// | with | `append` | `create_new` | `only_if_changed` |
/// |---|---|---|---|
/// | `append` | | the file is made by this call, or it fails | refused: an addition always changes the file |
/// | `create_new` | | | refused: there is no file to compare with |
///
/// `mode` and `create_parents` go with all of them. Refused means [`io::ErrorKind::InvalidInput`] before anything is
/// touched.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// use smallfry::WriteOptions;
///
/// let path = directory.path().join("new/directories/key");
/// let mut options = WriteOptions::new();
/// options.create_new(true).create_parents(true).mode(0o600);
/// options.write(&path, "secret")?;
/// let error = options.write(&path, "again").unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a builder of independent switches, as std's OpenOptions"
)]
pub struct WriteOptions {
    pub(crate) append: bool,
    pub(crate) create_new: bool,
    pub(crate) create_parents: bool,
    pub(crate) only_if_changed: bool,
    pub(crate) replace: bool,
    pub(crate) in_place_if_busy: bool,
    pub(crate) overwrite: bool,
    pub(crate) durability: Durability,
    pub(crate) mode: u32,
}

/// Permissions of a new file before the umask: read and write for all, as std and Node have it.
pub(crate) const DEFAULT_MODE: u32 = 0o666;

/// How a file is opened to be written whole.
pub(crate) const WRITE_FLAGS: i32 = raw::O_WRONLY | raw::O_CREAT | raw::O_TRUNC;

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteOptions {
    /// As [`write()`].
    pub const fn new() -> Self {
        Self {
            append: false,
            create_new: false,
            create_parents: false,
            only_if_changed: false,
            replace: false,
            in_place_if_busy: false,
            overwrite: false,
            durability: Durability::None,
            mode: DEFAULT_MODE,
        }
    }

    /// Keep what the file holds and write after it.
    pub const fn append(&mut self, append: bool) -> &mut Self {
        self.append = append;
        self
    }

    /// Fail with [`io::ErrorKind::AlreadyExists`] if there is anything of that name, even a dangling symbolic link.
    pub const fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.create_new = create_new;
        self
    }

    /// Permissions of the file if it is made by this call; the process's umask is taken off. A file that exists keeps
    /// its own. On Windows only the owner's write permission counts: without it the new file is read-only.
    pub const fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Make the directories above the file if they are missing, with mode 0777 less the umask.
    ///
    /// This costs nothing where they exist: only a failed `open` makes it look. Directories stay if the write fails.
    pub const fn create_parents(&mut self, create_parents: bool) -> &mut Self {
        self.create_parents = create_parents;
        self
    }

    /// Leave a regular file alone that holds exactly the bytes to be written: its modification time stays, and programs
    /// that watch it are not woken. Lengths are compared first, then contents.
    ///
    /// A file that cannot be read is written. A change that somebody else makes between the comparison and the end of
    /// this call can go unnoticed.
    pub const fn only_if_changed(&mut self, only_if_changed: bool) -> &mut Self {
        self.only_if_changed = only_if_changed;
        self
    }

    /// What of the write must survive a crash of the system. A file that is left alone by
    /// [`only_if_changed`](Self::only_if_changed) is flushed as well: nobody knows whether it was. And once a flush has failed in
    /// this process none is left alone: the system may show bytes that the disk has not.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("settings.json");
    /// use smallfry::{Durability, WriteOptions};
    ///
    /// let mut options = WriteOptions::new();
    /// options.durability(Durability::Full).replace(true);
    /// // From here on the file holds this, whatever happens to the machine; before, what it held, and never a mixture.
    /// options.write(&path, "{}")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = durability;
        self
    }

    /// Put a new file in the place of the old one, in one step: whoever opens it finds the old contents or the new ones,
    /// whole, also after a crash of the program. After a crash of the system that is so from [`Durability::Data`] on.
    ///
    /// The module [`durability`] says how, what is kept and what is not.
    pub const fn replace(&mut self, replace: bool) -> &mut Self {
        self.replace = replace;
        self
    }

    /// With [`replace`](Self::replace): write into the file that is there if the system refuses to exchange it because it is
    /// busy, as a file is that something is mounted on (`/etc/hosts` in many containers). A crash may then leave it torn.
    pub const fn in_place_if_busy(&mut self, in_place_if_busy: bool) -> &mut Self {
        self.in_place_if_busy = in_place_if_busy;
        self
    }

    /// Write over a file that is there, and cut it only if it is longer, instead of emptying it first: the system keeps its
    /// blocks, has none to find anew before a flush, and ext4, which begins to flush a file that was emptied when it is closed,
    /// has no reason to. That is many times as fast, and with a level half as long. It is for contents of 1 MiB at most; larger
    /// ones are written as without it, and so is what is to [replace](Self::replace) or to be added.
    ///
    /// Until the new contents are flushed, before the call returns or, without a level, seconds later, a crash of the system may
    /// leave a mixture of them and the old ones, of the new length, which cannot be told by its length. So may the end of the
    /// process by a signal in the midst of the write. An error leaves the file empty.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("a");
    /// # smallfry::fs::write(&path, "longer text")?;
    /// smallfry::WriteOptions::new().overwrite(true).write(&path, "text")?;
    /// assert_eq!(smallfry::fs::read(&path)?, b"text");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn overwrite(&mut self, overwrite: bool) -> &mut Self {
        self.overwrite = overwrite;
        self
    }

    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// As [`write()`]; those of [`durability`](crate::durability#errors) if that or [`replace`](Self::replace) is asked for;
    /// [`Operation::Mkdir`] with the directory if [`create_parents`](Self::create_parents) fails;
    /// [`io::ErrorKind::InvalidInput`] for options that exclude each other.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<Outcome, Error> {
        let (path, bytes) = (path.as_ref(), bytes.as_ref());
        if self.is_more_than_written() {
            return durability::write_one(self, path, bytes);
        }
        if self.only_if_changed {
            self.check_comparable(path)?;
            if is_identical(path, bytes) {
                return Ok(Outcome::Unchanged);
            }
        }
        let write = || self.write_path(path, bytes);
        if self.create_parents {
            Parents::new().retry(&Anywhere, path, write)?;
        } else {
            write()?;
        }
        Ok(Outcome::Written)
    }

    /// Writes all of `bytes` to an open file at its current position, and leaves it open.
    ///
    /// [`mode`](Self::mode) and [`create_parents`](Self::create_parents) have nothing to do here, and of
    /// [`Durability::Full`] only the file is flushed: it has no name here. The other options are refused with [`io::ErrorKind::InvalidInput`], because an open file cannot be opened otherwise.
    ///
    /// # Errors
    ///
    /// [`Operation::Write`], [`Operation::Fsync`] or [`Operation::Fdatasync`], without a path. Some of the bytes may have
    /// been written.
    ///
    /// ```
    /// let file = tempfile::tempfile()?;
    /// smallfry::WriteOptions::new().write_to(&file, "text")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_to(&self, file: impl AsFile, bytes: impl AsRef<[u8]>) -> Result<Outcome, Error> {
        for (is_set, option) in [
            (self.append, "append"),
            (self.create_new, "create_new"),
            (self.only_if_changed, "only_if_changed"),
            (self.replace, "replace"),
        ] {
            if is_set {
                let reason = format!("{option} is not possible on a file that is open already");
                return Err(Error::on_open_file(Operation::Write, invalid_input(reason)));
            }
        }
        write_to(&file, bytes)?;
        if self.durability != Durability::None {
            durability::sync_file(&file, self.durability)?;
        }
        Ok(Outcome::Written)
    }

    /// Whether more is to be done than to open, write and close.
    pub(crate) fn is_more_than_written(&self) -> bool {
        self.replace || self.durability != Durability::None
    }

    #[inline]
    fn write_path(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let Some(flags) = self.overwriting_flags(bytes.len()) else {
            return write_path(path, self.flags(), self.mode, bytes);
        };
        let file = open(path, flags, self.mode)
            .map_err(|reason| Error::at(Operation::Open, path, reason))?;
        let file = overwrite(file, bytes)
            .map_err(|(operation, reason)| Error::at(operation, path, reason))?;
        raw::close(file).map_err(|reason| Error::at(Operation::Close, path, reason))
    }

    /// Those of a file that is not emptied, if so many bytes are to be [written over](Self::overwrite) it.
    pub(crate) const fn overwriting_flags(&self, length: usize) -> Option<i32> {
        if self.overwrite && !self.append && !self.create_new && length <= MAX_OVERWRITTEN {
            Some(self.flags() & !raw::O_TRUNC)
        } else {
            None
        }
    }

    pub(crate) const fn flags(&self) -> i32 {
        let position = match (self.append, self.create_new) {
            (true, _) => raw::O_APPEND,
            (false, true) => 0,
            (false, false) => raw::O_TRUNC,
        };
        let exclusive = if self.create_new { raw::O_EXCL } else { 0 };
        raw::O_WRONLY | raw::O_CREAT | position | exclusive
    }

    pub(crate) fn check_comparable(&self, path: &Path) -> Result<(), Error> {
        let other = match (self.append, self.create_new) {
            (false, false) => return Ok(()),
            (true, _) => "append",
            (false, true) => "create_new",
        };
        Err(exclusive(path, "only_if_changed", other))
    }

    /// There is nothing to replace where nothing may be.
    pub(crate) fn check_replaceable(&self, path: &Path) -> Result<(), Error> {
        if self.replace && self.create_new {
            return Err(exclusive(path, "replace", "create_new"));
        }
        Ok(())
    }
}

fn exclusive(path: &Path, one: &str, other: &str) -> Error {
    let reason = format!("{one} and {other} exclude each other");
    Error::at(Operation::Open, path, invalid_input(reason))
}

pub(crate) fn invalid_input(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[inline]
fn write_path(path: &Path, flags: i32, mode: u32, bytes: &[u8]) -> Result<(), Error> {
    let file = write_and_leave(path, flags, mode, bytes)?;
    raw::close(file).map_err(|reason| Error::at(Operation::Close, path, reason))
}

/// Makes `bytes` all that an open file holds, which may hold something. The file stays open.
#[inline]
pub(crate) fn overwrite(file: OwnedFile, bytes: &[u8]) -> Result<OwnedFile, Failure> {
    let status = raw::status(raw::borrow(&file))
        .map_err(|reason| (Operation::Fstat, io::Error::from(reason)))?;
    let file = if status.is_regular && status.size > bytes.len() as u64 {
        cut(file, bytes.len() as u64)?
    } else {
        file
    };
    if let Err(reason) = raw::write_all(raw::borrow(&file), bytes) {
        if status.is_regular {
            // What is left must not look like a whole file. If that fails as well, there is the first error to tell.
            let _ = cut(file, 0);
        }
        return Err((Operation::Write, reason.into()));
    }
    Ok(file)
}

#[cold]
fn cut(file: OwnedFile, length: u64) -> Result<OwnedFile, Failure> {
    let file = File::from(file);
    file.set_len(length)
        .map_err(|reason| (Operation::Write, reason))?;
    Ok(file.into())
}

/// Opens a file, though files that are still to be closed may have taken the last descriptors.
#[inline]
fn open(path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
    let open = || sys::open_path(path, flags, mode);
    match open() {
        Err(error) if is_out_of_descriptors(&error) => Closer::global().with_room(open),
        opened => opened,
    }
}

/// Opens and writes a file, and leaves it open.
#[inline]
pub(crate) fn write_and_leave(
    path: &Path,
    flags: i32,
    mode: u32,
    bytes: &[u8],
) -> Result<OwnedFile, Error> {
    let file =
        open(path, flags, mode).map_err(|reason| Error::at(Operation::Open, path, reason))?;
    raw::write_all(raw::borrow(&file), bytes)
        .map_err(|reason| Error::at(Operation::Write, path, reason))?;
    Ok(file)
}

/// Whether `path` is a regular file that holds exactly `bytes`. Any error counts as no: the write that follows meets
/// it too, and reports it.
fn is_identical(path: &Path, bytes: &[u8]) -> bool {
    open(path, COMPARE_FLAGS, 0).is_ok_and(|file| is_file_of(raw::borrow(&file), bytes))
}

/// Whether an open file is a regular one that holds exactly `bytes`.
pub(crate) fn is_file_of(file: BorrowedFile<'_>, bytes: &[u8]) -> bool {
    match raw::status(file) {
        Ok(status) if status.is_regular && status.size == bytes.len() as u64 => {
            holds_exactly(file, bytes)
        }
        _ => false,
    }
}

fn holds_exactly(file: BorrowedFile<'_>, mut expected: &[u8]) -> bool {
    let mut buffer = [const { MaybeUninit::uninit() }; COMPARE_PIECE];
    loop {
        // One byte more than expected, so that the read that finds the last byte also finds the end.
        let asked = COMPARE_PIECE.min(expected.len() + 1);
        let Ok(found) = raw::read(file, &mut buffer[..asked]) else {
            return false;
        };
        let Some((head, rest)) = expected.split_at_checked(found.len()) else {
            return false;
        };
        if head != found {
            return false;
        }
        if rest.is_empty() && found.len() < asked {
            return true;
        }
        if found.is_empty() {
            return false;
        }
        expected = rest;
    }
}

/// An operation and why it failed, before the path is known.
type Failure = (Operation, io::Error);

#[inline]
pub(crate) fn read_path(path: &Path, contents: &mut Vec<u8>) -> Result<OwnedFile, Error> {
    let file: OwnedFile =
        open(path, raw::O_RDONLY, 0).map_err(|reason| Error::at(Operation::Open, path, reason))?;
    read_open(raw::borrow(&file), contents)
        .map_err(|(operation, reason)| Error::at(operation, path, reason))?;
    Ok(file)
}

/// Adds to `contents` everything from the file's position to its end.
#[inline]
fn read_open(file: BorrowedFile<'_>, contents: &mut Vec<u8>) -> Result<(), Failure> {
    let status = raw::status(file).map_err(|reason| (Operation::Fstat, reason.into()))?;
    let told = told_size(status);
    let room = told.map_or(UNKNOWN_SIZE, |size| size.saturating_add(1));
    reserve(contents, room)?;
    let start = contents.len();
    loop {
        if contents.len() == contents.capacity() {
            reserve(contents, UNKNOWN_SIZE)?;
        }
        let asked = contents.capacity() - contents.len();
        let count =
            sys::read_spare(file, contents).map_err(|reason| (Operation::Read, reason.into()))?;
        if count == 0 {
            return Ok(());
        }
        // Asked for more, the system gave exactly what it had said the file holds: two answers that agree. Anything
        // else (a file that grew, shrank or lied about its size, a pipe) ends only where a read finds nothing.
        if count < asked && told == Some(contents.len() - start) {
            return Ok(());
        }
    }
}

/// The size of a regular file that tells one; 0 may be a file under `/proc`.
fn told_size(status: Status) -> Option<usize> {
    match usize::try_from(status.size) {
        Ok(size) if status.is_regular && size > 0 => Some(size),
        _ => None,
    }
}

fn reserve(contents: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
    // Not exact: a file without a known size would otherwise be copied for every piece.
    contents
        .try_reserve(room)
        .map_err(|_| (Operation::Read, io::ErrorKind::OutOfMemory.into()))
}
