//! The cases and the rows that are left out of a run, because there is no time for them.

use crate::bench::results::{CaseResult, Results};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Threads};
use crate::bench::session::Session;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Duration;

/// The cases and the rows for which there is no time.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) cases: BTreeSet<usize>,
    /// Rows of the first case, by their index.
    pub(super) rows: BTreeSet<usize>,
}

impl LeftOut {
    pub(super) fn has(&self, (case, row): (usize, usize), first: usize) -> bool {
        self.cases.contains(&case) || case == first && self.rows.contains(&row)
    }
}

/// Drops what was left out, and says what adds it.
pub(super) fn drop_left_out<C: Display>(
    session: &Session,
    name: &str,
    results: &mut Results<C>,
    left_out: &LeftOut,
    first: usize,
) {
    let say = |count: usize, of: usize, what: &str, option: &str, example: &str| {
        session.leave_out(format!(
            "{count} of {of} {what} left out, which take too long here: smallfry bench {name} \
             {option} {:?}, or --all for all",
            example.replace(',', "")
        ));
    };
    if let Some(row) = left_out.rows.first() {
        let CaseResult { rows, outcomes, .. } = &mut results.cases[first];
        say(
            left_out.rows.len(),
            rows.len(),
            "rows",
            "--rows",
            rows[*row].label.split(',').next().unwrap_or_default(),
        );
        retain(rows, &left_out.rows);
        retain(outcomes, &left_out.rows);
    }
    if let Some(case) = left_out.cases.first() {
        let example = results.cases[*case].case.to_string();
        let of = results.cases.len();
        say(left_out.cases.len(), of, "cases", "--cells", &example);
        retain(&mut results.cases, &left_out.cases);
    }
}

/// Removes the items with these indices.
fn retain<T>(items: &mut Vec<T>, without: &BTreeSet<usize>) {
    let mut index = 0..;
    items.retain(|_| index.next().is_none_or(|index| !without.contains(&index)));
}

/// Returns the last cases, until the others have room in a round. Runs that strace watches do not
/// show how long runs are that count.
pub(super) fn too_long(
    mut times: BTreeMap<usize, Duration>,
    first: usize,
    room: Option<Duration>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let own = times.remove(&first).unwrap_or_default();
    let Some(mut room) = room.map(|room| room.saturating_sub(own)) else {
        return found;
    };
    for (case, time) in times {
        if found.is_empty() && time <= room {
            room -= time;
        } else {
            found.insert(case);
        }
    }
    found
}

/// Returns the slowest rows, until they took so much time, of those that are neither a baseline nor
/// smallfry's as programs use it.
pub(super) fn slowest(
    rows: &[Row],
    mut times: Vec<(usize, Duration)>,
    excess: Duration,
) -> BTreeSet<usize> {
    let is_baseline = |index: usize| {
        let row = &rows[index];
        let is_alike = |other: &Row| other.runtime.name() == row.runtime.name();
        let name = &row.implementation;
        let double = format!("{name} A/A");
        name.ends_with(" A/A")
            || rows
                .iter()
                .any(|it| is_alike(it) && it.implementation == double)
            || rows.iter().position(is_alike) == Some(index)
    };
    let is_ours = |row: &Row| {
        row.launch.functions == Functions::Smallfry && matches!(row.way.threads, Threads::Auto)
    };
    times.retain(|(row, _)| !is_ours(&rows[*row]) && !is_baseline(*row));
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
