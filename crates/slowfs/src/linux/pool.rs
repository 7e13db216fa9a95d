//! Threads for flushes, which can take long on the real disk too. The threads that take requests
//! from the kernel do not wait for them.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

type Work = Box<dyn FnOnce() + Send>;

/// The number of real flushes at a time. They share a journal's commits, so more would not be
/// faster.
const THREADS: usize = 8;

/// The threads. They end once the pool is dropped and its work is done.
pub(super) struct Pool {
    work: Sender<Work>,
}

impl Pool {
    pub(super) fn start() -> io::Result<Self> {
        let (work, queue) = channel::<Work>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new()
                .name("slowfs-flush".to_owned())
                .spawn(move || {
                    while let Some(work) = take(&queue) {
                        work();
                    }
                })?;
        }
        Ok(Self { work })
    }

    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) {
        if let Err(refused) = self.work.send(Box::new(work)) {
            // Only if every thread has panicked.
            (refused.0)();
        }
    }
}

fn take(queue: &Mutex<Receiver<Work>>) -> Option<Work> {
    let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.recv().ok()
}
