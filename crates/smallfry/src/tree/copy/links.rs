//! The targets of copied links.

use std::path::{Component, Path, PathBuf};

use crate::sys::{self, LinkTarget};

/// The treatment of symbolic links in a tree that is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Their copies have the same targets.
    #[default]
    Keep,
    /// The copies of relative links have absolute targets: the paths that the links have in the
    /// source. No link on the way is looked at.
    Absolute,
    /// The file or directory that a link leads to is copied in its place, as one of its own. A link
    /// that leads to nothing is an error, and so is a link through which a directory would be
    /// copied into itself again and again. `cp -L` has the same rules.
    ///
    /// Not on Windows.
    Follow,
}

/// Makes the target of the link at the absolute path `link` absolute.
pub(super) fn absolute_target(link: &Path, target: LinkTarget) -> LinkTarget {
    let Some(path) = sys::target_path(&target).filter(|path| path.is_relative()) else {
        return target;
    };
    let directory = link.parent().unwrap_or(Path::new("/"));
    let path = without_dots(&directory.join(path));
    sys::with_target(target, &path)
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
