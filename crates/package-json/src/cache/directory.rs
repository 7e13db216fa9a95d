//! One directory: what is known of its package.json, and of those above it.

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
    /// Its package.json.
    file: Box<Path>,
    /// The directory above, if the walk may go on there.
    above: Option<Arc<Directory>>,
    place: Place,
    known: Mutex<Known>,
    nearest: Mutex<Option<Nearest>>,
}

/// Where a directory is, as far as it decides what a walk does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Ordinary,
    /// `node_modules`: it belongs to no package, and the walk ends.
    NodeModules,
    /// At the top: a package.json there counts for scopes alone.
    Root,
}

/// What was found in a directory when it was last looked at.
#[derive(Debug, Default)]
struct Known {
    package: Option<Arc<Package>>,
    /// When that was read, or found missing; `None` if it has not been.
    seen: Option<Seen>,
    /// Of the batch that looked at it last, which need not look again.
    call: u64,
    /// For that batch only: what is invalid is not remembered.
    error: Option<Error>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    /// `None`: no file.
    found: Option<Stamp>,
    /// What has changed since may not show.
    racy: bool,
    /// When it was last found to be so.
    checked: Instant,
    /// Counts how often it was read.
    reading: u64,
}

/// The answer of a walk from here, for who does not want it revalidated.
#[derive(Debug)]
struct Nearest {
    /// Of what is known.
    epoch: u64,
    answer: Checked,
}

/// What a look found, and when it was last found to be so.
pub(super) type Checked = (Option<Arc<Package>>, Instant);

/// How a look-up looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner<'cache> {
    pub(super) revalidate: Revalidate,
    /// Other than 0 for a batch: what was looked at for one of its files is not for another.
    pub(super) call: u64,
    /// Raised whenever an answer that was given may no longer be right. Begins with 1.
    pub(super) epoch: &'cache AtomicU64,
}

/// A file is read again that was changed while it was read and so came out invalid, but not for ever.
const ATTEMPTS: usize = 8;

impl Directory {
    pub(super) fn new(file: Box<Path>, above: Option<Arc<Directory>>, place: Place) -> Self {
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

    /// The package.json that decides for files in this directory: its own or, going up, the first.
    pub(super) fn nearest(&self, manner: Manner<'_>) -> Result<Checked, Error> {
        if manner.revalidate != Revalidate::Never {
            return self.walk(manner);
        }
        // Read first: what changes during the walk makes the answer one of the past.
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

    /// Whether [`nearest`](Self::nearest) answers without a system call.
    pub(super) fn is_answered(&self, manner: Manner<'_>) -> bool {
        let epoch = manner.epoch.load(Ordering::Acquire);
        let is_current = |nearest: &Nearest| nearest.epoch == epoch;
        manner.revalidate == Revalidate::Never
            && lock(&self.nearest).as_ref().is_some_and(is_current)
    }

    /// The same, asking each directory on the way. Found to be so when the one that was looked at longest ago was.
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

    /// This directory's own package.json. Unless it is read now, and but by [`Revalidate::After`], no clock is read: it may have been
    /// found to be so later than is said.
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
        // Before the look: what changes after it must not count as seen.
        let asked = matches!(manner.revalidate, Revalidate::After(_)).then(Instant::now);
        // Without the lock, so that others can ask as well. What cannot be asked is read, which tells why.
        let is_same =
            |seen: &Seen| !seen.racy && look(&self.file).is_ok_and(|found| found == seen.found);
        if let Some(seen) = seen.filter(is_same) {
            self.confirm(manner, &seen, asked);
            return Ok((package, asked.unwrap_or(seen.checked)));
        }
        self.read(manner, seen)
    }

    /// What was seen is still so, or was when that was asked.
    fn confirm(&self, manner: Manner<'_>, seen: &Seen, asked: Option<Instant>) {
        if manner.call == 0 && asked.is_none() {
            return;
        }
        let mut known = lock(&self.known);
        let Some(now) = known.seen.as_mut().filter(|now| now.found == seen.found) else {
            // Somebody has found a change since.
            return;
        };
        if let Some(asked) = asked {
            now.checked = asked.max(now.checked);
        }
        known.call = manner.call;
    }

    /// Reads it, unless somebody else has since it was found to have to be.
    fn read(&self, manner: Manner<'_>, before: Option<Seen>) -> Result<Checked, Error> {
        // Held while reading: who asks meanwhile waits, and reads nothing.
        let mut known = lock(&self.known);
        if let Some(now) = &known.seen
            && before.is_none_or(|before| before.reading != now.reading)
        {
            return Ok((known.package.clone(), now.checked));
        }
        let checked = Instant::now();
        let result = read_package(&self.file, &mut Vec::new());
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

/// Reads a package.json as it is now; `None` where there is none.
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
            Err(_) if attempt < ATTEMPTS && was_changed(path, stamp) => {}
            Err(invalid) => return Err(Error::new(path, Problem::Invalid(invalid))),
        }
    }
    unreachable!("the last attempt gives an answer")
}

fn was_changed(path: &Path, stamp: Stamp) -> bool {
    look(path).is_ok_and(|found| found != Some(stamp))
}

/// Whether what was seen counts without another look.
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
