//! The options of a copy.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use smallfry_workers::{Control, Strategy};

use super::super::new_entry::Existing;
use super::links::Links;
use super::method::Method;
use crate::sys::AttributeKinds;
use crate::write::Durability;

/// Returns true for the paths below the source of wanted entries.
pub(in crate::tree) type Filter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;
/// Gets the paths of a source and of its copy.
type OnEntry = Arc<dyn Fn(&Path, &Path) + Send + Sync>;

/// The options that [`Copier`](super::Copier) sets and describes.
#[derive(Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(in crate::tree) struct Options {
    pub(in crate::tree) strategy: Strategy,
    pub(in crate::tree) control: Option<Control>,
    pub(in crate::tree) existing: Existing,
    pub(in crate::tree) method: Method,
    pub(in crate::tree) only_if_changed: bool,
    pub(in crate::tree) skip_special: bool,
    pub(in crate::tree) durability: Durability,
    pub(in crate::tree) links: Links,
    pub(in crate::tree) links_replace: bool,
    pub(in crate::tree) parents: bool,
    pub(in crate::tree) times: bool,
    pub(in crate::tree) owner: bool,
    pub(in crate::tree) attributes: AttributeKinds,
    pub(in crate::tree) hard_links: bool,
    pub(in crate::tree) mounts: bool,
    pub(in crate::tree) filter: Option<Filter>,
    pub(in crate::tree) on_entry: Option<OnEntry>,
}

impl Options {
    pub(in crate::tree) const fn new() -> Self {
        Self {
            strategy: Strategy::Auto,
            control: None,
            existing: Existing::Replace,
            method: Method::Auto,
            only_if_changed: false,
            skip_special: false,
            durability: Durability::None,
            links: Links::Keep,
            links_replace: true,
            parents: false,
            times: false,
            owner: false,
            attributes: AttributeKinds::NONE,
            hard_links: true,
            mounts: true,
            filter: None,
            on_entry: None,
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
            .field("method", &self.method)
            .field("only_if_changed", &self.only_if_changed)
            .field("skip_special", &self.skip_special)
            .field("durability", &self.durability)
            .field("links", &self.links)
            .field("links_replace", &self.links_replace)
            .field("parents", &self.parents)
            .field("times", &self.times)
            .field("owner", &self.owner)
            .field("attributes", &self.attributes)
            .field("hard_links", &self.hard_links)
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
}
