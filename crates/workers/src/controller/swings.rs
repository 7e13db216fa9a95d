//! Rates that go down and come back by themselves: files beside each other here and scattered there.

use super::CHANGE;

/// The longest swing seen. A change of conditions is what lasts longer than that.
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
    /// The rate, which was this, is another one since `began`.
    pub(super) fn begin(&mut self, began: f64, rate: f64) {
        self.open.get_or_insert(Swing { began, rate });
    }

    /// Does what goes on since then last longer than what was a swing before?
    pub(super) fn is_more(&self, now: f64) -> bool {
        self.open
            .as_ref()
            .is_none_or(|swing| now - swing.began >= 2.0 * self.longest)
    }

    /// The rate is what it was before.
    pub(super) fn returned(&mut self, now: f64) {
        if let Some(swing) = self.open.take() {
            self.longest = self.longest.max(now - swing.began);
        }
    }

    /// A stretch of time had this rate. What lasts longer than `most` is no swing.
    pub(super) fn look(&mut self, now: f64, rate: f64, most: f64) {
        let Some(swing) = &self.open else { return };
        let lasted = now - swing.began;
        if lasted > most {
            self.open = None;
        } else if (rate / swing.rate).ln().abs() < CHANGE {
            self.returned(now);
        }
    }
}
