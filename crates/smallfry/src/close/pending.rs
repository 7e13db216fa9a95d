//! One file on its way to be closed.

use std::any::Any;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use super::closer::{Closed, Shared};
use super::devices::Device;
use super::group::Group;
use super::handle::Handle;
use super::queue::Item;
use crate::error::{Error, Operation};
use crate::sys;

/// A handle on its way.
pub(super) struct Pending {
    pub(super) handle: Handle,
    pub(super) path: Option<Box<Path>>,
    /// Of the path's last component.
    pub(super) key: Option<u64>,
    pub(super) device: Option<Arc<Device>>,
    pub(super) report: Report,
    pub(super) closer: Arc<Shared>,
}

/// Who is told of an error.
pub(super) enum Report {
    /// Whoever asks the closer, or its sink.
    Sink,
    /// A batch, about its entry of that number.
    Group(Arc<Group>, usize),
}

thread_local! {
    /// This thread is closing something for the queue. What it calls in turn must not wait for that.
    static IS_CLOSING: Cell<bool> = const { Cell::new(false) };
}

impl Item for Pending {
    fn key(&self) -> Option<u64> {
        self.key
    }

    fn close(self) {
        let Self {
            handle,
            path,
            device,
            report,
            closer,
            ..
        } = self;
        let closed = as_closing(|| match &device {
            Some(device) => closer.close_timed(handle, path.as_deref(), device),
            None => close_now(handle, path.as_deref(), None),
        });
        if let Err(error) = closed {
            match report {
                Report::Sink => closer.report(error),
                Report::Group(group, index) => group.report(index, error),
            }
        }
    }
}

/// Runs `work` as something that must not wait for the queue.
pub(super) fn as_closing<R>(work: impl FnOnce() -> R) -> R {
    let before = IS_CLOSING.replace(true);
    let result = work();
    IS_CLOSING.set(before);
    result
}

pub(super) fn is_closing() -> bool {
    IS_CLOSING.get()
}

/// The path for an error, if it is not given and has to be asked for while the file is open.
pub(super) fn known_path(
    handle: &Handle,
    path: Option<&Path>,
    device: Option<&Device>,
) -> Option<Box<Path>> {
    if path.is_some() {
        return None;
    }
    let file = handle.file()?;
    let can_fail = handle.has_more() || device.is_some_and(|device| device.reports(file));
    can_fail.then(|| sys::path_of(file).map(Box::from))?
}

pub(super) fn close_now(
    handle: Handle,
    path: Option<&Path>,
    device: Option<&Device>,
) -> Result<Closed, Error> {
    let known = known_path(&handle, path, device);
    let closed = catch_unwind(AssertUnwindSafe(|| handle.close()));
    let (operation, reason) = match closed {
        Ok(Ok(())) => return Ok(Closed::Now),
        Ok(Err(failure)) => failure,
        Err(panic) => (Operation::Close, panicked(panic.as_ref())),
    };
    Err(match path.or(known.as_deref()) {
        Some(path) => Error::at(operation, path, reason),
        None => Error::on_open_file(operation, reason),
    })
}

/// Only what comes from outside can panic: a [`Close`](super::Close) of the caller's.
fn panicked(panic: &(dyn Any + Send)) -> io::Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    io::Error::other(format!("panicked: {}", text.unwrap_or("without a word")))
}

/// Equal for paths that end in one name; `None` for one that ends in `..`.
pub(super) fn name_key(path: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let name = path.file_name()?;
    if sys::FOLDS_CASE {
        name.to_string_lossy().to_lowercase().hash(&mut hasher);
    } else {
        name.hash(&mut hasher);
    }
    Some(hasher.finish())
}
