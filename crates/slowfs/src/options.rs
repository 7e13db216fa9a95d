//! Options of a mount.

use crate::faults::Fault;
use crate::profile::Profile;
use crate::quantity::{show_bytes, show_time};
use std::fmt;
use std::time::Duration;

/// An extended attribute that empties the device's own cache (of a hard disk, see
/// [`Parameters::cache`](crate::Parameters)).
///
/// Set it on any file in a mount, to any value, before a run that is to begin cold. The value is
/// not stored.
pub const EMPTY_CACHE: &str = "user.smallfry.empty-cache";

/// Options of a mount, apart from its place.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device.
    pub profile: Profile,
    /// Later devices, each with the time after mounting at which it takes over.
    pub changes: Vec<(Duration, Profile)>,
    /// Calls that fail.
    pub faults: Vec<Fault>,
    /// Bytes that can be written before the disk is full. `None`: the disk never becomes full.
    /// Removing files makes no room.
    pub full_after: Option<u64>,
    /// True if the page cache survives an open, as on a real disk. Then only the first read reaches
    /// the device. Otherwise each open finds the file cold.
    pub keep_cache: bool,
    /// True to record all operations, so that [crashes](crate::crash) can be simulated from the
    /// log.
    ///
    /// The directory must be on one file system. Its contents are copied first, into memory or a
    /// temporary file. Operations that change something then run one at a time.
    pub record: bool,
}

impl Options {
    /// Options with this device, and without faults.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            changes: Vec::new(),
            faults: Vec::new(),
            full_after: None,
            keep_cache: false,
            record: false,
        }
    }
}

/// Prints all options on one line, so that a run can be repeated.
impl fmt::Display for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.profile)?;
        for (time, profile) in &self.changes {
            write!(formatter, "; after {} {profile}", show_time(*time))?;
        }
        for fault in &self.faults {
            write!(formatter, "; fails {fault}")?;
        }
        if let Some(bytes) = self.full_after {
            write!(formatter, "; full after {}", show_bytes(bytes))?;
        }
        if self.keep_cache {
            write!(formatter, "; keeps the page cache")?;
        }
        if self.record {
            write!(formatter, "; records")?;
        }
        Ok(())
    }
}
