//! The changes that a dry run of a mirror finds.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallfry::tree::{Change, Mirror};

/// The changes that a dry run has found so far, with the paths below both directories.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<Mutex<Vec<(Change, PathBuf)>>>);

impl Changes {
    fn lock(&self) -> MutexGuard<'_, Vec<(Change, PathBuf)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gathers the changes that `mirror` tells.
    pub(crate) fn gather(&self, mirror: &mut Mirror) {
        let changes = self.clone();
        mirror.on_change(move |change, path| changes.lock().push((change, path.to_path_buf())));
    }

    /// Takes them.
    pub fn take(&self) -> Vec<(Change, PathBuf)> {
        std::mem::take(&mut *self.lock())
    }
}
