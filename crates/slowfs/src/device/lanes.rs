//! Servers side by side with one queue before them, first come first served: scanners that look at closed files, a
//! network whose trips overlap, the electronics before a disk's head.

use super::request::RequestId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// `width` requests are served at once, the rest wait.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Ordered by when they end, then by who came first.
    busy: BinaryHeap<Reverse<(Duration, RequestId)>>,
    waiting: VecDeque<(RequestId, Duration)>,
}

impl Lanes {
    /// `width` 0: nobody ever waits.
    pub(super) fn arrive(
        &mut self,
        now: Duration,
        request: RequestId,
        service: Duration,
        width: u32,
    ) {
        self.waiting.push_back((request, service));
        self.start(now, width);
    }

    /// When the next one is served.
    pub(super) fn next(&self) -> Option<Duration> {
        self.busy.peek().map(|Reverse((end, _))| *end)
    }

    /// Takes the next one off, and lets whoever waited longest in its place.
    pub(super) fn finish(&mut self, width: u32) -> Option<RequestId> {
        let Reverse((end, request)) = self.busy.pop()?;
        self.start(end, width);
        Some(request)
    }

    fn start(&mut self, now: Duration, width: u32) {
        let width = if width == 0 {
            usize::MAX
        } else {
            width as usize
        };
        while self.busy.len() < width {
            let Some((request, service)) = self.waiting.pop_front() else {
                break;
            };
            self.busy.push(Reverse((now + service, request)));
        }
    }
}
