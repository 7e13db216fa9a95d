//! Threads for workers.

use std::thread::{Builder, Scope};

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
        builder().spawn(body).is_ok()
    }
}

impl<'scope> Spawn<'scope> for &'scope Scope<'scope, '_> {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'scope>) -> bool {
        builder().spawn_scoped(self, body).is_ok()
    }
}

fn builder() -> Builder {
    Builder::new().name("smallfry".into()).stack_size(STACK)
}
