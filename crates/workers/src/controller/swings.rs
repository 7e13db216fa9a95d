//! Recognises rates that fall and rise by themselves, as on a disk where some inputs lie beside
//! each other and others are scattered.

use super::measure::Total;

/// A change of the rate, as a logarithm, that starts a new search if noise does not explain it.
pub(super) const CHANGE: f64 = 0.35;

/// A rate that lasts for more reports of one worker than this is a change, however often it comes
/// back. The simulator's batches are too short to need it.
const MAX_REPORTS: f64 = 1024.0;

/// The longest swing seen. A change of the device lasts longer.
#[derive(Debug, Default)]
pub(super) struct Swings {
    longest: f64,
    open: Option<Swing>,
}

#[derive(Debug)]
struct Swing {
    began: f64,
    /// The rate before.
    rate: f64,
}

impl Swings {
    /// Notes that the rate, which was `rate`, has been another one since `began`.
    pub(super) fn begin(&mut self, began: f64, rate: f64) {
        self.open.get_or_insert(Swing { began, rate });
    }

    /// Returns true if the new rate has lasted for twice the longest swing.
    pub(super) fn is_change(&self, now: f64) -> bool {
        self.open
            .as_ref()
            .is_none_or(|swing| now - swing.began >= 2.0 * self.longest)
    }

    /// Notes that the rate has come back.
    pub(super) fn end(&mut self, now: f64) {
        if let Some(swing) = self.open.take() {
            self.longest = self.longest.max(now - swing.began);
        }
    }

    /// Takes the reports of the time until `now`.
    pub(super) fn observe(&mut self, now: f64, slice: &Total) {
        let Some(swing) = &self.open else { return };
        if now - swing.began > MAX_REPORTS * slice.per_report() {
            self.open = None;
        } else if (slice.rate() / swing.rate).ln().abs() < CHANGE {
            self.end(now);
        }
    }
}
