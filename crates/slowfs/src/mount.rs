//! A directory behind a simulated device.

use crate::crash::Log;
use crate::error::Error;
use crate::options::Options;
use crate::platform::{self, Session};
use crate::profile::Profile;
use crate::unmounted::Unmounted;
use std::io;
use std::path::{Path, PathBuf};

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
