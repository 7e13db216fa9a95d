//! `smallfry compare`: what has changed between two result files of `bench` or `try`.
//!
//! - `files.rs`: reads result files, and merges those of a directory
//! - `host.rs`: the differences between the machines
//! - `changes.rs`: how many times as fast each row has become
//! - `screen.rs`: the answer

mod changes;
mod files;
mod host;
mod screen;

use crate::failure::Failure;
use changes::Changes;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit status of an error, so that it is not taken for a regression.
const ERROR: u8 = 2;

#[derive(Args, Debug)]
#[command(after_help = "\
A row has changed if its interval leaves 1 out and the change is larger than what a baseline shows
against itself. Files in a directory are merged: samples and histograms are added.

Exit status: 0, 1 if a row is certainly slower by more than --max-regression, 2 after an error or if
the machines differ.

Examples:
  smallfry bench --json new.json && smallfry compare old.json new.json --max-regression 5%
  smallfry compare results/monday results/tuesday --details")]
pub(crate) struct Arguments {
    /// Result file of `bench` or `try` (--json), or a directory of such files
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The same, measured later
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Fail if a row takes more than P percent longer than before
    #[arg(long, value_name = "P%", value_parser = percent)]
    max_regression: Option<f64>,

    /// Compare although the machines differ
    #[arg(long)]
    force: bool,

    /// Show every row
    #[arg(long)]
    details: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Reads `5%` or `5` as 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(number) if (0.0..=1000.0).contains(&number) => Ok(number / 100.0),
        _ => Err("a number of percent is expected, such as 5%".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match compare(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("smallfry compare: {failure}");
            ExitCode::from(ERROR)
        }
    }
}

/// Returns true if nothing is certainly slower by more than what is allowed.
fn compare(arguments: &Arguments) -> Result<bool, Failure> {
    let [old, new] = [&arguments.old, &arguments.new].map(|path| files::read(path));
    let (old, new) = (old?, new?);
    let differences = host::differences(&old, &new);
    if !differences.is_empty() && !arguments.force {
        let mut lines =
            vec!["the machines differ (--force compares them all the same):".to_owned()];
        lines.extend(differences);
        return Err(Failure::said(lines.join("\n  ")));
    }
    let changes = Changes::between(&old, &new, arguments.max_regression);
    if changes.rows.is_empty() {
        return Err(Failure::said("the files have no row in common"));
    }
    if arguments.json {
        screen::print(&changes.json(&differences));
    } else {
        let details = arguments.details;
        screen::print(&screen::of(&old, &new, &differences, &changes, details));
    }
    Ok(!changes.has_regression())
}

/// Merges a document with itself, and compares what comes of it with the document.
#[cfg(fuzzing)]
pub(crate) fn with_itself(document: &crate::export::Document) {
    let mut merged = document.clone();
    files::merge(&mut merged, document.clone());
    let changes = Changes::between(document, &merged, Some(0.05));
    changes.json(&[]);
    screen::of(document, &merged, &[], &changes, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_takes_the_sign_or_none() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("50"), Ok(0.5));
        assert!(percent("-5%").is_err());
        assert!(percent("five").is_err());
    }
}
