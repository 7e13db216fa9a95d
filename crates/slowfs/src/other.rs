//! Systems without a supported FUSE, where every call says so.

use crate::crash::Log;
use crate::error::Error;
use crate::options::Options;
use crate::profile::Profile;
use crate::unmounted::Unmounted;
use std::io;
use std::path::Path;

/// A session that cannot exist.
pub(crate) enum Session {}

impl Session {
    pub(crate) fn start(_: &Path, _: &Path, _: &Options) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    pub(crate) fn change(&self, _: &Profile) {
        match *self {}
    }

    pub(crate) fn log(&self) -> Option<Log> {
        match *self {}
    }

    pub(crate) fn failed_calls(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn is_mounted(&self) -> bool {
        match *self {}
    }

    pub(crate) fn unmount(&mut self) -> io::Result<Unmounted> {
        match *self {}
    }
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn clean_up(_: u32) -> io::Result<bool> {
    Ok(true)
}
