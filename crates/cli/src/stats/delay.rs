//! The lateness of an event loop, from the times between its turns.
//!
//! A turn that comes late holds up everything that was due meanwhile. A loop that is stuck for a
//! second must not count as one delay among many small ones. So each gap stands for one event per
//! period: the first is as late as the gap is long, the last nearly on time. Sources: coordinated
//! omission (Tene 2013, "How NOT to measure latency"), and `HdrHistogram`'s
//! `recordValueWithExpectedInterval`, which does the same.

use super::percentiles::quantile;

/// Lateness in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Delay {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// Returns the lateness of a loop that was asked to turn every `period`, from the gaps between
/// turns; `None` without gaps.
pub(crate) fn delay(gaps_us: &[u64], period: u64) -> Option<Delay> {
    let mut late = Vec::new();
    for gap in gaps_us {
        let mut left = gap.saturating_sub(period);
        late.push(left as f64);
        while left > period {
            left -= period;
            late.push(left as f64);
        }
    }
    late.sort_unstable_by(f64::total_cmp);
    Some(Delay {
        max: *late.last()?,
        p50: quantile(&late, 0.5),
        p99: quantile(&late, 0.99),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_on_time_is_not_late() {
        let on_time = delay(&[1_000, 1_080, 1_100], 1_000).unwrap();
        assert!((on_time.max - 100.0).abs() < f64::EPSILON);
        assert_eq!(delay(&[], 1_000), None);
    }

    #[test]
    fn a_loop_that_is_stuck_counts_for_as_long_as_it_is() {
        let gaps: Vec<u64> = std::iter::repeat_n(1_000, 900).chain([101_000]).collect();
        let stuck = delay(&gaps, 1_000).unwrap();
        assert!((stuck.max - 100_000.0).abs() < f64::EPSILON);
        // A tenth of the time it was stuck: the last percentile is well within that.
        assert!(stuck.p99 > 80_000.0, "{stuck:?}");
        assert!(stuck.p50 < 1.0);
    }
}
