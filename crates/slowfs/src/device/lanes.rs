//! Servers side by side with one queue before them, first come first served: scanners that look at closed files, a
//! network whose trips overlap, the electronics before a disk's head.

use super::Ticket;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// `width` requests are served at once, the rest wait.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Ordered by when they end, then by who came first.
    busy: BinaryHeap<Reverse<(Duration, Ticket)>>,
    waiting: VecDeque<(Ticket, Duration)>,
}

impl Lanes {
    /// `width` 0: nobody ever waits.
    pub(super) fn arrive(&mut self, now: Duration, ticket: Ticket, service: Duration, width: u32) {
        self.waiting.push_back((ticket, service));
        self.start(now, width);
    }

    /// When the next one is served.
    pub(super) fn next(&self) -> Option<Duration> {
        self.busy.peek().map(|Reverse((end, _))| *end)
    }

    /// Takes the next one off, and lets whoever waited longest in its place.
    pub(super) fn finish(&mut self, width: u32) -> Option<Ticket> {
        let Reverse((end, ticket)) = self.busy.pop()?;
        self.start(end, width);
        Some(ticket)
    }

    fn start(&mut self, now: Duration, width: u32) {
        let width = if width == 0 {
            usize::MAX
        } else {
            width as usize
        };
        while self.busy.len() < width {
            let Some((ticket, service)) = self.waiting.pop_front() else {
                break;
            };
            self.busy.push(Reverse((now + service, ticket)));
        }
    }
}
