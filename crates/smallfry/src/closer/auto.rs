//! The rule that defers closes. It has no clock and no files: it is told what was measured.

use std::time::Duration;

/// Closes that wait longer than this on average are deferred, in seconds. Deferring wakes a thread.
const SLOW: f64 = 100e-6;
/// Closes that wait less than this are not deferred any more.
const FAST: f64 = SLOW / 2.0;
/// The maximum time that one close counts. Otherwise a close that waited for a processor would
/// outweigh hundreds.
const MAX_SAMPLE: f64 = SLOW * 2.0;
/// The number of closes that the average remembers.
const MEMORY: u32 = 8;

/// The average wait of closes of one kind.
#[derive(Debug, Default)]
pub(super) struct Auto {
    /// The average wait in seconds.
    average: f64,
    samples: u32,
    defers: bool,
}

impl Auto {
    /// Records how long a close waited, without its processor time. Returns true if the next closes
    /// are to be deferred.
    pub(super) fn record(&mut self, waited: Duration) -> bool {
        self.samples = (self.samples + 1).min(MEMORY);
        let waited = waited.as_secs_f64().min(MAX_SAMPLE);
        self.average += (waited - self.average) / f64::from(self.samples);
        // One close suffices. Deferred closes are timed too, which soon corrects a mistake.
        let limit = if self.defers { FAST } else { SLOW };
        self.defers = self.average > limit;
        self.defers
    }

    /// Returns true if the next closes are to be measured in full after such a wait.
    pub(super) fn is_slow(waited: Duration) -> bool {
        waited.as_secs_f64() > SLOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn microseconds(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn slow_closes_are_deferred_and_fast_ones_are_not() {
        let mut auto = Auto::default();
        assert!((0..8).all(|_| auto.record(microseconds(5000))));
        // A scanner that was switched off.
        let fast = (0..64).take_while(|_| auto.record(microseconds(2))).count();
        assert!((8..32).contains(&fast), "{fast}");
        // And on again.
        let slow = (0..64)
            .take_while(|_| !auto.record(microseconds(1000)))
            .count();
        assert!(slow < 8, "{slow}");
    }

    #[test]
    fn a_thread_that_had_to_wait_for_its_processor_is_no_slow_close() {
        let mut auto = Auto::default();
        for round in 0..1000 {
            let time = if round % 5 == 4 { 4000 } else { 2 };
            assert!(!auto.record(microseconds(time)), "{round}");
        }
    }

    #[test]
    fn a_first_close_that_had_to_wait_is_forgotten() {
        let mut auto = Auto::default();
        auto.record(microseconds(4000));
        let mistaken = (0..64).take_while(|_| auto.record(microseconds(2))).count();
        assert!(mistaken < 8, "{mistaken}");
    }

    #[test]
    fn in_between_it_stays_as_it_is() {
        let mut auto = Auto::default();
        assert!(!(0..100).any(|_| auto.record(microseconds(80))));
        assert!((0..100).fold(false, |_, _| auto.record(microseconds(500))));
        assert!((0..100).all(|_| auto.record(microseconds(80))));
    }
}
