//! A walk of a tree in raw system calls beneath open directories, for rows that copy, remove, hash
//! or pack it.
//!
//! Threads share pieces of directories on a stack. The last piece of a directory closes it, so few
//! directories are open at once.

use super::prelude::*;
use crate::process::interrupt::lock;
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::process::umask;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// The maximum number of files that a thread takes at a time.
pub(crate) const PIECE: usize = 8;
/// The size of a thread's buffer.
pub(crate) const BUFFER: usize = 128 << 10;

pub(crate) const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(crate) fn mode_of(file: &OwnedFd) -> io::Result<Mode> {
    Ok(Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode))
}

/// Returns the permissions that the process takes away from what it makes. They can only be read
/// by setting them.
pub(crate) fn mask() -> Mode {
    let mask = umask(Mode::empty());
    umask(mask);
    mask
}

/// Returns the path of an entry of the directory at `path`.
pub(crate) fn below(path: &Path, name: &CStr) -> PathBuf {
    path.join(OsStr::from_bytes(name.to_bytes()))
}

/// An open directory of a tree, and the work on its entries.
pub(crate) trait Work: Sized + Send + Sync {
    /// Returns the directory whose entries are listed.
    fn listed(&mut self) -> &mut Dir;

    /// Opens a directory in this one.
    fn enter(&self, name: &CStr) -> io::Result<Self>;

    /// Does a file or link in this one.
    fn entry(&self, name: &CStr, kind: FileType, buffer: &mut [u8]) -> io::Result<()>;

    /// Ends the work on a directory in which nothing is left to do. `place` is the directory above
    /// and the name in it; the tree itself has none.
    fn leave(self, place: Option<(&Self, &CStr)>) -> io::Result<()> {
        let _ = place;
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
pub(crate) fn run<W: Work>(threads: usize, root: W) -> io::Result<()> {
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
