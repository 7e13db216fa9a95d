//! The patterns of `--exclude`.

use smallfry::tree;
use std::path::Path;

/// The patterns of entries that are left out.
pub(super) struct Exclude(tree::Exclude);

impl Exclude {
    /// Compiles the patterns. `None` if there are none.
    pub(super) fn new(patterns: &[String]) -> Result<Option<Self>, String> {
        let exclude = tree::Exclude::new(patterns);
        let exclude = exclude.map_err(|error| format!("--exclude {error}"))?;
        Ok((!exclude.is_empty()).then_some(Self(exclude)))
    }

    /// Tells whether the entry at a path below the source is left out.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.0.has(path)
    }
}
