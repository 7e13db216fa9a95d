//! The first screen of scenarios without one of their own: how many comparisons show a gain, and
//! those that come first.

use super::screens::{self, MEDIAN, RATIO};
use crate::bench::session::Session;
use crate::export::document::{Comparison, Row};
use crate::output::screen::{self, Screen};
use crate::output::text;
use crate::stats::claim::{Claim, ENOUGH_ROUNDS};

/// The lines of rows and of their headings.
const MAX_LINES: usize = 15;
/// The maximum number of rows beside a baseline.
const MAX_ROWS: usize = 3;
/// The maximum columns of a name and of a bar.
const NAME: usize = 40;
const BAR: usize = 14;

/// A scenario's question, and the way to use what is fastest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) asked: &'static str,
    /// The starts of runtimes' names, and how to use there what gains.
    pub(crate) adopt: &'static [(&'static str, &'static str)],
    /// The command to go on with, where there is nothing to adopt. It may be empty.
    pub(crate) next: &'static str,
    /// The ends of the names of rows to show beside the baseline, of each the fastest row; where
    /// there are none, the fastest rows.
    pub(crate) rows: &'static [&'static str],
}

impl Question {
    /// Asks about the fastest rows.
    pub(crate) const fn of(
        asked: &'static str,
        adopt: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            asked,
            adopt,
            next: "",
            rows: &[],
        }
    }
}

/// Answers the question.
pub(crate) fn screen(
    name: &str,
    question: Question,
    session: &Session,
    comparisons: &[Comparison],
) -> Screen {
    let rounds = comparisons.iter().map(|it| it.rounds).max().unwrap_or(0);
    let mut screen = screens::begin(name, question.asked, session, rounds);
    let compared: Vec<&Comparison> = comparisons.iter().filter(|it| it.rows.len() > 1).collect();
    let mut lines = MAX_LINES;
    let mut left_out = 0;
    // Each line is `    name median  ratio`.
    let room = text::width().saturating_sub(4 + 1 + MEDIAN + 2 + RATIO);
    let columns = room.min(NAME);
    let cells = match room.saturating_sub(columns + 2) {
        room if screen::has_bars() => room.min(BAR),
        _ => 0,
    };
    let gap = if cells > 0 { cells + 2 } else { 0 };
    for comparison in &compared {
        let rows = chosen(comparison, question.rows);
        if rows.len() + 1 > lines {
            left_out += 1;
            continue;
        }
        let heading = format!("{}, {}", comparison.runtime, comparison.case);
        screen.line(&if lines == MAX_LINES {
            let width = columns + 3;
            let heading = cut(&heading, width - 1);
            let headings = format!("{:>MEDIAN$}  {:gap$}times as fast (95 %)", "median", "");
            format!("  {heading:<width$}{headings}")
        } else {
            format!("  {}", cut(&heading, text::width() - 2))
        });
        let longest = rows.iter().filter_map(|row| row.median_ns);
        let longest = longest.fold(0.0, f64::max);
        let noise = comparison.decider();
        for row in &rows {
            let median = text::or_dash(row.median_ns, text::duration);
            let bar = text::hashes(row.median_ns.unwrap_or(0.0) / longest, cells);
            let ratio = row.ratio.map(|ratio| screen::cell(ratio, noise));
            let (name, ratio) = (cut(&row.name, columns), ratio.unwrap_or_default());
            let line = format!("    {name:<columns$} {median:>MEDIAN$}  {bar:<gap$}{ratio}");
            screen.line(line.trim_end());
        }
        lines -= rows.len() + 1;
    }
    if compared.len() > 1 || left_out > 0 {
        let more = match left_out {
            0 => String::new(),
            count => format!("; {count} not shown (--details)"),
        };
        screen.fact("Gains", &format!("{}{more}", counted(&compared)));
    }
    let noisiest = compared
        .iter()
        .max_by(|a, b| f64::total_cmp(&a.decider().reach(), &b.decider().reach()));
    if let Some(noisiest) = noisiest {
        let noise = noisiest.decider();
        let baseline = noisiest.baseline().map_or("", |row| &row.name);
        screens::noise(&mut screen, session, baseline, noise);
    }
    if rounds < ENOUGH_ROUNDS {
        let enough = format!("repeat with --runs {ENOUGH_ROUNDS}, for a verdict");
        screen.fact("Next", &enough);
    } else if !question.adopt.is_empty() {
        screen.fact("Adopt", &adopt(question, &compared));
    } else if !question.next.is_empty() {
        screen.fact("Next", question.next);
    }
    screen.fact(
        "More",
        "--details   --html FILE   --json FILE   --dir DIR   --runs 20",
    );
    screen
}

/// Names the ways to use what certainly gains.
fn adopt(question: Question, compared: &[&Comparison]) -> String {
    let gains = |it: &Comparison| {
        let mut ours = it.rows.iter().filter(|row| row.name.contains("smallfry"));
        ours.any(|row| row.claim == Some(Claim::Gain))
    };
    let has_gain = |start| {
        let mut all = compared.iter();
        all.any(|it| it.runtime.starts_with(start) && gains(it))
    };
    let ways = question.adopt.iter().filter(|(start, _)| has_gain(*start));
    let ways: Vec<&str> = ways.map(|(_, way)| *way).collect();
    match ways.as_slice() {
        [] => "nothing: no gain is certain here".to_owned(),
        ways => ways.join("; "),
    }
}

/// Returns the baseline, and the fastest of the wanted rows beside it.
fn chosen<'a>(comparison: &'a Comparison, wanted: &[&str]) -> Vec<&'a Row> {
    let mut others: Vec<&Row> = comparison.rows.iter().skip(1).collect();
    others.retain(|row| row.median_ns.is_some());
    others.sort_by(|a, b| f64::total_cmp(&a.median_ns.unwrap_or(0.0), &b.median_ns.unwrap_or(0.0)));
    let fastest = |end: &&str| others.iter().copied().find(|row| row.name.ends_with(*end));
    let found: Vec<&Row> = wanted.iter().filter_map(fastest).collect();
    if !found.is_empty() {
        others = found;
    }
    others.truncate(MAX_ROWS);
    comparison.baseline().into_iter().chain(others).collect()
}

/// Says in how many comparisons some row gains, and in how many the fastest one loses.
fn counted(compared: &[&Comparison]) -> String {
    let best = |it: &&&Comparison| {
        let rows = it
            .rows
            .iter()
            .filter_map(|row| Some((row.ratio?, row.claim?)));
        let best = rows.max_by(|(a, _), (b, _)| a.estimate.total_cmp(&b.estimate));
        best.map(|(_, claim)| claim)
    };
    let with = |claim: Claim| compared.iter().filter(|it| best(it) == Some(claim)).count();
    let (gains, losses, all) = (with(Claim::Gain), with(Claim::Loss), compared.len());
    let unsure = all - gains - losses;
    format!(
        "the fastest row gains in {gains} of {all} comparisons, loses in {losses}, is unsure in {unsure}"
    )
}

fn cut(text: &str, columns: usize) -> String {
    text.chars().take(columns).collect()
}
