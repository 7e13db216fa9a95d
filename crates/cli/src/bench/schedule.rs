//! The number of rounds: a fixed one, or until the time is spent and they are enough for a verdict.

use crate::stats::claim::ENOUGH_ROUNDS;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// So many rounds, however long they take.
    Rounds(usize),
    /// As many as fit, and enough for a verdict.
    Time(Duration),
    /// So many, if they fit; else enough for a verdict.
    RoundsWithin(usize, Duration),
}

/// The time that a scenario may take if the user has not asked for more. With the start of the
/// runtimes it is a minute and a half.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(84);

/// The time that removing a file takes at the end: 20 µs in memory, 40 on an ext4 with two
/// processors.
const REMOVAL: Duration = Duration::from_micros(40);

/// Counts rounds from its creation on.
pub(crate) struct Schedule {
    budget: Budget,
    /// The rounds that run even when the time is spent.
    min_rounds: usize,
    /// The time that it takes at the end to remove what a round leaves.
    removal: Duration,
    started: Instant,
    round_started: Instant,
    longest: Duration,
    done: usize,
}

impl Schedule {
    /// Starts. More than enough rounds for a verdict run only if `min_rounds` asks for them, or in
    /// time.
    pub(crate) fn start(budget: Budget, min_rounds: usize) -> Self {
        let now = Instant::now();
        Self {
            budget,
            min_rounds: min_rounds.max(ENOUGH_ROUNDS),
            removal: Duration::ZERO,
            started: now,
            round_started: now,
            longest: Duration::ZERO,
            done: 0,
        }
    }

    /// Counts the time that it takes at the end to remove so many files for each round.
    pub(crate) fn count_removal(&mut self, files_in_round: usize) {
        self.removal = REMOVAL * files_in_round as u32;
    }

    /// Returns true if a further round fits, which then begins.
    pub(crate) fn goes_on(&mut self) -> bool {
        if self.done > 0 {
            self.longest = self.longest.max(self.round_started.elapsed());
        }
        let goes_on = match self.budget {
            Budget::Rounds(rounds) => self.done < rounds,
            Budget::Time(time) => self.done < self.min_rounds || self.fits(time),
            Budget::RoundsWithin(rounds, time) => {
                self.done < rounds && (self.done < self.min_rounds || self.fits(time))
            }
        };
        self.round_started = Instant::now();
        self.done += usize::from(goes_on);
        goes_on
    }

    fn fits(&self, time: Duration) -> bool {
        // The next round, and the one that was not counted.
        let removal = self.removal * (self.done as u32 + 2);
        self.started.elapsed() + self.longest + removal <= time
    }

    /// Returns how much of a round is too long for as many rounds as are wanted at least, when each
    /// takes as long as the one that is not counted has taken until now. Zero if they fit.
    pub(crate) fn excess(&self) -> Duration {
        let (rounds, time) = match self.budget {
            Budget::Rounds(_) => return Duration::ZERO,
            Budget::Time(time) => (ENOUGH_ROUNDS, time.max(MAX_TIME)),
            Budget::RoundsWithin(rounds, time) => (rounds.min(ENOUGH_ROUNDS), time),
        };
        let prepared = self.round_started - self.started;
        let round = self.round_started.elapsed();
        let whole = prepared + (round + self.removal) * (rounds as u32 + 1);
        whole.saturating_sub(time) / rounds.max(1) as u32
    }

    /// Returns how long each further round may be, after the first that counts.
    pub(crate) fn room(&self) -> Option<Duration> {
        let (rounds, time) = match self.budget {
            Budget::Rounds(_) => return None,
            Budget::Time(time) => (ENOUGH_ROUNDS, time.max(MAX_TIME)),
            Budget::RoundsWithin(rounds, time) => (rounds.min(ENOUGH_ROUNDS), time),
        };
        let removal = self.removal * (rounds as u32 + 1);
        let left = time.saturating_sub(self.started.elapsed() + removal);
        Some(left / rounds.saturating_sub(1).max(1) as u32)
    }

    /// Begins the round that is not counted.
    pub(crate) fn begin(&mut self) {
        self.round_started = Instant::now();
    }

    /// Returns how much of the budget is used, from 0 to 1, with `part` of the current round done.
    pub(crate) fn used(&self, part: f64) -> f64 {
        let used = match self.budget {
            Budget::Rounds(rounds) | Budget::RoundsWithin(rounds, _) => {
                (self.done.saturating_sub(1) as f64 + part) / rounds as f64
            }
            Budget::Time(time) => self.started.elapsed().as_secs_f64() / time.as_secs_f64(),
        };
        used.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(schedule: &mut Schedule) -> usize {
        std::iter::from_fn(|| schedule.goes_on().then_some(())).count()
    }

    #[test]
    fn rounds_are_counted() {
        let mut schedule = Schedule::start(Budget::Rounds(2), 0);
        let found = [(); 3].map(|()| schedule.goes_on());
        assert_eq!(found, [true, true, false]);
    }

    #[test]
    fn a_budget_of_no_time_still_gives_enough_rounds_for_a_verdict() {
        let no_time = Budget::Time(Duration::from_nanos(1));
        let mut asked = Schedule::start(no_time, 2 * ENOUGH_ROUNDS);
        assert_eq!(count(&mut asked), 2 * ENOUGH_ROUNDS);
        let mut schedule = Schedule::start(no_time, 0);
        assert_eq!(count(&mut schedule), ENOUGH_ROUNDS);
        assert!((schedule.used(0.0) - 1.0).abs() < f64::EPSILON);
    }
}
