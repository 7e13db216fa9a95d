//! What a single write is asked beyond writing: to survive, to replace in one step.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallfry::bulk::key_of;
use smallfry::durable::{sync_dir, sync_file};
use smallfry::raw::{self, O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY};
use smallfry::{Durability, Error, WriteOptions};

use crate::outcome::{Failure, Reason, Step};
use crate::sys::{EIO, borrowed_path};
use crate::target::{Handle, Target};

/// Bits of `durable`, as `lib/durability.ts` sets them: a level, and two switches.
const LEVEL: i32 = 3;
const REPLACE: i32 = 4;
const IN_PLACE_IF_BUSY: i32 = 8;

/// Locks for files that are added to by replacing them.
const LOCKS: usize = 64;

/// What is flushed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    Nothing,
    /// The contents: fdatasync.
    Data,
    /// The file, as node:fs does for `flush`: fsync.
    File,
    /// The file and its name: fsync of both.
    Full,
}

/// What is asked of a write.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Durable {
    pub(crate) level: Level,
    pub(crate) replace: bool,
    pub(crate) in_place_if_busy: bool,
}

impl Durable {
    /// Nothing but to write.
    pub(crate) const NOTHING: Self = Self {
        level: Level::Nothing,
        replace: false,
        in_place_if_busy: false,
    };

    pub(crate) const fn of(bits: i32) -> Self {
        Self {
            level: match bits & LEVEL {
                0 => Level::Nothing,
                1 => Level::Data,
                2 => Level::File,
                _ => Level::Full,
            },
            replace: bits & REPLACE != 0,
            in_place_if_busy: bits & IN_PLACE_IF_BUSY != 0,
        }
    }

    /// The level as the core has it; it has none for the file without its name.
    pub(crate) const fn durability(self) -> Option<Durability> {
        match self.level {
            Level::Nothing => Some(Durability::None),
            Level::Data => Some(Durability::Data),
            Level::File => None,
            Level::Full => Some(Durability::Full),
        }
    }

    /// The same as options of the core. `None` if it has none for these flags of `open`, or this level.
    pub(crate) fn options(self, flags: i32, mode: u32) -> Option<WriteOptions> {
        // Who may not read a file may not open it to be read as well: of a new one that makes no difference.
        let flags = if self.replace && flags & O_RDWR != 0 {
            flags & !O_RDWR | O_WRONLY
        } else {
            flags
        };
        let (append, position) = match flags & (O_APPEND | O_TRUNC) {
            O_APPEND => (true, O_APPEND),
            O_TRUNC => (false, O_TRUNC),
            _ => return None,
        };
        let create_new = flags & O_EXCL;
        if flags != O_WRONLY | O_CREAT | position | create_new {
            return None;
        }
        let mut options = WriteOptions::new();
        options.append(append).create_new(create_new != 0);
        options.mode(mode).durability(self.durability()?);
        options.replace(self.replace);
        options.in_place_if_busy(self.in_place_if_busy);
        Some(options)
    }

    /// Flushes an open file.
    pub(crate) fn flush(self, handle: &Handle) -> Result<(), Failure> {
        let (level, step) = match self.level {
            Level::Nothing => return Ok(()),
            Level::Data => (Durability::Data, Step::Fdatasync),
            Level::File | Level::Full => (Durability::Full, Step::Fsync),
        };
        sync_file(handle.borrow(), level).map_err(|error| match error.raw_os_error() {
            Some(errno) => Failure::System(step, raw::Errno(errno)),
            None => Failure::Other(step, EIO),
        })
    }

    /// Flushes the name of a file that was written and closed.
    pub(crate) fn flush_name(self, target: &Target<'_>) -> Result<(), Reason> {
        if let (Level::Full, Target::Path(path)) = (self.level, target) {
            let path = borrowed_path(path);
            // Where links lead is where the name is.
            let resolved = std::fs::canonicalize(path);
            let path = resolved.as_deref().unwrap_or(path);
            sync_dir(path.parent().unwrap_or(Path::new("")))?;
        }
        Ok(())
    }

    /// The same as a write of the core, if it has [options](Self::options) for it.
    pub(crate) fn write_of(self, flags: i32, mode: u32) -> Option<CoreWrite> {
        let options = self.options(flags, mode)?;
        let takes_turns = self.replace && flags & O_APPEND != 0;
        Some(CoreWrite {
            options,
            takes_turns,
        })
    }
}

/// How the core writes a file.
pub(crate) struct CoreWrite {
    options: WriteOptions,
    /// Additions that replace a file: of two at once, each with a copy of what is there, one would be lost.
    takes_turns: bool,
}

impl CoreWrite {
    pub(crate) fn run(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let _turn = self.takes_turns.then(|| turn_of(path));
        self.options.write(path, bytes).map(drop)
    }
}

/// Whose turn it is to add to the file that `path` leads to.
fn turn_of(path: &Path) -> MutexGuard<'static, ()> {
    static TURNS: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

    let resolved = path.canonicalize().or_else(|_| resolved_parent(path));
    let key = resolved.map_or_else(|_| key_of(path), |path| key_of(&path));
    let turn = &TURNS[(key % LOCKS as u64) as usize];
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a file that is missing will be called once it is made: additions that came before wait for those that come after.
fn resolved_parent(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(parent.canonicalize()?.join(name))
}
