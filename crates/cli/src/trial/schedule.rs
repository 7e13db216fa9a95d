//! How many pairs of runs: so many, or as many as fit.

use std::time::{Duration, Instant};

/// With fewer, even widened intervals leave out the truth too often: of two sides that are the same, one in four trials
/// of three pairs would have a gain or a loss. So they give no interval and no verdict.
pub(super) const ENOUGH: usize = 6;
/// Of a command so long that there is no time for enough: they tell at least whether it does the same.
const LEAST: usize = 3;
const USUAL: usize = 10;
/// Of a command so short that they take no time.
const MOST: usize = 40;

/// More than so many pairs are run only as far as they fit in this time.
const LIMITS: [(usize, Duration); 3] = [
    (LEAST, Duration::from_secs(300)),
    (ENOUGH, Duration::from_secs(120)),
    (USUAL, Duration::from_secs(10)),
];

pub(super) struct Schedule {
    asked: Option<usize>,
    started: Instant,
    pair_started: Instant,
    longest: Duration,
    done: usize,
}

impl Schedule {
    /// `started` is when the warm-up began.
    pub(super) fn start(asked: Option<u32>, started: Instant) -> Self {
        Self {
            asked: asked.map(|runs| runs as usize),
            started,
            pair_started: Instant::now(),
            longest: Duration::ZERO,
            done: 0,
        }
    }

    /// Is another pair to be run? If so, it begins.
    pub(super) fn another(&mut self) -> bool {
        let now = Instant::now();
        if self.done > 0 {
            self.longest = self.longest.max(now - self.pair_started);
        }
        self.pair_started = now;
        let goes_on = goes_on(self.asked, self.done, now - self.started, self.longest);
        self.done += usize::from(goes_on);
        goes_on
    }

    /// How far it is, from 0 to 1, with `part` of the current pair done.
    pub(super) fn used(&self, part: f64) -> f64 {
        let pairs = self.done.saturating_sub(1) as f64 + part;
        if let Some(asked) = self.asked {
            return pairs / asked as f64;
        }
        let time = self.started.elapsed().as_secs_f64();
        let towards = |(least, limit): (usize, Duration)| {
            (pairs / least as f64).min(time / limit.as_secs_f64())
        };
        let most = pairs / MOST as f64;
        LIMITS
            .map(towards)
            .into_iter()
            .fold(most, f64::max)
            .min(1.0)
    }
}

fn goes_on(asked: Option<usize>, done: usize, spent: Duration, longest: Duration) -> bool {
    if let Some(asked) = asked {
        return done < asked;
    }
    let fits = |(least, limit)| done < least || spent + longest <= limit;
    done < MOST && LIMITS.into_iter().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of a command of which a pair takes so many seconds.
    fn pairs(asked: Option<usize>, seconds: f64) -> usize {
        let pair = Duration::from_secs_f64(seconds);
        let mut done = 0;
        while goes_on(asked, done, pair.mul_f64(done as f64 + 1.0), pair) {
            done += 1;
        }
        done
    }

    #[test]
    fn short_commands_run_more_often_and_long_ones_less() {
        assert_eq!(pairs(None, 0.01), MOST);
        assert_eq!(pairs(None, 0.5), 19);
        assert_eq!(pairs(None, 5.0), USUAL);
        assert_eq!(pairs(None, 15.0), 7);
        assert_eq!(pairs(None, 20.0), ENOUGH);
        assert_eq!(pairs(None, 40.0), ENOUGH);
        assert_eq!(pairs(None, 60.0), 4);
        assert_eq!(pairs(None, 300.0), LEAST);
        assert_eq!(pairs(Some(1), 300.0), 1);
        assert_eq!(pairs(Some(100), 0.1), 100);
    }
}
