//! Explores every interleaving of two threads that miss the same directories, by loom.
//!
//! A lost wake-up ends in a deadlock, which loom reports. `make test-model` runs these tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as Held};

use loom::thread;

use super::*;

/// Directories in memory. Loom does not explore its inside: a system call is one step.
#[derive(Default)]
struct InMemory(Held<Inside>);

#[derive(Default)]
struct Inside {
    there: HashSet<PathBuf>,
    found: usize,
    /// The number of attempts that fail because the disk is full.
    failures: usize,
}

impl MakeDirectories for InMemory {
    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        let mut inside = self.0.lock().unwrap();
        if inside.failures > 0 {
            inside.failures -= 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        if parent(directory).is_some_and(|parent| !inside.there.contains(parent)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if inside.there.insert(directory.to_owned()) {
            return Ok(());
        }
        inside.found += 1;
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn is_dir(&self, directory: &Path) -> io::Result<bool> {
        Ok(self.0.lock().unwrap().there.contains(directory))
    }
}

/// Runs two threads that each make a directory. The first `failures` attempts fail. `check` gets
/// the results of both and the directories.
fn two_make(
    directories: [&'static str; 2],
    failures: usize,
    check: impl Fn([io::Result<Ensured>; 2], &Inside) + Send + Sync + 'static,
) {
    loom::model(move || {
        let base = Arc::new(InMemory::default());
        base.0.lock().unwrap().failures = failures;
        let parents = Arc::new(Parents::new());
        let threads = directories.map(|directory| {
            let (base, parents) = (Arc::clone(&base), Arc::clone(&parents));
            thread::spawn(move || parents.ensure_in(&*base, Path::new(directory)))
        });
        let results = threads.map(|thread| thread.join().unwrap());
        let known = parents.lock();
        assert!(known.values().all(|state| *state == State::Made));
        check(results, &base.0.lock().unwrap());
    });
}

#[test]
fn each_directory_is_made_once() {
    for (directories, count) in [(["a", "a"], 1), (["a/b", "a/c"], 3), (["a/b", "a"], 2)] {
        two_make(directories, 0, move |results, inside| {
            assert!(results.iter().all(Result::is_ok));
            assert_eq!((inside.there.len(), inside.found), (count, 0));
        });
    }
}

#[test]
fn a_thread_that_waits_for_one_that_fails_tries_in_its_place() {
    for directories in [["a", "a"], ["a/b", "a/b"], ["a/b", "a"]] {
        two_make(directories, 1, |results, inside| {
            assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1);
            assert_eq!(inside.found, 0);
        });
    }
}
