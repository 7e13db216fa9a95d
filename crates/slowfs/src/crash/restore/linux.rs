//! Links and attributes, by functions that std has on Unix systems only.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::Path;

/// Makes a symbolic link: symlink(2).
pub(super) fn symbolic_link(target: &Path, path: &Path) -> io::Result<()> {
    symlink(target, path)
}

/// Changes owner and group: lchown(2).
pub(super) fn change_owner(path: &Path, user: u32, group: u32) -> io::Result<()> {
    lchown(path, Some(user), Some(group))
}

/// Changes permissions: chmod(2).
pub(super) fn change_mode(path: &Path, mode: u32) -> io::Result<()> {
    set_permissions(path, Permissions::from_mode(mode & 0o7777))
}
