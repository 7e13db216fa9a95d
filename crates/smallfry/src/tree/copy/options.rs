//! The options of a copy.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::super::new_entry::Existing;
use super::links::Links;

type Filter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The options that [`Copier`](super::Copier) sets and describes.
#[derive(Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(super) struct Options {
    pub(super) strategy: Strategy,
    pub(super) control: Option<Control>,
    pub(super) existing: Existing,
    pub(super) links: Links,
    pub(super) links_replace: bool,
    pub(super) parents: bool,
    pub(super) times: bool,
    pub(super) hard_links: bool,
    pub(super) clone: bool,
    pub(super) mounts: bool,
    pub(super) filter: Option<Filter>,
}

impl Options {
    pub(super) const fn new() -> Self {
        Self {
            strategy: Strategy::Auto,
            control: None,
            existing: Existing::Replace,
            links: Links::Keep,
            links_replace: true,
            parents: false,
            times: false,
            hard_links: true,
            clone: true,
            mounts: true,
            filter: None,
        }
    }

    /// The treatment of an entry that is in the place of a link.
    pub(super) const fn existing_for_links(&self) -> Existing {
        match self.existing {
            Existing::Replace if !self.links_replace => Existing::Refuse,
            existing => existing,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("strategy", &self.strategy)
            .field("existing", &self.existing)
            .field("links", &self.links)
            .field("links_replace", &self.links_replace)
            .field("parents", &self.parents)
            .field("times", &self.times)
            .field("hard_links", &self.hard_links)
            .field("clone", &self.clone)
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
}
