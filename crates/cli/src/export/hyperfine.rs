//! The JSON form of hyperfine, so that programs which plot its results take those of `try`.
//!
//! <https://github.com/sharkdp/hyperfine>, `--export-json`. Times are in seconds.

use crate::stats::percentiles::median;
use serde::Serialize;
use statrs::statistics::Statistics as _;

/// The runs of one command.
pub(crate) struct Runs {
    pub(crate) command: String,
    pub(crate) wall: Vec<f64>,
    /// Empty where the system does not tell, like `system`.
    pub(crate) user: Vec<f64>,
    pub(crate) system: Vec<f64>,
}

#[derive(Serialize)]
struct Export {
    results: Vec<Summary>,
}

#[derive(Serialize)]
struct Summary {
    command: String,
    mean: f64,
    /// Null for one run.
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
}

/// Returns the file's text.
pub(crate) fn of(runs: Vec<Runs>) -> String {
    let summary = |runs: Runs| {
        let mean = |of: &[f64]| if of.is_empty() { 0.0 } else { of.mean() };
        let wall = &runs.wall;
        Summary {
            mean: mean(wall),
            stddev: (wall.len() > 1).then(|| wall.std_dev()),
            median: median(wall.iter().copied()).unwrap_or(0.0),
            user: mean(&runs.user),
            system: mean(&runs.system),
            min: wall.iter().copied().fold(f64::INFINITY, f64::min),
            max: wall.iter().copied().fold(0.0, f64::max),
            command: runs.command,
            times: runs.wall,
        }
    };
    let export = Export {
        results: runs.into_iter().map(summary).collect(),
    };
    let text = serde_json::to_string_pretty(&export).unwrap_or_default();
    text + "\n"
}
