//! The answer: how many rows are faster and slower, and the largest changes.

use super::changes::{Change, Changes};
use crate::export::Document;
use crate::output::screen::Screen;
use crate::output::text;
use crate::stats::claim::Claim;
use std::io::Write as _;

/// The maximum number of rows without `--details`.
const MAX_ROWS: usize = 14;
/// The columns of the name of a row.
const NAME: usize = 46;

pub(super) fn of(
    old: &Document,
    new: &Document,
    differences: &[String],
    changes: &Changes,
    details: bool,
) -> String {
    let versions = match (&old.version, &new.version) {
        (old, new) if old == new => format!("smallfry {new}"),
        (old, new) => format!("smallfry {old} -> {new}"),
    };
    let rows = changes.rows.len();
    let days = format!("{} -> {}", old.day(), new.day());
    let mut screen = Screen::new(&[
        "smallfry compare".to_owned(),
        format!("{rows} rows"),
        versions,
        days,
    ]);
    let count = |claim: Claim| changes.rows.iter().filter(|row| row.claim == claim).count();
    let even = count(Claim::NoDifference) + count(Claim::WithinNoise);
    screen.fact(
        "Rows",
        &format!(
            "{} faster, {} slower, {even} without a certain difference, {} with too few rounds",
            count(Claim::Gain),
            count(Claim::Loss),
            count(Claim::TooFewRounds)
        ),
    );
    let regressions = changes.rows.iter().filter(|row| row.is_regression).count();
    if regressions > 0 {
        screen.fact(
            "FAILED",
            &format!("{regressions} slower than --max-regression allows"),
        );
    }
    table(&mut screen, changes, details);
    for difference in differences {
        screen.warn(&format!("another machine: {difference}"));
    }
    let blind = changes.rows.iter().filter(|row| row.is_blind).count();
    if blind > 0 {
        screen.warn(&format!(
            "{blind} of {rows} rows are too noisy to find a change that small; measure longer (--runs)"
        ));
    }
    let moved = |row: &&Change| row.is_baseline && matches!(row.claim, Claim::Gain | Claim::Loss);
    let moved = changes.rows.iter().filter(moved).count();
    if moved > 0 {
        screen.warn(&format!(
            "{moved} of these rows are baselines, which smallfry does not change: the machine was not the same both times"
        ));
    }
    for (names, which) in [(&changes.only_old, "old"), (&changes.only_new, "new")] {
        if !names.is_empty() {
            let first = &names[0];
            let more = match names.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            screen.warn(&format!("only in the {which} file: {first}{more}"));
        }
    }
    if !details && rows > MAX_ROWS {
        screen.fact("More", "--details   --json");
    }
    screen.finish()
}

/// Shows the rows, the largest changes first.
fn table(screen: &mut Screen, changes: &Changes, details: bool) {
    let by = |row: &Change| row.ratio.map_or(0.0, |ratio| ratio.estimate.ln().abs());
    let is_certain = |row: &Change| matches!(row.claim, Claim::Gain | Claim::Loss);
    let mut rows: Vec<&Change> = changes.rows.iter().collect();
    rows.sort_by(|a, b| {
        let certain = is_certain(b).cmp(&is_certain(a));
        certain.then(by(b).total_cmp(&by(a)))
    });
    if !details {
        rows.truncate(MAX_ROWS);
    }
    let mut case = "";
    let widths = (text::width().saturating_sub(54)).clamp(20, NAME);
    screen.line(&format!(
        "    {:<widths$} {:>9} {:>9}  times as fast as before (95 %)",
        "", "old", "new"
    ));
    // Rows of a case that follow each other share its name.
    for row in rows {
        if row.case != case {
            case = &row.case;
            screen.line(&format!("  {case}"));
        }
        let [old, new] = [row.old_median_ns, row.new_median_ns]
            .map(|median| text::or_dash(median, text::duration));
        let name: String = row.name.chars().take(widths).collect();
        let ratio = text::ratio(row.ratio);
        let shown = match row.claim {
            Claim::Gain => ratio,
            Claim::Loss => format!("{ratio}, a loss"),
            Claim::TooFewRounds => format!("{ratio}, unsure"),
            Claim::NoDifference | Claim::WithinNoise => "no difference".to_owned(),
        };
        let tail = match (row.old_p99_ns, row.new_p99_ns) {
            (Some(old), Some(new)) if details => format!(
                "   p99 {} -> {}",
                text::duration(old as f64),
                text::duration(new as f64)
            ),
            _ => String::new(),
        };
        screen.line(&format!(
            "    {name:<widths$} {old:>9} {new:>9}  {shown}{tail}"
        ));
    }
}

/// Prints. A closed pipe is no error.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
