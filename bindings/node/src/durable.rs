//! Single writes that are flushed, or that replace a file in one step.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallfry::bulk::key_of;
use smallfry::durable::{sync_dir, sync_file};
use smallfry::raw::{self, O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY};
use smallfry::{Durability, Error, WriteOptions};
use smallfry_options::table::{APPEND, CREATE_NEW, REPLACE};
use smallfry_options::{Flush, OptionBits};

use crate::errors::{Failure, Reason, Step};
use crate::sys::{EIO, borrowed_path};
use crate::target::{Handle, Target};

/// Locks for additions that replace a file.
const LOCKS: usize = 64;

/// The option bits of a write that node:fs's flags and mode come with.
#[derive(Clone, Copy)]
pub(crate) struct DurableWrite {
    pub(crate) bits: OptionBits,
    pub(crate) flags: i32,
    pub(crate) mode: u32,
}

impl DurableWrite {
    pub(crate) const fn replaces(self) -> bool {
        self.bits.has(REPLACE)
    }

    /// Adds what the flags of `open` say to the option bits. `None` if the core has no options for
    /// these flags, or none for what is to be flushed: it does not flush a file without its name.
    pub(crate) fn core_bits(self) -> Option<OptionBits> {
        // Replacing a file does not read it, which the caller may not be allowed to do.
        let flags = if self.replaces() && self.flags & O_RDWR != 0 {
            self.flags & !O_RDWR | O_WRONLY
        } else {
            self.flags
        };
        let position = flags & (O_APPEND | O_TRUNC);
        let create_new = flags & O_EXCL;
        let is_known = (position == O_APPEND || position == O_TRUNC)
            && flags == O_WRONLY | O_CREAT | position | create_new;
        if !is_known || self.bits.flush() == Flush::File {
            return None;
        }
        let bits = self.bits.with(APPEND, position == O_APPEND);
        Some(bits.with(CREATE_NEW, create_new != 0))
    }

    /// Returns the same write as the core does it. `None` as for [`core_bits`](Self::core_bits).
    pub(crate) fn by_core(self) -> Option<CoreWrite> {
        let bits = self.core_bits()?;
        let mut options = bits.write_options();
        options.mode(self.mode);
        Some(CoreWrite {
            options,
            takes_turns: bits.has(REPLACE) && bits.has(APPEND),
        })
    }
}

/// Flushes an open file.
pub(crate) fn flush_open(handle: &Handle, flush: Flush) -> Result<(), Failure> {
    let (level, step) = match flush {
        Flush::Nothing => return Ok(()),
        Flush::Data => (Durability::Data, Step::Fdatasync),
        Flush::File | Flush::Full => (Durability::Full, Step::Fsync),
    };
    sync_file(handle.borrow(), level).map_err(|error| match error.raw_os_error() {
        Some(errno) => Failure::System(step, raw::Errno(errno)),
        None => Failure::Other(step, EIO),
    })
}

/// Flushes the name of a file that was written and closed.
pub(crate) fn flush_name(target: &Target<'_>, flush: Flush) -> Result<(), Reason> {
    if let (Flush::Full, Target::Path(path)) = (flush, target) {
        let path = borrowed_path(path);
        // The name to flush is in the directory that links lead to.
        let resolved = std::fs::canonicalize(path);
        let path = resolved.as_deref().unwrap_or(path);
        sync_dir(path.parent().unwrap_or(Path::new("")))?;
    }
    Ok(())
}

/// A write that the core does.
pub(crate) struct CoreWrite {
    options: WriteOptions,
    /// One at a time for each file: of two additions at once, each of which copies the old
    /// contents, one would be lost.
    takes_turns: bool,
}

impl CoreWrite {
    pub(crate) fn run(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let _turn = self.takes_turns.then(|| turn_of(path));
        self.options.write(path, bytes).map(drop)
    }
}

/// Waits for the turn to add to the file that `path` leads to.
fn turn_of(path: &Path) -> MutexGuard<'static, ()> {
    static TURNS: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

    let resolved = path.canonicalize().or_else(|_| resolved_parent(path));
    let key = resolved.map_or_else(|_| key_of(path), |path| key_of(&path));
    let turn = &TURNS[(key % LOCKS as u64) as usize];
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resolves the path of a missing file by its directory, so that additions before and after it is
/// made share a lock.
fn resolved_parent(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(parent.canonicalize()?.join(name))
}
