//! The first screen: does the command gain, does it do the same, where did it wait, what is next.

use super::gain::{self, Gain};
use super::sentence::plural;
use super::{adopt, same};
use crate::output::screen::Screen;
use crate::output::text;
use crate::stats::drift::drift;
use crate::trial::answer::Results;
use crate::trial::arguments::Arguments;
use crate::trial::counts::{Counts, Part};
use crate::trial::schedule::ENOUGH_PAIRS;
use crate::trial::subject::{Subject, joined};

/// The maximum number of kinds of calls in the table.
const MAX_PARTS: usize = 5;
/// A run that takes this many times the median of its side is an outlier.
const OUTLIER: f64 = 2.0;
/// The columns of a bar.
const BAR: usize = 20;

pub(super) fn show(
    subject: &Subject,
    arguments: &Arguments,
    gain: &Gain,
    results: &Results,
) -> String {
    let mut screen = Screen::new(&title(subject, arguments, results));
    let (word, verdict) = gain.short();
    screen.fact(word, &verdict);
    if let Some(processor) = gain.short_processor() {
        screen.fact("CPU", &processor);
    }
    if let Some(start) = results.start {
        screen.fact("Start", &gain::short_start(start));
    }
    same::short(&mut screen, arguments, &results.comparison);
    match &results.counts {
        Ok(counts) => waits(&mut screen, counts),
        Err(reason) => screen.fact("Calls", &format!("not counted: {reason}")),
    }
    for warning in warnings(arguments, gain, results) {
        screen.warn(&warning);
    }
    let (word, advice) = adopt::short(subject, arguments, gain, results);
    screen.fact(word, &advice);
    screen.fact("More", "--details   --html FILE   --json FILE   --runs 20");
    screen.finish()
}

fn title(subject: &Subject, arguments: &Arguments, results: &Results) -> Vec<String> {
    let versions = match &results.counts {
        Ok(counts) => counts.versions().into_iter().collect::<Vec<_>>().join(", "),
        Err(_) => String::new(),
    };
    let (pairs, took) = (plural(results.pairs.len(), "pair"), results.took);
    let mut facts = vec![
        format!("smallfry try - {}", subject.line(&arguments.command)),
        format!("{pairs} in {}", text::minutes(took)),
    ];
    if !versions.is_empty() {
        facts.push(format!("Node {versions}"));
    }
    facts
}

/// Shows the kinds of calls that the program waited for longest.
fn waits(screen: &mut Screen, counts: &Counts) {
    let ns = |part: &Part| part.sync_ns + part.async_ns;
    let mut parts = counts.parts();
    let all = parts.iter().map(|(_, part)| ns(part)).sum::<u64>().max(1);
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(ns(part)));
    if parts.is_empty() {
        return screen.fact("Calls", "none of node:fs");
    }
    let heading = format!(
        "  {:<24} {:>9} {:>12}  share",
        "Where calls waited", "calls", "by smallfry"
    );
    screen.line(&heading);
    for (name, part) in parts.iter().take(MAX_PARTS) {
        let share = ns(part) as f64 / all as f64;
        let [calls, native] = [part.calls, part.native].map(|count| text::thousands(count as i64));
        let bar = Screen::bar(share, BAR);
        let percent = share * 100.0;
        let line = format!("    {name:<22} {calls:>9} {native:>12} {percent:>4.0} % {bar}");
        screen.line(line.trim_end());
    }
}

/// Returns sentences that the reader should know before believing the rest.
pub(super) fn warnings(arguments: &Arguments, gain: &Gain, results: &Results) -> Vec<String> {
    let mut said = Vec::new();
    if let (Some(saved), Ok(counts)) = (gain.saved_ns(), &results.counts) {
        said.extend(super::calls::doubtful(saved, &counts.parts()));
    }
    let (parts, median) = gain::parts(&results.pairs);
    if let Some(found) = drift(&parts) {
        let [first, last] = [found.first, found.last].map(|part| text::duration(part * median));
        let remedy = match arguments.outputs.first() {
            Some(output) if arguments.prepare.is_some() => {
                let output = joined(&[output]);
                format!(
                    "If that removes what runs have written, try --prepare 'mv {output} old.$RANDOM'."
                )
            }
            _ => "Close other programs, or measure longer: --runs 20.".to_owned(),
        };
        said.push(format!("Runs drift: {first} -> {last}. {remedy}"));
    }
    let outliers = parts.iter().filter(|part| **part > OUTLIER).count();
    if outliers > 0 {
        let runs = plural(parts.len(), "run");
        said.push(format!(
            "{outliers} of {runs} took more than twice the median. Close other programs, or --runs 20."
        ));
    }
    if let Ok(counts) = &results.counts {
        said.extend(super::calls::warnings(counts));
    }
    if gain.has_too_few_pairs() {
        said.push(format!(
            "{} tell no gain or loss from noise; --runs {ENOUGH_PAIRS} is enough.",
            plural(results.pairs.len(), "pair")
        ));
    }
    said
}
