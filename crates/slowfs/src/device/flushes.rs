//! A flush that is shared: one runs at a time, and all that are asked for meanwhile become the next one, as a journal's
//! commits do. A flush covers only what was there when it began, so nobody joins a running one.

use super::request::RequestId;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Flushes {
    running: Vec<RequestId>,
    /// When the running one ends, if one runs.
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

    /// When the running flush ends.
    pub(super) fn next(&self) -> Option<Duration> {
        self.end
    }

    /// Ends the running flush and gives those who shared it.
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
