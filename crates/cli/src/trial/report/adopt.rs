//! The advice at the end: the line to adopt, or that there is nothing to gain.

use super::gain::Gain;
use crate::trial::answer::Results;
use crate::trial::arguments::Arguments;
use crate::trial::schedule::ENOUGH_PAIRS;
use crate::trial::subject::{Subject, joined};
use std::ffi::OsString;
use std::fmt::Write as _;

pub(super) fn say_all(
    out: &mut String,
    subject: &Subject,
    arguments: &Arguments,
    gain: &Gain,
    results: &Results,
) {
    if !results.comparison.is_same() {
        let _ = writeln!(
            out,
            "\nNext: find the cause of the difference. If it is smallfry, please report it with this command"
        );
    } else if gain.is_one() {
        let _ = writeln!(out, "\nTo adopt it:");
        if !is_installed() {
            let package = joined(&[subject.package()]);
            let _ = writeln!(out, "  npm install --save-dev {package}");
        }
        let _ = writeln!(out, "  {}", advised(subject, arguments, results));
    } else if gain.has_too_few_pairs() {
        let _ = writeln!(
            out,
            "\nNext: repeat with --runs {ENOUGH_PAIRS} to learn whether smallfry gains"
        );
    } else {
        let _ = writeln!(
            out,
            "\nNext: leave the command as it is; `smallfry bench` shows what gains on this disk"
        );
    }
}

/// Returns the advice on one line, and the word before it.
pub(super) fn short(
    subject: &Subject,
    arguments: &Arguments,
    gain: &Gain,
    results: &Results,
) -> (&'static str, String) {
    if !results.comparison.is_same() {
        let cause = "find the cause of the difference; if it is smallfry, please report it";
        return ("Next", cause.to_owned());
    }
    if gain.is_one() {
        let line = advised(subject, arguments, results);
        return if is_installed() {
            ("Adopt", line)
        } else {
            let package = joined(&[subject.package()]);
            let install = format!("npm install --save-dev {package} && {line}");
            ("Adopt", install)
        };
    }
    let next = if gain.has_too_few_pairs() {
        format!("--runs {ENOUGH_PAIRS}, to learn whether smallfry gains")
    } else {
        "leave the command as it is; `smallfry bench` shows what gains on this disk".to_owned()
    };
    ("Next", next)
}

/// Returns the command line with smallfry. Child processes do not inherit node's own options.
/// `NODE_OPTIONS` reaches them, as in the trial.
fn advised(subject: &Subject, arguments: &Arguments, results: &Results) -> String {
    let has_children = !matches!(&results.counts, Ok(counts) if counts.processes() == 1);
    line(subject, &arguments.command, has_children)
}

fn line(subject: &Subject, words: &[OsString], has_children: bool) -> String {
    if let Some(rest) = subject.node_arguments(words).filter(|_| !has_children) {
        return format!("node --require smallfry/register {}", joined(rest));
    }
    let own = if subject.has_node_options() {
        "$NODE_OPTIONS "
    } else {
        ""
    };
    let command = subject.line(words);
    if subject.is_shell() {
        format!("export NODE_OPTIONS=\"{own}--require smallfry/register\"; {command}")
    } else {
        format!("NODE_OPTIONS=\"{own}--require smallfry/register\" {command}")
    }
}

/// Returns true if `require('smallfry/register')` would find it from here.
fn is_installed() -> bool {
    std::env::current_dir().is_ok_and(|directory| {
        directory
            .ancestors()
            .any(|above| above.join("node_modules/smallfry/package.json").is_file())
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// The line to adopt for this command, with a stand-in for the package.
    fn line_of(command: &str, has_children: bool) -> String {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("dist")).unwrap();
        std::fs::write(directory.path().join("dist/register.js"), "").unwrap();
        let package = directory.path().to_str().unwrap();
        let words = ["try", "--package", package, "--"].into_iter();
        let Line { arguments } = Line::parse_from(words.chain(command.split(' ')));
        let subject = Subject::of(&arguments).unwrap();
        line(&subject, &arguments.command, has_children)
    }

    #[test]
    fn node_options_are_advised_if_the_command_has_children() {
        let options = "NODE_OPTIONS=\"--require smallfry/register\"";
        assert_eq!(line_of("sh -c x", false), format!("{options} sh -c x"));
        if which::which("node").is_err() {
            return;
        }
        assert_eq!(
            line_of("node build.js", false),
            "node --require smallfry/register build.js"
        );
        assert_eq!(
            line_of("node build.js", true),
            format!("{options} node build.js")
        );
    }
}
