//! The results of a scenario: by case, row and round.

use super::runtime::Row;
use super::runtime::protocol::Times;
use super::runtime::strace::Flushes;
use crate::stats::percentiles::median;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) struct Results<C> {
    pub(crate) cases: Vec<CaseResult<C>>,
    pub(crate) rounds: usize,
}

pub(crate) struct CaseResult<C> {
    pub(crate) case: C,
    pub(crate) rows: Vec<Row>,
    /// Results by row.
    pub(crate) outcomes: Vec<RowResult>,
    /// The reason why the cache was not cold where it should have been.
    pub(crate) not_cold: Option<String>,
}

/// The runs of one row in one case.
#[derive(Default)]
pub(crate) struct RowResult {
    pub(crate) error: Option<String>,
    /// Runs by round.
    pub(crate) runs: Vec<Option<Times>>,
    /// The flushes of a run that was not timed, where they were counted.
    pub(crate) flushes: Option<Flushes>,
}

impl RowResult {
    /// Records a run. Of the first rounds, which meet whatever state the file system was left in,
    /// only failures count.
    pub(crate) fn record(&mut self, run: Result<Times, String>, counts: bool) {
        self.error = run.as_ref().err().cloned();
        if counts {
            self.runs.push(run.ok());
        }
    }

    pub(crate) fn done(&self) -> impl Iterator<Item = &Times> {
        self.runs.iter().flatten()
    }
}

impl<C> CaseResult<C> {
    pub(crate) fn new(case: C, rows: Vec<Row>) -> Self {
        Self {
            case,
            outcomes: rows.iter().map(|_| RowResult::default()).collect(),
            rows,
            not_cold: None,
        }
    }

    /// Returns the median over the runs of a row.
    pub(crate) fn typical(&self, row: usize, of: impl Fn(&Times) -> Option<f64>) -> Option<f64> {
        median(self.outcomes[row].done().filter_map(of))
    }

    /// Returns the maximum over the runs of a row.
    pub(crate) fn max(&self, row: usize, of: impl Fn(&Times) -> Option<f64>) -> Option<f64> {
        let values = self.outcomes[row].done().filter_map(of);
        values.max_by(f64::total_cmp)
    }

    /// Returns true if flushes were counted.
    pub(crate) fn was_watched(&self) -> bool {
        self.outcomes.iter().any(|row| row.flushes.is_some())
    }

    pub(crate) fn rows_json(&self) -> Vec<Value> {
        let row = |(row, outcome): (&Row, &RowResult)| {
            json!({
                "implementation": row.implementation,
                "runtime": row.runtime.name(),
                "style": row.way.style,
                "threads": row.way.threads,
                "closing": row.launch.closing,
                "error": outcome.error,
                "flushes": outcome.flushes,
                "runs": outcome.runs,
            })
        };
        self.rows.iter().zip(&self.outcomes).map(row).collect()
    }
}

impl<C: Serialize> Results<C> {
    /// Returns the number of rows that failed in some case.
    pub(crate) fn failures(&self) -> usize {
        let outcomes = self.cases.iter().flat_map(|case| &case.outcomes);
        outcomes.filter(|row| row.error.is_some()).count()
    }

    pub(crate) fn json(&self) -> Value {
        let case = |result: &CaseResult<C>| {
            json!({
                "case": result.case,
                "not_cold": result.not_cold,
                "rows": result.rows_json(),
            })
        };
        let cases: Vec<Value> = self.cases.iter().map(case).collect();
        json!({ "rounds": self.rounds, "cases": cases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<C> CaseResult<C> {
        /// Makes the results of rows whose runs all take so many milliseconds.
        pub(crate) fn of_millis(case: C, rows: Vec<Row>, millis: &[u64]) -> Self {
            let mut result = Self::new(case, rows);
            for (outcome, millis) in result.outcomes.iter_mut().zip(millis) {
                for _ in 0..6 {
                    let mut run = Times::default();
                    run.usage.wall_ns = millis * 1_000_000;
                    outcome.record(Ok(run), true);
                }
            }
            result
        }
    }
}
