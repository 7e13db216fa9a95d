//! Every way in which a few threads of one batch can interleave, up to a number of preemptions, explored by loom.
//!
//! A wake-up that gets lost, or two threads that wait for each other, end in a deadlock that loom reports; what must hold
//! when all is done is asserted. Batches are as small as shows the case. Run by `make test-model`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize as Uncontrolled, Ordering};
use std::sync::{Arc, Mutex as Held};
use std::time::Duration;

use loom::model::Builder;
use loom::sync::{Condvar, Mutex};
use loom::thread::JoinHandle;

use crate::{
    Batch, BatchOptions, Control, Done, Notify, Spawn, Strategy, Stream, Task, TaskContext,
};

/// Explores with this many preemptions; more are found by `LOOM_MAX_PREEMPTIONS`.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(model);
}

/// Threads that can be waited for.
#[derive(Clone, Default)]
struct Threads(Arc<Held<Vec<JoinHandle<()>>>>);

impl Spawn<'static> for Threads {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'static>) -> bool {
        let handle = loom::thread::spawn(body);
        self.0.lock().unwrap().push(handle);
        true
    }
}

impl Threads {
    fn join(&self) {
        loop {
            let Some(handle) = self.0.lock().unwrap().pop() else {
                return;
            };
            handle.join().unwrap();
        }
    }
}

/// A system without threads.
struct NoThreads;

impl Spawn<'static> for NoThreads {
    fn spawn(&self, _: Box<dyn FnOnce() + Send + 'static>) -> bool {
        false
    }
}

/// What is done for an input, and how it turned out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Output {
    Done(usize),
    Failed(usize),
    Cancelled(usize),
}

/// Does nothing with numbers.
#[derive(Default)]
struct Work {
    /// Bytes that each result takes.
    bytes: u64,
    /// Bytes that each input takes.
    weight: u64,
    /// Inputs from this one on have one key.
    keyed: Option<usize>,
    fails: Option<usize>,
    panics: Option<usize>,
    keyed_at_work: Uncontrolled,
    /// In the middle of each all others come first. It is the only place for them there, but with it loom never runs one
    /// worker to its end before the others.
    yields: bool,
}

impl Task for Work {
    type Input = usize;
    type Output = Output;
    type Scratch = ();

    fn run(&self, (): &mut (), input: usize, context: &mut TaskContext<'_>) -> Output {
        let keyed = usize::from(self.key(&input).is_some());
        let others = self.keyed_at_work.fetch_add(keyed, Ordering::SeqCst);
        assert!(keyed + others < 2, "one after the other");
        if self.bytes > 0 {
            context.reserve(self.bytes);
        }
        if self.yields {
            loom::thread::yield_now();
        }
        self.keyed_at_work.fetch_sub(keyed, Ordering::SeqCst);
        assert!(self.panics != Some(input), "as asked");
        if self.fails == Some(input) {
            Output::Failed(input)
        } else {
            Output::Done(input)
        }
    }

    fn cancelled(&self, input: usize) -> Output {
        Output::Cancelled(input)
    }

    fn failed(&self, output: &Output) -> bool {
        matches!(output, Output::Failed(_))
    }

    fn weight(&self, _: &usize) -> u64 {
        self.weight
    }

    fn key(&self, input: &usize) -> Option<u64> {
        self.keyed.filter(|first| first <= input).map(|_| 0)
    }
}

fn options(workers: usize) -> BatchOptions {
    BatchOptions {
        strategy: Strategy::Threads(workers.try_into().unwrap()),
        ..BatchOptions::default()
    }
}

/// Everything a stream gives, after which its threads are gone.
fn stream(
    task: Work,
    options: BatchOptions,
    inputs: usize,
    in_order: bool,
) -> Vec<(usize, Output)> {
    let threads = Threads::default();
    let batch = Batch::new(task, options, threads.clone());
    let results = Stream::new(Arc::clone(&batch), 0..inputs, in_order).collect();
    assert_eq!(batch.workers.active(), 0);
    assert_eq!(batch.in_flight(), 0);
    threads.join();
    results
}

fn all_done(inputs: usize) -> Vec<(usize, Output)> {
    (0..inputs)
        .map(|index| (index, Output::Done(index)))
        .collect()
}

#[test]
fn a_stream_gives_each_result_once_and_in_order() {
    explore(2, || {
        assert_eq!(stream(Work::default(), options(2), 3, true), all_done(3));
    });
}

#[test]
fn a_stream_gives_each_result_once_as_it_is_done() {
    explore(2, || {
        let mut results = stream(Work::default(), options(2), 3, false);
        results.sort_by_key(|(index, _)| *index);
        assert_eq!(results, all_done(3));
    });
}

#[test]
fn what_is_needed_next_never_waits_for_room() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 2,
            ..options(2)
        };
        assert_eq!(stream(task, options, 3, true), all_done(3));
    });
}

#[test]
fn room_is_made_without_an_order_too() {
    explore(2, || {
        let task = Work {
            bytes: 3,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 2,
            ..options(3)
        };
        assert_eq!(stream(task, options, 3, false).len(), 3);
    });
}

#[test]
fn inputs_of_one_key_are_done_one_after_the_other() {
    explore(2, || {
        let task = Work {
            keyed: Some(0),
            yields: true,
            weight: 1,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 2,
            ..options(2)
        };
        let mut results = stream(task, options, 3, false);
        results.sort_by_key(|(index, _)| *index);
        assert_eq!(results, all_done(3));
    });
}

#[test]
fn a_stream_does_everything_itself_where_there_are_no_threads() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 1,
            ..options(3)
        };
        let batch = Batch::new(task, options, NoThreads);
        let results: Vec<_> = Stream::new(batch, 0..4, true).collect();
        assert_eq!(results, all_done(4));
    });
}

#[test]
fn a_stream_goes_on_alone_when_its_helpers_are_dismissed() {
    explore(2, || {
        let threads = Threads::default();
        let batch = Batch::new(Work::default(), options(2), threads.clone());
        let mut results = Stream::new(Arc::clone(&batch), 0..3, true);
        assert_eq!(results.next(), Some((0, Output::Done(0))));
        batch.workers.want(1);
        assert_eq!(results.next(), Some((1, Output::Done(1))));
        batch.workers.want(2);
        assert_eq!(results.next(), Some((2, Output::Done(2))));
        assert_eq!(results.next(), None);
        drop(results);
        assert_eq!(batch.workers.active(), 0);
        threads.join();
    });
}

#[test]
fn an_abandoned_stream_leaves_no_worker() {
    explore(2, || {
        let task = Work {
            bytes: 1,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 1,
            ..options(2)
        };
        let threads = Threads::default();
        let batch = Batch::new(task, options, threads.clone());
        let mut results = Stream::new(Arc::clone(&batch), 0..4, true);
        assert_eq!(results.next(), Some((0, Output::Done(0))));
        drop(results);
        assert_eq!(batch.workers.active(), 0);
        threads.join();
        assert_eq!(Arc::strong_count(&batch), 1);
    });
}

#[test]
fn after_a_failure_the_rest_is_cancelled() {
    explore(2, || {
        let task = Work {
            fails: Some(1),
            bytes: 1,
            ..Work::default()
        };
        let options = BatchOptions {
            max_in_flight: 1,
            fail_fast: true,
            ..options(2)
        };
        let results = stream(task, options, 3, true);
        assert_eq!(results[..2], [(0, Output::Done(0)), (1, Output::Failed(1))]);
        for (index, (number, output)) in results.into_iter().enumerate().skip(2) {
            assert_eq!(index, number);
            assert!([Output::Done(index), Output::Cancelled(index)].contains(&output));
        }
    });
}

#[test]
fn a_panic_of_any_worker_reaches_the_consumer() {
    for panics in [0, 1] {
        explore(2, move || {
            let task = Work {
                panics: Some(panics),
                bytes: 1,
                ..Work::default()
            };
            let options = BatchOptions {
                max_in_flight: 1,
                ..options(2)
            };
            let threads = Threads::default();
            let batch = Batch::new(task, options, threads.clone());
            let mut results = Stream::new(Arc::clone(&batch), 0..3, true);
            let panic = catch_unwind(AssertUnwindSafe(|| (&mut results).count())).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"as asked"));
            assert_eq!(results.next(), None);
            drop(results);
            assert_eq!(batch.workers.active(), 0);
            threads.join();
        });
    }
}

/// A consumer that is told of results, as a front end with an event loop is.
#[derive(Default)]
struct Told {
    told: Mutex<bool>,
    signal: Condvar,
}

impl Told {
    /// How a batch is done whose results this one is told of.
    fn options(self: &Arc<Self>, workers: usize) -> BatchOptions {
        let told = Arc::clone(self);
        let notify = Notify {
            call: Box::new(move || {
                let before = std::mem::replace(&mut *told.told.lock().unwrap(), true);
                assert!(!before, "told twice");
                told.signal.notify_one();
            }),
            min_results: 2,
            max_delay: Duration::from_secs(1),
        };
        BatchOptions {
            notify: Some(notify),
            ..options(workers)
        }
    }

    fn wait(&self) {
        let mut told = self.told.lock().unwrap();
        while !*told {
            told = self.signal.wait(told).unwrap();
        }
        *told = false;
    }

    /// Takes results whenever it is told of some, until it has so many, or has all.
    fn take(&self, batch: &Batch<'static, Work>, most: usize) -> Vec<(usize, Output)> {
        let mut results = Vec::new();
        let mut more = true;
        while more && results.len() < most {
            self.wait();
            let mut ready = VecDeque::new();
            more = batch.take(&mut ready);
            for Done {
                index,
                output,
                weight,
                ..
            } in ready
            {
                batch.release(weight, None);
                results.push((index, output));
            }
        }
        results.sort_by_key(|(index, _)| *index);
        results
    }
}

/// A batch with its first worker, told of.
fn started(
    task: Work,
    change: impl FnOnce(&mut BatchOptions),
) -> (Arc<Told>, Arc<Batch<'static, Work>>, Threads) {
    let told = Arc::new(Told::default());
    let threads = Threads::default();
    let mut options = told.options(1);
    change(&mut options);
    let batch = Batch::new(task, options, threads.clone());
    assert!(batch.start());
    (told, batch, threads)
}

fn workers(count: usize) -> impl FnOnce(&mut BatchOptions) {
    move |options| options.strategy = Strategy::Threads(count.try_into().unwrap())
}

#[test]
fn a_consumer_is_told_of_every_result() {
    explore(2, || {
        let (told, batch, threads) = started(Work::default(), workers(2));
        batch.push(0, 0..2, Some(1));
        batch.push(2, 2..3, Some(0));
        batch.close();
        assert_eq!(told.take(&batch, 3), all_done(3));
        threads.join();
    });
}

#[test]
fn a_consumer_is_told_of_the_end_whenever_the_batch_is_closed() {
    explore(3, || {
        let (told, batch, threads) = started(Work::default(), workers(1));
        batch.push(0, 0..2, None);
        assert_eq!(told.take(&batch, 2), all_done(2));
        batch.close();
        assert_eq!(told.take(&batch, 1), []);
        threads.join();
    });
}

#[test]
fn a_dismissed_worker_leaves_nothing_undone() {
    explore(3, || {
        let (told, batch, threads) = started(Work::default(), workers(2));
        batch.push(0, 0..2, None);
        assert_eq!(told.take(&batch, 2), all_done(2));
        // Both may be waiting by now.
        batch.workers.want(1);
        batch.push(2, 2..3, Some(0));
        assert_eq!(told.take(&batch, 1), [(2, Output::Done(2))]);
        batch.close();
        told.wait();
        threads.join();
    });
}

#[test]
fn nothing_that_waits_for_its_key_is_left_when_workers_end() {
    // A third preemption takes nine times as long.
    let everything = std::env::var_os("SMALLFRY_TEST_ALL").is_some();
    explore(if everything { 3 } else { 2 }, || {
        let task = Work {
            keyed: Some(2),
            ..Work::default()
        };
        let (told, batch, threads) = started(task, workers(2));
        batch.push(0, 0..2, None);
        assert_eq!(told.take(&batch, 2), all_done(2));
        batch.push(2, 2..4, Some(0));
        batch.workers.want(1);
        batch.close();
        let rest = [(2, Output::Done(2)), (3, Output::Done(3))];
        assert_eq!(told.take(&batch, 2), rest);
        threads.join();
    });
}

#[test]
fn all_workers_end_when_what_waited_for_its_key_is_done() {
    explore(0, || {
        let task = Work {
            keyed: Some(3),
            ..Work::default()
        };
        let (told, batch, threads) = started(task, workers(3));
        batch.push(0, 0..3, None);
        assert_eq!(told.take(&batch, 3), all_done(3));
        batch.push(3, 3..5, Some(0));
        batch.close();
        assert_eq!(told.take(&batch, 2).len(), 2);
        threads.join();
    });
}

#[test]
fn workers_wait_for_a_consumer_that_is_told() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let (told, batch, threads) = started(task, |options| {
            workers(2)(options);
            options.max_in_flight = 3;
        });
        batch.push(0, 0..3, Some(0));
        batch.close();
        assert_eq!(told.take(&batch, 3), all_done(3));
        threads.join();
    });
}

#[test]
fn what_is_cancelled_has_its_results_too() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let control = Control::new();
        let (told, batch, threads) = started(task, |options| {
            workers(2)(options);
            options.max_in_flight = 2;
            options.control = control.clone();
        });
        batch.push(0, 0..3, Some(0));
        batch.cancel();
        batch.close();
        let results = told.take(&batch, 3);
        assert_eq!(results.len(), 3);
        for (index, (number, output)) in results.into_iter().enumerate() {
            assert_eq!(index, number);
            assert!([Output::Done(index), Output::Cancelled(index)].contains(&output));
        }
        threads.join();
    });
}

#[test]
fn workers_of_an_abandoned_batch_end() {
    explore(3, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let (_told, batch, threads) = started(task, |options| {
            workers(2)(options);
            options.max_in_flight = 2;
            options.notify = None;
        });
        batch.push(0, 0..3, None);
        batch.abandon();
        threads.join();
        assert_eq!(batch.workers.active(), 0);
        assert_eq!(Arc::strong_count(&batch), 1);
        assert!(!batch.take(&mut VecDeque::new()));
    });
}
