//! The slots: which tree one names, and who holds it.

use super::Program;
use crate::sys::background as system;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Ends each part of a slot.
const END: u8 = 0;
/// The end of the names that [`Remover::set_aside`](crate::tree::Remover::set_aside) gives.
const ASIDE: &[u8] = b".smallfry";

/// A tree that is being removed.
pub(super) struct Left {
    pub(super) path: PathBuf,
    /// The identity of the directory that it is in.
    above: (u64, u64),
    /// The error of an earlier removal, or nothing.
    pub(super) error: String,
}

impl Left {
    pub(super) fn new(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            above: identity_above(&path)?,
            path,
            error: String::new(),
        })
    }

    /// Returns true if the directory of the tree is there.
    pub(super) fn is_reachable(&self) -> bool {
        identity_above(&self.path).is_ok_and(|above| above == self.above)
    }

    /// Reads the contents of a slot. `None` if they name no tree.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|byte| *byte == END);
        let name = parts.next()?;
        let device = str::from_utf8(parts.next()?).ok()?.parse().ok()?;
        let number = str::from_utf8(parts.next()?).ok()?.parse().ok()?;
        // A slot that ends before it was cut off before anything was renamed.
        let error = String::from_utf8_lossy(parts.next()?).into_owned();
        let path = system::path_from(name)?;
        let is_aside = path.is_absolute() && name.ends_with(ASIDE);
        is_aside.then(|| Self {
            path: path.to_owned(),
            above: (device, number),
            error,
        })
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let (device, number) = self.above;
        let path = system::bytes_of(&self.path).ok_or(io::ErrorKind::InvalidInput)?;
        let rest = format!("\0{device}\0{number}\0{}", self.error);
        Ok([path, rest.as_bytes()].concat())
    }
}

fn identity_above(path: &Path) -> io::Result<(u64, u64)> {
    let above = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    system::identity(above)
}

/// A slot whose lock this process holds.
pub(super) struct Slot(File);

impl Slot {
    /// Locks a slot; `None` if another process has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
        Ok(system::open_locked(path)?.map(Self))
    }

    /// Returns the slot that this process has got from another one.
    pub(super) fn from_stdin() -> io::Result<Self> {
        system::stdin().map(Self)
    }

    /// Returns the tree that the slot names.
    pub(super) fn read(&mut self) -> io::Result<Option<Left>> {
        let mut bytes = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut bytes)?;
        Ok(Left::from_bytes(&bytes))
    }

    pub(super) fn write(&mut self, left: &Left) -> io::Result<()> {
        let bytes = left.to_bytes()?;
        self.empty()?;
        self.0.write_all(&bytes)
    }

    pub(super) fn empty(&mut self) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()
    }

    /// Starts the process that removes the tree. The slot is its standard input, with the lock.
    pub(super) fn start(self, program: &Program) -> io::Result<Child> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .stdin(self.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        system::prepare_background(&mut command);
        command.spawn()
    }
}
