//! The first screen of a scenario: the answer, in at most 25 lines of 100 columns.

use super::text;
use super::view::View;
use crate::bench::session::Session;
use crate::bench::stats::bootstrap::Interval;
use crate::bench::stats::claim::{Claim, Noise};
use console::{Style, user_attended};

/// The columns of a name.
const NAME: usize = 22;
/// The columns of a median.
const MEDIAN: usize = 8;
/// The columns that a ratio needs, a loss with its word.
const RATIO: usize = 26;
/// The maximum length of a bar.
const BAR: usize = 20;

/// Returns true where bars are drawn: in a pipe they tell nothing.
pub(crate) fn has_bars() -> bool {
    user_attended()
}

/// Rows that are compared, in one runtime.
pub(crate) struct Group<'a> {
    pub(crate) title: &'a str,
    pub(crate) runtime: &'a str,
    /// The names of rows, and what the screen calls them. The first row is the baseline.
    pub(crate) rows: &'a [(&'a str, &'a str)],
}

/// The lines of a screen.
pub(crate) struct Screen(String);

impl Screen {
    /// Begins with the name of the scenario, what is measured, and where.
    pub(crate) fn new(name: &str, what: &str, session: &Session, rounds: usize) -> Self {
        let disk = match session.directories.profile() {
            Some(profile) => format!("{profile}, simulated"),
            None => session.host.file_system.kind.clone(),
        };
        let node = session.nodes.first();
        let node = node.map(|node| node.runtime.full_name().replace(" v", " "));
        let facts = [
            Some(format!("smallfry bench - {name} - {what}")),
            Some(disk),
            node,
            Some(format!("{rounds} rounds")),
        ];
        Self::titled(&facts.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Begins with these facts on one line.
    pub(crate) fn titled(facts: &[String]) -> Self {
        let mut screen = Self(String::from("\n"));
        let bold = Style::new().bold();
        let line = text::wrap("", &facts.join(" - "), text::width());
        screen.line(&bold.apply_to(line).to_string());
        screen
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Puts sentences or commands beside a word.
    pub(crate) fn fact(&mut self, word: &str, fact: &str) {
        self.line(&text::wrap(&format!("  {word:<9}"), fact, text::width()));
    }

    /// Says what the reader should know before believing the rest.
    pub(crate) fn warn(&mut self, sentence: &str) {
        self.line(&text::wrap("  ! ", sentence, text::width()));
    }

    /// Draws a bar where there is a terminal: it tells a program nothing.
    pub(crate) fn bar(part: f64, cells: usize) -> String {
        let cells = if has_bars() { cells } else { 0 };
        text::hashes(part, cells)
    }

    /// Shows the groups that have more than one row: medians, bars to one scale, and how many times
    /// as fast as its baseline each row is.
    pub(crate) fn groups(&mut self, view: &View, groups: &[Group<'_>]) {
        let found: Vec<_> = groups
            .iter()
            .map(|group| (group, found(view, group)))
            .filter(|(_, rows)| rows.len() > 1)
            .collect();
        let medians = found.iter().flat_map(|(_, rows)| rows);
        let longest = medians.fold(0.0, |longest, row| f64::max(longest, row.median));
        let room = text::width().saturating_sub(4 + NAME + 1 + MEDIAN + 2 + RATIO + 2);
        let cells = if has_bars() { room.min(BAR) } else { 0 };
        let gap = if cells > 0 { cells + 2 } else { 0 };
        for (index, (group, rows)) in found.iter().enumerate() {
            let headings = match index {
                0 => format!("{:>MEDIAN$}  {:gap$}times as fast (95 %)", "median", ""),
                _ => String::new(),
            };
            let width = NAME + 3;
            self.line(format!("  {:<width$}{headings}", group.title).trim_end());
            let noise = view.noise_of(group.runtime);
            for (index, row) in rows.iter().enumerate() {
                let bar = text::hashes(row.median / longest, cells);
                let ratio = view.ratio(rows[0].row, row.row).filter(|_| index > 0);
                let ratio = ratio.map_or_else(String::new, |ratio| cell(ratio, noise));
                let median = text::duration(row.median);
                let line = format!(
                    "    {:<NAME$} {median:>MEDIAN$}  {bar:<gap$}{ratio}",
                    row.shown
                );
                self.line(line.trim_end());
            }
        }
    }

    /// Says what a baseline against itself shows, and what is therefore not claimed.
    pub(crate) fn noise(&mut self, session: &Session, baseline: &str, noise: Noise) {
        let Some(itself) = noise.itself else {
            let reason = match noise.rounds {
                0 | 1 => "one round tells nothing: no intervals",
                _ => "not known, since no baseline was run twice",
            };
            return self.fact("Noise", reason);
        };
        let host = &session.host;
        let is_busy = host.load_average.unwrap_or(0.0) > host.cores as f64 / 2.0;
        let busy = if is_busy { "busy machine: " } else { "" };
        let (percent, itself) = (noise.percent(), itself.estimate);
        self.fact(
            "Noise",
            &format!(
                "{busy}{baseline} against itself {itself:.2}x; nothing under {percent:.0} % is claimed"
            ),
        );
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A row that was measured.
struct Found<'a> {
    row: usize,
    shown: &'a str,
    median: f64,
}

/// Returns the rows of a group that were measured.
fn found<'a>(view: &View, group: &Group<'a>) -> Vec<Found<'a>> {
    let find = |&(name, shown): &(&str, &'a str)| {
        let row = view.find(group.runtime, name)?;
        let median = view.median(row)?;
        Some(Found { row, shown, median })
    };
    // Without its baseline a group says nothing.
    match group.rows.first().and_then(find) {
        Some(_) => group.rows.iter().filter_map(find).collect(),
        None => Vec::new(),
    }
}

/// Shows a ratio, or that there is none to claim.
pub(crate) fn cell(ratio: Interval, noise: Noise) -> String {
    let shown = text::ratio(Some(ratio));
    match noise.claim(ratio) {
        Claim::Gain => Style::new().green().apply_to(shown).to_string(),
        Claim::Loss => Style::new()
            .red()
            .apply_to(format!("{shown}, a loss"))
            .to_string(),
        Claim::NoDifference | Claim::WithinNoise => "no difference".to_owned(),
        Claim::TooFewRounds => format!("{shown}, unsure"),
    }
}
