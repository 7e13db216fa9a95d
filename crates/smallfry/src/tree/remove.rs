//! Removes a tree: each entry beneath the open directory that it is in, and never through a link.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use smallfry_workers::{Control, Strategy};

use super::directory::{Directories, Directory};
use super::report::{Report, Results, TreeError};
use super::traversal::{Visitor, traverse};
use super::worker_pool::Operations;
use crate::closer::Closer;
use crate::durable::temporary_name;
use crate::error::{Error, Operation};
use crate::sys::{self, Kind, Name, OwnedName};

/// Removes trees.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("node_modules");
/// use smallfry::tree::Remover;
///
/// # std::fs::create_dir(&path)?;
/// # std::fs::write(path.join("a.js"), "")?;
/// let report = Remover::new().remove(&path)?;
/// assert_eq!((report.files, report.directories), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Remover {
    strategy: Strategy,
    control: Option<Control>,
    missing_ok: bool,
    mounts: bool,
    on_entry: Option<OnEntry>,
}

/// Gets the path of a removed entry, and true for a directory.
type OnEntry = Arc<dyn Fn(&Path, bool) + Send + Sync>;

impl fmt::Debug for Remover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remover")
            .field("strategy", &self.strategy)
            .field("missing_ok", &self.missing_ok)
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
}

impl Default for Remover {
    fn default() -> Self {
        Self::new()
    }
}

impl Remover {
    /// Makes one that stays on the file system of the tree, and takes a missing tree for an error.
    pub const fn new() -> Self {
        Self {
            strategy: Strategy::Auto,
            control: None,
            missing_ok: false,
            mounts: false,
            on_entry: None,
        }
    }

    /// Sets how many operations run at once.
    pub const fn strategy(&mut self, strategy: Strategy) -> &mut Self {
        self.strategy = strategy;
        self
    }

    /// Lets `control` stop the removal. What is left then stays.
    pub fn control(&mut self, control: &Control) -> &mut Self {
        self.control = Some(control.clone());
        self
    }

    /// Takes a tree that is not there for removed. It is off by default.
    pub const fn missing_ok(&mut self, missing_ok: bool) -> &mut Self {
        self.missing_ok = missing_ok;
        self
    }

    /// Removes what is in mount points, too: in other file systems, and on Linux in directories
    /// that are mounted once more (`mount --bind`). It is off by default, and such a directory is
    /// an error. The mount point itself stays in any case.
    pub const fn mounts(&mut self, mounts: bool) -> &mut Self {
        self.mounts = mounts;
        self
    }

    /// Calls `on_entry` with the path of each entry that was removed, and true for a directory,
    /// which comes after its entries. Other entries have no order. It is called by several threads.
    pub fn on_entry(
        &mut self,
        on_entry: impl Fn(&Path, bool) + Send + Sync + 'static,
    ) -> &mut Self {
        self.on_entry = Some(Arc::new(on_entry));
        self
    }

    /// Removes the file, link or directory at `path`, and everything in it.
    ///
    /// A link is removed itself, at the path and below it. Another program may exchange directories
    /// and links meanwhile: what they lead to stays. What cannot be removed is an error, and the
    /// rest is removed.
    ///
    /// Nothing of this is flushed. After a power failure some of the tree may be there again.
    ///
    /// # Platform-specific behavior
    ///
    /// - On Windows junctions and mounted volumes are links too: they are removed, and what they
    ///   lead to stays. Read-only files are removed. A file that another program has open and does
    ///   not share is waited for, up to a second in each directory.
    ///
    /// # Errors
    ///
    /// [`TreeError`] with an [`Error`] for each entry that is left: [`Operation::Unlink`],
    /// [`Operation::Rmdir`] or [`Operation::Readdir`], with its path. Also for a `path` that ends
    /// in `.` or `..`, or is a root directory, which are refused. On Windows these are also `C:`,
    /// `\\server\share` and devices.
    ///
    /// [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html),
    /// [FILE_DISPOSITION_INFORMATION_EX](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddk/ns-ntddk-_file_disposition_information_ex)
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<Report, TreeError> {
        let path = path.as_ref();
        let start = sys::start_of(path);
        let results = Results::default();
        let on_removed = |directory: &Arc<Directory>, name: &Name, kind| {
            match kind {
                Kind::Directory => results.add_directory(),
                _ => results.add_file(0),
            }
            if let Some(on_entry) = &self.on_entry {
                on_entry(&directory.path_of(&start, name), kind == Kind::Directory);
            }
        };
        let removal = Removal {
            mounts: self.mounts,
            is_dry: false,
            is_wanted: &|_, _| true,
            on_removed: &on_removed,
            start: &start,
            directories: &Directories::new(),
            results: &results,
        };
        match removal.begin(path, self.strategy, self.control.as_ref()) {
            Err(error) if self.missing_ok && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => results.fail(error),
            Ok(()) => {}
        }
        results.end()
    }

    /// Renames the file, link or directory at `path` in one step, to a hidden name in the same
    /// directory, and returns its path there. [`remove`](Self::remove) may then take its time.
    ///
    /// `announce` gets that path before anything is renamed, so that a program can note it: if the
    /// program is killed, what is left can be found. Nothing is renamed if it fails.
    ///
    /// The name is that of a temporary file of this crate, but
    /// [`remove_temporary_files`](crate::durable::remove_temporary_files) leaves directories alone.
    /// Mount points below `path` go with it, and `remove` refuses them.
    ///
    /// Nothing of this is flushed. After a power failure either name may be there.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("dist");
    /// use smallfry::tree::Remover;
    ///
    /// # std::fs::create_dir(&path)?;
    /// let aside = Remover::new().set_aside(&path, |_| Ok(()))?;
    /// assert!(!path.exists());
    /// std::thread::spawn(move || Remover::new().remove(aside));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Operation::Rename`], also for the error of `announce`, and what [`remove`](Self::remove)
    /// refuses. A directory that may not be read is an error, even if it is empty.
    ///
    /// [renameat(2)](https://man7.org/linux/man-pages/man2/renameat.2.html)
    pub fn set_aside(
        &self,
        path: impl AsRef<Path>,
        announce: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<PathBuf, Error> {
        let path = path.as_ref();
        let above = sys::start_of(path);
        let directories = Directories::new();
        let (start, name, kind) = find(&directories, &above, path)?;
        let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
        if kind == Kind::Directory {
            let entered = directories.enter(&start, &name);
            let (directory, _) = entered.map_err(at(Operation::Readdir))?;
            check(&directories, self.mounts, path, &start, &directory)?;
        }
        let renamed = || {
            let open = directories.open(&start)?;
            let aside = temporary_name(sys::as_path(&name));
            let aside = sys::name_of(aside.as_ref()).ok_or(io::ErrorKind::InvalidInput)?;
            let aside_path = start.path_of(&above, &aside);
            announce(&aside_path)?;
            open.rename(&name, &aside)?;
            Ok(aside_path)
        };
        renamed().map_err(at(Operation::Rename))
    }
}

/// Finds what is at `path`: the directory that it is in, its name there, and its kind. `above` is
/// the path of that directory.
fn find(
    directories: &Directories,
    above: &Path,
    path: &Path,
) -> Result<(Arc<Directory>, OwnedName, Kind), Error> {
    let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
    let name = sys::last_name(path).ok_or_else(|| {
        let reason = "a path that ends in `.` or `..`, or is the root, is refused";
        refuse(path, reason)
    })?;
    Closer::global().make_way(path);
    let start = directories.begin(above).map_err(at(Operation::Open))?;
    let open = directories.open(&start).map_err(at(Operation::Open))?;
    let kind = open.kind_of(&name);
    let kind = kind.map_err(|errno| at(Operation::Unlink)(errno.into()))?;
    if kind != Kind::Directory && sys::ends_in_separator(path) {
        return Err(at(Operation::Unlink)(io::ErrorKind::NotADirectory.into()));
    }
    Ok((start, name, kind))
}

/// Refuses the root directory, and what is mounted at `path` unless `mounts`.
fn check(
    directories: &Directories,
    mounts: bool,
    path: &Path,
    start: &Directory,
    directory: &Arc<Directory>,
) -> Result<(), Error> {
    if sys::root_identity().is_some_and(|root| root == directory.identity()) {
        return Err(refuse(path, "the root directory is refused"));
    }
    if !mounts && is_mounted(directories, start, directory) {
        return Err(refuse(path, MOUNTED));
    }
    Ok(())
}

fn refuse(path: &Path, reason: &str) -> Error {
    let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
    Error::at(Operation::Rmdir, path, reason)
}

/// Returns true if something is mounted at a directory.
fn is_mounted(directories: &Directories, above: &Directory, directory: &Arc<Directory>) -> bool {
    directory.identity().device != above.identity().device
        || directories
            .open(directory)
            .is_ok_and(|open| open.is_mount_point())
}

/// The removal of one tree, or of entries of a directory.
pub(super) struct Removal<'r> {
    pub(super) mounts: bool,
    /// Nothing is removed.
    pub(super) is_dry: bool,
    /// Returns true if an entry of a directory is to be removed. An unwanted one keeps those above.
    pub(super) is_wanted: &'r (dyn Fn(&Directory, &Name) -> bool + Sync),
    /// Gets each entry that was removed.
    pub(super) on_removed: &'r (dyn Fn(&Arc<Directory>, &Name, Kind) + Sync),
    /// The path of the directory where the tree begins.
    pub(super) start: &'r Path,
    pub(super) directories: &'r Directories,
    pub(super) results: &'r Results,
}

/// A directory that is being removed.
pub(super) struct Place {
    directory: Arc<Directory>,
    /// Something in it could not be removed.
    is_kept: AtomicBool,
    /// The number of times that it was found to be not empty.
    returns: AtomicU32,
}

/// The number of times that a directory is listed again. Some file systems leave out names while
/// others are being removed.
const MAX_RETURNS: u32 = 3;

/// The reason why a directory is not removed.
const MOUNTED: &str = "another file system or directory is mounted there";

impl Place {
    fn new(directory: Arc<Directory>) -> Self {
        Self {
            directory,
            is_kept: AtomicBool::new(false),
            returns: AtomicU32::new(0),
        }
    }

    fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }
}

impl Removal<'_> {
    /// Removes the wanted entries of a directory, and everything in them.
    pub(super) fn remove_in(
        &self,
        directory: &Arc<Directory>,
        strategy: Strategy,
        control: Option<&Control>,
    ) {
        let place = Place::new(Arc::clone(directory));
        place.keep();
        traverse(self, strategy, control, place);
    }

    fn begin(
        &self,
        path: &Path,
        strategy: Strategy,
        control: Option<&Control>,
    ) -> Result<(), Error> {
        let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
        let (start, name, kind) = find(self.directories, self.start, path)?;
        let open = self.directories.open(&start).map_err(at(Operation::Open))?;
        if kind != Kind::Directory {
            let removed = open.remove_file(&name);
            removed.map_err(|errno| at(Operation::Unlink)(errno.into()))?;
            (self.on_removed)(&start, &name, kind);
            return Ok(());
        }
        let (directory, _) = match self.directories.enter(&start, &name) {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied
                    && open.remove_directory(&name).is_ok() =>
            {
                (self.on_removed)(&start, &name, kind);
                return Ok(());
            }
            entered => entered.map_err(at(Operation::Readdir))?,
        };
        check(self.directories, self.mounts, path, &start, &directory)?;
        traverse(self, strategy, control, Place::new(directory));
        Ok(())
    }

    /// Notes that an entry could not be removed.
    #[cold]
    fn fail_at(&self, operation: Operation, place: &Place, name: &Name, reason: io::Error) {
        let path = place.directory.path_of(self.start, name);
        self.results.fail(Error::at(operation, &path, reason));
        place.keep();
    }

    /// Notes that a directory could not be removed.
    #[cold]
    fn fail_in(&self, operation: Operation, place: &Place, reason: io::Error) {
        let path = match place.directory.place() {
            Some((above, name)) => above.path_of(self.start, name),
            None => self.start.to_owned(),
        };
        self.results.fail(Error::at(operation, &path, reason));
        place.keep();
    }

    /// Handles the error of entering a directory. It may have become a file or link meanwhile,
    /// which is removed itself. One that may not be read may be empty.
    fn not_entered(&self, above: &Place, name: &Name, error: io::Error) {
        if error.kind() == io::ErrorKind::NotFound {
            return;
        }
        if self.is_dry {
            return self.fail_at(Operation::Readdir, above, name, error);
        }
        if error.kind() == io::ErrorKind::PermissionDenied
            && let Ok(open) = self.directories.open(&above.directory)
            && open.remove_directory(name).is_ok()
        {
            return (self.on_removed)(&above.directory, name, Kind::Directory);
        }
        if sys::may_mean_no_directory(&error) {
            let open = self.directories.open(&above.directory);
            match open.map(|open| open.remove_file(name)) {
                Ok(Ok(())) => return (self.on_removed)(&above.directory, name, Kind::File),
                Ok(Err(errno)) if sys::is_missing(errno) => return,
                _ => {}
            }
        }
        self.fail_at(Operation::Readdir, above, name, error);
    }
}

impl Visitor for Removal<'_> {
    type Place = Place;
    type Scratch = ();

    fn directories(&self) -> &Directories {
        self.directories
    }

    fn directory<'p>(&self, place: &'p Place) -> &'p Arc<Directory> {
        &place.directory
    }

    fn is_wanted(&self, place: &Place, name: &Name) -> bool {
        let is_wanted = (self.is_wanted)(&place.directory, name);
        if !is_wanted {
            place.keep();
        }
        is_wanted
    }

    fn visit(
        &self,
        place: &Place,
        name: &Name,
        kind: Kind,
        operations: &mut Operations<'_, ()>,
    ) -> bool {
        if operations.is_cancelled() {
            return true;
        }
        if self.is_dry {
            (self.on_removed)(&place.directory, name, kind);
            return true;
        }
        let open = match self.directories.open(&place.directory) {
            Ok(open) => open,
            Err(error) => {
                self.fail_at(Operation::Unlink, place, name, error);
                return true;
            }
        };
        match operations.run(|()| (open.remove_file(name), 0)) {
            Ok(()) => (self.on_removed)(&place.directory, name, kind),
            Err(errno) if sys::is_missing(errno) => {}
            Err(_) if matches!(open.kind_of(name), Ok(Kind::Directory)) => return false,
            Err(errno) => self.fail_at(Operation::Unlink, place, name, errno.into()),
        }
        true
    }

    fn enter(
        &self,
        above: &Place,
        name: &Name,
        operations: &mut Operations<'_, ()>,
    ) -> Option<Place> {
        if operations.is_cancelled() {
            return None;
        }
        let entered = operations.run(|()| (self.directories.enter(&above.directory, name), 0));
        let directory = match entered {
            Ok((directory, _)) => directory,
            Err(error) => {
                self.not_entered(above, name, error);
                return None;
            }
        };
        if !self.mounts && is_mounted(self.directories, &above.directory, &directory) {
            let reason = io::Error::new(io::ErrorKind::CrossesDevices, MOUNTED);
            self.fail_at(Operation::Rmdir, above, name, reason);
            return None;
        }
        Some(Place::new(directory))
    }

    /// Removes the directory, which should be empty by now.
    fn leave(
        &self,
        place: &Place,
        above: Option<&Place>,
        _: Option<&Place>,
        operations: &mut Operations<'_, ()>,
    ) -> bool {
        if operations.is_cancelled() {
            place.keep();
        }
        if let Some((parent, name)) = place.directory.place()
            && !place.is_kept()
        {
            let removed = operations.run(|()| {
                if self.is_dry {
                    return (Ok(()), 0);
                }
                let open = self.directories.open_above(parent, &place.directory);
                place.directory.make_way();
                (open.and_then(|open| Ok(open.remove_directory(name)?)), 0)
            });
            match removed {
                Ok(()) => (self.on_removed)(parent, name, Kind::Directory),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error)
                    if error.kind() == io::ErrorKind::DirectoryNotEmpty
                        && place.returns.fetch_add(1, Ordering::Relaxed) < MAX_RETURNS =>
                {
                    return false;
                }
                Err(error) => self.fail_in(Operation::Rmdir, place, error),
            }
        }
        if let Some(above) = above
            && place.is_kept()
        {
            above.keep();
        }
        true
    }

    fn fail(&self, place: &Place, error: io::Error) {
        self.fail_in(Operation::Readdir, place, error);
    }
}
