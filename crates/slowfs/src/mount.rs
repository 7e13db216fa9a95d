//! Mounting a directory behind a simulated device.

#[cfg(target_os = "linux")]
use crate::linux as platform;
#[cfg(not(target_os = "linux"))]
use crate::other as platform;

use crate::crash::Log;
use crate::error::Error;
use crate::options::Options;
use crate::profile::Profile;
use crate::unmounted::Unmounted;
use platform::Session;
use std::io;
use std::path::{Path, PathBuf};

/// A mounted directory. Dropping it unmounts it.
///
/// A process that is killed leaves its mount behind, and every call on that mount fails until
/// [`clean_up`] unmounts it. The same holds for a mount that is dropped while another mount covers
/// it.
pub struct Mount {
    point: PathBuf,
    session: Session,
}

impl Mount {
    /// Shows the tree in `directory` through the device. The mount point is `at`, or `directory`
    /// itself, which then is slow for every program. Needs root.
    ///
    /// While it is mounted, change the tree only through the mount. Otherwise old names and
    /// attributes may be seen for as long as the parameter [`names`](crate::Parameters) says.
    pub fn new(directory: &Path, at: Option<&Path>, options: &Options) -> Result<Self, Error> {
        let at = at.unwrap_or(directory);
        Ok(Self {
            session: Session::start(directory, at, options)?,
            point: at.to_owned(),
        })
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// Replaces the device. Requests that are being served end as they would have.
    pub fn change(&self, profile: &Profile) {
        self.session.change(profile);
    }

    /// The log of all operations so far, if the mount [records](Options::record).
    pub fn log(&self) -> Option<Log> {
        self.session.log()
    }

    /// The number of calls that have failed by one of the [faults](Options::faults).
    pub fn failed_calls(&self) -> u64 {
        self.session.failed_calls()
    }

    /// Returns true if it is still mounted.
    pub fn is_mounted(&self) -> bool {
        self.session.is_mounted()
    }

    /// Unmounts it, even if files are open in it. While another mount covers it, it stays, and can
    /// be unmounted later.
    pub fn unmount(&mut self) -> io::Result<Unmounted> {
        self.session.unmount()
    }
}

/// Unmounts the mounts of a process that was killed. Call it once that process is dead; any process
/// may do so. Returns `false` if another mount covers one of them: then call it again later.
pub fn clean_up(process: u32) -> io::Result<bool> {
    platform::clean_up(process)
}
