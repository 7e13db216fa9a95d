//! Servers side by side with one queue, first come first served: scanners of closed files, a
//! network whose trips overlap, the electronics before a disk's head.

use super::request::RequestId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// Serves `width` requests at once; the others wait.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Ordered by end, then by arrival.
    busy: BinaryHeap<Reverse<(Duration, RequestId)>>,
    waiting: VecDeque<(RequestId, Duration)>,
}

impl Lanes {
    /// Takes a request. With a `width` of 0 no request waits.
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

    /// When the next request ends.
    pub(super) fn next(&self) -> Option<Duration> {
        self.busy.peek().map(|Reverse((end, _))| *end)
    }

    /// Ends the next request, and starts the one that has waited longest.
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
