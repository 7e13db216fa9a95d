//! The directories below the destination. Each is made once, when the first entry needs it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::entry::Meta;
use crate::error::{Error, Operation};
use crate::sys::{self, OpenDirectory};
use crate::tree::directory::{Directories, Directory};
use crate::tree::report::Results;

/// The permissions of a directory without an entry, less the umask.
const DEFAULT_MODE: u32 = 0o777;
/// The permissions that an owner needs to make entries in a directory.
const OWNER: u32 = 0o700;

/// A directory and those in it.
pub(super) struct Destination {
    path: PathBuf,
    pub(super) directories: Directories,
    nodes: Mutex<HashMap<PathBuf, Arc<Node>>>,
    pub(super) results: Results,
}

struct Node {
    /// The permissions with which it is made.
    mode: u32,
    state: Mutex<State>,
}

enum State {
    Expected,
    Open {
        directory: Arc<Directory>,
        is_new: bool,
    },
    /// It could not be made, which is reported.
    Failed,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    fn new(mode: u32, state: State) -> Arc<Self> {
        Arc::new(Self {
            mode,
            state: Mutex::new(state),
        })
    }
}

impl Destination {
    /// Opens the destination. It is made if it is missing, with those above it.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let is_new = !path.is_dir();
        if is_new {
            let made = std::fs::create_dir_all(path);
            made.map_err(|reason| Error::at(Operation::Mkdir, path, reason))?;
        }
        let directories = Directories::new();
        let directory = directories
            .begin(path)
            .map_err(|reason| Error::at(Operation::Open, path, reason))?;
        let start = Node::new(DEFAULT_MODE, State::Open { directory, is_new });
        Ok(Self {
            path: path.to_owned(),
            directories,
            nodes: Mutex::new(HashMap::from([(PathBuf::new(), start)])),
            results: Results::default(),
        })
    }

    /// Notes the error of an entry.
    #[cold]
    pub(super) fn fail(&self, operation: Operation, path: &Path, reason: io::Error) {
        let path = self.path.join(path);
        self.results.fail(Error::at(operation, &path, reason));
    }

    /// Notes the permissions with which a directory is to be made.
    pub(super) fn expect(&self, meta: &Meta) {
        let mut nodes = lock(&self.nodes);
        if !nodes.contains_key(&meta.path) {
            nodes.insert(meta.path.clone(), Node::new(meta.mode, State::Expected));
        }
    }

    /// Opens a directory, and makes it and those above it first if they are missing. `None` if that
    /// failed, which is reported.
    pub(super) fn enter(&self, path: &Path) -> Option<Arc<OpenDirectory>> {
        let directory = self.directory(path)?;
        let open = self.directories.open(&directory);
        open.map_err(|reason| self.fail(Operation::Open, path, reason))
            .ok()
    }

    fn directory(&self, path: &Path) -> Option<Arc<Directory>> {
        // Up to one that is there, and down again.
        let mut missing = Vec::new();
        let mut here = path;
        let mut directory = loop {
            match &*lock(&self.node(here).state) {
                State::Open { directory, .. } => break Arc::clone(directory),
                State::Failed => return None,
                State::Expected => missing.push(here),
            }
            here = here.parent()?;
        };
        while let Some(path) = missing.pop() {
            directory = self.make(path, &directory)?;
        }
        Some(directory)
    }

    fn node(&self, path: &Path) -> Arc<Node> {
        let mut nodes = lock(&self.nodes);
        if let Some(node) = nodes.get(path) {
            return Arc::clone(node);
        }
        let node = Node::new(DEFAULT_MODE, State::Expected);
        nodes.insert(path.to_owned(), Arc::clone(&node));
        node
    }

    /// Makes a directory in the one above it, unless another worker has done so. `None` if that
    /// failed, which is reported once.
    fn make(&self, path: &Path, above: &Arc<Directory>) -> Option<Arc<Directory>> {
        let node = self.node(path);
        let mut state = lock(&node.state);
        match &*state {
            State::Open { directory, .. } => return Some(Arc::clone(directory)),
            State::Failed => return None,
            State::Expected => {}
        }
        match self.create(path, above, node.mode) {
            Ok((directory, is_new)) => {
                self.results.add_directory();
                *state = State::Open {
                    directory: Arc::clone(&directory),
                    is_new,
                };
                Some(directory)
            }
            Err(reason) => {
                *state = State::Failed;
                self.fail(Operation::Mkdir, path, reason);
                None
            }
        }
    }

    /// Makes a directory. Returns it, and true if it was not there before.
    fn create(
        &self,
        path: &Path,
        above: &Arc<Directory>,
        mode: u32,
    ) -> io::Result<(Arc<Directory>, bool)> {
        let name = path.file_name().and_then(sys::name_of);
        let name = name.ok_or(io::ErrorKind::InvalidInput)?;
        let open = self.directories.open(above)?;
        let is_new = match open.make_directory(&name, mode | OWNER) {
            Err(errno) if sys::is_taken(errno) => false,
            done => done.map(|()| true)?,
        };
        let (directory, _) = self.directories.enter(above, &name)?;
        Ok((directory, is_new))
    }

    /// Returns true if there is a directory at `path`, and a directory at each name on the way.
    pub(super) fn has_directory(&self, path: &Path) -> io::Result<bool> {
        let known = lock(&self.nodes).get(path).map(Arc::clone);
        if known.is_some_and(|node| matches!(&*lock(&node.state), State::Open { .. })) {
            return Ok(true);
        }
        let Some(mut directory) = self.directory(Path::new("")) else {
            return Ok(false);
        };
        for name in path {
            let name = sys::name_of(name).ok_or(io::ErrorKind::InvalidInput)?;
            match self.directories.enter(&directory, &name) {
                Ok((below, _)) => directory = below,
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound
                        || sys::may_mean_no_directory(&error) =>
                {
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Returns true if the link at `path` will lead to a directory.
    pub(super) fn leads_to_directory(&self, path: &Path, target: &Path) -> bool {
        let above = path.parent().unwrap_or(path);
        self.path.join(above).join(target).is_dir()
    }

    /// Gives a directory its time, and the permissions for which nothing more is made in it. A
    /// directory that was there before keeps its permissions.
    pub(super) fn finish(&self, meta: &Meta, is_exact: bool) {
        let Some(node) = lock(&self.nodes).get(&meta.path).map(Arc::clone) else {
            return;
        };
        let State::Open { directory, is_new } = &*lock(&node.state) else {
            return;
        };
        let finished = || -> io::Result<()> {
            let open = self.directories.open(directory)?;
            let is_made_so = node.mode == meta.mode && meta.mode & OWNER == OWNER;
            if *is_new && (is_exact || !is_made_so) {
                let mut status = open.status()?;
                let mode = if is_exact {
                    meta.mode
                } else {
                    status.mode & meta.mode
                };
                status.mode = mode & 0o777;
                open.set_mode_of(&status)?;
            }
            match meta.modified {
                Some(time) => set_modified(&open, time),
                None => Ok(()),
            }
        };
        if let Err(reason) = finished() {
            self.fail(Operation::Fchmod, &meta.path, reason);
        }
    }
}

fn set_modified(open: &OpenDirectory, time: SystemTime) -> io::Result<()> {
    Ok(open.set_modified(time)?)
}
