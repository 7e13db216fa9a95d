//! A tree removed in raw system calls.

use super::super::prelude::*;
use super::super::shared::raw_trees::{DIRECTORY, Work, run};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode};
use std::ffi::CStr;

/// Removes a directory: `unlinkat` of each entry.
pub(super) fn remove(path: &Path, threads: usize) -> io::Result<()> {
    let directory = rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?;
    run(threads, Removed(Dir::new(directory)?))?;
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// A directory that is emptied.
struct Removed(Dir);

impl Work for Removed {
    fn listed(&mut self) -> &mut Dir {
        &mut self.0
    }

    fn enter(&self, name: &CStr) -> io::Result<Self> {
        let directory = rustix::fs::openat(self.0.fd()?, name, DIRECTORY, Mode::empty())?;
        Ok(Self(Dir::new(directory)?))
    }

    fn entry(&self, name: &CStr, _: FileType, _: &mut [u8]) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.0.fd()?, name, AtFlags::empty())?)
    }

    fn leave(self, place: Option<(&Self, &CStr)>) -> io::Result<()> {
        if let Some((above, name)) = place {
            rustix::fs::unlinkat(above.0.fd()?, name, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left() {
        let root = tempfile::tempdir().unwrap();
        for threads in [1, 3] {
            let tree = root.path().join(threads.to_string());
            fs::create_dir_all(tree.join("deep/deeper/empty")).unwrap();
            for index in 0..30 {
                fs::write(tree.join(format!("deep/deeper/{index}")), "").unwrap();
            }
            remove(&tree, threads).unwrap();
            assert!(!tree.exists());
        }
    }
}
