//! The plan of a run: which scenarios, and for how long.

use super::arguments::Arguments;
use super::options::Extent;
use super::scenarios::{ALL, Entry};
use super::schedule::Budget;
use std::time::Duration;

/// The time of all scenarios that run unasked.
const UNASKED_SECONDS: f64 = 55.0;

pub(crate) struct Plan {
    pub(crate) scenarios: Vec<Entry>,
    rounds: Option<u32>,
    seconds: Option<u32>,
    extent: Extent,
}

impl Plan {
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let options = &arguments.options;
        Self {
            scenarios: arguments.scenarios(),
            rounds: options.runs,
            seconds: options.seconds,
            extent: options.extent(),
        }
    }

    pub(crate) fn has(&self, fact: impl Fn(&Entry) -> bool) -> bool {
        self.scenarios.iter().any(fact)
    }

    /// Scenarios that do not run unasked have more cases and rows than a minute has time for.
    pub(crate) fn budget(&self, scenario: Entry) -> Budget {
        if let Some(rounds) = self.rounds {
            return Budget::Rounds(rounds as usize);
        }
        let facts = scenario.facts;
        let part = |seconds: f64, among: &[Entry]| {
            seconds * facts.seconds / among.iter().map(|one| one.facts.seconds).sum::<f64>()
        };
        let seconds = match (self.seconds, self.extent) {
            (Some(seconds), _) => part(f64::from(seconds), &self.scenarios),
            (None, Extent::Quick) => return Budget::Rounds(2),
            (None, Extent::All) => return Budget::Rounds(facts.rounds),
            (None, Extent::Core) if facts.counts_rounds => return Budget::Rounds(facts.rounds),
            (None, Extent::Core) if facts.unasked => {
                let named = |one: &&Entry| self.has(|other| other.name() == one.name());
                let unasked = ALL.iter().filter(|one| one.facts.unasked);
                let among: Vec<Entry> = unasked.filter(named).copied().collect();
                part(UNASKED_SECONDS, &among)
            }
            (None, Extent::Core) => facts.seconds,
        };
        Budget::Time(Duration::from_secs_f64(seconds))
    }
}
