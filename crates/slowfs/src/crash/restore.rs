//! Writes the tree after a crash to a real directory.

#[cfg_attr(target_os = "linux", path = "restore/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "restore/other.rs")]
mod platform;

use super::node::{Attributes, Inode, Kind};
use super::survivors::Survivors;
use crate::error::Error;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

impl Survivors<'_> {
    /// Restores everything into an empty directory, with permissions and, if that is allowed,
    /// owners.
    ///
    /// Pipes, sockets and devices are left out. On systems other than Linux permissions are not
    /// restored, and a symbolic link is an error.
    pub fn restore(&self, directory: &Path) -> Result<(), Error> {
        let failed = |step, path: &Path| {
            let path = path.to_owned();
            move |source| Error::System { step, path, source }
        };
        let mut files = HashMap::<Inode, PathBuf>::new();
        let mut attributes = Vec::new();
        if let Some(root) = self.get(Path::new("")) {
            attributes.push((directory.to_owned(), root.attributes()));
        }
        for (path, survivor) in self.all() {
            let path = directory.join(path);
            match survivor.kind() {
                Kind::Directory => fs::create_dir(&path),
                Kind::Symlink(target) => platform::symbolic_link(target, &path),
                Kind::Special => continue,
                Kind::File => {
                    if let Some(first) = files.get(&survivor.inode()) {
                        fs::hard_link(first, &path)
                    } else {
                        files.insert(survivor.inode(), path.clone());
                        File::create_new(&path).and_then(|file| survivor.copy_to(&file))
                    }
                }
            }
            .map_err(failed("make", &path))?;
            if !matches!(survivor.kind(), Kind::Symlink(_)) {
                attributes.push((path, survivor.attributes()));
            }
        }
        // Entries come before their directory: in a directory without write permission none could
        // be made.
        for (path, attributes) in attributes.into_iter().rev() {
            give(&path, attributes).map_err(failed("give permissions to", &path))?;
        }
        Ok(())
    }
}

fn give(path: &Path, attributes: Attributes) -> io::Result<()> {
    match platform::change_owner(path, attributes.user, attributes.group) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        outcome => outcome?,
    }
    platform::change_mode(path, attributes.mode)
}
