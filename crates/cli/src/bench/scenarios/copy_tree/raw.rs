//! A tree copied in raw system calls.

use super::super::prelude::*;
use super::super::shared::raw_trees::{DIRECTORY, Work, mask, mode_of, run};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use std::ffi::CStr;
use std::io::Read as _;
use std::os::fd::OwnedFd;

/// Copies a tree to where nothing is.
///
/// For a file these are `openat`, `fstat`, `openat`, `read` and `write` until all is copied, and
/// two times `close`; and `fchmod` if the umask takes permissions away.
pub(super) fn copy(from: &Path, to: &Path, threads: usize) -> io::Result<()> {
    let mask = mask();
    let from = rustix::fs::openat(CWD, from, DIRECTORY, Mode::empty())?;
    rustix::fs::mkdirat(CWD, to, mode_of(&from)? | Mode::RWXU)?;
    let to = rustix::fs::openat(CWD, to, DIRECTORY, Mode::empty())?;
    run(threads, Copied::of(from, to, mask)?)
}

/// A directory and its copy.
struct Copied {
    from: Dir,
    to: OwnedFd,
    mode: Mode,
    mask: Mode,
}

impl Copied {
    fn of(from: OwnedFd, to: OwnedFd, mask: Mode) -> io::Result<Self> {
        Ok(Self {
            mode: mode_of(&from)?,
            from: Dir::new(from)?,
            to,
            mask,
        })
    }

    fn file(&self, name: &CStr, buffer: &mut [u8]) -> io::Result<()> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let from = rustix::fs::openat(self.from.fd()?, name, flags, Mode::empty())?;
        let facts = rustix::fs::fstat(&from)?;
        let mode = Mode::from_raw_mode(facts.st_mode);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let to = rustix::fs::openat(&self.to, name, flags, mode)?;
        let (mut from, mut to) = (File::from(from), File::from(to));
        let mut left = u64::try_from(facts.st_size).unwrap_or(0);
        while left > 0 {
            let length = from.read(buffer)?;
            if length == 0 {
                break;
            }
            to.write_all(&buffer[..length])?;
            left = left.saturating_sub(length as u64);
        }
        if mode.intersects(self.mask) {
            rustix::fs::fchmod(&to, mode)?;
        }
        Ok(())
    }
}

impl Work for Copied {
    fn listed(&mut self) -> &mut Dir {
        &mut self.from
    }

    fn enter(&self, name: &CStr) -> io::Result<Self> {
        let from = rustix::fs::openat(self.from.fd()?, name, DIRECTORY, Mode::empty())?;
        rustix::fs::mkdirat(&self.to, name, mode_of(&from)? | Mode::RWXU)?;
        let to = rustix::fs::openat(&self.to, name, DIRECTORY, Mode::empty())?;
        Self::of(from, to, self.mask)
    }

    fn entry(&self, name: &CStr, kind: FileType, buffer: &mut [u8]) -> io::Result<()> {
        match kind {
            FileType::RegularFile => self.file(name, buffer),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(self.from.fd()?, name, Vec::new())?;
                Ok(rustix::fs::symlinkat(target, &self.to, name)?)
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Until now its owner could write in it.
    fn leave(self, _: Option<(&Self, &CStr)>) -> io::Result<()> {
        if self.mode.intersects(self.mask) || !self.mode.contains(Mode::RWXU) {
            rustix::fs::fchmod(&self.to, self.mode)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    /// More than a thread takes at a time.
    const FILES: usize = 25;

    /// Makes the files, an empty directory, and one that its owner cannot write in.
    fn make(tree: &Path) {
        fs::create_dir_all(tree.join("deep/deeper/empty")).unwrap();
        for index in 0..FILES {
            let path = tree.join(format!("deep/deeper/{index}"));
            fs::write(path, contents_of(index, index * 10_000)).unwrap();
        }
        symlink("deeper/0", tree.join("deep/link")).unwrap();
        let modes = [("deep/deeper/7", 0o757), ("deep/deeper", 0o575)];
        for (path, mode) in modes {
            fs::set_permissions(tree.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode()
    }

    #[test]
    fn a_copy_is_like_the_tree() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        make(&tree);
        for threads in [1, 3] {
            let to = root.path().join(threads.to_string());
            copy(&tree, &to, threads).unwrap();
            for index in 0..FILES {
                let copied = fs::read(to.join(format!("deep/deeper/{index}"))).unwrap();
                assert_eq!(copied, contents_of(index, index * 10_000));
            }
            let target = fs::read_link(to.join("deep/link")).unwrap();
            assert_eq!(target, Path::new("deeper/0"));
            for path in ["", "deep/deeper", "deep/deeper/7", "deep/deeper/empty"] {
                assert_eq!(mode(&to.join(path)), mode(&tree.join(path)), "{path}");
            }
            let writable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(to.join("deep/deeper"), writable).unwrap();
        }
        fs::set_permissions(tree.join("deep/deeper"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn an_error_of_a_thread_is_returned() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let _socket = UnixListener::bind(tree.join("socket")).unwrap();
        let copied = copy(&tree, &root.path().join("copy"), 2);
        assert_eq!(copied.unwrap_err().kind(), io::ErrorKind::Unsupported);
    }
}
