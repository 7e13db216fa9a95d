//! Closes a handle on the calling thread, and records its time and its error.

use std::path::Path;
use std::time::Instant;

use super::devices::{Device, Devices, Stopwatch};
use super::guard::catch_as_error;
use super::handle::Handle;
use super::reports::Reports;
use crate::error::{Error, Operation};
use crate::sys;

/// The times and the errors of closing files.
#[derive(Default)]
pub(super) struct Records {
    pub(super) devices: Devices,
    pub(super) reports: Reports,
}

impl Records {
    /// Closes a handle and records the time, which takes no system call.
    pub(super) fn close_on_clock(&self, handle: Handle, path: Option<&Path>) -> Result<(), Error> {
        let began = Instant::now();
        let closed = close(handle, path, None);
        self.devices.record_clock(began.elapsed());
        closed
    }

    /// Closes a handle and records how long that waited, for its file system.
    pub(super) fn close_measured(
        &self,
        handle: Handle,
        path: Option<&Path>,
        device: &Device,
        written: bool,
    ) -> Result<(), Error> {
        if path.is_none() {
            device.forget_cannot_fail();
        }
        let known = path_for_error(&handle, path, Some(device));
        let stopwatch = Stopwatch::start();
        let closed = close(handle, path.or(known.as_deref()), None);
        self.devices.record(device, written, &stopwatch);
        closed
    }
}

/// Closes a handle on the calling thread.
pub(super) fn close(
    handle: Handle,
    path: Option<&Path>,
    device: Option<&Device>,
) -> Result<(), Error> {
    let known = path_for_error(&handle, path, device);
    // A `Close` that the caller wrote may panic.
    let (operation, reason) = match catch_as_error(|| handle.close()) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(failure)) => failure,
        Err(panic) => (Operation::Close, panic),
    };
    Err(match path.or(known.as_deref()) {
        Some(path) => Error::at(operation, path, reason),
        None => Error::on_open_file(operation, reason),
    })
}

/// Asks the system for the path of a file, if none is given and closing can fail. The descriptor
/// that tells it is gone after the close.
fn path_for_error(
    handle: &Handle,
    path: Option<&Path>,
    device: Option<&Device>,
) -> Option<Box<Path>> {
    if path.is_some() {
        return None;
    }
    let file = handle.file()?;
    let can_fail = handle.has_more() || device.is_some_and(|device| device.can_fail(file));
    can_fail.then(|| sys::path_of(file).map(Box::from))?
}
