//! Explores the interleavings of threads that hand files over, close them and wait for them, by
//! loom.
//!
//! A lost wake-up, or a worker that leaves while a file is pending, ends in a deadlock or in a file
//! that is not closed once. `make test-model` runs these tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Uncontrolled, Ordering};
use std::time::Duration;

use loom::model::Builder;
use loom::thread::{self, JoinHandle};

use super::{End, Item, Pool, Pushed, Queue};

/// Explores with up to five preemptions; `LOOM_MAX_PREEMPTIONS` sets another number.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(5);
    builder.check(model);
}

/// A file that counts how often it is closed.
#[derive(Clone)]
struct File {
    key: Option<u64>,
    closed: Arc<Uncontrolled>,
}

impl File {
    fn new(key: impl Into<Option<u64>>) -> Self {
        Self {
            key: key.into(),
            closed: Arc::default(),
        }
    }

    fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }
}

impl Item for File {
    fn key(&self) -> Option<u64> {
        self.key
    }

    fn close(self) {
        // Other threads may run where the queue is locked before and after this. To yield here
        // would make loom run all of them first, and never one alone.
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

type Files = Queue<File>;

/// Hands a file over, and starts a worker if one is needed.
fn push(queue: &Arc<Files>, file: &File, max_pending: usize) -> Option<JoinHandle<()>> {
    match queue.push(file.clone(), max_pending) {
        Pushed::Full(file) => file.close(),
        Pushed::Queued {
            needs_worker: Some(generation),
        } => {
            let queue = Arc::clone(queue);
            return Some(thread::spawn(move || {
                // One file at a time, as in a pool with other tasks.
                while queue.work(generation, 1, Duration::ZERO) == End::Paused {}
            }));
        }
        Pushed::Queued { .. } => {}
    }
    None
}

#[test]
fn wait_returns_after_the_files_of_two_threads_are_closed() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let (first, second) = (File::new(1), File::new(2));
        let other = {
            let (queue, second) = (Arc::clone(&queue), second.clone());
            thread::spawn(move || push(&queue, &second, 8))
        };
        let worker = push(&queue, &first, 8);
        queue.wait(None);
        assert_eq!(first.closed(), 1);
        let another = other.join().unwrap();
        queue.wait(None);
        assert_eq!((first.closed(), second.closed()), (1, 1));
        for worker in [worker, another].into_iter().flatten() {
            worker.join().unwrap();
        }
        assert_eq!(queue.pending(), 0);
    });
}

#[test]
fn no_file_stays_pending_when_workers_leave() {
    // With at most one worker, a thread that hands a file over as it leaves must bring another.
    no_file_stays_pending(1);
    no_file_stays_pending(2);
}

fn no_file_stays_pending(max_workers: usize) {
    explore(move || {
        let queue = Arc::new(Files::new());
        queue.lock().pool = Pool::of(max_workers);
        let files = [File::new(1), File::new(2)];
        let workers = files.each_ref().map(|file| push(&queue, file, 8));
        for worker in workers.into_iter().flatten() {
            worker.join().unwrap();
        }
        // The workers alone have closed them: no thread waited and helped.
        assert_eq!(files.map(|file| file.closed()), [1, 1]);
        assert_eq!(queue.pending(), 0);
    });
}

#[test]
fn at_most_max_pending_files_are_pending() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let files = [File::new(1), File::new(2), File::new(3)];
        let workers = files.each_ref().map(|file| {
            let worker = push(&queue, file, 1);
            assert!(queue.pending() <= 1);
            worker
        });
        queue.wait(None);
        assert_eq!(files.map(|file| file.closed()), [1, 1, 1]);
        for worker in workers.into_iter().flatten() {
            worker.join().unwrap();
        }
    });
}

#[test]
fn wait_for_closes_files_with_that_key_or_without_a_key() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let (wanted, unknown) = (File::new(1), File::new(None));
        let workers = [&wanted, &unknown].map(|file| push(&queue, file, 8));
        queue.wait_for(1);
        assert_eq!((wanted.closed(), unknown.closed()), (1, 1));
        for worker in workers.into_iter().flatten() {
            worker.join().unwrap();
        }
    });
}

#[test]
fn threads_that_wait_need_no_worker() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let files = [File::new(1), File::new(2)];
        for file in &files {
            let pushed = queue.push(file.clone(), 8);
            if let Pushed::Queued {
                needs_worker: Some(generation),
            } = pushed
            {
                // The worker's thread could not be started, and the file stays pending.
                queue.lose_worker(generation);
            }
        }
        let waiter = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.wait(None))
        };
        queue.wait_for(2);
        assert_eq!(files[1].closed(), 1);
        waiter.join().unwrap();
        assert_eq!(files.map(|file| file.closed()), [1, 1]);
    });
}

#[test]
fn the_next_generation_takes_over() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let files = [File::new(1), File::new(2)];
        let first = push(&queue, &files[0], 8);
        // The worker that was asked for never comes.
        drop(queue.push(files[1].clone(), 8));
        let worker = queue.next_generation().map(|generation| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || while queue.work(generation, 1, Duration::ZERO) == End::Paused {})
        });
        for worker in [first, worker].into_iter().flatten() {
            worker.join().unwrap();
        }
        assert_eq!(files.map(|file| file.closed()), [1, 1]);
        assert_eq!(queue.pending(), 0);
    });
}
