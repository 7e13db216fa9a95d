//! A tree after a crash, as a real one.

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
    /// Makes all of it in an empty directory, with permissions, and owners if that is allowed. Pipes, sockets and devices
    /// are left out. Elsewhere than on Linux nobody is given permissions, and a symbolic link is an error.
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
        // What is inside first: who may not write to a directory makes nothing in it.
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
