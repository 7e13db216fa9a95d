//! The number of workers that close files. It has no clock and no threads: it is told the time.

use std::time::Duration;

/// The number of workers at first. Closing waits and does not compute, so the number of processors
/// does not matter. A device with four lanes is busiest with a few more workers than that.
pub(super) const FIRST_WORKERS: usize = 8;
/// The maximum number of workers. An installer with 24 threads took four times as long as with two.
const MAX_WORKERS: usize = 32;
/// The number of closes per worker that make a rate.
const ROUND: usize = 8;
/// Twice the workers are kept if they raise the rate by this factor.
const GAIN: f64 = 1.2;
/// The number of rounds until more workers are tried again, at first and at the most.
const FIRST_PAUSE: u32 = 8;
const MAX_PAUSE: u32 = 1024;

/// The wanted number of workers. Twice as many are tried while more files wait than there are
/// workers, and kept if they close faster.
pub(super) struct Pool {
    wanted: usize,
    /// The number before and its rate, while twice as many are tried.
    before: Option<(usize, f64)>,
    /// The number of closes in this round, without those while new workers start.
    closed: usize,
    /// The time of the first of them; `None` while new workers start.
    since: Option<Duration>,
    /// The number of rounds until more workers are tried.
    rest: u32,
    pause: u32,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self {
            wanted: FIRST_WORKERS,
            before: None,
            closed: 0,
            since: None,
            rest: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// Makes a pool that begins with this many workers.
    #[cfg(all(test, loom))]
    pub(super) fn of(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::new()
        }
    }

    /// Returns how many workers there should be while files wait.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Records a close at `now`. `behind` says that more files wait than there are workers.
    pub(super) fn record(&mut self, now: Duration, behind: bool) {
        if !behind {
            // This is the rate at which files are opened, not closed.
            self.begin_round(None);
            return;
        }
        self.closed += 1;
        let Some(since) = self.since else {
            if self.closed >= self.wanted {
                self.begin_round(Some(now));
            }
            return;
        };
        if self.closed < ROUND * self.wanted {
            return;
        }
        let rate = self.closed as f64 / now.saturating_sub(since).as_secs_f64().max(1e-9);
        self.begin_round(Some(now));
        match self.before.take() {
            Some((fewer, slower)) if rate < slower * GAIN => {
                self.wanted = fewer;
                self.rest = self.pause;
                self.pause = (self.pause * 2).min(MAX_PAUSE);
                self.begin_round(None);
            }
            Some(_) => self.pause = FIRST_PAUSE,
            None if self.rest > 0 => self.rest -= 1,
            None if self.wanted < MAX_WORKERS => {
                self.before = Some((self.wanted, rate));
                self.wanted *= 2;
                self.begin_round(None);
            }
            None => {}
        }
    }

    fn begin_round(&mut self, since: Option<Duration>) {
        self.closed = 0;
        self.since = since;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes `count` files on a device with `lanes`. Returns the numbers of workers in their
    /// order.
    fn close(
        pool: &mut Pool,
        now: &mut f64,
        count: usize,
        lanes: usize,
        behind: bool,
    ) -> Vec<usize> {
        let mut seen = vec![pool.wanted()];
        for _ in 0..count {
            *now += 5e-3 / pool.wanted().min(lanes) as f64;
            pool.record(Duration::from_secs_f64(*now), behind);
            if seen.last() != Some(&pool.wanted()) {
                seen.push(pool.wanted());
            }
        }
        seen
    }

    #[test]
    fn more_workers_stay_only_where_they_close_faster() {
        let (mut pool, mut now) = (Pool::new(), 0.0);
        assert_eq!(close(&mut pool, &mut now, 2000, 4, true)[..3], [8, 16, 8]);
        let (mut pool, mut now) = (Pool::new(), 0.0);
        let seen = close(&mut pool, &mut now, 2000, 16, true);
        assert_eq!(seen[..4], [8, 16, 32, 16]);
        let (mut pool, mut now) = (Pool::new(), 0.0);
        assert_eq!(close(&mut pool, &mut now, 9000, 64, true), [8, 16, 32]);
    }

    #[test]
    fn more_workers_that_gain_nothing_are_tried_less_and_less() {
        let (mut pool, mut now) = (Pool::new(), 0.0);
        let changes = close(&mut pool, &mut now, 100_000, 4, true).len();
        assert!(changes < 24, "{changes}");
        // More lanes are noticed later.
        close(&mut pool, &mut now, 100_000, 64, true);
        assert_eq!(pool.wanted(), 32);
    }

    #[test]
    fn workers_that_keep_up_stay_as_many() {
        let (mut pool, mut now) = (Pool::new(), 0.0);
        assert_eq!(close(&mut pool, &mut now, 10_000, 64, false), [8]);
    }
}
