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
    /// Whether it was open for writing.
    pub(super) written: bool,
    pub(super) report: Report,
    pub(super) closer: Arc<Shared>,
}

/// Who is told of an error.
#[derive(Clone)]
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
        let report = self.report.clone();
        let shared = Arc::clone(&self.closer);
        let closed = guarded(|| as_closing(|| self.close_timed()));
        if let Some(Err(error)) = closed {
            match report {
                Report::Sink => shared.report(error),
                Report::Group(group, index) => group.report(index, error),
            }
        }
    }
}

impl Pending {
    /// On the calling thread.
    pub(super) fn close_here(self) -> Result<Closed, Error> {
        close_now(self.handle, self.path.as_deref(), self.device.as_deref())
    }

    /// The same, and learns how long it takes.
    pub(super) fn close_timed(self) -> Result<Closed, Error> {
        let Some(device) = &self.device else {
            return self.close_here();
        };
        let path = self.path.as_deref();
        self.closer
            .close_timed(self.handle, path, device, self.written)
    }
}

/// Runs what others have written, which may panic; `None` then.
pub(super) fn guarded<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(discard).ok()
}

/// Drops what somebody panicked with. That may panic again, and so on; what does so without an end is left alone.
fn discard(mut panic: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(next) => panic = next,
        }
    }
    std::mem::forget(panic);
}

/// Runs `work` as something that must not wait for the queue.
pub(super) fn as_closing<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);

    impl Drop for Before {
        fn drop(&mut self) {
            IS_CLOSING.set(self.0);
        }
    }

    let _before = Before(IS_CLOSING.replace(true));
    work()
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
        Err(panic) => {
            let reason = panicked(panic.as_ref());
            discard(panic);
            (Operation::Close, reason)
        }
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
