//! Results one by one, for a consumer that is one of the workers.

use std::collections::VecDeque;
use std::iter::Fuse;
use std::panic::resume_unwind;
use std::time::Duration;

use crate::batch::{Batch, Done, Entry};
use crate::meter::Meter;
use crate::sync::Arc;
use crate::task::{Room, Task};

/// The number of inputs handed ahead for each worker.
const AHEAD: usize = 64;
/// The maximum number of results that wait for an earlier one, if order matters.
const MAX_EARLY: usize = 1 << 16;

/// An iterator over results, which does the work as it is asked.
///
/// As long as one worker is best, each call of [`next`](Iterator::next) does one operation and
/// nothing else: no lock, no thread, no look ahead. With more workers it hands inputs to them
/// ahead, and does an operation itself when no result is ready.
///
/// When it is dropped, inputs that have not begun are dropped, and operations in flight are waited
/// for.
pub struct Stream<'a, T: Task + 'a, I: Iterator<Item = T::Input>> {
    batch: Arc<Batch<'a, T>>,
    inputs: Fuse<I>,
    in_order: bool,
    scratch: T::Scratch,
    meter: Meter,
    /// Results in the order in which they were done.
    ready: VecDeque<Done<T::Output>>,
    /// If order matters: the results from `head` onward that have come.
    early: VecDeque<Option<Done<T::Output>>>,
    /// The number of the result needed next, if order matters.
    head: usize,
    /// The number of inputs that have begun or were handed to workers.
    begun: usize,
    /// The number of inputs that the other workers have.
    lent: usize,
    /// The number of bytes consumed that were not given back yet.
    consumed: u64,
    /// Set during the work for one result. It stays set after a panic.
    busy: bool,
}

impl<'a, T: Task + 'a, I: Iterator<Item = T::Input>> Stream<'a, T, I> {
    /// Makes a stream whose results come in the order of inputs, or as they are done.
    pub fn new(batch: Arc<Batch<'a, T>>, inputs: I, in_order: bool) -> Self {
        batch.workers.join_as_consumer();
        Self {
            meter: batch.workers.meter(),
            batch,
            inputs: inputs.fuse(),
            in_order,
            scratch: T::Scratch::default(),
            ready: VecDeque::new(),
            early: VecDeque::new(),
            head: 0,
            begun: 0,
            lent: 0,
            consumed: 0,
            busy: false,
        }
    }

    /// Returns the task.
    pub fn task(&self) -> &T {
        self.batch.task()
    }

    fn next_in_order(&mut self) -> Option<Done<T::Output>> {
        loop {
            if let Some(Some(_)) = self.early.front() {
                return self.early.pop_front().flatten();
            }
            let done = self.next_done()?;
            let place = done.index - self.head;
            if place == 0 {
                self.early.pop_front();
                return Some(done);
            }
            while self.early.len() <= place {
                self.early.push_back(None);
            }
            self.early[place] = Some(done);
        }
    }

    /// Returns the next result, whichever comes first.
    fn next_done(&mut self) -> Option<Done<T::Output>> {
        loop {
            if let Some(done) = self.ready.pop_front() {
                return Some(done);
            }
            let alone = self.batch.workers.is_one();
            if alone && self.lent == 0 {
                let entry = self.next_entry()?;
                if self.batch.workers.is_one() {
                    return Some(self.do_input(entry));
                }
                // It is the first request, so others should be in flight as well.
                self.hand_over(vec![entry]);
                continue;
            }
            if !alone {
                self.lend();
            }
            self.collect();
            if !self.ready.is_empty() {
                continue;
            }
            if self.lent == 0 {
                return None;
            }
            if let Some(done) = self.do_lent_input() {
                return Some(done);
            }
            self.batch.wait_for_result();
        }
    }

    /// Returns the next input, unless the batch is stopped.
    fn next_input(&mut self) -> Option<T::Input> {
        if self.batch.is_stopped() {
            return None;
        }
        self.inputs.next()
    }

    fn next_entry(&mut self) -> Option<Entry<T::Input>> {
        let input = self.next_input()?;
        Some(self.batch.entry(self.begun, input))
    }

    /// Does the next input on this thread, without a lock and without the other workers.
    fn do_input(&mut self, entry: Entry<T::Input>) -> Done<T::Output> {
        self.begun += 1;
        self.batch.set_remaining(self.known_remaining());
        let mut done = self
            .batch
            .perform(&mut self.scratch, &mut self.meter, entry, &Consumed);
        done.weight = 0;
        self.batch.recruit();
        done
    }

    /// Returns the number of inputs that have not been asked for, if the iterator knows it exactly.
    fn known_remaining(&self) -> Option<usize> {
        let (min, max) = self.inputs.size_hint();
        max.filter(|max| *max == min)
    }

    /// Hands inputs to the workers, so that they do not run out.
    fn lend(&mut self) {
        let enough = AHEAD * self.batch.workers.wanted();
        let early = self.in_order && self.begun - self.head >= MAX_EARLY;
        if self.lent > enough / 2 || early {
            return;
        }
        let mut room = self.batch.room_left();
        let mut entries = Vec::new();
        while self.lent + entries.len() < enough {
            // At least one is handed over, whatever its size.
            if room == 0 && self.lent + entries.len() > 0 {
                break;
            }
            let Some(input) = self.next_input() else {
                break;
            };
            let entry = self.batch.entry(self.begun + entries.len(), input);
            room = room.saturating_sub(entry.weight);
            entries.push(entry);
        }
        if !entries.is_empty() {
            self.hand_over(entries);
        }
    }

    fn hand_over(&mut self, entries: Vec<Entry<T::Input>>) {
        let count = entries.len();
        self.batch.push_entries(entries, self.known_remaining());
        self.begun += count;
        self.lent += count;
        self.batch.recruit();
    }

    /// Takes results and gives back consumed bytes. Resumes a worker's panic.
    fn collect(&mut self) {
        let head = self.in_order.then_some(self.head);
        let consumed = std::mem::take(&mut self.consumed);
        let panic = self.batch.take_and_release(&mut self.ready, consumed, head);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        self.lent -= self.ready.len();
    }

    /// Does an input that was handed to the workers, rather than wait for them.
    fn do_lent_input(&mut self) -> Option<Done<T::Output>> {
        let head = self.in_order.then_some(self.head);
        let entry = self.batch.claim_for_consumer(head)?;
        let done = self.batch.perform(
            &mut self.scratch,
            &mut self.meter,
            entry,
            &Unwaiting(&*self.batch),
        );
        self.lent -= 1;
        self.batch.finish(&done);
        self.batch.recruit();
        Some(done)
    }
}

impl<'a, T: Task + 'a, I: Iterator<Item = T::Input>> Iterator for Stream<'a, T, I> {
    /// The number of the input and its result.
    type Item = (usize, T::Output);

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::replace(&mut self.busy, true) {
            return None;
        }
        let done = if self.in_order {
            self.next_in_order()
        } else {
            self.next_done()
        };
        self.busy = false;
        let done = done?;
        self.head += 1;
        self.consumed += done.weight;
        Some((done.index, done.output))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let here = self.begun - self.head;
        let (min, max) = self.inputs.size_hint();
        // A stopped batch ends early.
        let min = if self.batch.is_stopped() { 0 } else { min };
        let max = max.and_then(|max| max.checked_add(here));
        (here.saturating_add(min), max)
    }
}

impl<'a, T: Task + 'a, I: Iterator<Item = T::Input>> Drop for Stream<'a, T, I> {
    fn drop(&mut self) {
        self.batch.abandon();
        self.batch.wait_for_workers();
    }
}

/// Unbounded room, for a result that is consumed before the next operation begins.
struct Consumed;

/// Room that counts and never waits. It is for operations of the consumer, since only the consumer
/// makes room.
struct Unwaiting<'b>(&'b dyn Room);

impl Room for Unwaiting<'_> {
    fn reserve(&self, index: usize, bytes: u64, _may_wait: bool) -> Duration {
        self.0.reserve(index, bytes, false)
    }
}

impl Room for Consumed {
    fn reserve(&self, _index: usize, _bytes: u64, _may_wait: bool) -> Duration {
        Duration::ZERO
    }
}
