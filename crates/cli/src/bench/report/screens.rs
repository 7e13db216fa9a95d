//! The parts that the first screens of scenarios share.

use super::view::View;
use crate::bench::session::Session;
use crate::output::screen::{self, Screen};
use crate::output::text;
use crate::stats::claim::Noise;

/// The columns of a name.
const NAME: usize = 22;
/// The columns of a median.
pub(super) const MEDIAN: usize = 8;
/// The columns that a ratio needs, a loss with its word.
pub(super) const RATIO: usize = 26;
/// The maximum length of a bar.
const BAR: usize = 20;

/// Rows that are compared, in one runtime.
pub(crate) struct Group<'a> {
    pub(crate) title: &'a str,
    pub(crate) runtime: &'a str,
    /// The names of rows, and what the screen calls them. The first row is the baseline.
    pub(crate) rows: &'a [(&'a str, &'a str)],
}

/// Begins with the name of the scenario, what is measured, and where.
pub(crate) fn begin(name: &str, what: &str, session: &Session, rounds: usize) -> Screen {
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
    Screen::new(&facts.into_iter().flatten().collect::<Vec<_>>())
}

/// Shows the groups that have more than one row: medians, bars to one scale, and how many times
/// as fast as its baseline each row is.
pub(crate) fn groups(screen: &mut Screen, view: &View, groups: &[Group<'_>]) {
    let found: Vec<_> = groups
        .iter()
        .map(|group| (group, found(view, group)))
        .filter(|(_, rows)| rows.len() > 1)
        .collect();
    let medians = found.iter().flat_map(|(_, rows)| rows);
    let longest = medians.fold(0.0, |longest, row| f64::max(longest, row.median));
    let room = text::width().saturating_sub(4 + NAME + 1 + MEDIAN + 2 + RATIO + 2);
    let cells = if screen::has_bars() { room.min(BAR) } else { 0 };
    let gap = if cells > 0 { cells + 2 } else { 0 };
    for (index, (group, rows)) in found.iter().enumerate() {
        let headings = match index {
            0 => format!("{:>MEDIAN$}  {:gap$}times as fast (95 %)", "median", ""),
            _ => String::new(),
        };
        let width = NAME + 3;
        screen.line(format!("  {:<width$}{headings}", group.title).trim_end());
        let noise = view.noise_of(group.runtime);
        for (index, row) in rows.iter().enumerate() {
            let bar = text::hashes(row.median / longest, cells);
            let ratio = view.ratio(rows[0].row, row.row).filter(|_| index > 0);
            let ratio = ratio.map_or_else(String::new, |ratio| screen::cell(ratio, noise));
            let median = text::duration(row.median);
            let line = format!(
                "    {:<NAME$} {median:>MEDIAN$}  {bar:<gap$}{ratio}",
                row.shown
            );
            screen.line(line.trim_end());
        }
    }
}

/// Says what a baseline against itself shows, and what is therefore not claimed.
pub(crate) fn noise(screen: &mut Screen, session: &Session, baseline: &str, noise: Noise) {
    let Some(itself) = noise.itself else {
        let reason = match noise.rounds {
            0 | 1 => "one round tells nothing: no intervals",
            _ => "not known, since no baseline was run twice",
        };
        return screen.fact("Noise", reason);
    };
    let host = &session.host;
    let is_busy = host.load_average.unwrap_or(0.0) > host.cores as f64 / 2.0;
    let busy = if is_busy { "busy machine: " } else { "" };
    let (percent, itself) = (noise.percent(), itself.estimate);
    screen.fact(
        "Noise",
        &format!(
            "{busy}{baseline} against itself {itself:.2}x; nothing under {percent:.0} % is claimed"
        ),
    );
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
