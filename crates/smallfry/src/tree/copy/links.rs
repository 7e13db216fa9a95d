//! The targets of copied links.

use std::path::{Component, Path, PathBuf};

use crate::sys::{self, OwnedName};

/// The treatment of symbolic links in a tree that is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Their copies have the same targets.
    #[default]
    Keep,
    /// The copies of relative links have absolute targets: the paths that the links have in the
    /// source. No link on the way is looked at.
    Absolute,
}

/// Makes the target of the link at the absolute path `link` absolute.
pub(super) fn absolute_target(link: &Path, target: OwnedName) -> OwnedName {
    let directory = link.parent().unwrap_or(Path::new("/"));
    let path = without_dots(&directory.join(sys::as_path(&target)));
    // It has no NUL, since its parts have none.
    match sys::name_of(path.as_os_str()) {
        Some(path) if sys::as_path(&target).is_relative() => path,
        _ => target,
    }
}

/// Returns an absolute path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                made.pop();
            }
            part => made.push(part),
        }
    }
    made
}
