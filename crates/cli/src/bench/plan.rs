//! The plan of a run: which scenarios, and for how long.

use super::arguments::Arguments;
use super::options::{Extent, Options};
use super::scenarios::Entry;
use super::schedule::{Budget, MAX_TIME};
use std::time::Duration;

/// The time of all scenarios that run unasked.
const UNASKED_SECONDS: f64 = 55.0;
/// The time of all scenarios with `--quick`, starts of runtimes aside.
const QUICK_SECONDS: f64 = 12.0;

/// Returns the scenarios in the order in which they run, and how long each may take.
pub(crate) fn of(arguments: &Arguments) -> Vec<(Entry, Budget)> {
    let (options, all) = (&arguments.options, arguments.scenarios());
    let with_budget = |one: &Entry| (*one, budget(options, &all, *one));
    all.iter().map(with_budget).collect()
}

/// Scenarios that do not run unasked have more cases and rows than a minute has time for.
fn budget(options: &Options, all: &[Entry], scenario: Entry) -> Budget {
    if let Some(rounds) = options.runs {
        return Budget::Rounds(rounds as usize);
    }
    let facts = scenario.facts;
    let part = |seconds: f64, is_among: fn(&&Entry) -> bool| {
        let among = all.iter().filter(is_among);
        seconds * facts.seconds / among.map(|one| one.facts.seconds).sum::<f64>()
    };
    let seconds = match (options.seconds, options.extent()) {
        (Some(seconds), _) => part(f64::from(seconds), |_| true),
        (None, Extent::Quick) => {
            let time = QUICK_SECONDS / all.len().max(1) as f64;
            return Budget::RoundsWithin(2, Duration::from_secs_f64(time));
        }
        (None, Extent::All) => return Budget::Rounds(facts.rounds),
        (None, Extent::Core) if facts.counts_rounds => {
            return Budget::RoundsWithin(facts.rounds, MAX_TIME);
        }
        (None, Extent::Core) if facts.unasked => part(UNASKED_SECONDS, |one| one.facts.unasked),
        (None, Extent::Core) => facts.seconds.min(MAX_TIME.as_secs_f64()),
    };
    Budget::Time(Duration::from_secs_f64(seconds))
}
