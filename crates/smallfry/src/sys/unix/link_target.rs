//! Unix: the targets of symbolic links.

use std::ffi::CString;
use std::path::Path;

use super::names::{as_path, name_of};

/// The target of a symbolic link, which its copy gets.
pub(crate) type LinkTarget = CString;

/// Returns the path that a link leads to.
#[allow(
    clippy::unnecessary_wraps,
    reason = "other links are not known on Windows"
)]
pub(crate) fn target_path(target: &LinkTarget) -> Option<&Path> {
    Some(as_path(target))
}

/// Returns the target of a new link to `path`; `None` for a path with a NUL. `_leads_to_directory`
/// is called where that matters.
#[cfg(feature = "archive")]
pub(crate) fn link_to(
    path: &Path,
    _leads_to_directory: impl FnOnce() -> bool,
) -> Option<LinkTarget> {
    name_of(path.as_os_str())
}

/// Returns the target with another path. It has no NUL if its parts come from paths and targets.
pub(crate) fn with_target(target: LinkTarget, path: &Path) -> LinkTarget {
    name_of(path.as_os_str()).unwrap_or(target)
}
