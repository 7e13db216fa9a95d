//! The time that operations of one worker take, measured at the least cost.

use std::ffi::c_long;
use std::time::Duration;

use crate::controller::Sample;
use crate::sync::Instant;
use crate::sys::{thread_cpu_time, times_waited};
use crate::workers::Workers;

/// The work between two reports, and before the first one.
const REPORT: Duration = Duration::from_micros(250);
const FIRST_REPORT: Duration = Duration::from_micros(100);
/// A shorter operation was served from a cache, and the next ones are likely to be.
pub(crate) const SHORT: Duration = Duration::from_micros(50);
/// Processor time is read for one short operation in this many: it takes two system calls.
const CPU_TIME_ONE_IN: u32 = 32;
/// The clock is read for one short operation in this many.
const CLOCK_ONE_IN: u32 = 8;

/// A stopwatch for the operations of one worker. It reports to its [`Workers`] from time to time.
///
/// While operations are short, only some are timed and the others are taken to be like the last
/// one.
#[derive(Default)]
pub struct Meter {
    is_on: bool,
    has_reported: bool,
    /// The number of short operations before processor time is read again.
    skip: u32,
    /// The part of the last measured operation that was processor time.
    busy_part: f64,
    /// The time of the last short operation that was measured.
    typical: Duration,
    operations: u32,
    bytes: u64,
    elapsed: Duration,
    busy: Duration,
    /// The number of times that the thread had waited before the first of these operations.
    waits: Option<c_long>,
}

/// The start of an operation.
pub struct Start {
    /// `None` if the time is estimated.
    at: Option<Instant>,
    /// The processor time of the thread; `None` if it is estimated.
    busy: Option<Duration>,
}

impl Workers {
    /// Makes the meter of a new worker.
    pub fn meter(&self) -> Meter {
        Meter {
            is_on: self.is_measured(),
            ..Meter::default()
        }
    }
}

impl Meter {
    /// Begins an operation. Returns `None` if nothing is measured.
    pub fn start(&mut self) -> Option<Start> {
        if !self.is_on {
            return None;
        }
        if self.operations == 0 {
            self.waits = times_waited();
        }
        let reads_cpu_time = self.skip == 0;
        // The first operations fill caches, so their times say little about the next ones.
        let reads_clock = !self.has_reported || self.skip.is_multiple_of(CLOCK_ONE_IN);
        self.skip = self.skip.saturating_sub(1);
        Some(Start {
            at: reads_clock.then(Instant::now),
            busy: reads_cpu_time.then(thread_cpu_time),
        })
    }

    /// Ends an operation that moved `bytes`.
    ///
    /// `waited` is the part of its time in which it waited for the consumer. `remaining` returns
    /// the number of operations left, if known.
    pub fn stop(
        &mut self,
        workers: &Workers,
        start: Option<Start>,
        bytes: u64,
        waited: Duration,
        remaining: impl FnOnce() -> Option<usize>,
    ) {
        let Some(start) = start else { return };
        let elapsed = match start.at {
            Some(at) => at.elapsed().saturating_sub(waited),
            None => self.typical,
        };
        if elapsed >= SHORT {
            self.skip = 0; // The next ones may take as long.
        } else {
            self.typical = elapsed;
        }
        self.operations += 1;
        self.bytes += bytes;
        self.elapsed += elapsed;
        match start.busy {
            Some(before) => {
                let busy = thread_cpu_time().saturating_sub(before);
                self.busy += busy;
                self.busy_part = (busy.as_secs_f64() / elapsed.as_secs_f64().max(1e-9)).min(1.0);
                if elapsed < SHORT {
                    self.skip = CPU_TIME_ONE_IN - 1;
                }
            }
            // A long operation among short ones has waited for the rest of its time.
            None => self.busy += elapsed.min(SHORT).mul_f64(self.busy_part),
        }
        let enough = if self.has_reported {
            REPORT
        } else {
            FIRST_REPORT
        };
        if self.elapsed >= enough {
            self.report(workers, remaining());
        }
    }

    fn report(&mut self, workers: &Workers, remaining: Option<usize>) {
        // Another thread may have had the processor. Then more workers would only compete for it,
        // so that time counts as processor time.
        let was_interrupted = self.busy < self.elapsed / 4 * 3
            && self.waits.is_some()
            && self.waits == times_waited();
        let sample = Sample {
            operations: self.operations,
            bytes: self.bytes,
            elapsed: self.elapsed,
            busy: if was_interrupted {
                self.elapsed
            } else {
                self.busy
            },
        };
        *self = Self {
            is_on: true,
            has_reported: true,
            skip: self.skip,
            busy_part: self.busy_part,
            typical: self.typical,
            ..Self::default()
        };
        workers.record(sample, remaining);
    }
}
