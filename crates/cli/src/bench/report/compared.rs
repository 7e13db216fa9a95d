//! The rows of a scenario as the result files show them: beside the baseline of their runtime.

use super::view::{Time, View};
use crate::bench::results::{CaseResult, Results, RowResult};
use crate::export::document::{Bucket, Comparison, Phase, Row};
use crate::stats::claim::Noise;
use crate::stats::percentiles::median;
use hdrhistogram::Histogram;
use std::fmt::Display;

/// The significant digits of lengths in histograms: buckets differ by 1 %.
const DIGITS: u8 = 2;

/// Returns a comparison for each baseline of each case.
pub(crate) fn comparisons<C: Display>(
    scenario: &str,
    sample: &str,
    time: Time,
    results: &Results<C>,
) -> Vec<Comparison> {
    let mut found = Vec::new();
    for result in &results.cases {
        let view = View::by(result, time);
        let baselines = baselines(&view);
        for &baseline in &baselines {
            let of = |row: &usize| choose(&view, &baselines, *row) == Some(baseline);
            let mut rows: Vec<usize> = (0..view.rows.len()).filter(of).collect();
            rows.retain(|row| *row != baseline && view.rows[*row].original().is_none());
            rows.insert(0, baseline);
            let runtime = view.rows[baseline].runtime.full_name();
            let noise = noise(&view, baseline);
            found.push(Comparison {
                scenario: scenario.to_owned(),
                case: result.case.to_string(),
                runtime,
                sample: sample.to_owned(),
                rounds: results.rounds,
                noise: noise.itself,
                cached: cached(result, &rows),
                rows: rows
                    .into_iter()
                    .map(|row| self::row(&view, baseline, row, noise))
                    .collect(),
            });
        }
    }
    found
}

/// Returns the rows that others are compared with: those that run twice, and the first row of each
/// runtime that has none.
fn baselines(view: &View) -> Vec<usize> {
    let is_double = |row: &usize| {
        let mut rows = view.rows.iter();
        rows.any(|it| it.is_once_more(&view.rows[*row]))
    };
    let mut found: Vec<usize> = (0..view.rows.len()).filter(is_double).collect();
    for row in 0..view.rows.len() {
        let runtime = view.rows[row].runtime.name();
        if !found
            .iter()
            .any(|it| view.rows[*it].runtime.name() == runtime)
        {
            found.push(row);
        }
    }
    found
}

/// Returns the baseline of a row: in its runtime, and waiting as it does if there is one.
fn choose(view: &View, baselines: &[usize], row: usize) -> Option<usize> {
    if baselines.contains(&row) {
        return Some(row);
    }
    let of = &view.rows[row];
    let own = |it: &&usize| view.rows[**it].runtime.name() == of.runtime.name();
    let waits_alike = |it: &&usize| view.rows[**it].way.style.is_async() == of.way.style.is_async();
    let alike = baselines.iter().filter(own).find(waits_alike);
    alike.or_else(|| baselines.iter().find(own)).copied()
}

fn noise(view: &View, baseline: usize) -> Noise {
    let of = &view.rows[baseline];
    match view.rows.iter().position(|row| row.is_once_more(of)) {
        Some(itself) => Noise {
            itself: view.ratio(baseline, itself),
            rounds: view.rounds(),
        },
        None => view.noise_of(of.runtime.name()),
    }
}

fn row(view: &View, baseline: usize, row: usize, noise: Noise) -> Row {
    let (of, outcome) = (&view.rows[row], &view.outcomes[row]);
    let ratio = (row != baseline)
        .then(|| view.ratio(baseline, row))
        .flatten();
    Row {
        name: of.implementation.clone(),
        samples_ns: view.times(row),
        median_ns: view.median(row),
        ratio,
        claim: ratio.map(|ratio| noise.claim(ratio)),
        phases: phases(outcome),
        flushed_by: outcome.flushes.map_or(Vec::new(), |found| found.names()),
        histogram: histogram(outcome),
        error: outcome.error.clone(),
    }
}

fn phases(outcome: &RowResult) -> Vec<Phase> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in outcome.done().flat_map(|run| &run.phases) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let phase = |name: &str| {
        let times = outcome.done().flat_map(|run| &run.phases);
        let times = times.filter(|(of, _)| of == name).map(|(_, ns)| *ns as f64);
        Some(Phase {
            name: name.to_owned(),
            median_ns: median(times)?,
        })
    };
    names.into_iter().filter_map(phase).collect()
}

fn histogram(outcome: &RowResult) -> Vec<Bucket> {
    let Ok(mut counts) = Histogram::<u64>::new(DIGITS) else {
        return Vec::new();
    };
    for run in outcome.done() {
        let calls = u64::from(run.calls.max(1));
        for ns in &run.samples_ns {
            let _ = counts.record(ns / calls);
        }
    }
    let buckets = counts.iter_recorded();
    buckets
        .map(|bucket| Bucket {
            ns: bucket.value_iterated_to(),
            count: bucket.count_at_value(),
        })
        .collect()
}

/// Returns the smallest part that was in the page cache before a run.
fn cached<C>(result: &CaseResult<C>, rows: &[usize]) -> Option<f64> {
    let runs = rows.iter().flat_map(|row| result.outcomes[*row].done());
    runs.filter_map(|run| run.cached).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::view::WALL;
    use crate::bench::runtime::Row as Runner;
    use crate::bench::runtime::protocol::{Functions, Style};

    #[test]
    fn rows_are_compared_with_the_baseline_that_waits_as_they_do() {
        let row = |name, style: Style| Runner::native(Functions::Std, name, style);
        let rows = vec![
            row("blocking", Style::Sync),
            row("blocking A/A", Style::Sync),
            row("at once", Style::Parallel),
            row("at once A/A", Style::Parallel),
            row("bulk, blocking", Style::BulkSync),
            row("bulk", Style::Bulk),
        ];
        let results = Results {
            cases: vec![CaseResult::of_millis(
                "case",
                rows,
                &[100, 100, 80, 80, 50, 20],
            )],
            rounds: 6,
        };
        let found = comparisons("name", "run", WALL, &results);
        let names: Vec<Vec<&str>> = found
            .iter()
            .map(|it| it.rows.iter().map(|row| row.name.as_str()).collect())
            .collect();
        assert_eq!(names, [["blocking", "bulk, blocking"], ["at once", "bulk"]]);
        let ratio = found[1].rows[1].ratio.unwrap();
        assert!((ratio.estimate - 4.0).abs() < 1e-9);
        assert!(found[0].rows[0].ratio.is_none());
    }
}
