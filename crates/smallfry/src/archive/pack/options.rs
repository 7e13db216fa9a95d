//! The options of packing.

use std::fmt;

use smallfry_workers::{Control, Strategy};

use crate::archive::callback::OnPath;

/// The level of compression that gzip and zlib have, too.
const DEFAULT_LEVEL: u32 = 6;

/// The options of a [`Packer`](super::Packer).
#[derive(Clone)]
pub(super) struct Options {
    pub(super) strategy: Strategy,
    pub(super) control: Control,
    pub(super) reproducible: bool,
    pub(super) level: u32,
    pub(super) filter: Option<OnPath<bool>>,
    pub(super) on_entry: Option<OnPath<()>>,
}

impl Options {
    pub(super) fn new() -> Self {
        Self {
            strategy: Strategy::Auto,
            control: Control::new(),
            reproducible: false,
            level: DEFAULT_LEVEL,
            filter: None,
            on_entry: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("strategy", &self.strategy)
            .field("reproducible", &self.reproducible)
            .field("level", &self.level)
            .field("has_filter", &self.filter.is_some())
            .finish_non_exhaustive()
    }
}
