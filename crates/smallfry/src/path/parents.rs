//! Makes the directories above the files of a batch when they are found missing, each once.
//!
//! Nothing is checked or made ahead: a thread opens its file first, and comes here only if a
//! directory is missing. If several threads miss the same directory, one of them makes it and the
//! others wait. A made directory is remembered, so that later threads make no system call. It is
//! forgotten if it turns out to be gone.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::error::{Error, Operation};
use smallfry_workers::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The maximum number of directories remembered, of some 100 bytes each. With one more all are
/// forgotten, which costs a failed `mkdir` for each that is needed again.
const MAX_KNOWN: usize = 1 << 13;

/// Makes directories. It is implemented for the places that paths can start from.
pub(crate) trait MakeDirectories {
    /// Makes one directory, whose parent must exist.
    fn create_dir(&self, directory: &Path) -> io::Result<()>;
    /// Returns true if there is a directory, or a link to one.
    fn is_dir(&self, directory: &Path) -> io::Result<bool>;
}

/// Returns [`MakeDirectories::is_dir`] for metadata, or for the error of getting them.
pub(crate) fn is_dir(found: io::Result<Metadata>) -> io::Result<bool> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => Ok(found?.is_dir()),
    }
}

/// The place where the paths of the process start.
pub(crate) struct WorkingDirectory;

impl MakeDirectories for WorkingDirectory {
    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir(directory)
    }

    fn is_dir(&self, directory: &Path) -> io::Result<bool> {
        is_dir(fs::metadata(directory))
    }
}

/// The directories that one batch found missing. Its threads share it.
#[derive(Debug)]
pub(crate) struct Parents {
    known: Mutex<Known>,
    changed: Condvar,
    /// The directories that were made, for their names to be flushed.
    made: Option<Mutex<Vec<Box<Path>>>>,
}

type Known = HashMap<Box<Path>, State>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A thread makes it. [`Parents::changed`] is notified at the end.
    Making,
    /// It existed at some moment of this batch.
    Made,
}

/// The source of the knowledge that a directory exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ensured {
    /// The system has just said so.
    Seen,
    /// It was remembered. It may be gone since.
    Remembered,
}

impl Parents {
    /// Makes the set, without any directory.
    pub(crate) fn new() -> Self {
        Self {
            known: Mutex::new(Known::new()),
            changed: Condvar::new(),
            made: None,
        }
    }

    /// Makes a set as [`new`](Self::new) does, which also records the directories that are made.
    pub(crate) fn recording() -> Self {
        Self {
            made: Some(Mutex::new(Vec::new())),
            ..Self::new()
        }
    }

    /// Returns the directories that were made since the last call.
    pub(crate) fn take_made(&self) -> Vec<Box<Path>> {
        let made = self.made.as_ref();
        made.map(|made| std::mem::take(&mut *made.lock().unwrap_or_else(PoisonError::into_inner)))
            .unwrap_or_default()
    }

    fn record(&self, directory: &Path) {
        if let Some(made) = &self.made {
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push(directory.into());
        }
    }

    /// Forgets `directory`: something in it could not be found.
    pub(crate) fn forget(&self, directory: &Path) {
        let mut known = self.lock();
        if known.get(directory) == Some(&State::Made) {
            known.remove(directory);
        }
    }

    /// Runs `attempt` to create the file `path`. If it fails because a directory is missing, makes
    /// the directories above the file and runs it again.
    ///
    /// # Errors
    ///
    /// The errors of `attempt`, and [`Operation::Mkdir`] with the directory above the file.
    pub(crate) fn retry<T>(
        &self,
        base: &impl MakeDirectories,
        path: &Path,
        mut attempt: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let first = attempt();
        let directory = match (&first, parent(path)) {
            (Err(error), Some(directory)) if is_missing_parent(error) => directory,
            _ => return first,
        };
        let ensure = || {
            let done = self.ensure_in(base, directory);
            done.map_err(|reason| Error::at(Operation::Mkdir, directory, reason))
        };
        let ensured = ensure()?;
        match attempt() {
            Err(error) if is_missing_parent(&error) && ensured == Ensured::Remembered => {
                // Another program has removed it since.
                self.forget(directory);
                ensure()?;
                attempt()
            }
            done => done,
        }
    }

    /// Makes `directory` and those above it, unless they exist or are remembered.
    fn ensure_in(&self, base: &impl MakeDirectories, directory: &Path) -> io::Result<Ensured> {
        let Some(claim) = self.claim(directory) else {
            return Ok(Ensured::Remembered);
        };
        // The claims go from the directory that is wanted up to the one to be made first. There is
        // no recursion, since a path can be 2,000 directories deep and a worker's stack is small.
        let mut claims = vec![(claim, None)];
        while let Some((claim, above)) = claims.last_mut() {
            let directory = claim.directory;
            match (self.make_one(base, directory), parent(directory)) {
                (Err(error), Some(parent))
                    if error.kind() == io::ErrorKind::NotFound && *above != Some(Ensured::Seen) =>
                {
                    if above.is_some() {
                        // Another program has removed it since.
                        self.forget(parent);
                    }
                    // The system is asked about the parent now, so this is the last attempt.
                    let claim = self.claim(parent);
                    let last = above.is_some() || claim.is_some();
                    *above = Some(if last {
                        Ensured::Seen
                    } else {
                        Ensured::Remembered
                    });
                    claims.extend(claim.map(|claim| (claim, None)));
                }
                (done, _) => {
                    done?;
                    if let Some((claim, _)) = claims.pop() {
                        claim.fulfil();
                    }
                }
            }
        }
        Ok(Ensured::Seen)
    }

    /// Makes one directory. It is no error if the directory exists, perhaps since a moment ago.
    fn make_one(&self, base: &impl MakeDirectories, directory: &Path) -> io::Result<()> {
        match base.create_dir(directory) {
            Ok(()) => {
                self.record(directory);
                Ok(())
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                if base.is_dir(directory)? {
                    return Ok(());
                }
                Err(error)
            }
            missing => missing,
        }
    }

    /// Returns the right to make `directory`; `None` if it was made. Waits while another thread has
    /// that right.
    ///
    /// A thread that waits holds claims only on directories below, so no two can wait for each
    /// other.
    fn claim<'parents>(&'parents self, directory: &'parents Path) -> Option<Claim<'parents>> {
        let mut known = self.lock();
        loop {
            match known.get(directory) {
                Some(State::Made) => return None,
                Some(State::Making) => {
                    let waited = self.changed.wait(known);
                    known = waited.unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        if known.len() >= MAX_KNOWN {
            known.retain(|_, state| *state == State::Making);
        }
        known.insert(directory.into(), State::Making);
        Some(Claim {
            parents: self,
            directory,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // The map is valid after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if an attempt to create a file failed because a directory above it is missing, or
/// because the file is a link to nowhere. The system has one error for both.
pub(crate) fn is_missing_parent(error: &Error) -> bool {
    error.operation() == Operation::Open && error.kind() == io::ErrorKind::NotFound
}

/// Returns the directory that must exist for `path` to be made; `None` for the current one, for a
/// root and for `..`.
pub(crate) fn parent(path: &Path) -> Option<&Path> {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
}

/// The right to make a directory. If it is dropped after an error or a panic, it passes to a thread
/// that waits.
struct Claim<'parents> {
    parents: &'parents Parents,
    directory: &'parents Path,
}

impl Claim<'_> {
    /// Remembers that the directory exists.
    fn fulfil(self) {
        let mut known = self.parents.lock();
        if let Some(state) = known.get_mut(self.directory) {
            *state = State::Made;
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut known = self.parents.lock();
        if known.get(self.directory) == Some(&State::Making) {
            known.remove(self.directory);
        }
        drop(known);
        self.parents.changed.notify_all();
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    use super::super::beneath::Root;
    use super::*;

    /// Directories in memory, with counts of the calls.
    #[derive(Default)]
    struct InMemory {
        there: Mutex<HashSet<PathBuf>>,
        made: AtomicUsize,
        found: AtomicUsize,
        is_full: AtomicBool,
        /// Asking about a directory fails.
        is_secret: AtomicBool,
    }

    impl MakeDirectories for InMemory {
        fn create_dir(&self, directory: &Path) -> io::Result<()> {
            thread::yield_now();
            if self.is_full.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let mut there = self.there.lock().unwrap();
            if parent(directory).is_some_and(|parent| !there.contains(parent)) {
                return Err(io::ErrorKind::NotFound.into());
            }
            if there.insert(directory.to_owned()) {
                self.made.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            self.found.fetch_add(1, Ordering::Relaxed);
            Err(io::ErrorKind::AlreadyExists.into())
        }

        fn is_dir(&self, directory: &Path) -> io::Result<bool> {
            if self.is_secret.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            Ok(self.there.lock().unwrap().contains(directory))
        }
    }

    impl InMemory {
        fn counts(&self) -> (usize, usize) {
            let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
            (of(&self.made), of(&self.found))
        }
    }

    #[test]
    fn each_directory_is_made_once_by_eight_threads() {
        for _ in 0..20 {
            let (base, parents) = (InMemory::default(), Parents::new());
            thread::scope(|scope| {
                for n in 0..8 {
                    let (base, parents) = (&base, &parents);
                    scope.spawn(move || {
                        for i in 0..100 {
                            let i = (i * 37 + n * 13) % 100;
                            let path = format!("a/{}/{}/{}", i % 3, i % 7, i % 2);
                            parents.ensure_in(base, Path::new(&path)).unwrap();
                            assert!(base.is_dir(Path::new(&path)).unwrap());
                        }
                    });
                }
            });
            // 1 + 3 + 21 + 42, and none that existed already.
            assert_eq!(base.counts(), (67, 0));
        }
    }

    #[test]
    fn a_removed_directory_is_made_again() {
        let (base, parents) = (InMemory::default(), Parents::new());
        let (a, b) = (Path::new("a"), Path::new("a/b"));
        let ensure = |directory| parents.ensure_in(&base, directory).unwrap();
        assert_eq!(ensure(b), Ensured::Seen);
        assert_eq!(ensure(b), Ensured::Remembered);
        base.there.lock().unwrap().clear();
        assert_eq!(ensure(b), Ensured::Remembered);
        parents.forget(b);
        // This call finds out that `a` is gone too.
        assert_eq!(ensure(b), Ensured::Seen);
        assert!(base.is_dir(a).unwrap() && base.is_dir(b).unwrap());
        assert_eq!(base.counts(), (4, 0));
    }

    #[test]
    fn an_error_is_not_remembered_and_reaches_every_thread() {
        let (base, parents) = (InMemory::default(), Parents::new());
        base.is_full.store(true, Ordering::Relaxed);
        let path = Path::new("a/b");
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let error = parents.ensure_in(&base, path).unwrap_err();
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                });
            }
        });
        assert!(parents.lock().is_empty());
        base.is_full.store(false, Ordering::Relaxed);
        assert_eq!(parents.ensure_in(&base, path).unwrap(), Ensured::Seen);
    }

    #[test]
    fn an_error_of_is_dir_is_returned() {
        let (base, parents) = (InMemory::default(), Parents::new());
        base.there.lock().unwrap().insert("a".into());
        base.is_secret.store(true, Ordering::Relaxed);
        let error = parents.ensure_in(&base, Path::new("a")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    }

    #[test]
    fn at_most_max_known_directories_are_remembered() {
        let (base, parents) = (InMemory::default(), Parents::new());
        for n in 0..3 * MAX_KNOWN {
            let path = format!("a/{n}");
            parents.ensure_in(&base, Path::new(&path)).unwrap();
            assert!(parents.lock().len() <= MAX_KNOWN);
        }
        assert_eq!(base.counts().0, 3 * MAX_KNOWN + 1);
    }

    impl MakeDirectories for Root {
        fn create_dir(&self, directory: &Path) -> io::Result<()> {
            self.create_dir(directory)
        }

        fn is_dir(&self, directory: &Path) -> io::Result<bool> {
            is_dir(self.stat(directory))
        }
    }

    fn make_files(
        base: &(impl MakeDirectories + Sync),
        dir: &Path,
        open: impl Fn(&Path) -> io::Result<()> + Sync,
    ) {
        let parents = Parents::new();
        let write = |name: &str| {
            let path = dir.join(name);
            parents.retry(base, &path, || {
                open(&path).map_err(|reason| Error::at(Operation::Open, &path, reason))
            })
        };
        thread::scope(|scope| {
            for n in 0..4 {
                let write = &write;
                scope.spawn(move || {
                    for i in 0..50 {
                        write(&format!("a/{}/{}/{n}-{i}", i % 2, i % 5)).unwrap();
                    }
                });
            }
        });
        write("top").unwrap();
        // A file is no directory.
        let error = write("top/a/b").unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::NotFound, "{error}");
        assert!(!parents.lock().contains_key(&*dir.join("top/a")));
    }

    #[test]
    fn retry_makes_missing_directories_and_none_outside_the_root() {
        let dir = tempfile::tempdir().unwrap();
        make_files(&WorkingDirectory, dir.path(), |path| fs::write(path, ""));

        let dir = tempfile::tempdir().unwrap();
        let root = Root::open_dir(dir.path()).unwrap();
        make_files(&root, Path::new(""), |path| {
            let flags = crate::raw::O_WRONLY | crate::raw::O_CREAT;
            root.open(path, flags, 0o666).map(drop)
        });
        assert_eq!(fs::read_dir(dir.path().join("a/1/3")).unwrap().count(), 20);

        // Nothing is made outside.
        let parents = Parents::new();
        let error = parents
            .ensure_in(&root, Path::new("a/../../x/y"))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(parents.lock().is_empty());
    }

    #[test]
    fn retry_makes_a_directory_that_was_removed_between_two_files() {
        let dir = tempfile::tempdir().unwrap();
        let parents = Parents::new();
        let path = dir.path().join("a/b/f");
        for _ in 0..3 {
            let write = || fs::write(&path, "x").map_err(|e| Error::at(Operation::Open, &path, e));
            parents.retry(&WorkingDirectory, &path, write).unwrap();
            fs::remove_dir_all(dir.path().join("a")).unwrap();
        }
    }
}
