//! One directory: what is known of its package.json, and of those above it.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::package::Package;
use super::revalidate::Revalidate;
use crate::error::{Error, Problem};
use crate::fields::Fields;
use crate::sys::{Stamp, look, read};

/// A directory that a look-up came through.
#[derive(Debug)]
pub(super) struct Directory {
    /// The path of its package.json.
    file: Arc<Path>,
    /// The directory above, if the walk may go on there.
    above: Option<Arc<Directory>>,
    place: Place,
    known: Mutex<Known>,
    nearest: Mutex<Option<Nearest>>,
}

/// The place of a directory, as far as it matters to a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Ordinary,
    /// `node_modules`: it belongs to no package, and the walk ends.
    NodeModules,
    /// The root, where a package.json counts for scopes only.
    Root,
}

/// The finding of the last check of a directory.
#[derive(Debug, Default)]
struct Known {
    package: Option<Arc<Package>>,
    /// When the package was read, or found missing. `None`: never.
    seen: Option<Seen>,
    /// The last batch that checked it, which need not check again.
    call: u64,
    /// For that batch only, since errors are not remembered.
    error: Option<Error>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    /// `None`: no file.
    found: Option<Stamp>,
    /// True if a change since then may leave the stamp as it is.
    racy: bool,
    /// The time of the last check.
    checked: Instant,
    /// Counts how often it was read.
    reading: u64,
}

/// The answer of a walk from here, for callers that do not revalidate.
#[derive(Debug)]
struct Nearest {
    /// The epoch of the answer.
    epoch: u64,
    answer: Checked,
}

/// The result of a check, and its time.
pub(super) type Checked = (Option<Arc<Package>>, Instant);

/// The options of a look-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'cache> {
    pub(super) revalidate: Revalidate,
    /// The number of a batch, or 0. A directory that was checked for one file of a batch is not
    /// checked for another.
    pub(super) call: u64,
    /// Raised whenever an earlier answer may no longer be right. Begins with 1.
    pub(super) epoch: &'cache AtomicU64,
}

/// The maximum number of reads of a file that changes while it is read, and so is invalid.
const MAX_ATTEMPTS: usize = 8;

/// The maximum memory in bytes that a thread keeps for the next file. Most files are smaller.
const MAX_KEPT: usize = 64 << 10;

thread_local! {
    /// The contents of the file that this thread reads. Memory of its own for each file is a
    /// twentieth of a cold look-up.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Directory {
    pub(super) fn new(file: Arc<Path>, above: Option<Arc<Directory>>, place: Place) -> Self {
        Self {
            file,
            above,
            place,
            known: Mutex::default(),
            nearest: Mutex::default(),
        }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn above(&self) -> Option<&Arc<Directory>> {
        self.above.as_ref()
    }

    /// Finds the package.json that decides for files in this directory: its own, or the first one
    /// above.
    pub(super) fn nearest(&self, manner: Manner<'_>) -> Result<Checked, Error> {
        if manner.revalidate != Revalidate::Never {
            return self.walk(manner);
        }
        // Loaded first: a change during the walk must make the answer outdated.
        let epoch = manner.epoch.load(Ordering::Acquire);
        {
            let nearest = lock(&self.nearest);
            if let Some(nearest) = &*nearest
                && nearest.epoch == epoch
            {
                return Ok(nearest.answer.clone());
            }
        }
        let answer = self.walk(manner)?;
        *lock(&self.nearest) = Some(Nearest {
            epoch,
            answer: answer.clone(),
        });
        Ok(answer)
    }

    /// Returns true if [`nearest`](Self::nearest) answers without a system call.
    pub(super) fn is_answered(&self, manner: Manner<'_>) -> bool {
        let epoch = manner.epoch.load(Ordering::Acquire);
        let is_current = |nearest: &Nearest| nearest.epoch == epoch;
        manner.revalidate == Revalidate::Never
            && lock(&self.nearest).as_ref().is_some_and(is_current)
    }

    /// Walks up and checks each directory on the way. The earliest check counts.
    fn walk(&self, manner: Manner<'_>) -> Result<Checked, Error> {
        let mut directory = self;
        let mut oldest = None;
        while directory.place == Place::Ordinary {
            let (package, checked) = directory.own(manner)?;
            let checked = oldest.map_or(checked, |oldest| checked.min(oldest));
            if package.is_some() {
                return Ok((package, checked));
            }
            oldest = Some(checked);
            match &directory.above {
                Some(above) => directory = above,
                None => break,
            }
        }
        Ok((None, oldest.unwrap_or_else(Instant::now)))
    }

    /// Checks this directory's own package.json. The time of the check may be too early: the clock
    /// is read only for a read and for [`Revalidate::After`].
    pub(super) fn own(&self, manner: Manner<'_>) -> Result<Checked, Error> {
        let (seen, package) = {
            let known = lock(&self.known);
            if manner.call != 0 && known.call == manner.call {
                if let Some(error) = &known.error {
                    return Err(error.clone());
                }
                if let Some(seen) = known.seen {
                    return Ok((known.package.clone(), seen.checked));
                }
            }
            match known.seen {
                Some(seen) if holds(&seen, manner.revalidate) => {
                    return Ok((known.package.clone(), seen.checked));
                }
                seen => (seen, known.package.clone()),
            }
        };
        // Before the check: a later change must not count as seen.
        let asked = matches!(manner.revalidate, Revalidate::After(_)).then(Instant::now);
        // Without the lock, so that other threads can check as well. A file that cannot be checked
        // is read, and that gives the error.
        let is_same =
            |seen: &Seen| !seen.racy && look(&self.file).is_ok_and(|found| found == seen.found);
        if let Some(seen) = seen.filter(is_same) {
            self.confirm(manner, &seen, asked);
            return Ok((package, asked.unwrap_or(seen.checked)));
        }
        self.read(manner, seen)
    }

    /// Notes that the last result still held at the time of the check.
    fn confirm(&self, manner: Manner<'_>, seen: &Seen, asked: Option<Instant>) {
        if manner.call == 0 && asked.is_none() {
            return;
        }
        let mut known = lock(&self.known);
        let Some(now) = known.seen.as_mut().filter(|now| now.found == seen.found) else {
            // Another thread has found a change since.
            return;
        };
        if let Some(asked) = asked {
            now.checked = asked.max(now.checked);
        }
        known.call = manner.call;
    }

    /// Reads the package.json, unless another thread has read it since the check.
    fn read(&self, manner: Manner<'_>, before: Option<Seen>) -> Result<Checked, Error> {
        // Held while reading: other threads wait, and read nothing.
        let mut known = lock(&self.known);
        if let Some(now) = &known.seen
            && before.is_none_or(|before| before.reading != now.reading)
        {
            return Ok((known.package.clone(), now.checked));
        }
        let checked = Instant::now();
        let result = BYTES.with_borrow_mut(|bytes| {
            let result = read_package(&self.file, bytes);
            bytes.clear();
            bytes.shrink_to(MAX_KEPT);
            result
        });
        let was = known.seen.take().map(|_| known.package.take());
        known.call = manner.call;
        known.error = None;
        let result = match result {
            Ok((found, fields)) => {
                let same = was.clone().flatten();
                let package = fields.map(|fields| match same {
                    Some(same) if *same.fields() == fields => same,
                    _ => Package::new(self.file.clone(), fields),
                });
                known.package.clone_from(&package);
                known.seen = Some(Seen {
                    found,
                    racy: found.is_some_and(|stamp| stamp.is_racy()),
                    checked,
                    reading: before.map_or(0, |before| before.reading) + 1,
                });
                Ok(package)
            }
            Err(error) => {
                known.error = (manner.call != 0).then(|| error.clone());
                Err(error)
            }
        };
        let is_other = |was: Option<Arc<Package>>| match &result {
            Ok(now) => was != *now,
            Err(_) => true,
        };
        if was.is_some_and(is_other) {
            manner.epoch.fetch_add(1, Ordering::Release);
        }
        result.map(|package| (package, checked))
    }

    /// Forgets what is known of its package.json. The caller raises the epoch.
    pub(super) fn forget(&self) {
        *lock(&self.known) = Known::default();
    }
}

/// Reads a package.json now. `None`: there is none.
pub(super) fn read_package(
    path: &Path,
    bytes: &mut Vec<u8>,
) -> Result<(Option<Stamp>, Option<Fields>), Error> {
    for attempt in 1.. {
        let io = |(operation, error)| Error::new(path, Problem::Io(operation, error));
        let found = read(path, bytes).map_err(io)?;
        let Some(stamp) = found else {
            return Ok((found, None));
        };
        match Fields::parse(bytes) {
            Ok(fields) => return Ok((found, Some(fields))),
            Err(_) if attempt < MAX_ATTEMPTS && was_changed(path, stamp) => {}
            Err(invalid) => return Err(Error::new(path, Problem::Invalid(invalid))),
        }
    }
    unreachable!("the last attempt gives an answer")
}

fn was_changed(path: &Path, stamp: Stamp) -> bool {
    look(path).is_ok_and(|found| found != Some(stamp))
}

/// Returns true if the last result counts without another check.
fn holds(seen: &Seen, revalidate: Revalidate) -> bool {
    match revalidate {
        Revalidate::Never => true,
        Revalidate::OnChange => false,
        Revalidate::After(age) => seen.checked.elapsed() < age,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
