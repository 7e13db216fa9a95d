//! How many workers close at once. No clock and no threads: it is told the time.

use std::time::Duration;

/// Workers at first. Closing waits, it does not compute: processors have nothing to do with it. A device that does four at a
/// time is kept busy by a few more, which wait there while others report back.
pub(super) const FIRST: usize = 8;
/// And at the most. An installer that closed with 24 threads took four times as long as with two.
const MOST: usize = 32;
/// Closes per worker before a rate is believed.
const ROUND: usize = 8;
/// More workers have to bring this much to be kept.
const GAIN: f64 = 1.2;
/// Rounds until more are tried again, at first and at the most.
const FIRST_PAUSE: u32 = 8;
const LONGEST_PAUSE: u32 = 1024;

/// Twice the workers are tried while more wait to be closed than there are workers, and kept if they close faster.
pub(super) struct Pool {
    wanted: usize,
    /// The number before, and its rate, while twice as many are tried.
    before: Option<(usize, f64)>,
    /// Closes of this round, less those that are let pass while new workers come.
    closed: usize,
    /// When the first of them began; `None` while closes are let pass.
    since: Option<Duration>,
    /// Rounds to let pass before more are tried.
    rest: u32,
    pause: u32,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self {
            wanted: FIRST,
            before: None,
            closed: 0,
            since: None,
            rest: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// One that begins with so many.
    #[cfg(all(test, loom))]
    pub(super) fn of(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::new()
        }
    }

    /// How many workers there should be while there is enough to do.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Something was closed at `now`; `behind` if more wait than there are workers.
    pub(super) fn record(&mut self, now: Duration, behind: bool) {
        if !behind {
            // The rate is that of who opens files, and says nothing of closing.
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
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                self.begin_round(None);
            }
            Some(_) => self.pause = FIRST_PAUSE,
            None if self.rest > 0 => self.rest -= 1,
            None if self.wanted < MOST => {
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

    /// Closes `count` files on a device that takes `lanes` of them at a time; the numbers of workers seen.
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
    fn what_brings_nothing_is_tried_less_and_less() {
        let (mut pool, mut now) = (Pool::new(), 0.0);
        let changes = close(&mut pool, &mut now, 100_000, 4, true).len();
        assert!(changes < 24, "{changes}");
        // A server that takes more later is found out.
        close(&mut pool, &mut now, 100_000, 64, true);
        assert_eq!(pool.wanted(), 32);
    }

    #[test]
    fn who_keeps_up_needs_no_more() {
        let (mut pool, mut now) = (Pool::new(), 0.0);
        assert_eq!(close(&mut pool, &mut now, 10_000, 64, false), [8]);
    }
}
