//! The options of a write.

use std::io;
use std::path::Path;

use crate::error::{Error, Operation};
use crate::raw;

/// Permissions of a new file before the umask: read and write for all, as in std and Node.
pub(crate) const DEFAULT_MODE: u32 = 0o666;

/// The maximum number of bytes that are written over old contents. Longer contents gain less, and
/// the mixture of old and new contents lasts longer.
const MAX_OVERWRITTEN: usize = 1 << 20;

/// The part of a write that must survive a crash of the system, such as a power failure, once the
/// call has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing is flushed. The write survives a crash of the program only.
    #[default]
    None,
    /// The contents and the size. The name of a new file may be lost, and the file with it.
    Data,
    /// The name as well.
    Full,
}

/// The outcome of a write without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The bytes were written.
    Written,
    /// The file held exactly these bytes and was left alone. Only with
    /// [`WriteOptions::only_if_changed`].
    Unchanged,
}

/// The options of a write. The default is that of [`fs::write`](crate::fs::write()): the file is
/// created if it is missing, truncated if it exists, and has mode 0666 less the umask.
///
/// | with | `append` | `create_new` | `only_if_changed` |
/// |---|---|---|---|
/// | `append` | | the file is created by this call, or it fails | refused: an addition always changes the file |
/// | `create_new` | | | refused: there is no file to compare with |
///
/// `mode` and `create_parents` go with all of them. Options that are refused fail with
/// [`io::ErrorKind::InvalidInput`] before anything is touched.
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

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteOptions {
    /// Makes the options of [`fs::write`](crate::fs::write()).
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

    /// Keeps the contents of the file and writes after them.
    pub const fn append(&mut self, append: bool) -> &mut Self {
        self.append = append;
        self
    }

    /// Fails with [`io::ErrorKind::AlreadyExists`] if there is anything of that name, even a
    /// dangling symbolic link.
    pub const fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.create_new = create_new;
        self
    }

    /// Sets the permissions of a file that this call creates, before the umask. A file that exists
    /// keeps its own. On Windows only the owner's write permission counts: without it the new file
    /// is read-only.
    pub const fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Creates missing directories above the file, with mode 0777 less the umask.
    ///
    /// This costs nothing where they exist, since only a failed `open` starts a search. The
    /// directories stay if the write fails.
    pub const fn create_parents(&mut self, create_parents: bool) -> &mut Self {
        self.create_parents = create_parents;
        self
    }

    /// Leaves a regular file alone that holds exactly the bytes to be written. Its modification
    /// time stays, and programs that watch it are not woken. Lengths are compared first, then
    /// contents.
    ///
    /// A file that cannot be read is written. A change that another program makes between the
    /// comparison and the end of this call can go unnoticed.
    pub const fn only_if_changed(&mut self, only_if_changed: bool) -> &mut Self {
        self.only_if_changed = only_if_changed;
        self
    }

    /// Sets which part of the write must survive a crash of the system.
    ///
    /// A file that [`only_if_changed`](Self::only_if_changed) leaves alone is flushed as well,
    /// since it may never have been. Once a flush has failed in this process, no file is left
    /// alone: the system may show bytes that the disk does not have.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("settings.json");
    /// use smallfry::{Durability, WriteOptions};
    ///
    /// let mut options = WriteOptions::new();
    /// options.durability(Durability::Full).replace(true);
    /// // After any crash the file holds the old contents or the new ones, and never a mixture.
    /// options.write(&path, "{}")?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.durability = durability;
        self
    }

    /// Puts a new file in the place of the old one, in one step. A program that opens it finds the
    /// old contents or the new ones, whole, also after a crash of this program. After a crash of
    /// the system that holds from [`Durability::Data`] on.
    ///
    /// The module [`durable`](crate::durable) says how, and what is kept of the old file.
    pub const fn replace(&mut self, replace: bool) -> &mut Self {
        self.replace = replace;
        self
    }

    /// With [`replace`](Self::replace): writes into the old file if the system refuses to replace
    /// it because it is busy. A file is busy if something is mounted on it, as on `/etc/hosts` in
    /// many containers. A crash may then leave it torn.
    pub const fn in_place_if_busy(&mut self, in_place_if_busy: bool) -> &mut Self {
        self.in_place_if_busy = in_place_if_busy;
        self
    }

    /// Writes over an existing file and cuts it only if it is longer, instead of truncating it
    /// first.
    ///
    /// The file keeps its blocks, so a flush has none to find. ext4 does not begin to flush it when
    /// it is closed, as it does with a truncated file. That is many times as fast, and takes half
    /// as long with a level of [`durability`](Self::durability). It applies to contents of up to 1
    /// MiB. It does not apply with [`replace`](Self::replace) or [`append`](Self::append).
    ///
    /// Until the new contents are flushed, a crash of the system may leave a mixture of old and new
    /// contents with the new length. Without a level of durability that takes seconds. The end of
    /// the process by a signal during the write may leave a mixture, too. An error leaves the file
    /// empty.
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

    /// Returns true if the write needs a flush or a replacement.
    pub(crate) const fn is_durable(&self) -> bool {
        self.replace || !matches!(self.durability, Durability::None)
    }

    /// Returns true if this many bytes are to be [written over](Self::overwrite) the old ones.
    pub(crate) const fn overwrites(&self, length: usize) -> bool {
        self.overwrite && !self.append && !self.create_new && length <= MAX_OVERWRITTEN
    }

    /// Returns the flags of `open` to write this many bytes.
    pub(crate) const fn flags(&self, length: usize) -> i32 {
        let position = match (self.append, self.create_new) {
            (true, _) => raw::O_APPEND,
            (false, true) => 0,
            (false, false) if self.overwrites(length) => 0,
            (false, false) => raw::O_TRUNC,
        };
        let exclusive = if self.create_new { raw::O_EXCL } else { 0 };
        raw::O_WRONLY | raw::O_CREAT | position | exclusive
    }

    /// Refuses options that exclude each other.
    pub(crate) fn check(&self, path: &Path) -> Result<(), Error> {
        for (are_set, one, other) in [
            (
                self.only_if_changed && self.append,
                "only_if_changed",
                "append",
            ),
            (
                self.only_if_changed && self.create_new,
                "only_if_changed",
                "create_new",
            ),
            (self.replace && self.create_new, "replace", "create_new"),
        ] {
            if are_set {
                let reason = format!("{one} and {other} exclude each other");
                let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
                return Err(Error::at(Operation::Open, path, reason));
            }
        }
        Ok(())
    }
}
