//! What to do with the answer: the one line to adopt, or that there is nothing to gain.

use super::gain::Gain;
use crate::trial::Results;
use crate::trial::arguments::Arguments;
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
            "\nNext: find out what the difference is; if it is smallfry's fault, please report it, with this command"
        );
    } else if gain.is_one() {
        let _ = writeln!(out, "\nTo adopt it:");
        if !is_installed() {
            let package = joined(&[subject.package()]);
            let _ = writeln!(out, "  npm install --save-dev {package}");
        }
        let _ = writeln!(out, "  {}", line(subject, &arguments.command));
    } else {
        let _ = writeln!(
            out,
            "\nNext: leave it as it is; `smallfry bench` shows what does gain on this disk"
        );
    }
}

fn line(subject: &Subject, words: &[OsString]) -> String {
    if let Some(rest) = subject.node_arguments(words) {
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

/// Would `require('smallfry/register')` find it from here?
fn is_installed() -> bool {
    std::env::current_dir().is_ok_and(|folder| {
        folder
            .ancestors()
            .any(|above| above.join("node_modules/smallfry/package.json").is_file())
    })
}
