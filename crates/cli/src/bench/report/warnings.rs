//! Sentences about runs that drift, and about runs that took far too long.

use crate::export::document::{Comparison, Row};
use crate::stats::drift::{drift, rounds};
use std::cmp::Reverse;

/// A run that takes this many times the median of its row is an outlier.
const OUTLIER: f64 = 2.0;

/// Returns them.
pub(crate) fn of(comparisons: &[Comparison]) -> Vec<String> {
    let mut said = Vec::new();
    let rows: Vec<&Row> = comparisons.iter().flat_map(|it| &it.rows).collect();
    let times: Vec<_> = rows.iter().map(|row| row.samples_ns.clone()).collect();
    if let Some(found) = drift(&rounds(&times)) {
        let percent = |part: f64| part * 100.0;
        said.push(format!(
            "runs drift: those of the first third took {:.0} % of the median, of the last {:.0} %. \
             Close other programs, let the disk rest, or use --files with a smaller number.",
            percent(found.first),
            percent(found.last)
        ));
    }
    let is_outlier =
        |row: &&Row, ns: f64| row.median_ns.is_some_and(|median| ns > median * OUTLIER);
    let mut outliers = Vec::new();
    let mut runs = 0;
    for row in &rows {
        runs += row.samples().count();
        let count = row.samples().filter(|ns| is_outlier(row, *ns)).count();
        outliers.push((Reverse(count), &row.name));
    }
    outliers.sort();
    let count: usize = outliers.iter().map(|(Reverse(count), _)| count).sum();
    // A run of a hundred may meet a moment in which the machine is busy.
    if count * 50 > runs {
        let most = outliers[0].1;
        said.push(format!(
            "{count} of {runs} runs took more than twice the median of their row, most of {most:?}. \
             Close other programs, or measure longer (--runs)."
        ));
    }
    said
}
