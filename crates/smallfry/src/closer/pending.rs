//! One file on its way to be closed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use super::devices::Device;
use super::group::Group;
use super::guard::{as_closing, catch};
use super::handle::Handle;
use super::queue::Item;
use super::records::{self, Records};
use crate::error::Error;
use crate::sys;

/// A handle that is to be closed.
pub(super) struct Pending {
    pub(super) handle: Handle,
    pub(super) path: Option<Box<Path>>,
    /// The key of the path's last component.
    pub(super) key: Option<u64>,
    pub(super) device: Option<Arc<Device>>,
    /// True if it was open for writing.
    pub(super) written: bool,
    pub(super) receiver: Receiver,
    pub(super) records: Arc<Records>,
}

/// The receiver of an error.
#[derive(Clone)]
pub(super) enum Receiver {
    /// The closer, which keeps it or passes it to the sink.
    Closer,
    /// A batch, for its entry with that number.
    Batch(Arc<Group>, usize),
}

impl Item for Pending {
    fn key(&self) -> Option<u64> {
        self.key
    }

    fn close(self) {
        let receiver = self.receiver.clone();
        let records = Arc::clone(&self.records);
        let closed = catch(|| as_closing(|| self.close_measured()));
        if let Some(Err(error)) = closed {
            match receiver {
                Receiver::Closer => records.reports.report(error),
                Receiver::Batch(group, index) => group.report(index, error),
            }
        }
    }
}

impl Pending {
    /// Closes it on the calling thread.
    pub(super) fn close_here(self) -> Result<(), Error> {
        records::close(self.handle, self.path.as_deref(), self.device.as_deref())
    }

    /// Closes it on the calling thread and records how long that waits.
    pub(super) fn close_measured(self) -> Result<(), Error> {
        let Some(device) = &self.device else {
            return self.close_here();
        };
        let path = self.path.as_deref();
        self.records
            .close_measured(self.handle, path, device, self.written)
    }
}

/// Returns a key that paths with the same last component share; `None` for a path that ends in
/// `..`.
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
