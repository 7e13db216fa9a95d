//! The ways of closing a file that the scenario `close` of the bench compares, behind one writer,
//! so that like is compared with like. A crate of its own because two kinds of program need it: the
//! bench's own rows, and those of the library norad, which are built apart.
//!
//! - `plain.rs` the writer closes, as with std
//! - `pool.rs` a pool of threads behind a queue without end: the design of the crate
//!   `close_already` as it comes
//! - `blocking.rs` the same on threads without end: its design with its feature `backend-blocking`
//! - `ours.rs` smallfry's; `backends.rs` the threads that close
//!
//! The crate `close_already` itself does nothing but on Windows, so its design stands here in a few
//! lines.

#[cfg(feature = "peers")]
mod backends;
#[cfg(not(feature = "peers"))]
#[path = "no_backends.rs"]
mod backends;
#[cfg(feature = "peers")]
mod blocking;
#[cfg(not(feature = "peers"))]
#[path = "no_blocking.rs"]
mod blocking;
mod ours;
mod pending;
mod plain;
mod pool;

pub use ours::ways as ours;

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// True if this build has the ways that need other libraries.
pub const PEERS_BUILT: bool = cfg!(feature = "peers");

/// Closes written files.
pub trait Closing: Send + Sync {
    /// Takes the file, and closes it before it returns, or later.
    fn close(&self, file: File);

    /// Returns when all files taken are closed.
    fn wait(&self) -> io::Result<()>;
}

/// A way of closing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The writer closes.
    Plain,
    /// `close_already`'s design: as many threads as cores, a job per file.
    Pool,
    /// `close_already`'s design with the crate `blocking`: up to 500 threads, a job per file.
    Blocking,
    /// smallfry closes.
    Smallfry {
        /// When smallfry leaves a close to other threads.
        policy: Policy,
        /// The threads that close.
        backend: Backend,
    },
}

/// The policy for leaving a close to other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Where that pays.
    Auto,
    /// For every file.
    Always,
    /// For none.
    Never,
}

/// The threads on which smallfry closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is the crate of that name")]
pub enum Backend {
    /// smallfry's own threads.
    Threads,
    Rayon,
    Blocking,
    Smol,
    AsyncStd,
    Tokio,
}

impl Way {
    /// Makes what this way needs. Call it once in a process: most of it is global.
    pub fn start(self) -> io::Result<Box<dyn Closing>> {
        Ok(match self {
            Self::Plain => Box::new(plain::Plain),
            Self::Pool => Box::new(pool::Pool::start()?),
            Self::Blocking => blocking::start()?,
            Self::Smallfry { policy, backend } => ours::start(policy, backend)?,
        })
    }
}

/// Writes a file as `std::fs::write` does, and hands it on instead of closing it.
pub fn write(closing: &dyn Closing, path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(contents)?;
    closing.close(file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A measurement is only worth something if all of its work is done when [`Closing::wait`]
    /// returns.
    #[test]
    fn all_is_written_and_closed_after_the_wait() {
        let directory = tempfile::tempdir().unwrap();
        let mut ways = vec![Way::Plain, Way::Pool];
        if PEERS_BUILT {
            ways.push(Way::Blocking);
        }
        ways.extend(ours());
        for way in ways {
            let closing = way.start().unwrap();
            for index in 0..200 {
                let path = directory.path().join(index.to_string());
                write(closing.as_ref(), &path, format!("{way:?}").as_bytes()).unwrap();
            }
            closing.wait().unwrap();
            assert_eq!(open_below(directory.path()), 0, "{way:?}");
            let last = std::fs::read_to_string(directory.path().join("199")).unwrap();
            assert_eq!(last, format!("{way:?}"));
        }
    }

    /// Counts the files that this process holds open there; 0 where the system does not tell.
    fn open_below(directory: &Path) -> usize {
        let Ok(handles) = std::fs::read_dir("/proc/self/fd") else {
            return 0;
        };
        handles
            .filter_map(|handle| std::fs::read_link(handle.ok()?.path()).ok())
            .filter(|target| target.starts_with(directory))
            .count()
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let closing = Way::Pool.start().unwrap();
        let missing = Path::new("no such directory/file");
        assert!(write(closing.as_ref(), missing, b"").is_err());
        closing.wait().unwrap();
    }
}
