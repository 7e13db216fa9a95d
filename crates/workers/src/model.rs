//! Explores the interleavings of a few threads of one batch, up to a number of preemptions, by
//! loom.
//!
//! A lost wake-up, or two threads that wait for each other, end in a deadlock, which loom reports.
//! The tests assert the rest at the end. Each batch is the smallest that shows its case.
//! `make test-model` runs these tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize as Uncontrolled, Ordering};
use std::sync::{Arc, Mutex as Held};
use std::time::Duration;

use loom::model::Builder;
use loom::sync::{Condvar, Mutex};
use loom::thread::JoinHandle;

use crate::batch::{Batch, Done};
use crate::control::Control;
use crate::options::{BatchOptions, Notify, Strategy};
use crate::spawn::Spawn;
use crate::stream::Stream;
use crate::task::{Task, TaskContext};

/// Explores with this many preemptions; `LOOM_MAX_PREEMPTIONS` sets another number.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(model);
}

/// Threads that a test can join.
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

/// The outcome of an input, with its number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Output {
    Done(usize),
    Failed(usize),
    Cancelled(usize),
}

/// A task that does nothing with numbers.
#[derive(Default)]
struct Work {
    /// The bytes that each result takes.
    bytes: u64,
    /// The bytes that each input takes.
    weight: u64,
    /// The first of the inputs that share one key.
    keyed: Option<usize>,
    fails: Option<usize>,
    panics: Option<usize>,
    keyed_at_work: Uncontrolled,
    /// True to let all other threads run first during each input. No other place lets
    /// them run there, but with it loom never runs one worker to its end before the others.
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

/// Runs a stream to its end and joins its threads. Returns all results.
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
fn the_result_needed_next_never_waits_for_room() {
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
fn a_stream_runs_all_inputs_itself_without_threads() {
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

/// A consumer that is notified of results, as a front end with an event loop is.
#[derive(Default)]
struct Consumer {
    notified: Mutex<bool>,
    signal: Condvar,
}

impl Consumer {
    /// Returns options for a batch that notifies this consumer.
    fn options(self: &Arc<Self>, workers: usize) -> BatchOptions {
        let consumer = Arc::clone(self);
        let notify = Notify {
            call: Box::new(move || {
                let before = std::mem::replace(&mut *consumer.notified.lock().unwrap(), true);
                assert!(!before, "notified twice");
                consumer.signal.notify_one();
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
        let mut notified = self.notified.lock().unwrap();
        while !*notified {
            notified = self.signal.wait(notified).unwrap();
        }
        *notified = false;
    }

    /// Takes results after each notification, until it has `max` or all of them.
    fn take(&self, batch: &Batch<'static, Work>, max: usize) -> Vec<(usize, Output)> {
        let mut results = Vec::new();
        let mut more = true;
        while more && results.len() < max {
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

/// Starts a batch with its first worker, and returns it with its consumer and its threads.
fn started(
    task: Work,
    change: impl FnOnce(&mut BatchOptions),
) -> (Arc<Consumer>, Arc<Batch<'static, Work>>, Threads) {
    let consumer = Arc::new(Consumer::default());
    let threads = Threads::default();
    let mut options = consumer.options(1);
    change(&mut options);
    let batch = Batch::new(task, options, threads.clone());
    assert!(batch.start());
    (consumer, batch, threads)
}

fn workers(count: usize) -> impl FnOnce(&mut BatchOptions) {
    move |options| options.strategy = Strategy::Threads(count.try_into().unwrap())
}

#[test]
fn a_consumer_is_notified_of_every_result() {
    explore(2, || {
        let (consumer, batch, threads) = started(Work::default(), workers(2));
        batch.push(0, 0..2, Some(1));
        batch.push(2, 2..3, Some(0));
        batch.close();
        assert_eq!(consumer.take(&batch, 3), all_done(3));
        threads.join();
    });
}

#[test]
fn a_consumer_is_notified_of_the_end_whenever_the_batch_is_closed() {
    explore(3, || {
        let (consumer, batch, threads) = started(Work::default(), workers(1));
        batch.push(0, 0..2, None);
        assert_eq!(consumer.take(&batch, 2), all_done(2));
        batch.close();
        assert_eq!(consumer.take(&batch, 1), []);
        threads.join();
    });
}

#[test]
fn a_dismissed_worker_leaves_no_input_undone() {
    explore(3, || {
        let (consumer, batch, threads) = started(Work::default(), workers(2));
        batch.push(0, 0..2, None);
        assert_eq!(consumer.take(&batch, 2), all_done(2));
        // Both may be waiting by now.
        batch.workers.want(1);
        batch.push(2, 2..3, Some(0));
        assert_eq!(consumer.take(&batch, 1), [(2, Output::Done(2))]);
        batch.close();
        consumer.wait();
        threads.join();
    });
}

#[test]
fn inputs_that_wait_for_their_key_are_run_before_workers_end() {
    // A third preemption takes nine times as long.
    let is_soak = std::env::var_os("SMALLFRY_SOAK").is_some();
    explore(if is_soak { 3 } else { 2 }, || {
        let task = Work {
            keyed: Some(2),
            ..Work::default()
        };
        let (consumer, batch, threads) = started(task, workers(2));
        batch.push(0, 0..2, None);
        assert_eq!(consumer.take(&batch, 2), all_done(2));
        batch.push(2, 2..4, Some(0));
        batch.workers.want(1);
        batch.close();
        let rest = [(2, Output::Done(2)), (3, Output::Done(3))];
        assert_eq!(consumer.take(&batch, 2), rest);
        threads.join();
    });
}

#[test]
fn all_workers_end_after_inputs_that_waited_for_their_key() {
    explore(0, || {
        let task = Work {
            keyed: Some(3),
            ..Work::default()
        };
        let (consumer, batch, threads) = started(task, workers(3));
        batch.push(0, 0..3, None);
        assert_eq!(consumer.take(&batch, 3), all_done(3));
        batch.push(3, 3..5, Some(0));
        batch.close();
        assert_eq!(consumer.take(&batch, 2).len(), 2);
        threads.join();
    });
}

#[test]
fn workers_wait_for_a_consumer_that_is_notified() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let (consumer, batch, threads) = started(task, |options| {
            workers(2)(options);
            options.max_in_flight = 3;
        });
        batch.push(0, 0..3, Some(0));
        batch.close();
        assert_eq!(consumer.take(&batch, 3), all_done(3));
        threads.join();
    });
}

#[test]
fn cancelled_inputs_have_results_too() {
    explore(2, || {
        let task = Work {
            bytes: 2,
            ..Work::default()
        };
        let control = Control::new();
        let (consumer, batch, threads) = started(task, |options| {
            workers(2)(options);
            options.max_in_flight = 2;
            options.control = control.clone();
        });
        batch.push(0, 0..3, Some(0));
        batch.cancel();
        batch.close();
        let results = consumer.take(&batch, 3);
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
        let (_consumer, batch, threads) = started(task, |options| {
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
