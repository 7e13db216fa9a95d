//! Links that a copy would put in the place of other entries.

use std::fs;
use std::path::{Path, PathBuf};

/// Tells whether a copy of the directory `from` to `to` meets an entry where a link goes.
pub(super) fn have_entries_in_the_way(from: &Path, to: &Path) -> bool {
    let mut places: Vec<(PathBuf, PathBuf)> = vec![(from.into(), to.into())];
    while let Some((from, to)) = places.pop() {
        // A directory that cannot be read is not copied either.
        for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
            let there = || fs::symlink_metadata(to.join(entry.file_name()));
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() && there().is_ok() => return true,
                Ok(kind) if kind.is_dir() && there().is_ok_and(|there| there.is_dir()) => {
                    places.push((entry.path(), to.join(entry.file_name())));
                }
                _ => {}
            }
        }
    }
    false
}
