//! The files of a tree hashed in raw system calls.

use super::super::prelude::*;
use super::super::shared::raw_trees::{DIRECTORY, Work, below, run};
use super::Function;
use super::hashing::Hashing;
use crate::process::interrupt::lock;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use std::ffi::CStr;
use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

/// Returns a line for each file, in any order: its digest and path.
///
/// For a file these are `openat`, `read` until all is read, and `close`.
pub(super) fn lines(function: Function, tree: &Path, threads: usize) -> io::Result<String> {
    let lines = Mutex::new(String::new());
    let directory = rustix::fs::openat(CWD, tree, DIRECTORY, Mode::empty())?;
    run(
        threads,
        Hashed::of(function, directory, tree.to_owned(), &lines)?,
    )?;
    Ok(lines.into_inner().unwrap_or_default())
}

struct Hashed<'a> {
    function: Function,
    directory: Dir,
    path: PathBuf,
    lines: &'a Mutex<String>,
}

impl<'a> Hashed<'a> {
    fn of(
        function: Function,
        directory: OwnedFd,
        path: PathBuf,
        lines: &'a Mutex<String>,
    ) -> io::Result<Self> {
        Ok(Self {
            function,
            directory: Dir::new(directory)?,
            path,
            lines,
        })
    }
}

impl Work for Hashed<'_> {
    fn listed(&mut self) -> &mut Dir {
        &mut self.directory
    }

    fn enter(&self, name: &CStr) -> io::Result<Self> {
        let directory = rustix::fs::openat(self.directory.fd()?, name, DIRECTORY, Mode::empty())?;
        let path = below(&self.path, name);
        Self::of(self.function, directory, path, self.lines)
    }

    fn entry(&self, name: &CStr, kind: FileType, buffer: &mut [u8]) -> io::Result<()> {
        if kind != FileType::RegularFile {
            return Ok(());
        }
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.directory.fd()?, name, flags, Mode::empty())?;
        let mut hashing = Hashing::new(self.function);
        loop {
            match rustix::io::read(&file, &mut *buffer)? {
                0 => break,
                length => hashing.update(&buffer[..length]),
            }
        }
        let path = below(&self.path, name);
        // Writing into a string cannot fail.
        let _ = writeln!(lock(self.lines), "{}  {}", hashing.finish(), path.display());
        Ok(())
    }
}
