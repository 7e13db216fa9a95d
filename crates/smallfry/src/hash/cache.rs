//! Digests of files that have not changed since they were hashed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::algorithm::Algorithm;
use super::digest::Digest;
use super::failure::Failure;
use super::records::{self, Contents, Key, MAX_BYTES, MAX_RECORDS, Record};
use crate::WriteOptions;
use crate::error::{Error, Operation};
use crate::sys::{self, EntryStatus, Stamp};

/// The age of a change after which another one gets another time, in every file system. FAT's times
/// have steps of two seconds.
const MIN_AGE: Duration = Duration::from_secs(2);

/// A file with the digests of files that were hashed before. Not on Windows.
///
/// A file is not read again if its device, inode, length, time of modification and time of change
/// (`ctime`) are the same. Any program can set the time of modification, but the system alone sets
/// the time of change. So a change is noticed even if length and time of modification stay the
/// same.
///
/// A change could get the same time as the one before. So nothing is kept of a file that had been
/// changed less than two seconds before it was hashed, and it is hashed again the next time. git's
/// index has a similar rule.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = |name: &str| directory.path().join(name);
/// # std::fs::create_dir(path("assets"))?;
/// use smallfry::hash::{Cache, Hasher};
///
/// # #[cfg(unix)] {
/// let cache = Cache::open(path("digests"))?;
/// let assets = Hasher::new().cache(&cache).tree(path("assets"))?;
/// cache.save()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The file
///
/// It ends with a checksum of itself. It has at most 1,048,576 digests, 81 bytes each, all of which
/// are in memory meanwhile. Digests stay in it until there are more. Then only those of files that
/// were met since [`open`](Self::open) stay.
///
/// [`save`](Self::save) replaces it in one step. When two programs save, the file is that of the
/// last one, and files of the other one are hashed again. After a crash it is the old or the new
/// one, or it is damaged and counts as empty.
///
/// Keep the file out of a tree that is hashed, because it would change the digest of the tree.
///
/// # What is not promised
///
/// - **Protection.** A program that can write the file can also make digests.
/// - **Changes without a time.** A program that writes through a mapping changes the time only at
///   its first write to a page. After a power failure a file can have newer contents than its time
///   tells. Some file systems do not have times of change (FAT, sshfs).
/// - **Changes by other machines.** A client of NFS may see them late, by default after up to a
///   minute (`acregmax`). A server whose clock is behind may give a change the time of the one
///   before.
/// - **Damage.** If the disk changes contents, no time changes.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    was_damaged: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    records: HashMap<Key, Met>,
    is_changed: bool,
}

/// A record, and whether its file was met since the cache was opened.
#[derive(Debug)]
struct Met {
    record: Record,
    is_met: bool,
}

impl Cache {
    /// Reads the file at `path`. One that is missing or empty is a cache without digests, and so is
    /// a [damaged](Self::was_damaged) one.
    ///
    /// # Errors
    ///
    /// [`Operation::Open`] or [`Operation::Read`] with the path. A directory or pipe fails with
    /// `InvalidInput`, and a file with other contents with `InvalidData`, so that it is not
    /// replaced.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let at = |operation| move |reason: io::Error| Error::at(operation, path, reason);
        if !sys::HAS_STAMPS {
            let reason = "digests are not cached on this system";
            let reason = io::Error::new(io::ErrorKind::Unsupported, reason);
            return Err(at(Operation::Open)(reason));
        }
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let reason = "a cache of digests is a regular file";
            let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
            return Err(at(Operation::Open)(reason));
        }
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(file) => {
                // A longer file is damaged or of another kind.
                let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
                read.map_err(at(Operation::Read))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(Operation::Open)(error)),
        }
        let (found, was_damaged) = match records::decode(&bytes) {
            Contents::Records(found) => (found, false),
            Contents::Damaged => (Vec::new(), true),
            Contents::Other => {
                let reason = "the file is no cache of digests, and is not replaced by one";
                let reason = io::Error::new(io::ErrorKind::InvalidData, reason);
                return Err(at(Operation::Read)(reason));
            }
        };
        let met = |record| Met {
            record,
            is_met: false,
        };
        let found = found.into_iter();
        let records = found.map(|(key, record)| (key, met(record))).collect();
        Ok(Self(Arc::new(Shared {
            path: path.to_owned(),
            was_damaged,
            state: Mutex::new(State {
                records,
                is_changed: was_damaged,
            }),
        })))
    }

    /// Returns true if the file was damaged or cut off when it was opened, or has the format of
    /// another version.
    pub fn was_damaged(&self) -> bool {
        self.0.was_damaged
    }

    /// Replaces the file in one step, if there is anything new.
    ///
    /// # Errors
    ///
    /// The errors of [`WriteOptions::write`] with [`replace`](WriteOptions::replace). The old file
    /// stays.
    pub fn save(&self) -> Result<(), Error> {
        let mut state = self.state();
        if !state.is_changed {
            return Ok(());
        }
        drop_some(&mut state.records, MAX_RECORDS);
        let records = state.records.iter();
        let bytes = records::encode(records.map(|(key, met)| (key, &met.record)));
        WriteOptions::new()
            .replace(true)
            .write(&self.0.path, bytes)?;
        state.is_changed = false;
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the digest of a file with this status.
    pub(super) fn find(&self, algorithm: Algorithm, status: &EntryStatus) -> Option<Digest> {
        let stamp = status.stamp()?;
        let key = Key::new(algorithm, &stamp);
        let mut state = self.state();
        let met = state.records.get_mut(&key)?;
        if met.record.stamp != stamp {
            return None;
        }
        met.is_met = true;
        Some(met.record.digest)
    }

    /// Returns the digest of an open file with this status, and the number of bytes that `hash` has
    /// read for it.
    pub(super) fn find_or(
        &self,
        algorithm: Algorithm,
        status: &EntryStatus,
        hash: impl FnOnce() -> Result<(Digest, u64), Failure>,
    ) -> Result<(Digest, u64), Failure> {
        if let Some(digest) = self.find(algorithm, status) {
            return Ok((digest, 0));
        }
        let stamp = settled_stamp(status);
        let (digest, length) = hash()?;
        self.put(algorithm, stamp, digest, length);
        Ok((digest, length))
    }

    /// Keeps the digest of a file, of which `length` bytes were read after it had this stamp. It is
    /// `None` if the file had been changed [too late](settled_stamp).
    fn put(&self, algorithm: Algorithm, stamp: Option<Stamp>, digest: Digest, length: u64) {
        let Some(stamp) = stamp else { return };
        // Files of the system itself have lengths that tell nothing.
        if length == 0 || length != stamp.size {
            return;
        }
        let met = Met {
            record: Record { stamp, digest },
            is_met: true,
        };
        let mut state = self.state();
        state.records.insert(Key::new(algorithm, &stamp), met);
        state.is_changed = true;
    }
}

/// Drops the records of files that were not met, if there are more than `max`; others only if there
/// are still too many.
fn drop_some(records: &mut HashMap<Key, Met>, max: usize) {
    if records.len() > max {
        records.retain(|_, met| met.is_met);
    }
    let mut left = max;
    records.retain(|_, _| {
        let is_kept = left > 0;
        left = left.saturating_sub(1);
        is_kept
    });
}

/// Returns the stamp of a file that is read after this call. `None` if a change could get the same
/// time as the one before.
fn settled_stamp(status: &EntryStatus) -> Option<Stamp> {
    status
        .stamp()
        .filter(|stamp| is_settled(stamp, SystemTime::now()))
}

fn is_settled(stamp: &Stamp, now: SystemTime) -> bool {
    let (seconds, nanoseconds) = stamp.changed;
    let Ok(seconds) = u64::try_from(seconds) else {
        return false;
    };
    let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
    let age = changed.and_then(|changed| now.duration_since(changed).ok());
    age.is_some_and(|age| age > MIN_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_met_stay_when_there_are_too_many() {
        let records = |met: u64, all: u64| -> HashMap<Key, Met> {
            (0..all)
                .map(|inode| {
                    let stamp = Stamp {
                        device: 1,
                        inode,
                        size: 1,
                        modified: (0, 0),
                        changed: (0, 0),
                    };
                    let digest = Algorithm::Sha1.hash(b"");
                    let met = Met {
                        record: Record { stamp, digest },
                        is_met: inode < met,
                    };
                    (Key::new(Algorithm::Sha1, &stamp), met)
                })
                .collect()
        };
        for (met, all, left) in [(2, 5, 5), (2, 6, 2), (6, 7, 5), (0, 6, 0), (5, 5, 5)] {
            let mut records = records(met, all);
            drop_some(&mut records, 5);
            assert_eq!(records.len(), left, "{met} of {all}");
            let is_met = records.values().all(|met| met.is_met);
            assert_eq!(is_met, all > 5 || met == all);
        }
    }

    #[test]
    fn only_changes_of_the_past_are_settled() {
        let is_settled_after = |changed: (i64, u32), now: Duration| {
            let stamp = Stamp {
                device: 1,
                inode: 2,
                size: 3,
                modified: (0, 0),
                changed,
            };
            is_settled(&stamp, SystemTime::UNIX_EPOCH + now)
        };
        let now = Duration::new(1000, 500);
        assert!(is_settled_after((998, 499), now));
        for changed in [
            (998, 500),
            (1000, 500),
            (1000, 501),
            (2000, 0),
            (-1, 0),
            (i64::MAX, 0),
        ] {
            assert!(!is_settled_after(changed, now), "{changed:?}");
        }
    }
}
