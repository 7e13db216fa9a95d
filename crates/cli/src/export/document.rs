//! The part that the result files of `bench` and `try` have in common: rows beside each other, with
//! every sample and what the samples say.

use crate::failure::Failure;
use crate::host::Host;
use crate::stats::claim::{Claim, Noise};
use crate::stats::interval::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::iter;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// 30 years.
const MAX_NS: f64 = 1e18;

/// The disk of a document in which no slow disk was simulated.
pub(crate) const REAL: &str = "real";

/// A result file. What else a file holds is for programs that know the scenario.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Document {
    /// The kind of file, and its version: `smallfry-bench/2` or `smallfry-try/1`.
    pub(crate) schema: String,
    /// The version of smallfry that has measured.
    pub(crate) version: String,
    /// Seconds since 1970.
    pub(crate) finished: u64,
    /// The words of the command line, from `smallfry` on.
    pub(crate) command_line: Vec<String>,
    pub(crate) host: Host,
    /// `real`, or the slow disk that was simulated.
    pub(crate) disk: String,
    /// Sentences that a reader should know before believing the rest.
    pub(crate) warnings: Vec<String>,
    pub(crate) comparisons: Vec<Comparison>,
}

/// Rows of one case that are compared with the first of them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Comparison {
    /// The name of the scenario, or `try`.
    pub(crate) scenario: String,
    pub(crate) case: String,
    /// The program that ran the rows, with its version: `Node v24.1.0`, `Rust`.
    pub(crate) runtime: String,
    /// The work that a sample times: `run`, `call`, `write` or `look-up`.
    pub(crate) sample: String,
    pub(crate) rounds: usize,
    /// The baseline against itself; null where it was not run twice.
    pub(crate) noise: Option<Interval>,
    /// The part of the files, from 0 to 1, that was in the page cache before the runs; null where
    /// it was not looked for.
    pub(crate) cached: Option<f64>,
    /// The baseline is the first.
    pub(crate) rows: Vec<Row>,
}

/// An implementation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Nanoseconds by round, of a run or the median of its samples; null where there is none.
    pub(crate) samples_ns: Vec<Option<f64>>,
    pub(crate) median_ns: Option<f64>,
    /// The speed as a multiple of the baseline's. The estimate is a trimmed mean of the ratios of
    /// the rounds, and not the ratio of the medians.
    pub(crate) ratio: Option<Interval>,
    pub(crate) claim: Option<Claim>,
    /// The medians of its phases, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) phases: Vec<Phase>,
    /// The system calls that flushed in a run that was watched and not timed: `fsync`,
    /// `fdatasync`, `syncfs`; empty where no run was watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flushed_by: Vec<String>,
    /// How often a sample took so many nanoseconds; empty where runs are timed as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) histogram: Vec<Bucket>,
    /// The reason why it failed.
    pub(crate) error: Option<String>,
}

/// A part of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) median_ns: f64,
}

/// Samples of about the same length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Bucket {
    pub(crate) ns: u64,
    pub(crate) count: u64,
}

impl Document {
    /// Returns the day on which it was measured, by UTC: `2026-11-27`.
    pub(crate) fn day(&self) -> String {
        let seconds = i64::try_from(self.finished).unwrap_or(i64::MAX);
        let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
        time.strftime("%Y-%m-%d").to_string()
    }

    /// Reads a result file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read(path).map_err(Failure::at("read", path))?;
        Self::parse(&text).map_err(Failure::at("read", path))
    }

    /// Reads the text of a result file, and refuses numbers that nothing can have measured.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let document: Self = serde_json::from_slice(text)
            .map_err(|error| format!("it is no result file (bench --json, try --json): {error}"))?;
        document
            .comparisons
            .iter()
            .try_for_each(Comparison::check)?;
        Ok(document)
    }

    /// Returns the document of what this process has just measured.
    pub(crate) fn now(
        schema: &str,
        host: Host,
        disk: &str,
        warnings: Vec<String>,
        comparisons: Vec<Comparison>,
    ) -> Self {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH);
        let words = std::env::args_os().skip(1);
        let words = words.map(|word| word.to_string_lossy().into_owned());
        Self {
            schema: schema.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            finished: finished.map_or(0, |time| time.as_secs()),
            command_line: iter::once("smallfry".to_owned()).chain(words).collect(),
            host,
            disk: disk.to_owned(),
            warnings,
            comparisons,
        }
    }
}

impl Comparison {
    /// Returns the name that tells it from the others of its file.
    pub(crate) fn title(&self) -> String {
        let parts = [&self.scenario, &self.case, &self.runtime];
        let mut parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        parts.dedup();
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }

    /// Returns what decides about claims.
    pub(crate) fn decider(&self) -> Noise {
        Noise {
            itself: self.noise,
            rounds: self.rounds,
        }
    }

    pub(crate) fn baseline(&self) -> Option<&Row> {
        self.rows.first()
    }

    fn check(&self) -> Result<(), String> {
        let broken = |what| Err(format!("{}: {what}", self.title()));
        if self.rows.is_empty() {
            return broken("no rows");
        }
        let mut times = self.rows.iter().flat_map(|row| {
            let phases = row.phases.iter().map(|phase| phase.median_ns);
            row.samples().chain(row.median_ns).chain(phases)
        });
        if times.any(|ns| !(0.0..=MAX_NS).contains(&ns)) {
            return broken("a time below 0 or above 30 years");
        }
        let ratios = self.rows.iter().filter_map(|row| row.ratio);
        if !ratios.chain(self.noise).all(Interval::is_ordered) {
            return broken("an interval whose ends are not around its estimate");
        }
        Ok(())
    }
}

impl Row {
    /// Returns the samples that there are.
    pub(crate) fn samples(&self) -> impl Iterator<Item = f64> {
        self.samples_ns.iter().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `SMALLFRY_UPDATE=1` writes the file anew.
    #[test]
    fn the_published_schema_is_that_of_the_document() {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Document)).unwrap();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result.schema.json");
        if std::env::var_os("SMALLFRY_UPDATE").is_some() {
            std::fs::write(file, schema.clone() + "\n").unwrap();
        }
        let published = std::fs::read_to_string(file).unwrap();
        assert!(
            published.trim() == schema,
            "{file} is out of date: SMALLFRY_UPDATE=1"
        );
    }

    #[test]
    fn numbers_that_nothing_can_have_measured_are_refused() {
        let seed = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fuzz/seeds/results/close"
        );
        let text = std::fs::read(seed).unwrap();
        Document::parse(&text).unwrap();
        let refused = |pointer: &str, value: serde_json::Value| {
            let mut whole: serde_json::Value = serde_json::from_slice(&text).unwrap();
            *whole.pointer_mut(pointer).unwrap() = value;
            Document::parse(whole.to_string().as_bytes()).unwrap_err()
        };
        let none = refused("/comparisons/0/rows", serde_json::json!([]));
        assert!(none.ends_with("no rows"), "{none}");
        for value in [-1.0, 1e300] {
            let time = refused("/comparisons/0/rows/0/samples_ns/0", value.into());
            assert!(time.contains("a time"), "{time}");
        }
        let ratio = refused("/comparisons/0/rows/1/ratio/low", 1e9.into());
        assert!(ratio.contains("an interval"), "{ratio}");
    }
}
