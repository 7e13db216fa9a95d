//! The check that the command did the same on both sides.

use super::sentence::{plural, say};
use crate::output::screen::Screen;
use crate::output::text;
use crate::trial::arguments::Arguments;
use crate::trial::seen::{Comparison, Difference, Judgement, Thing};
use std::fmt::Write as _;

/// The maximum number of names in a sentence or list.
const MAX_NAMES: usize = 5;

pub(super) fn say_all(out: &mut String, arguments: &Arguments, comparison: &Comparison) {
    let judgements: Vec<_> = comparison.judgements().collect();
    differences(out, &judgements);
    outputs(out, arguments, comparison, &judgements);
    printed(out, &judgements);
}

/// Shows it on a line, and each difference.
pub(super) fn short(screen: &mut Screen, arguments: &Arguments, comparison: &Comparison) {
    let judgements: Vec<_> = comparison.judgements().collect();
    let runs = plural(comparison.runs().iter().sum(), "run");
    let (files, _) = comparison.files();
    let is_output = |thing: &&(&Thing, Judgement)| matches!(thing.0, Thing::Output(_));
    let varying = |(_, judgement): &&(&Thing, Judgement)| *judgement == Judgement::Varies;
    let vary = judgements.iter().filter(varying).filter(is_output).count();
    let mut facts = Vec::new();
    if !arguments.outputs.is_empty() {
        facts.push(format!("{} byte for byte", plural(files, "output")));
    }
    let printed = judgements.iter().filter(|found| !is_output(found));
    let same = printed.filter(|found| !varying(found));
    facts.extend(same.map(|(thing, _)| name(thing)));
    if comparison.is_same() {
        screen.fact("SAME", &format!("{} ({runs})", facts.join(", ")));
    } else {
        let mut shown = String::new();
        differences(&mut shown, &judgements);
        screen.line(shown.trim_end());
    }
    if vary > 0 {
        let vary = plural(vary, "output");
        screen.warn(&format!(
            "{vary} cannot be compared: different in each run, without smallfry too"
        ));
    }
    let never = comparison.never_written();
    if arguments.outputs.is_empty() {
        screen.warn("outputs were not compared: --outputs DIR names where the command writes");
    } else if never > 0 {
        let never = plural(never, "output");
        screen.warn(&format!(
            "{never} written by no compared run, which proves nothing there: --prepare 'rm -rf ...'"
        ));
    }
}

fn differences(out: &mut String, judgements: &[(&Thing, Judgement)]) {
    let differing: Vec<_> = judgements
        .iter()
        .filter_map(|(thing, judgement)| match judgement {
            Judgement::Differs(difference) => Some((*thing, difference)),
            _ => None,
        })
        .collect();
    if differing.is_empty() {
        return;
    }
    say(
        out,
        '!',
        "DIFFERENT with smallfry, and never so without it. Find the cause before you adopt it:",
    );
    for (thing, difference) in differing.iter().take(MAX_NAMES) {
        detail(out, thing, difference);
    }
    if let Some(more @ 1..) = differing.len().checked_sub(MAX_NAMES) {
        let _ = writeln!(out, "      and {}", plural(more, "other"));
    }
}

fn detail(out: &mut String, thing: &Thing, difference: &Difference) {
    let Difference {
        how,
        runs,
        of,
        lines,
    } = difference;
    let _ = writeln!(
        out,
        "      {} {how}, in {runs} of {}",
        name(thing),
        plural(*of, "run")
    );
    if let Some([without, with]) = lines {
        let _ = writeln!(out, "        without: {without}\n        with:    {with}");
    }
}

fn outputs(
    out: &mut String,
    arguments: &Arguments,
    comparison: &Comparison,
    judgements: &[(&Thing, Judgement)],
) {
    if arguments.outputs.is_empty() {
        return say(
            out,
            '!',
            "outputs were not compared: --outputs DIR names the directories that the command writes to.",
        );
    }
    let (files, bytes) = comparison.files();
    let runs: usize = comparison.runs().iter().sum();
    let of_outputs = |wanted: fn(&Judgement) -> bool| {
        judgements
            .iter()
            .filter(move |(thing, judgement)| {
                matches!(thing, Thing::Output(_)) && wanted(judgement)
            })
            .map(|(thing, _)| name(thing))
            .collect::<Vec<_>>()
    };
    let varying = of_outputs(|judgement| *judgement == Judgement::Varies);
    let different = of_outputs(|judgement| matches!(judgement, Judgement::Differs(_)));
    let compared = format!(
        "{} ({}), compared byte for byte after each of {runs} runs",
        plural(files, "output file"),
        text::bytes(bytes)
    );
    match (different.is_empty(), varying.is_empty()) {
        (true, true) => say(out, '-', &format!("the same outputs: {compared}.")),
        (false, true) => say(out, '-', &format!("{compared}.")),
        (same, false) => {
            let rest = if same {
                "; all others are the same"
            } else {
                ""
            };
            let sentence = format!(
                "{compared}. {} from run to run without smallfry too, and cannot be compared ({}){rest}.",
                if varying.len() == 1 {
                    "One varies".to_owned()
                } else {
                    format!("{} vary", varying.len())
                },
                some_of(&varying)
            );
            say(out, '-', &sentence);
        }
    }
    let never = comparison.never_written();
    if never > 0 {
        let which = if never == files {
            "none of them was".to_owned()
        } else {
            format!(
                "of them, {} not",
                if never == 1 {
                    "1 was".to_owned()
                } else {
                    format!("{} were", text::thousands(never as i64))
                }
            )
        };
        let sentence = format!(
            "{which} written by the compared runs, so the comparison proves nothing there; --prepare 'rm -rf ...' makes each run write its own."
        );
        say(out, '!', &sentence);
    }
}

fn printed(out: &mut String, judgements: &[(&Thing, Judgement)]) {
    let mut same = Vec::new();
    for (thing, judgement) in judgements {
        match (thing, judgement) {
            (Thing::Output(_), _) | (_, Judgement::Differs(_)) => {}
            (_, Judgement::Same) => same.push(name(thing)),
            (_, Judgement::Varies) => {
                say(
                    out,
                    '-',
                    &format!(
                        "{} varies from run to run without smallfry too.",
                        name(thing)
                    ),
                );
            }
            (_, Judgement::NumbersVary) => {
                same.push(format!("{} (except for numbers)", name(thing)));
            }
            (_, Judgement::TimesVary) => {
                same.push(format!("{} (except for times)", name(thing)));
            }
        }
    }
    if !same.is_empty() {
        say(
            out,
            '-',
            &format!("the same {} in all runs.", same.join(", ")),
        );
    }
}

pub(super) fn name(thing: &Thing) -> String {
    match thing {
        Thing::ExitStatus => "exit status".to_owned(),
        Thing::StandardOutput => "standard output".to_owned(),
        Thing::StandardError => "standard error".to_owned(),
        Thing::Output(path) => path.display().to_string(),
    }
}

fn some_of(names: &[String]) -> String {
    let mut shown = names
        .iter()
        .take(MAX_NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MAX_NAMES {
        shown.push_str(", ...");
    }
    shown
}
