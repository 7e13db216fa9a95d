//! Unix: a path resolved beneath a directory one name at a time, where the kernel cannot do it in one call.
//!
//! No name is ever handed to the kernel together with another, and none is followed by it: each is opened with
//! `O_NOFOLLOW` in a directory that is open already, so that exchanging a directory for a symbolic link at any moment
//! gets an attacker nothing. Links are read and their text is walked in the same way. `..` does not ask the kernel,
//! since the directory may have been moved elsewhere meanwhile: it goes back to the root and walks down again, by the
//! names passed so far less the last. So the walk holds one descriptor, and another while it opens the next.

use std::ffi::{CStr, CString};

use super::at::{is_link, open_at, read_link_at};
use super::platform::variant::O_PLACE;
use super::platform::{AsFile, BorrowedFile, OwnedFile};
use crate::errno::Errno;

/// The path leads out of the directory: the number that `openat2` gives for it.
pub(crate) const LEADS_OUT: Errno = Errno(libc::EXDEV);

/// Symbolic links that one path may go through, as many as Linux allows.
///
/// [path_resolution(7)](https://man7.org/linux/man-pages/man7/path_resolution.7.html)
const MAX_LINKS: usize = 40;

/// Names that one path may be resolved in. A path has some 2,000 at most; links that go up and down a deep tree could
/// otherwise cost millions.
const MAX_NAMES: usize = 1 << 14;

/// How often a name is opened that is a link when opened and is none when read: somebody is exchanging it.
const MAX_TRIES: usize = 4;

/// Opens `path` beneath `root`, with flags and mode as `open` has them.
pub(super) fn open(
    root: BorrowedFile<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    Walk::new(root, path)?.open(flags, mode)
}

struct Walk<'root> {
    root: BorrowedFile<'root>,
    /// The directory reached; `None` while that is the root.
    here: Option<OwnedFile>,
    /// The names of directories, none of them a link, that lead from the root to here.
    passed: Vec<CString>,
    /// The names still to be looked up, the next one last.
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

    /// Puts the names of `path` before those still ahead.
    fn push(&mut self, path: &CStr) -> Result<(), Errno> {
        let path = path.to_bytes();
        match path {
            [] => return Err(Errno(libc::ENOENT)),
            [b'/', ..] => return Err(LEADS_OUT),
            _ => {}
        }
        // After a slash at the end comes an empty name, which asks for a directory as `.` does.
        for name in path.rsplit(|&byte| byte == b'/') {
            let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
            self.ahead.push(name);
        }
        Ok(())
    }

    fn open(mut self, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
        while let Some(name) = self.next()? {
            if self.ahead.is_empty() {
                if let Some(file) = self.open_last(&name, flags, mode)? {
                    return Ok(file);
                }
            } else if flags & libc::O_CREAT != 0 && self.ahead.iter().all(|name| name.is_empty()) {
                // A name with a slash after it cannot be that of a file, found or made.
                return Err(Errno(libc::EISDIR));
            } else {
                self.enter(name)?;
            }
        }
        // The path ended in `.`, `..` or a slash.
        open_at(self.here(), c".", flags, mode)
    }

    fn here(&self) -> BorrowedFile<'_> {
        self.here.as_ref().map_or(self.root, AsFile::as_fd)
    }

    /// The next name that must be looked up.
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

    fn go_up(&mut self) -> Result<(), Errno> {
        self.passed.pop().ok_or(LEADS_OUT)?;
        // Further ones at once, not each by a walk from the root.
        while !self.passed.is_empty() && self.ahead.pop_if(|name| &**name == c"..").is_some() {
            self.passed.pop();
        }
        if self.ahead.is_empty() {
            // What is passed again must not be taken for the last name, which may be something else than a directory.
            self.ahead.push(c".".into());
        }
        self.ahead.extend(self.passed.drain(..).rev());
        self.here = None;
        Ok(())
    }

    /// Goes into the directory `name`, or puts what it says ahead if it is a link.
    fn enter(&mut self, name: CString) -> Result<(), Errno> {
        let flags = O_PLACE | libc::O_DIRECTORY;
        if let Some(directory) = self.open_name(&name, flags, 0)? {
            self.here = Some(directory);
            self.passed.push(name);
        }
        Ok(())
    }

    /// Opens the last name as the caller wants it, or puts what it says ahead if it is a link: then `None`.
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

    /// Opens `name` here unless it is a link. What a link says is put ahead: then `None`.
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
                // It is no link, so either the error means something else or it was one a moment ago.
                Err(Errno(libc::EINVAL)) if tries < MAX_TRIES => {}
                Err(Errno(libc::EINVAL)) => return Err(error),
                Err(error) => return Err(error),
            }
        }
    }

    fn follow(&mut self, target: &CStr) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno(libc::ELOOP));
        }
        self.push(target)
    }
}

/// Opens one name. A symbolic link is an error, for which [`may_mean_link`] holds.
fn open_no_link(
    directory: BorrowedFile<'_>,
    name: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFile, Errno> {
    let file = open_at(directory, name, flags | libc::O_NOFOLLOW, mode)?;
    // O_PATH opens the link itself, unless only a directory will do.
    let may_be_link = flags & O_PLACE == O_PLACE && flags & libc::O_DIRECTORY == 0;
    if may_be_link && is_link(file.as_fd())? {
        return Err(Errno(libc::ELOOP));
    }
    Ok(file)
}

/// What the systems say when `O_NOFOLLOW` meets a link: `ELOOP`, or `ENOTDIR` if a directory is asked for; FreeBSD
/// `EMLINK`.
fn may_mean_link(error: Errno) -> bool {
    matches!(error.0, libc::ELOOP | libc::ENOTDIR | libc::EMLINK)
}
