//! Unix: resolves a path beneath a directory one name at a time, where the kernel cannot do it in
//! one call.
//!
//! The kernel gets one name at a time and never follows it. Each name is opened with `O_NOFOLLOW`
//! in a directory that is already open, so an attacker gains nothing by replacing a directory with
//! a symbolic link at any moment. The walk reads links and walks their targets in the same way.
//!
//! The kernel is not asked for `..`, since the directory may have been moved elsewhere meanwhile.
//! The walk goes back to the root and down again, by the names passed so far without the last. So
//! it holds one descriptor, and another while it opens the next.

use std::ffi::{CStr, CString};

use super::at::{is_link, open_at, read_link_at};
use super::platform::{AsFile, BorrowedFile, OwnedFile};
use super::variant::O_PATH_ONLY;
use crate::errno::Errno;

/// The error for a path that leads out of the directory, as `openat2` gives it.
pub(crate) const LEADS_OUT: Errno = Errno(libc::EXDEV);

/// The maximum number of symbolic links that one path may go through, as on Linux.
///
/// [path_resolution(7)](https://man7.org/linux/man-pages/man7/path_resolution.7.html)
const MAX_LINKS: usize = 40;

/// The maximum number of names that one path may be resolved in. A path has some 2,000 at most.
/// Without this limit, links that go up and down a deep tree could cost millions of names.
const MAX_NAMES: usize = 1 << 14;

/// The maximum number of tries for a name that is a link when opened and none when read, because
/// another program keeps replacing it.
const MAX_TRIES: usize = 4;

/// Opens `path` beneath `root`, with the flags and mode of `open`.
pub(super) fn open(
    root: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    Walk::new(root, path)?.open(flags, mode)
}

/// The state of one walk.
struct Walk<'root> {
    root: BorrowedFile<'root>,
    /// The current directory; `None` for the root.
    here: Option<OwnedFile>,
    /// The names of directories that lead from the root to the current one. None is a link.
    passed: Vec<CString>,
    /// The names that remain, the next one last.
    ahead: Vec<CString>,
    links: usize,
    names: usize,
}

impl<'root> Walk<'root> {
    fn new(root: BorrowedFile<'root>, path: &CStr) -> Result<Self, Errno> {
        let mut walk = Self {
            root,
            here: None,
            passed: Vec::new(),
            ahead: Vec::new(),
            links: 0,
            names: 0,
        };
        walk.push(path)?;
        Ok(walk)
    }

    /// Puts the names of `path` before those that remain.
    fn push(&mut self, path: &CStr) -> Result<(), Errno> {
        let path = path.to_bytes();
        match path {
            [] => return Err(Errno(libc::ENOENT)),
            [b'/', ..] => return Err(LEADS_OUT),
            _ => {}
        }
        // A slash at the end gives an empty name, which asks for a directory as `.` does.
        for name in path.rsplit(|&byte| byte == b'/') {
            let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
            self.ahead.push(name);
        }
        Ok(())
    }

    /// Walks to the end of the path and opens the file there.
    fn open(mut self, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
        while let Some(name) = self.next()? {
            if self.ahead.is_empty() {
                if let Some(file) = self.open_last(&name, flags, mode)? {
                    return Ok(file);
                }
            } else if flags & libc::O_CREAT != 0 && self.ahead.iter().all(|name| name.is_empty()) {
                // A name with a slash after it cannot be that of a file, old or new.
                return Err(Errno(libc::EISDIR));
            } else {
                self.enter(name)?;
            }
        }
        // The path ended in `.`, `..` or a slash.
        open_at(self.here(), c".", flags, mode)
    }

    /// Returns the current directory.
    fn here(&self) -> BorrowedFile<'_> {
        self.here.as_ref().map_or(self.root, AsFile::as_fd)
    }

    /// Returns the next name that must be looked up.
    fn next(&mut self) -> Result<Option<CString>, Errno> {
        while let Some(name) = self.ahead.pop() {
            self.names += 1;
            if self.names > MAX_NAMES {
                return Err(Errno(libc::ELOOP));
            }
            match name.to_bytes() {
                b"" | b"." => {}
                b".." => self.go_up()?,
                _ => return Ok(Some(name)),
            }
        }
        Ok(None)
    }

    /// Goes to the parent of the current directory, by a walk from the root.
    fn go_up(&mut self) -> Result<(), Errno> {
        self.passed.pop().ok_or(LEADS_OUT)?;
        // Further `..` join this one, so that each does not cost a walk from the root.
        while !self.passed.is_empty() && self.ahead.pop_if(|name| &**name == c"..").is_some() {
            self.passed.pop();
        }
        if self.ahead.is_empty() {
            // The last of the names passed again must be a directory. The last name of a path need
            // not be one.
            self.ahead.push(c".".into());
        }
        self.ahead.extend(self.passed.drain(..).rev());
        self.here = None;
        Ok(())
    }

    /// Goes into the directory `name`, or follows it if it is a link.
    fn enter(&mut self, name: CString) -> Result<(), Errno> {
        let flags = O_PATH_ONLY | libc::O_DIRECTORY;
        if let Some(directory) = self.open_name(&name, flags, 0)? {
            self.here = Some(directory);
            self.passed.push(name);
        }
        Ok(())
    }

    /// Opens the last name with the caller's flags. If it is a link, follows it and returns `None`.
    fn open_last(
        &mut self,
        name: &CStr,
        flags: i32,
        mode: u32,
    ) -> Result<Option<OwnedFile>, Errno> {
        if flags & libc::O_NOFOLLOW != 0 {
            return open_at(self.here(), name, flags, mode).map(Some);
        }
        self.open_name(name, flags, mode)
    }

    /// Opens `name` in the current directory. If it is a link, follows it and returns `None`.
    fn open_name(
        &mut self,
        name: &CStr,
        flags: i32,
        mode: u32,
    ) -> Result<Option<OwnedFile>, Errno> {
        let mut tries = 0;
        loop {
            let error = match open_no_link(self.here(), name, flags, mode) {
                Ok(file) => return Ok(Some(file)),
                Err(error) if may_mean_link(error) => error,
                Err(error) => return Err(error),
            };
            tries += 1;
            match read_link_at(self.here(), name) {
                Ok(target) => return self.follow(&target).map(|()| None),
                // It is no link. It was one a moment ago, or the error means something else.
                Err(Errno(libc::EINVAL)) if tries < MAX_TRIES => {}
                Err(Errno(libc::EINVAL)) => return Err(error),
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts the names of a link's target before those that remain.
    fn follow(&mut self, target: &CStr) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno(libc::ELOOP));
        }
        self.push(target)
    }
}

/// Opens one name. A symbolic link is an error for which [`may_mean_link`] returns true.
fn open_no_link(
    directory: BorrowedFile<'_>,
    name: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    let file = open_at(directory, name, flags | libc::O_NOFOLLOW, mode)?;
    // O_PATH opens the link itself, unless only a directory will do.
    let may_be_link = flags & O_PATH_ONLY == O_PATH_ONLY && flags & libc::O_DIRECTORY == 0;
    if may_be_link && is_link(file.as_fd())? {
        return Err(Errno(libc::ELOOP));
    }
    Ok(file)
}

/// Returns true for the errors of `O_NOFOLLOW` on a link: `ELOOP`, or `ENOTDIR` if a directory is
/// asked for. FreeBSD has `EMLINK`.
fn may_mean_link(error: Errno) -> bool {
    matches!(error.0, libc::ELOOP | libc::ENOTDIR | libc::EMLINK)
}
