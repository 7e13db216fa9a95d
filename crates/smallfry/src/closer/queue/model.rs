//! Every way in which those who hand files over, those who close them and those who wait for that can interleave, explored
//! by loom.
//!
//! A wake-up that gets lost, or a worker that leaves while something waits, ends in a deadlock or in an item that is not
//! closed once. Run by `make test-model`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Uncontrolled, Ordering};
use std::time::Duration;

use loom::model::Builder;
use loom::thread::{self, JoinHandle};

use super::{End, Item, Pool, Pushed, Queue};

fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(5);
    builder.check(model);
}

/// Counts how often it is closed.
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
        // Others may come in between where the queue is locked before and after this. To yield here would have loom run all
        // of them first, and never one alone.
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

type Files = Queue<File>;

/// Hands a file over; a worker that is needed is started.
fn push(queue: &Arc<Files>, file: &File, most: usize) -> Option<JoinHandle<()>> {
    match queue.push(file.clone(), most) {
        Pushed::Full(file) => file.close(),
        Pushed::Queued {
            needs_worker: Some(generation),
        } => {
            let queue = Arc::clone(queue);
            return Some(thread::spawn(move || {
                // One file at a time, as in a pool that others share.
                while queue.work(generation, 1, Duration::ZERO) == End::Paused {}
            }));
        }
        Pushed::Queued { .. } => {}
    }
    None
}

#[test]
fn two_threads_hand_over_and_one_waits() {
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
fn nothing_stays_behind_when_workers_leave() {
    // One at the most: whoever hands a file over as it leaves must bring another.
    nothing_stays_behind(1);
    nothing_stays_behind(2);
}

fn nothing_stays_behind(max_workers: usize) {
    explore(move || {
        let queue = Arc::new(Files::new());
        queue.lock().pool = Pool::of(max_workers);
        let files = [File::new(1), File::new(2)];
        let workers = files.each_ref().map(|file| push(&queue, file, 8));
        for worker in workers.into_iter().flatten() {
            worker.join().unwrap();
        }
        // Nobody waited and nobody helped.
        assert_eq!(files.map(|file| file.closed()), [1, 1]);
        assert_eq!(queue.pending(), 0);
    });
}

#[test]
fn no_more_are_pending_than_may_be() {
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
fn a_file_is_closed_before_it_is_removed() {
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
fn who_waits_needs_no_worker() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let files = [File::new(1), File::new(2)];
        for file in &files {
            let pushed = queue.push(file.clone(), 8);
            if let Pushed::Queued {
                needs_worker: Some(generation),
            } = pushed
            {
                // Its thread could not be started, and who said so left the rest to others.
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
fn others_take_over() {
    explore(|| {
        let queue = Arc::new(Files::new());
        let files = [File::new(1), File::new(2)];
        let first = push(&queue, &files[0], 8);
        // Whoever was asked for comes late or not at all.
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
