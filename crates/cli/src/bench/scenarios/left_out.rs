//! The cases and the rows that are left out of a run, because there is no time for them.

use crate::bench::results::{CaseResult, Results};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Threads};
use crate::bench::schedule::Schedule;
use crate::bench::session::Session;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Duration;

/// The cases and the rows for which there is no time, found in the first two rounds.
#[derive(Default)]
pub(super) struct LeftOut {
    cases: BTreeSet<usize>,
    /// Rows of the first case, by their index.
    rows: BTreeSet<usize>,
    /// The case that the first round begins with. It is measured in any case.
    first: usize,
    /// True if the user has selected the rows, or the scenario needs all.
    keeps_rows: bool,
    /// The case that runs in the round that is not counted.
    running: usize,
    /// The times of the first case's rows in that round, by their index.
    row_times: Vec<(usize, Duration)>,
    /// The times of the cases in the round that runs.
    case_times: BTreeMap<usize, Duration>,
}

impl LeftOut {
    pub(super) fn new(keeps_rows: bool) -> Self {
        Self {
            keeps_rows,
            ..Self::default()
        }
    }

    pub(super) fn has(&self, (case, row): (usize, usize)) -> bool {
        self.cases.contains(&case) || case == self.first && self.rows.contains(&row)
    }

    /// Begins a round; the one that is not counted begins with the case `first`.
    pub(super) fn begin_round(&mut self, round: Option<usize>, first: usize) {
        self.case_times.clear();
        if round.is_none() {
            self.first = first;
            self.running = first;
        }
    }

    /// Returns true if a case of the round that is not counted is to be skipped, since there is no
    /// time for more. `rows` are those of the first case.
    pub(super) fn skips(&mut self, case: usize, rows: &[Row], schedule: &Schedule) -> bool {
        if case == self.running {
            return false;
        }
        if self.running == self.first && self.cases.is_empty() {
            self.choose_rows(rows, schedule);
        }
        let skips = !self.rows.is_empty() || !schedule.excess().is_zero();
        if skips {
            self.cases.insert(case);
        } else {
            self.running = case;
        }
        skips
    }

    /// Returns true if a row of the round that is not counted is to be skipped: one that is not
    /// needed, when the round has taken too long already.
    pub(super) fn skips_row(
        &mut self,
        (case, row): (usize, usize),
        rows: &[Row],
        schedule: &Schedule,
    ) -> bool {
        let may_skip = case == self.first && !self.keeps_rows && !is_needed(rows, row);
        let skips = may_skip && !schedule.excess().is_zero();
        if skips {
            self.rows.insert(row);
        }
        skips
    }

    pub(super) fn took(&mut self, round: Option<usize>, case: usize, row: usize, time: Duration) {
        if round.is_none() && case == self.first {
            self.row_times.push((row, time));
        }
        *self.case_times.entry(case).or_default() += time;
    }

    /// Decides what the further rounds leave out.
    pub(super) fn end_round(&mut self, round: Option<usize>, rows: &[Row], schedule: &Schedule) {
        match round {
            None if self.running == self.first && self.cases.is_empty() => {
                self.choose_rows(rows, schedule);
            }
            Some(0) => {
                let found = too_long(&self.case_times, self.first, schedule.room());
                self.cases.extend(found);
            }
            _ => {}
        }
    }

    fn choose_rows(&mut self, rows: &[Row], schedule: &Schedule) {
        if !self.keeps_rows {
            let times = std::mem::take(&mut self.row_times);
            self.rows.extend(slowest(rows, times, schedule.excess()));
        }
    }

    /// Returns the case that is measured in any case.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Drops what was left out, and says what adds it.
    pub(super) fn drop_from<C: Display>(
        &self,
        session: &Session,
        name: &str,
        results: &mut Results<C>,
    ) {
        let say = |without: &BTreeSet<usize>, of: usize, what: &str, example: &str| {
            session.leave_out(format!(
                "{} of {of} {what} left out, which take too long here: smallfry bench {name} \
                 {example}, or --all for all",
                without.len()
            ));
        };
        if let Some(row) = self.rows.first() {
            let CaseResult { rows, outcomes, .. } = &mut results.cases[self.first];
            // A comma would end the text.
            let label = rows[*row].label.split(',').next().unwrap_or_default();
            let example = format!("--rows {label:?}");
            say(&self.rows, rows.len(), "rows", &example);
            retain(rows, &self.rows);
            retain(outcomes, &self.rows);
        }
        if let Some(case) = self.cases.first() {
            let words = results.cases[*case].case.to_string().replace(',', "");
            let example = format!("--cells {words:?}");
            say(&self.cases, results.cases.len(), "cases", &example);
            retain(&mut results.cases, &self.cases);
        }
    }
}

/// Removes the items with these indices.
fn retain<T>(items: &mut Vec<T>, without: &BTreeSet<usize>) {
    let mut index = 0..;
    items.retain(|_| index.next().is_none_or(|index| !without.contains(&index)));
}

/// Returns the last cases, until the others have room in a round. Runs that strace watches do not
/// show how long runs are that count.
fn too_long(
    times: &BTreeMap<usize, Duration>,
    first: usize,
    room: Option<Duration>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let own = times.get(&first).copied().unwrap_or_default();
    let Some(mut room) = room.map(|room| room.saturating_sub(own)) else {
        return found;
    };
    for (&case, &time) in times.iter().filter(|(case, _)| **case != first) {
        if found.is_empty() && time <= room {
            room -= time;
        } else {
            found.insert(case);
        }
    }
    found
}

/// Returns true for a baseline, and for a row of smallfry as programs use it.
pub(super) fn is_needed(rows: &[Row], index: usize) -> bool {
    let row = &rows[index];
    let is_alike = |other: &Row| other.runtime.name() == row.runtime.name();
    let is_baseline = row.original().is_some()
        || rows.iter().any(|it| it.is_once_more(row))
        || rows.iter().position(is_alike) == Some(index);
    let is_ours =
        row.launch.functions == Functions::Smallfry && matches!(row.way.threads, Threads::Auto);
    is_baseline || is_ours
}

/// Returns the slowest of the rows that are not needed, until they took so much time.
fn slowest(rows: &[Row], mut times: Vec<(usize, Duration)>, excess: Duration) -> BTreeSet<usize> {
    times.retain(|(row, _)| !is_needed(rows, *row));
    times.sort_by_key(|(_, time)| Reverse(*time));
    let mut saved = Duration::ZERO;
    let enough = |(_, time): &(usize, Duration)| {
        let goes_on = saved < excess;
        saved += *time;
        goes_on
    };
    let found = times.into_iter().take_while(enough);
    found.map(|(row, _)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::runtime::protocol::Style;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_slowest_rows_go_but_no_baseline_and_none_of_smallfry() {
        let row = |name, functions| Row::native(functions, name, Style::Sync);
        let rows = [
            row("std", Functions::Std),
            row("std A/A", Functions::Std),
            row("slow", Functions::Raw),
            row("slower", Functions::Raw),
            row("smallfry", Functions::Smallfry),
            Row::command("tar", Some("tar".into())),
            Row::command("smallfry unpack", None),
        ];
        let times: Vec<_> = [9, 9, 2, 3, 9, 9, 9]
            .map(|seconds| seconds * SECOND)
            .into_iter()
            .enumerate()
            .collect();
        let found = |excess| slowest(&rows, times.clone(), excess);
        assert!(found(Duration::ZERO).is_empty());
        assert_eq!(found(SECOND), [3].into());
        assert_eq!(found(4 * SECOND), [2, 3].into());
        assert_eq!(found(99 * SECOND), [2, 3].into());
    }

    #[test]
    fn the_last_cases_go_until_the_others_have_room() {
        let times: BTreeMap<usize, Duration> =
            [(0, SECOND), (1, 5 * SECOND), (2, 2 * SECOND)].into();
        let found = |first, room| too_long(&times, first, room);
        assert!(found(0, None).is_empty());
        assert!(found(0, Some(8 * SECOND)).is_empty());
        assert_eq!(found(0, Some(7 * SECOND)), [2].into());
        assert_eq!(found(0, Some(3 * SECOND)), [1, 2].into());
        assert_eq!(found(1, Some(SECOND)), [0, 2].into());
    }
}
