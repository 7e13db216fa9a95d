//! The report of reading and writing many files: a table of the idioms and smallfry's counterparts
//! per case, then sentences.

use super::prelude::*;
use super::rows::{BULK, BULK_RUST, BULK_SYNC, COMPARED, NODE_CALLBACK, NODE_PARALLEL, NODE_SYNC};
use crate::stats::claim::Claim;

/// Shows each row beside both idioms and the row `raw`.
pub(crate) fn table(page: &mut Page, view: &View, raw: &str) {
    let headings = "ms, medians|wall|x Promise.all|x Node sync|of raw|user|sys|peak MiB";
    view.table(page, headings, |row| {
        let mut line = vec![view.median_cell(row)];
        line.extend([NODE_PARALLEL, NODE_SYNC].map(|idiom| view.ratio_cell(row, idiom)));
        line.push(view.distance_cell(row, raw));
        line.extend(view.usage_cells(row));
        line
    });
}

/// Says of one case: the noise, what each idiom costs beside smallfry's counterparts, which idiom
/// wins, whether Auto chose well, and how near raw system calls are.
pub(crate) fn sentences(page: &mut Page, session: &Session, view: &View, raw: &str) {
    view.noise(page);
    view.compare(page, place, &COMPARED);
    for node in &session.nodes {
        winner(page, session, view, node.runtime.name());
    }
    strategies(page, view);
    let near = format!("{raw}|smallfry in Rust|smallfry bulk in Rust");
    view.compare(page, place, &[&near]);
}

/// Says whether calling one after another or all at once wins, and how smallfry's bulk call, which
/// chooses by itself, compares with the winner.
pub(crate) fn winner(page: &mut Page, session: &Session, view: &View, runtime: &str) {
    let find = |name| view.find(runtime, name);
    let at_once = [NODE_CALLBACK, NODE_PARALLEL].map(find);
    let fastest = view.fastest(|row, _| at_once.contains(&Some(row)));
    let (Some(sync), Some((at_once, _))) = (find(NODE_SYNC), fastest) else {
        return;
    };
    let Some(ratio) = view.ratio(sync, at_once) else {
        return;
    };
    let noise = view.noise_of(runtime);
    let (what, winner, loser) = match noise.claim(ratio) {
        Claim::Gain => ("async wins", at_once, sync),
        Claim::Loss => ("sync wins", sync, at_once),
        Claim::TooFewRounds => (
            "too few rounds to tell whether sync or async wins",
            sync,
            at_once,
        ),
        Claim::NoDifference | Claim::WithinNoise => ("neither wins, sync or async", sync, at_once),
    };
    let [one, other] = [winner, loser].map(|row| view.rows[row].implementation.as_str());
    let ours = [BULK_SYNC, BULK].map(|name| {
        let ratio = view.ratio(winner, find(name)?)?;
        Some(format!("; against {one}, {name} {}", verdict(ratio, noise)))
    });
    page.say(format!(
        "on {}, {runtime}{}: {what}: {one} is {} as fast as {other}{}.",
        session.disk_words(),
        view.in_words(),
        text::ratio(view.ratio(loser, winner)),
        ours.into_iter().flatten().collect::<String>()
    ));
}

/// Auto may be this much slower than the best strategy that could have been named.
const MATCHES: f64 = 0.95;

/// Compares Auto with the fixed strategy that turned out the best, which is not known beforehand.
fn strategies(page: &mut Page, view: &View) {
    let Some(auto) = view.find("Rust", BULK_RUST) else {
        return;
    };
    let best = view.fastest(|index, row| {
        let is_native = row.runtime.kind == Kind::Native;
        is_native && row.way.style == Style::BulkSync && row.way.keep && index != auto
    });
    let (Some((best, fastest)), Some(own)) = (best, view.median(auto)) else {
        return;
    };
    let Some(ratio) = view.ratio(best, auto) else {
        return;
    };
    let judged = if ratio.low >= MATCHES {
        "it matches the best"
    } else if ratio.high < MATCHES {
        "it is BEHIND the best"
    } else {
        "whether it matches the best this run does not tell"
    };
    let (own, fastest) = (text::duration(own), text::duration(fastest));
    page.say(format!(
        "Auto in Rust takes {own}, the best strategy of those fixed ({}) {fastest}: Auto is {} as \
         fast, {judged}.",
        view.rows[best].implementation,
        text::ratio(Some(ratio))
    ));
}

#[cfg(test)]
mod tests {
    use super::super::rows::fixed;
    use super::*;
    use crate::bench::report::view::WALL;
    use crate::bench::results::CaseResult;
    use crate::bench::runtime::Row;
    use crate::bench::runtime::protocol::{Functions, Threads};

    #[test]
    fn auto_is_compared_with_the_best_fixed_strategy() {
        let four = fixed(Threads::Fixed(4.try_into().unwrap()));
        let names = [BULK_RUST, &fixed(Threads::CallingThread), &four];
        let row = |name| Row::native(Functions::Smallfry, name, Style::BulkSync);
        let result = CaseResult::of_millis("case", names.map(row).to_vec(), &[2, 9, 2]);
        let mut page = Page::default();
        strategies(&mut page, &View::by(&result, WALL));
        let said = page
            .finish(true)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let expected = "Auto in Rust takes 2.00 ms, the best strategy of those fixed (bulk Rust, 4 \
                        threads) 2.00 ms: Auto is 1.00x (1.00-1.00) as fast, it matches the best.";
        assert!(said.contains(expected), "{said}");
    }
}
