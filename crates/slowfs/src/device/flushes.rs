//! Shared flushes. One flush runs at a time, and all requests that arrive meanwhile share the next
//! one, as with a journal's commits. A flush covers only what was there when it began, so no
//! request joins a running flush.

use super::request::RequestId;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Flushes {
    running: Vec<RequestId>,
    /// The end of the running flush, if there is one.
    end: Option<Duration>,
    waiting: Vec<RequestId>,
}

impl Flushes {
    pub(super) fn arrive(&mut self, now: Duration, request: RequestId, takes: Duration) {
        self.waiting.push(request);
        if self.end.is_none() {
            self.start(now, takes);
        }
    }

    /// The end of the running flush.
    pub(super) fn next(&self) -> Option<Duration> {
        self.end
    }

    /// Ends the running flush and returns the requests that shared it.
    pub(super) fn finish(&mut self, takes: Duration) -> Vec<RequestId> {
        let done = std::mem::take(&mut self.running);
        if let Some(end) = self.end.take()
            && !self.waiting.is_empty()
        {
            self.start(end, takes);
        }
        done
    }

    fn start(&mut self, now: Duration, takes: Duration) {
        self.running = std::mem::take(&mut self.waiting);
        self.end = Some(now + takes);
    }
}
