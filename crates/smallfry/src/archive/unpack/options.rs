//! The options of unpacking.

use std::fmt;

use smallfry_workers::{Control, Strategy};

use super::limits::Limits;
use crate::archive::callback::OnPath;
use crate::tree::Existing;

/// The options of an [`Unpacker`](super::Unpacker).
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
#[derive(Clone)]
pub(super) struct Options {
    pub(super) strategy: Strategy,
    pub(super) control: Control,
    pub(super) existing: Existing,
    pub(super) strip_components: usize,
    pub(super) times: bool,
    pub(super) permissions: bool,
    pub(super) links_may_leave: bool,
    pub(super) last_wins: bool,
    pub(super) limits: Limits,
    pub(super) filter: Option<OnPath<bool>>,
    pub(super) on_entry: Option<OnPath<()>>,
}

impl Options {
    pub(super) fn new() -> Self {
        Self {
            strategy: Strategy::Auto,
            control: Control::new(),
            existing: Existing::Replace,
            strip_components: 0,
            times: true,
            permissions: false,
            links_may_leave: false,
            last_wins: false,
            limits: Limits::default(),
            filter: None,
            on_entry: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("strategy", &self.strategy)
            .field("existing", &self.existing)
            .field("strip_components", &self.strip_components)
            .field("times", &self.times)
            .field("permissions", &self.permissions)
            .field("links_may_leave", &self.links_may_leave)
            .field("last_wins", &self.last_wins)
            .field("limits", &self.limits)
            .field("has_filter", &self.filter.is_some())
            .finish_non_exhaustive()
    }
}
