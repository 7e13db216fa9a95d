//! Trees copied and removed in raw system calls beneath open directories.
//!
//! Threads share pieces of directories on a stack. The last piece of a directory closes it, so few
//! directories are open at once.

use super::prelude::*;
use crate::process::interrupt::lock;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::process::umask;
use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// The maximum number of files that a thread takes at a time.
const PIECE: usize = 8;
/// The size of a thread's buffer.
const BUFFER: usize = 128 << 10;

/// Copies a tree to where nothing is.
///
/// For a file these are `openat`, `fstat`, `openat`, `read` and `write` until all is copied, and
/// two times `close`; and `fchmod` if the umask takes permissions away.
pub(crate) fn copy(from: &Path, to: &Path, threads: usize) -> io::Result<()> {
    let mask = umask(Mode::empty());
    umask(mask);
    let from = rustix::fs::openat(CWD, from, DIRECTORY, Mode::empty())?;
    rustix::fs::mkdirat(CWD, to, mode_of(&from)? | Mode::RWXU)?;
    let to = rustix::fs::openat(CWD, to, DIRECTORY, Mode::empty())?;
    run(threads, Copied::of(from, to, mask)?)
}

/// Removes a directory: `unlinkat` of each entry.
pub(crate) fn remove(path: &Path, threads: usize) -> io::Result<()> {
    let directory = rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?;
    run(threads, Removed(Dir::new(directory)?))?;
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn mode_of(file: &OwnedFd) -> io::Result<Mode> {
    Ok(Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode))
}

/// An open directory of a tree, and the work on its entries.
trait Work: Sized + Send + Sync {
    /// Returns the directory whose entries are listed.
    fn listed(&mut self) -> &mut Dir;

    /// Opens a directory in this one.
    fn enter(&self, name: &CStr) -> io::Result<Self>;

    /// Does a file or link in this one.
    fn entry(&self, name: &CStr, kind: FileType, buffer: &mut [u8]) -> io::Result<()>;

    /// Ends the work on a directory in which nothing is left to do. `place` is the directory above
    /// and the name in it; the tree itself has none.
    fn leave(self, place: Option<(&Self, &CStr)>) -> io::Result<()>;
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

/// A directory that is open while anything in it is left to do.
struct Directory<W> {
    above: Option<(Arc<Self>, CString)>,
    work: W,
}

/// One directory, or files and links, of a directory.
struct Piece<W> {
    within: Arc<Directory<W>>,
    entries: Vec<(CString, FileType)>,
}

/// Does a tree with so many threads.
fn run<W: Work>(threads: usize, root: W) -> io::Result<()> {
    let root = Directory {
        above: None,
        work: root,
    };
    let pieces = list(root)?;
    let stack = Stack(Mutex::new(State::of(pieces)), Condvar::new());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| stack.run());
        }
        stack.run();
    });
    lock(&stack.0).failed.take().map_or(Ok(()), Err)
}

/// Returns the entries of a directory in pieces.
fn list<W: Work>(mut directory: Directory<W>) -> io::Result<Vec<Piece<W>>> {
    let (mut parts, mut files) = (Vec::new(), Vec::new());
    let listed = directory.work.listed();
    while let Some(entry) = listed.read() {
        let entry = entry?;
        let name = entry.file_name().to_owned();
        match entry.file_type() {
            FileType::Directory if [c".", c".."].contains(&name.as_c_str()) => {}
            FileType::Directory => parts.push(vec![(name, FileType::Directory)]),
            FileType::Unknown => return Err(io::ErrorKind::Unsupported.into()),
            kind => files.push((name, kind)),
        }
    }
    while !files.is_empty() {
        parts.push(files.split_off(files.len().saturating_sub(PIECE)));
    }
    let within = Arc::new(directory);
    let piece = |entries| Piece {
        within: Arc::clone(&within),
        entries,
    };
    let pieces = parts.into_iter().map(piece).collect();
    leave(within)?;
    Ok(pieces)
}

/// Lets go of a directory. Leaves it if nothing in it is left to do, and then those above it.
fn leave<W: Work>(mut directory: Arc<Directory<W>>) -> io::Result<()> {
    while let Some(Directory { above, work }) = Arc::into_inner(directory) {
        let Some((parent, name)) = above else {
            return work.leave(None);
        };
        work.leave(Some((&parent.work, name.as_c_str())))?;
        directory = parent;
    }
    Ok(())
}

impl<W: Work> Piece<W> {
    /// Does the entries, and returns the pieces of a directory among them.
    fn run(self, buffer: &mut [u8]) -> io::Result<Vec<Self>> {
        let Self { within, entries } = self;
        let mut found = Vec::new();
        for (name, kind) in entries {
            if kind == FileType::Directory {
                let work = within.work.enter(&name)?;
                let above = Some((Arc::clone(&within), name));
                found = list(Directory { above, work })?;
            } else {
                within.work.entry(&name, kind, buffer)?;
            }
        }
        leave(within)?;
        Ok(found)
    }
}

/// The pieces that are left, and a call for threads that wait for some.
struct Stack<W>(Mutex<State<W>>, Condvar);

struct State<W> {
    pieces: Vec<Piece<W>>,
    /// The number of pieces that are left or being done.
    unfinished: usize,
    failed: Option<io::Error>,
}

impl<W> State<W> {
    const fn of(pieces: Vec<Piece<W>>) -> Self {
        Self {
            unfinished: pieces.len(),
            pieces,
            failed: None,
        }
    }
}

impl<W: Work> Stack<W> {
    /// Does pieces until none is left. After an error no other is begun.
    fn run(&self) {
        let Self(state, changed) = self;
        let mut buffer = vec![0; BUFFER];
        let mut state = lock(state);
        while state.unfinished > 0 && state.failed.is_none() {
            let Some(piece) = state.pieces.pop() else {
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let done = piece.run(&mut buffer);
            state = lock(&self.0);
            state.unfinished -= 1;
            match done {
                Ok(mut found) => {
                    state.unfinished += found.len();
                    state.pieces.append(&mut found);
                }
                Err(error) => state.failed = Some(error),
            }
            changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    /// More than a piece has.
    const FILES: usize = 3 * PIECE + 1;

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
    fn a_copy_is_like_the_tree_and_its_removal_leaves_nothing() {
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
            remove(&to, threads).unwrap();
            assert!(!to.exists());
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
