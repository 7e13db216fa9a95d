//! A directory behind a simulated device.

use crate::crash::Log;
use crate::platform::{self, Session};
use crate::quantity::{show_bytes, show_time};
use crate::{Error, Fault, Profile};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
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

/// How an unmount went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unmounted {
    /// Nobody used it.
    Clean,
    /// Something in it was open, and now fails with `ENOTCONN`.
    Busy,
    /// Somebody else had unmounted it.
    Already,
    /// It was not: another mount covers it, which has to be unmounted first. It serves on.
    Covered,
}

/// A mounted slow disk. Dropping it unmounts it; only a process that is killed outright leaves one, which then fails
/// every call until somebody unmounts it, as [`clean_up`] does. One that is dropped while another mount covers it stays
/// like that when the process ends.
pub struct Mount {
    point: PathBuf,
    session: Session,
}

impl Mount {
    /// Shows the tree in `directory` through the device: at `at`, or over `directory` itself, which then is slow to
    /// whoever uses it. Needs root.
    ///
    /// The tree must not be changed but through the mount while it is mounted, or for [`names`](crate::Parameters) long
    /// the old names and attributes may be seen.
    pub fn new(directory: &Path, at: Option<&Path>, options: &Options) -> Result<Self, Error> {
        let at = at.unwrap_or(directory);
        Ok(Self {
            session: Session::start(directory, at, options)?,
            point: at.to_owned(),
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// The device becomes another one from now on. Requests that are being served end as they would have.
    pub fn change(&self, profile: &Profile) {
        self.session.change(profile);
    }

    /// What was done on it until now, if it [records](Options::record).
    pub fn log(&self) -> Option<Log> {
        self.session.log()
    }

    /// Whether nobody has unmounted it yet.
    pub fn is_mounted(&self) -> bool {
        self.session.is_mounted()
    }

    /// Unmounts it, whatever is open in it. While another mount covers it, it stays and can be unmounted later.
    pub fn unmount(&mut self) -> io::Result<Unmounted> {
        self.session.unmount()
    }
}

/// Unmounts the slow disks that a process has left behind which was killed outright. Any process may call it, once that
/// one is dead. `false` if some stay because other mounts cover them: to be called again.
pub fn clean_up(process: u32) -> io::Result<bool> {
    platform::clean_up(process)
}
