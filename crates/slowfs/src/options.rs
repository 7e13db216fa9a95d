//! What to mount.

use crate::faults::Fault;
use crate::profile::Profile;
use crate::quantity::{show_bytes, show_time};
use std::fmt;
use std::time::Duration;

/// Setting this extended attribute on anything in a mount, to whatever value, empties the device's own cache (that of a
/// hard disk: [`Parameters::cache`](crate::Parameters)), as a run needs that is to begin cold. Nothing is kept of it.
pub const EMPTY_CACHE: &str = "user.smallfry.empty-cache";

/// What to mount, beside where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device.
    pub profile: Profile,
    /// What the device becomes, and how long after it was mounted.
    pub changes: Vec<(Duration, Profile)>,
    /// Calls that fail.
    pub faults: Vec<Fault>,
    /// Bytes that can be written before the disk is full, if it is to become full. What is removed makes no room.
    pub full_after: Option<u64>,
    /// Keep the system's page cache when a file is opened, so that only the first read reaches the device, as on a real
    /// disk. Otherwise each open finds the file cold.
    pub keep_cache: bool,
    /// Record what is done, so that states which a crash may leave can be [made from it](crate::crash). What is in the
    /// directory is copied first, into memory or a temporary file; it must all be on one file system. Operations that change
    /// something then wait for each other.
    pub record: bool,
}

impl Options {
    /// This device, without faults.
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

/// All of it on one line, so that a run can be repeated.
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
