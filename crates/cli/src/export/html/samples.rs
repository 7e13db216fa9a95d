//! A table about samples, as two published benchmarks print them: percentiles as for synced writes
//! in the JVM, and improvement with stars (Welch's test) as in Node core.

use crate::export::document::{Bucket, Comparison, Row};
use crate::output::text;
use crate::stats::welch::Welch;
use maud::{Markup, html};

/// The columns, by their names and parts of all samples.
const PERCENTILES: [(&str, f64); 7] = [
    ("Min", 0.0),
    ("P50", 0.5),
    ("P90", 0.9),
    ("P95", 0.95),
    ("P99", 0.99),
    ("P99.9", 0.999),
    ("Max", 1.0),
];

/// Shows the table where samples were taken within runs; nothing elsewhere.
pub(super) fn table(comparison: &Comparison) -> Markup {
    let rows = || {
        comparison
            .rows
            .iter()
            .filter(|row| !row.histogram.is_empty())
    };
    let baseline = comparison.baseline();
    html! {
        @if rows().next().is_some() {
            details {
                summary { "Percentiles and stars" }
                table {
                    caption {
                        "Percentiles of all samples, to 1 %. Improvement is that of the mean rate of the \
                         rounds, and stars its confidence by Welch's test: * 95 %, ** 99 %, *** 99.9 %."
                    }
                    thead {
                        tr {
                            th scope="col" { "Row" }
                            @for (name, _) in PERCENTILES { th.n scope="col" { (name) } }
                            th.n scope="col" { "Samples" }
                            th.n scope="col" { "Improvement" }
                        }
                    }
                    tbody {
                        @for row in rows() {
                            tr {
                                th scope="row" { (row.name) }
                                @for (_, part) in PERCENTILES {
                                    td.n { (text::or_dash(at(&row.histogram, part), text::duration)) }
                                }
                                td.n { (text::thousands(count(&row.histogram) as i64)) }
                                td.n { (improvement(baseline, row)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn count(buckets: &[Bucket]) -> u64 {
    buckets.iter().map(|bucket| bucket.count).sum()
}

/// Returns the length that this part of the samples does not exceed.
fn at(buckets: &[Bucket], part: f64) -> Option<f64> {
    let wanted = (part * count(buckets) as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    let found = buckets.iter().find(|bucket| {
        below += bucket.count;
        below >= wanted
    });
    found.map(|bucket| bucket.ns as f64)
}

/// Shows `12.34 % ***`, and nothing for the baseline itself.
fn improvement(baseline: Option<&Row>, row: &Row) -> String {
    let rates = |row: &Row| -> Vec<f64> { row.samples().map(|ns| 1.0 / ns).collect() };
    let other = baseline.filter(|baseline| baseline.name != row.name);
    let welch = other.and_then(|baseline| Welch::compare(&rates(baseline), &rates(row)));
    welch.map_or_else(String::new, |welch| {
        format!("{:.2} % {}", welch.improvement, welch.stars())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_from_buckets() {
        let bucket = |(ns, count)| Bucket { ns, count };
        let buckets = [(10, 50), (20, 49), (90, 1)].map(bucket);
        let found = |part| at(&buckets, part).map(|ns| ns as u64);
        let parts = [0.0, 0.5, 0.51, 0.99, 1.0];
        assert_eq!(parts.map(found), [10, 10, 20, 20, 90].map(Some));
        assert_eq!(at(&[], 0.5), None);
    }
}
