//! `smallfry scope`: tells which package.json makes a file a module or CommonJS, and why.
//!
//! - `place.rs`: where a path leads: links, directories, missing files
//! - `answer.rs`: how Node loads the file, as facts
//! - `words.rs`: the same in sentences
//! - `report.rs`: output as text or JSON

mod answer;
mod arguments;
mod place;
mod report;
mod words;

pub(crate) use arguments::Arguments;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Prints the answers, and fails if one of them is an error.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let answers = answer::find(&arguments.files);
    let text = if arguments.json {
        report::json(&answers)
    } else {
        report::text(&answers)
    };
    let mut output = io::stdout().lock();
    match output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
    {
        Ok(()) => {}
        // The reader has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            eprintln!("smallfry scope: cannot write to standard output: {error}");
            return ExitCode::FAILURE;
        }
    }
    if answers.iter().all(|answer| answer.error().is_none()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
