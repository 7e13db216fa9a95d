//! `smallfry report`: a result file of `bench` or `try` in other formats.

use crate::export::{Document, ExportOptions, Exports};
use crate::failure::{self, Failure};
use clap::Args;
use serde_json::Map;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
With --json the copy has what all result files have in common: the machine, the comparisons and every
sample. It does not name the measured directory.

Example:
  smallfry report results.json --html report.html --markdown comment.md")]
pub(crate) struct Arguments {
    /// Result file of `bench` or `try` (--json)
    #[arg(value_name = "RESULTS")]
    results: PathBuf,

    /// Take only comparisons whose title has TEXT
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    #[command(flatten)]
    exports: ExportOptions,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    failure::exit_code("report", report(arguments).map(|()| true))
}

fn report(arguments: &Arguments) -> Result<(), Failure> {
    let mut document = Document::read(&arguments.results)?;
    if let Some(text) = &arguments.only {
        document.comparisons.retain(|it| it.title().contains(text));
        if document.comparisons.is_empty() {
            let reason = format!("no comparison has {text:?} in its title");
            return Err(Failure::at("report", &arguments.results)(reason));
        }
    }
    // A copy is kept and passed on, and the place on this machine tells a reader nothing.
    document.host.file_system.directory = PathBuf::new();
    let exports = Exports::create(&arguments.exports)?;
    if exports.is_empty() {
        let formats = "name a file to write: --html, --markdown, --csv, --json or --svg";
        return Err(Failure::said(formats));
    }
    exports.put(&document, Map::new())
}
