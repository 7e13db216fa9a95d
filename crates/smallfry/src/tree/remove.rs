//! Removes a tree: each entry beneath the open directory that it is in, and never through a link.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallfry_workers::{Control, Strategy};

use super::crew::{self, Work, Worker};
use super::directory::{Directories, Directory};
use super::report::{Report, TreeError};
use crate::closer::Closer;
use crate::error::{Error, Operation};
use crate::sys::{self, Kind, Name, OpenDirectory, OwnedName};

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
#[derive(Clone, Debug)]
pub struct Remover {
    strategy: Strategy,
    control: Option<Control>,
    missing_ok: bool,
    mounts: bool,
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

    /// Removes what is in directories of other file systems, too. It is off by default, and such a
    /// directory is an error. The mount point itself stays in any case.
    pub const fn mounts(&mut self, mounts: bool) -> &mut Self {
        self.mounts = mounts;
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
    /// # Errors
    ///
    /// [`TreeError`] with an [`Error`] for each entry that is left: [`Operation::Unlink`],
    /// [`Operation::Rmdir`] or [`Operation::Readdir`], with its path. Also for a `path` that ends
    /// in `.` or `..`, or is the root directory, which are refused.
    ///
    /// [unlinkat(2)](https://man7.org/linux/man-pages/man2/unlinkat.2.html)
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<Report, TreeError> {
        let path = path.as_ref();
        let removal = Removal {
            mounts: self.mounts,
            start: sys::start_of(path),
            directories: Directories::new(),
            done: Done::default(),
            errors: Mutex::default(),
        };
        match removal.begin(path, self.strategy, self.control.as_ref()) {
            Err(error) if self.missing_ok && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => removal.fail(error),
            Ok(()) => {}
        }
        removal.end()
    }
}

/// The removal of one tree.
struct Removal {
    mounts: bool,
    /// The directory that the tree is in.
    start: PathBuf,
    directories: Directories,
    done: Done,
    errors: Mutex<Vec<Error>>,
}

#[derive(Default)]
struct Done {
    files: AtomicUsize,
    directories: AtomicUsize,
}

/// A directory that is being removed.
struct Node {
    directory: Arc<Directory>,
    above: Option<Arc<Node>>,
    /// The number of jobs for it and of directories in it that are not done.
    left: AtomicUsize,
    /// Something in it could not be removed.
    is_kept: AtomicBool,
    /// The number of times it was listed.
    listings: AtomicU32,
}

enum Job {
    List(Arc<Node>),
    Files(Arc<Node>, Vec<OwnedName>),
    /// Directories in one, the next one last.
    Directories(Arc<Node>, Vec<OwnedName>),
}

/// The number of files that are put on the stack at a time, and that a thread takes from there.
const CHUNK: usize = 64;
const TAKEN: usize = 16;
/// The number of times that a directory is listed. Some file systems leave out names while others
/// are being removed.
const MAX_LISTINGS: u32 = 4;

impl Removal {
    fn begin(
        &self,
        path: &Path,
        strategy: Strategy,
        control: Option<&Control>,
    ) -> Result<(), Error> {
        let refuse = |reason: &str| {
            let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
            Error::at(Operation::Rmdir, path, reason)
        };
        let name = sys::last_name(path)
            .ok_or_else(|| refuse("a path that ends in `.` or `..`, or is the root, is refused"))?;
        let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
        Closer::global().make_way(path);
        let start = self
            .directories
            .begin(&self.start)
            .map_err(at(Operation::Open))?;
        let open = self.directories.open(&start).map_err(at(Operation::Open))?;
        let kind = open.kind_of(&name);
        let kind = kind.map_err(|errno| at(Operation::Unlink)(errno.into()))?;
        if kind != Kind::Directory {
            if sys::ends_in_separator(path) {
                return Err(at(Operation::Unlink)(io::ErrorKind::NotADirectory.into()));
            }
            let removed = open.remove_file(&name);
            removed.map_err(|errno| at(Operation::Unlink)(errno.into()))?;
            self.done.files.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let directory = self.directories.enter(&start, &name);
        let (directory, _) = directory.map_err(at(Operation::Readdir))?;
        if sys::root_identity().is_some_and(|root| root == directory.identity()) {
            return Err(refuse("the root directory is refused"));
        }
        if !self.mounts && directory.identity().device != start.identity().device {
            return Err(refuse(OTHER_FILE_SYSTEM));
        }
        let node = Node::new(directory, None);
        crew::run(self, strategy, control, Job::List(node));
        Ok(())
    }

    fn end(self) -> Result<Report, TreeError> {
        let report = Report {
            files: self.done.files.into_inner() as u64,
            directories: self.done.directories.into_inner() as u64,
            bytes: 0,
        };
        let errors = self
            .errors
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if errors.is_empty() {
            Ok(report)
        } else {
            Err(TreeError { errors, report })
        }
    }

    #[cold]
    fn fail(&self, error: Error) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push(error);
    }

    /// Notes that an entry could not be removed.
    #[cold]
    fn fail_at(&self, operation: Operation, node: &Node, name: &Name, reason: io::Error) {
        let path = node.directory.path_of(&self.start, name);
        self.fail(Error::at(operation, &path, reason));
        node.is_kept.store(true, Ordering::Relaxed);
    }

    /// Notes that a directory could not be removed.
    #[cold]
    fn keep(&self, operation: Operation, node: &Node, reason: io::Error) {
        if let Some((above, name)) = node.directory.place() {
            let path = above.path_of(&self.start, name);
            self.fail(Error::at(operation, &path, reason));
        }
        node.is_kept.store(true, Ordering::Relaxed);
    }

    fn list(&self, node: &Arc<Node>, worker: &mut Worker<'_, '_, Self>) -> io::Result<()> {
        let open = self.directories.open(&node.directory)?;
        let mut directories = Vec::new();
        let mut files = Vec::new();
        open.list(|name, kind| {
            if kind == Kind::Directory {
                directories.push(name.to_owned());
            } else if worker.has_idle() || !files.is_empty() {
                files.push(name.to_owned());
                if files.len() == CHUNK {
                    node.left.fetch_add(1, Ordering::Relaxed);
                    worker.put(Job::Files(Arc::clone(node), std::mem::take(&mut files)));
                }
            } else {
                self.remove_file(node, &open, name, worker, &mut directories);
            }
        })?;
        if files.len() > TAKEN && worker.has_idle() {
            node.left.fetch_add(1, Ordering::Relaxed);
            worker.put(Job::Files(Arc::clone(node), std::mem::take(&mut files)));
        }
        for name in &files {
            self.remove_file(node, &open, name, worker, &mut directories);
        }
        if !directories.is_empty() {
            node.left.fetch_add(directories.len(), Ordering::Relaxed);
            worker.put(Job::Directories(Arc::clone(node), directories));
        }
        Ok(())
    }

    /// Removes an entry that is no directory. If it has become one, adds it to `directories`.
    fn remove_file(
        &self,
        node: &Node,
        open: &OpenDirectory,
        name: &Name,
        worker: &mut Worker<'_, '_, Self>,
        directories: &mut Vec<OwnedName>,
    ) {
        if worker.is_cancelled() {
            return;
        }
        match worker.measured(|()| (open.remove_file(name), 0)) {
            Ok(()) => {
                self.done.files.fetch_add(1, Ordering::Relaxed);
            }
            Err(errno) if sys::is_missing(errno) => {}
            Err(errno) => {
                if matches!(open.kind_of(name), Ok(Kind::Directory)) {
                    directories.push(name.to_owned());
                } else {
                    self.fail_at(Operation::Unlink, node, name, errno.into());
                }
            }
        }
    }

    /// Begins to remove a directory in another one.
    fn enter(&self, above: &Arc<Node>, name: &Name, worker: &mut Worker<'_, '_, Self>) {
        let entered = worker.measured(|()| (self.directories.enter(&above.directory, name), 0));
        let directory = match entered {
            Ok((directory, _)) => directory,
            Err(error) => {
                match self.directories.open(&above.directory) {
                    // It has become a file or link, which is removed itself.
                    Ok(open) if sys::may_mean_no_directory(&error) => {
                        match open.remove_file(name) {
                            Ok(()) => _ = self.done.files.fetch_add(1, Ordering::Relaxed),
                            Err(errno) if sys::is_missing(errno) => {}
                            Err(_) => self.fail_at(Operation::Readdir, above, name, error),
                        }
                    }
                    _ if error.kind() == io::ErrorKind::NotFound => {}
                    _ => self.fail_at(Operation::Readdir, above, name, error),
                }
                self.done_in(above, worker);
                return;
            }
        };
        if !self.mounts && directory.identity().device != above.directory.identity().device {
            let reason = io::Error::new(io::ErrorKind::CrossesDevices, OTHER_FILE_SYSTEM);
            self.fail_at(Operation::Rmdir, above, name, reason);
            self.done_in(above, worker);
            return;
        }
        self.run(
            Job::List(Node::new(directory, Some(Arc::clone(above)))),
            worker,
        );
    }

    /// Counts a part of a directory as done. Removes the directory, and those above it, if it was
    /// the last part.
    fn done_in(&self, node: &Arc<Node>, worker: &mut Worker<'_, '_, Self>) {
        let mut node = node;
        while node.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            if worker.is_cancelled() {
                node.is_kept.store(true, Ordering::Relaxed);
            } else if !node.is_kept.load(Ordering::Relaxed) && self.has_more(node, worker) {
                return;
            }
            let Some(above) = &node.above else { return };
            if node.is_kept.load(Ordering::Relaxed) {
                above.is_kept.store(true, Ordering::Relaxed);
            }
            node = above;
        }
    }

    /// Removes a directory, which is empty. Returns true if it is not, and was put back.
    fn has_more(&self, node: &Arc<Node>, worker: &mut Worker<'_, '_, Self>) -> bool {
        let Some((above, name)) = node.directory.place() else {
            return false;
        };
        let removed = worker.measured(|()| {
            let open = self.directories.open_above(above, &node.directory);
            (open.and_then(|open| Ok(open.remove_directory(name)?)), 0)
        });
        match removed {
            Ok(()) => {
                self.done.directories.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                if node.listings.load(Ordering::Relaxed) < MAX_LISTINGS {
                    node.left.store(1, Ordering::Release);
                    worker.put(Job::List(Arc::clone(node)));
                    return true;
                }
                self.keep(Operation::Rmdir, node, error);
            }
            Err(error) => self.keep(Operation::Rmdir, node, error),
        }
        false
    }
}

/// The reason why a directory is not removed.
const OTHER_FILE_SYSTEM: &str = "the directory is on another file system, which is mounted there";

impl Node {
    fn new(directory: Arc<Directory>, above: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            directory,
            above,
            left: AtomicUsize::new(1),
            is_kept: AtomicBool::new(false),
            listings: AtomicU32::new(0),
        })
    }
}

impl Drop for Node {
    /// Drops those above in a loop. They may be too many for a recursion.
    fn drop(&mut self) {
        let mut next = self.above.take();
        while let Some(above) = next {
            next = Arc::into_inner(above).and_then(|mut above| above.above.take());
        }
    }
}

impl Work for Removal {
    type Job = Job;
    type Scratch = ();

    fn run(&self, job: Job, worker: &mut Worker<'_, '_, Self>) {
        match job {
            Job::List(node) => {
                node.listings.fetch_add(1, Ordering::Relaxed);
                if let Err(error) = self.list(&node, worker) {
                    self.keep(Operation::Readdir, &node, error);
                }
                self.done_in(&node, worker);
            }
            Job::Files(node, mut names) => {
                let taken = names.split_off(names.len().saturating_sub(TAKEN));
                if !names.is_empty() {
                    node.left.fetch_add(1, Ordering::Relaxed);
                    worker.put(Job::Files(Arc::clone(&node), names));
                }
                let mut directories = Vec::new();
                match self.directories.open(&node.directory) {
                    Ok(open) => {
                        for name in &taken {
                            self.remove_file(&node, &open, name, worker, &mut directories);
                        }
                    }
                    Err(error) => self.keep(Operation::Open, &node, error),
                }
                if !directories.is_empty() {
                    node.left.fetch_add(directories.len(), Ordering::Relaxed);
                    worker.put(Job::Directories(Arc::clone(&node), directories));
                }
                self.done_in(&node, worker);
            }
            Job::Directories(node, mut names) => {
                let Some(name) = names.pop() else { return };
                if !names.is_empty() {
                    worker.put(Job::Directories(Arc::clone(&node), names));
                }
                if worker.is_cancelled() {
                    self.done_in(&node, worker);
                } else {
                    self.enter(&node, &name, worker);
                }
            }
        }
    }
}
