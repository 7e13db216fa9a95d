//! The number of pairs of runs: as asked for, or as many as fit.

use super::arguments::Arguments;
use std::time::{Duration, Instant};

/// The minimum number of pairs for an interval and a verdict. With fewer, even widened intervals
/// miss the truth too often: of two equal sides, one in four trials of three pairs would show a
/// gain or a loss.
pub(super) const ENOUGH_PAIRS: usize = 6;
/// For a command so long that there is no time for more. It is enough to tell whether the command
/// does the same.
const MIN_PAIRS: usize = 3;
const USUAL_PAIRS: usize = 10;
/// For a command so short that runs take hardly any time.
const MAX_PAIRS: usize = 40;

/// More than this number of pairs run only if they fit into this time.
const LIMITS: [(usize, Duration); 3] = [
    (MIN_PAIRS, Duration::from_secs(300)),
    (ENOUGH_PAIRS, Duration::from_secs(120)),
    (USUAL_PAIRS, Duration::from_secs(10)),
];

pub(super) struct Schedule {
    asked: Option<usize>,
    min: usize,
    started: Instant,
    pair_started: Instant,
    longest: Duration,
    done: usize,
}

impl Schedule {
    /// `started` is when the warm-up began.
    pub(super) fn start(arguments: &Arguments, started: Instant) -> Self {
        let number = |it: Option<u32>| it.map(|runs| runs as usize);
        Self {
            asked: number(arguments.runs),
            min: number(arguments.min_runs).unwrap_or(0),
            started,
            pair_started: Instant::now(),
            longest: Duration::ZERO,
            done: 0,
        }
    }

    /// Returns whether another pair is to run, and starts it.
    pub(super) fn another(&mut self) -> bool {
        let now = Instant::now();
        if self.done > 0 {
            self.longest = self.longest.max(now - self.pair_started);
        }
        self.pair_started = now;
        let goes_on = self.done < self.min
            || goes_on(self.asked, self.done, now - self.started, self.longest);
        self.done += usize::from(goes_on);
        goes_on
    }

    /// The progress, from 0 to 1, with `part` of the current pair done.
    pub(super) fn used(&self, part: f64) -> f64 {
        let pairs = self.done.saturating_sub(1) as f64 + part;
        if pairs < self.min as f64 {
            return pairs / self.min as f64;
        }
        if let Some(asked) = self.asked {
            return pairs / asked as f64;
        }
        let time = self.started.elapsed().as_secs_f64();
        let towards = |(least, limit): (usize, Duration)| {
            (pairs / least as f64).min(time / limit.as_secs_f64())
        };
        let limit = pairs / MAX_PAIRS as f64;
        LIMITS
            .map(towards)
            .into_iter()
            .fold(limit, f64::max)
            .min(1.0)
    }
}

fn goes_on(asked: Option<usize>, done: usize, spent: Duration, longest: Duration) -> bool {
    if let Some(asked) = asked {
        return done < asked;
    }
    let fits = |(least, limit)| done < least || spent + longest <= limit;
    done < MAX_PAIRS && LIMITS.into_iter().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of pairs of a command whose pairs take this many seconds.
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
        assert_eq!(pairs(None, 0.01), MAX_PAIRS);
        assert_eq!(pairs(None, 0.5), 19);
        assert_eq!(pairs(None, 5.0), USUAL_PAIRS);
        assert_eq!(pairs(None, 15.0), 7);
        assert_eq!(pairs(None, 20.0), ENOUGH_PAIRS);
        assert_eq!(pairs(None, 40.0), ENOUGH_PAIRS);
        assert_eq!(pairs(None, 60.0), 4);
        assert_eq!(pairs(None, 300.0), MIN_PAIRS);
        assert_eq!(pairs(Some(1), 300.0), 1);
        assert_eq!(pairs(Some(100), 0.1), 100);
    }
}
