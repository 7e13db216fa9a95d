//! Threads for workers.

use std::io;
use std::thread::{Builder, JoinHandle, Scope};

use crate::sys;

/// The stack of a worker in bytes. Tasks keep large buffers elsewhere.
const STACK: usize = 256 << 10;

/// A source of threads: [`Detached`], a [`Scope`], or a front end's own.
pub trait Spawn<'a>: Send + Sync {
    /// Runs `body` on a new thread. Returns false if the system has no thread to give.
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'a>) -> bool;
}

/// Threads that own all they use, and that no thread joins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detached;

impl Spawn<'static> for Detached {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'static>) -> bool {
        start_thread("smallfry", body).is_ok()
    }
}

impl<'scope> Spawn<'scope> for &'scope Scope<'scope, '_> {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'scope>) -> bool {
        may_start_threads() && builder("smallfry").spawn_scoped(self, body).is_ok()
    }
}

/// Returns false in the child of a `fork`, if this was called before that. A thread that starts
/// there may wait for ever: std has locks for threads that start and end, and one of the parent's
/// threads may have held such a lock at the `fork`. A program that forks and goes on should do so
/// before its first call.
///
/// ```
/// assert!(smallfry_workers::may_start_threads());
/// ```
pub fn may_start_threads() -> bool {
    !sys::is_forked()
}

/// Starts a thread of that name with a small stack.
///
/// # Errors
///
/// `Unsupported` where [`may_start_threads`] is false, or that of the system.
pub fn start_thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    if may_start_threads() {
        builder(name).spawn(body)
    } else {
        let reason = "the child of a fork starts no threads";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }
}

fn builder(name: &str) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(STACK)
}
