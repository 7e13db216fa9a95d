//! Reports: text for the terminal, and a JSON file for programs.

mod adopt;
mod calls;
mod compared;
mod gain;
mod json;
mod same;
mod screen;
mod sentence;
mod waiting;

pub(super) use compared::hyperfine;
pub(super) use json::document;

use super::answer::{Answer, FailedRun, Results, Sameness};
use super::arguments::Arguments;
use super::subject::{Side, Subject};
use crate::output::text;
use std::fmt::Write as _;
use std::io::Write as _;

/// Announces the trial.
pub(super) fn opening(subject: &Subject, arguments: &Arguments) {
    let mut out = String::new();
    let _ = writeln!(out, "smallfry try: {}", subject.line(&arguments.command));
    let compared = if arguments.outputs.is_empty() {
        "exit status and printed text; no output files (--outputs DIR names them)".to_owned()
    } else {
        let names = arguments
            .outputs
            .iter()
            .map(|path| path.display().to_string());
        format!(
            "exit status, printed text, and every file in {}",
            names.collect::<Vec<_>>().join(", ")
        )
    };
    for (heading, fact) in [
        ("smallfry", subject.package().display().to_string()),
        ("compares", compared),
    ] {
        let _ = writeln!(
            out,
            "{}",
            text::wrap(&format!("  {heading:<9} "), &fact, text::width())
        );
    }
    print(&out);
}

pub(super) fn answer(subject: &Subject, arguments: &Arguments, answer: &Answer) {
    let mut out = String::new();
    match answer {
        Answer::Compared(results) => compared(&mut out, subject, arguments, results),
        Answer::Failed(failed) => self::failed(&mut out, failed),
        Answer::NoDifference(sameness) => nothing(&mut out, sameness),
    }
    print(&out);
}

fn compared(out: &mut String, subject: &Subject, arguments: &Arguments, results: &Results) {
    let gain = gain::Gain::of(&results.pairs);
    if !arguments.details {
        return out.push_str(&screen::show(subject, arguments, &gain, results));
    }
    gain.show(out, &results.pairs);
    match &results.counts {
        Ok(counts) => calls::counted(out, counts),
        Err(reason) => calls::uncounted(out, reason),
    }
    let _ = writeln!(out, "\nSummary");
    gain.say(out);
    if let (Some(saved), Ok(counts)) = (gain.saved_ns(), &results.counts)
        && let Some(doubt) = calls::doubtful(saved, &counts.parts())
    {
        sentence::say(out, '!', &doubt);
    }
    if let Some(start) = results.start {
        gain::say_start(out, start);
    }
    same::say_all(out, arguments, &results.comparison);
    if let Ok(counts) = &results.counts {
        calls::say_all(out, counts);
        if let Some(longest) = counts.longest() {
            waiting::in_words(out, &longest);
        }
    }
    adopt::say_all(out, subject, arguments, &gain, results);
}

fn failed(out: &mut String, failed: &FailedRun) {
    let [without, with] = failed.before;
    let before = match failed.side {
        Side::Without if without + with > 0 => format!(", after {without} runs that succeeded"),
        Side::With if without > 0 => {
            format!("; {without} of {without} runs without it succeeded")
        }
        Side::Without | Side::With => String::new(),
    };
    let _ = writeln!(
        out,
        "\nThe command FAILED {} ({}){before}. Its last output:\n",
        failed.side.name(),
        failed.status
    );
    if failed.tail.is_empty() {
        let _ = writeln!(out, "  (nothing)");
    }
    for line in failed.tail.lines() {
        let _ = writeln!(out, "  | {line}");
    }
    let next = match failed.side {
        Side::With if without > 0 => {
            "smallfry is the likely cause: please report it with this command"
        }
        _ if with + without > 0 => {
            "the command does not always fail; use --prepare to restore what it needs before each run"
        }
        _ => {
            "make the command succeed first, or add --allow-failure if its exit status is expected"
        }
    };
    let _ = writeln!(out, "\nNext: {next}");
}

fn nothing(out: &mut String, sameness: &Sameness) {
    match sameness {
        Sameness::AlreadyLoaded => {
            let _ = writeln!(
                out,
                "\nNothing to compare: the command loads smallfry by itself (NODE_OPTIONS, --require, or its own code)."
            );
        }
        Sameness::NotNative(reason) => {
            let _ = writeln!(
                out,
                "\nNothing to compare: smallfry left everything to node:fs, because {reason}."
            );
        }
        Sameness::NotLoaded(calls) => {
            let _ = writeln!(
                out,
                "\nNothing to compare: no process loaded smallfry. Either none is Node.js, or NODE_OPTIONS does not reach it."
            );
            calls::system_calls(out, calls);
        }
        Sameness::OnlyLaunchers(counts) => {
            let _ = writeln!(out, "\nNothing to compare:");
            calls::only_launchers(out, counts);
        }
    }
}

/// Prints. A closed pipe is no error, since its reader has read enough.
fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}
