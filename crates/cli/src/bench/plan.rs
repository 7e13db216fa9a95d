//! The plan of a run: which scenarios, and for how long.

use super::arguments::Arguments;
use super::options::{Extent, Options};
use super::scenarios::Entry;
use super::schedule::Budget;
use std::time::Duration;

/// The time of all scenarios that run unasked.
const UNASKED_SECONDS: f64 = 55.0;

pub(crate) struct Plan {
    pub(crate) scenarios: Vec<Entry>,
    options: Options,
}

impl Plan {
    pub(crate) fn of(arguments: &Arguments) -> Self {
        Self {
            scenarios: arguments.scenarios(),
            options: arguments.options.clone(),
        }
    }

    pub(crate) fn has(&self, fact: impl Fn(&Entry) -> bool) -> bool {
        self.scenarios.iter().any(fact)
    }

    /// Scenarios that do not run unasked have more cases and rows than a minute has time for.
    pub(crate) fn budget(&self, scenario: Entry) -> Budget {
        if let Some(rounds) = self.options.runs {
            return Budget::Rounds(rounds as usize);
        }
        let facts = scenario.facts;
        let part = |seconds: f64, among: &[Entry]| {
            seconds * facts.seconds / among.iter().map(|one| one.facts.seconds).sum::<f64>()
        };
        let seconds = match (self.options.seconds, self.options.extent()) {
            (Some(seconds), _) => part(f64::from(seconds), &self.scenarios),
            (None, Extent::Quick) => return Budget::Rounds(2),
            (None, Extent::All) => return Budget::Rounds(facts.rounds),
            (None, Extent::Core) if facts.counts_rounds => return Budget::Rounds(facts.rounds),
            (None, Extent::Core) if facts.unasked => {
                let unasked = self.scenarios.iter().filter(|one| one.facts.unasked);
                part(UNASKED_SECONDS, &unasked.copied().collect::<Vec<_>>())
            }
            (None, Extent::Core) => facts.seconds,
        };
        Budget::Time(Duration::from_secs_f64(seconds))
    }
}
