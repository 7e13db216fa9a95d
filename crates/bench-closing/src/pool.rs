//! `close_already`'s design as it comes, with the crate `threadpool`: a thread for each core, one
//! queue without end, a boxed job for each file.
//!
//! <https://docs.rs/close_already>, <https://docs.rs/threadpool>: a channel whose receiver the
//! threads share.

use crate::Closing;
use crate::pending::Pending;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct Pool {
    jobs: Sender<Job>,
    pending: Pending,
}

impl Pool {
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..thread::available_parallelism()?.get() {
            let queue = Arc::clone(&queue);
            thread::Builder::new().spawn(move || work(&queue))?;
        }
        Ok(Self {
            jobs,
            pending: Pending::default(),
        })
    }
}

/// Works until every sender is gone.
fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

impl Closing for Pool {
    fn close(&self, file: File) {
        // The threads live as long as this does; were they gone, the job would come back and,
        // dropped, close the file.
        let _ = self.jobs.send(Box::new(self.pending.job(file)));
    }

    fn wait(&self) -> io::Result<()> {
        self.pending.wait();
        Ok(())
    }
}
