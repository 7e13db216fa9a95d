//! Results one by one, for a consumer that is one of the workers.

use std::collections::VecDeque;
use std::iter::Fuse;
use std::panic::resume_unwind;
use std::time::Duration;

use super::{Arc, Batch, Done, Room, Task};
use crate::bulk::workers::Meter;

/// Inputs handed ahead for each worker.
const AHEAD: usize = 64;
/// Results, however small, that may wait for an earlier one where order matters.
const MAX_EARLY: usize = 1 << 16;

/// Goes through the inputs and gives their results.
///
/// As long as one worker is best, each call of [`next`](Iterator::next) does one operation and nothing else. When there
/// are more, inputs are handed to them ahead, and a call for which no result is ready does an operation itself.
///
/// When it is dropped, what has not begun is not done any more, and what has begun is waited for.
pub struct Stream<'a, T: Task + 'a, I: Iterator<Item = T::Input>> {
    batch: Arc<Batch<'a, T>>,
    inputs: Fuse<I>,
    in_order: bool,
    scratch: T::Scratch,
    meter: Meter,
    /// Results that nobody has asked for yet, as they were done.
    ready: VecDeque<Done<T::Output>>,
    /// Where order matters: results from the one needed next onward.
    early: VecDeque<Option<Done<T::Output>>>,
    /// Number of the result needed next, where order matters.
    head: usize,
    /// Inputs begun or handed to workers.
    begun: usize,
    /// Of these, with the other workers.
    lent: usize,
    /// Bytes consumed that the batch has not been told of.
    consumed: u64,
    /// In the middle of the work for one result. Who finds it so comes after a panic.
    busy: bool,
}

impl<'a, T: Task + 'a, I: Iterator<Item = T::Input>> Stream<'a, T, I> {
    /// Results come in the order of inputs, or as they are done.
    pub fn new(batch: Arc<Batch<'a, T>>, inputs: I, in_order: bool) -> Self {
        batch.workers.attend();
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

    /// What is done for each input.
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

    /// A result that was not there before, whichever comes first.
    fn next_done(&mut self) -> Option<Done<T::Output>> {
        loop {
            if let Some(done) = self.ready.pop_front() {
                return Some(done);
            }
            let alone = self.batch.workers.is_one();
            if alone && self.lent == 0 {
                return self.do_next_input();
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

    /// The next input, unless nothing more is to be begun.
    fn next_input(&mut self) -> Option<T::Input> {
        if self.batch.is_stopped() {
            return None;
        }
        self.inputs.next()
    }

    /// Does the next input here, without a lock and without the others.
    fn do_next_input(&mut self) -> Option<Done<T::Output>> {
        let input = self.next_input()?;
        let entry = self.batch.entry(self.begun, input);
        self.begun += 1;
        self.batch.set_remaining(self.known_remaining());
        let done = self
            .batch
            .perform(&mut self.scratch, &mut self.meter, entry, &Consumed);
        self.batch.recruit();
        Some(Done { weight: 0, ..done })
    }

    /// Inputs that have not been asked for. Only an exact answer is one: a filter says that there may be none at all.
    fn known_remaining(&self) -> Option<usize> {
        let (least, most) = self.inputs.size_hint();
        most.filter(|most| *most == least)
    }

    /// Hands inputs to the workers so that they do not run out.
    fn lend(&mut self) {
        let enough = AHEAD * self.batch.workers.wanted();
        let early = self.in_order && self.begun - self.head >= MAX_EARLY;
        if self.lent > enough / 2 || early {
            return;
        }
        let mut room = self.batch.room_left();
        let mut entries = Vec::new();
        while self.lent + entries.len() < enough {
            // One at least is under way, whatever its size.
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
        if entries.is_empty() {
            return;
        }
        let count = entries.len();
        self.batch.push_entries(entries, self.known_remaining());
        self.begun += count;
        self.lent += count;
        self.batch.recruit();
    }

    /// Takes what has been done, and says what has been consumed. A worker's panic goes on here.
    fn collect(&mut self) {
        let head = self.in_order.then_some(self.head);
        let consumed = std::mem::take(&mut self.consumed);
        let panic = self.batch.exchange(&mut self.ready, consumed, head);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        self.lent -= self.ready.len();
    }

    /// Does an input here that was meant for a worker, rather than wait for one.
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
    /// Number of the input, and its result.
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
        let (least, most) = self.inputs.size_hint();
        // A batch that is stopped ends early.
        let least = if self.batch.is_stopped() { 0 } else { least };
        let most = most.and_then(|most| most.checked_add(here));
        (here.saturating_add(least), most)
    }
}

impl<'a, T: Task + 'a, I: Iterator<Item = T::Input>> Drop for Stream<'a, T, I> {
    fn drop(&mut self) {
        self.batch.abandon();
        self.batch.wait_for_workers();
    }
}

/// Room for a result that is consumed before the next operation begins.
struct Consumed;

/// Room for the consumer's own results: it counts, but who else should consume?
struct Unwaiting<'b>(&'b dyn Room);

impl Room for Unwaiting<'_> {
    fn reserve(&self, index: usize, bytes: u64, _waits: bool) -> Duration {
        self.0.reserve(index, bytes, false)
    }
}

impl Room for Consumed {
    fn reserve(&self, _index: usize, _bytes: u64, _waits: bool) -> Duration {
        Duration::ZERO
    }
}
