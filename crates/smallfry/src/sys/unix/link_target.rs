//! Unix: the targets of symbolic links.

use std::ffi::CString;
use std::path::Path;

use super::names::{as_path, name_of};

/// The target of a symbolic link, which its copy gets.
pub(crate) type LinkTarget = CString;

/// Returns the path that a link leads to.
pub(crate) fn target_path(target: &LinkTarget) -> &Path {
    as_path(target)
}

/// Returns the target with another path. It has no NUL if its parts come from paths and targets.
pub(crate) fn with_target(target: LinkTarget, path: &Path) -> LinkTarget {
    name_of(path.as_os_str()).unwrap_or(target)
}
