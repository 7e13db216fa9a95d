//! The patterns of `--exclude`.

use smallfry::tree;
use std::path::Path;
use std::sync::Arc;

/// The patterns of entries that are left out.
#[derive(Clone)]
pub(super) struct Exclude(Arc<tree::Exclude>);

impl Exclude {
    /// Compiles the patterns. `None` if there are none.
    pub(super) fn new(patterns: &[String]) -> Result<Option<Self>, String> {
        let exclude = tree::Exclude::new(patterns);
        let exclude = exclude.map_err(|error| format!("--exclude {error}"))?;
        Ok((!exclude.is_empty()).then(|| Self(Arc::new(exclude))))
    }

    /// Tells whether the entry at a path below the source is left out.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.0.has(path)
    }
}
