//! Times of both sides, and the verdict.

use super::sentence::{plural, say};
use crate::output::text;
use crate::stats::claim::{Claim, Noise};
use crate::stats::interval::{self, Interval};
use crate::stats::percentiles::median;
use crate::trial::answer::Pair;
use crate::trial::process::Usage;
use crate::trial::schedule::ENOUGH_PAIRS;
use crate::trial::start::Start;
use crate::trial::subject::Side;
use crate::trial::system::Processor;
use comfy_table::Table;
use std::fmt::Write as _;

/// The name of a time, and how to get it from a run.
pub(super) type Kind = (&'static str, fn(&Usage) -> Option<u64>);

pub(super) const KINDS: [Kind; 4] = [
    ("wall", |usage| Some(usage.wall_ns)),
    ("user", |usage| Some(usage.processor?.user_ns)),
    ("sys", |usage| Some(usage.processor?.sys_ns)),
    ("user + sys", |usage| {
        let Processor { user_ns, sys_ns } = usage.processor?;
        Some(user_ns + sys_ns)
    }),
];

/// The speed with smallfry, as a multiple of the speed without.
pub(super) struct Gain {
    /// By [`KINDS`]. `None` where there are too few pairs, or the system does not tell.
    pub(super) ratios: [Option<Interval>; KINDS.len()],
    /// Median wall and processor times, by side.
    wall_ns: [f64; 2],
    processor_ns: [f64; 2],
    pairs: usize,
}

impl Gain {
    pub(super) fn of(pairs: &[Pair]) -> Self {
        let side = |side, get| times(pairs, side, get);
        Self {
            ratios: KINDS.map(|(_, get)| {
                let ratio = || interval::ratio(&side(Side::Without, get), &side(Side::With, get));
                (pairs.len() >= ENOUGH_PAIRS).then(ratio).flatten()
            }),
            wall_ns: Side::BOTH.map(|each| middle(&side(each, KINDS[0].1)).unwrap_or(0.0)),
            processor_ns: Side::BOTH.map(|each| middle(&side(each, KINDS[3].1)).unwrap_or(0.0)),
            pairs: pairs.len(),
        }
    }

    pub(super) fn wall(&self) -> Option<Interval> {
        self.ratios[0]
    }

    fn processor(&self) -> Option<Interval> {
        self.ratios[3]
    }

    /// Returns true if there are too few pairs to tell a gain from noise.
    pub(super) fn has_too_few_pairs(&self) -> bool {
        self.pairs < ENOUGH_PAIRS
    }

    /// Returns true if a gain in wall time is certain.
    pub(super) fn is_one(&self) -> bool {
        self.claim() == Claim::Gain
    }

    /// The wall time that a run saves, if a gain is certain.
    pub(super) fn saved_ns(&self) -> Option<f64> {
        let [without, with] = self.wall_ns;
        self.is_one().then_some(without - with)
    }

    /// Returns the verdict in a word, and what it stands on.
    pub(super) fn short(&self) -> (&'static str, String) {
        let [without, with] = self.wall_ns.map(text::duration);
        let medians = format!("{without} -> {with}, medians");
        let Some(wall) = self.wall() else {
            return ("UNSURE", medians);
        };
        let ratio = text::ratio(Some(wall)).replacen('x', "x as fast", 1);
        match self.claim() {
            Claim::Gain => ("GAIN", format!("{ratio}      {medians}")),
            Claim::Loss => ("LOSS", format!("{ratio}      {medians}")),
            _ => (
                "EVEN",
                format!("no certain difference: {ratio}      {medians}"),
            ),
        }
    }

    /// Says how much less processor time is needed, if that is certain.
    pub(super) fn short_processor(&self) -> Option<String> {
        let interval = self.processor()?;
        let is_certain = matches!(self.noise().claim(interval), Claim::Gain | Claim::Loss);
        is_certain.then(|| {
            let [without, with] = self.processor_ns.map(text::duration);
            format!("{}      {without} -> {with}, user + sys", change(interval))
        })
    }

    pub(super) fn noise(&self) -> Noise {
        // Both sides are fresh processes in random order, so that equal sides differ by what the
        // interval already holds.
        Noise {
            itself: None,
            rounds: self.pairs,
        }
    }

    fn claim(&self) -> Claim {
        self.wall()
            .map_or(Claim::TooFewRounds, |wall| self.noise().claim(wall))
    }

    pub(super) fn show(&self, out: &mut String, pairs: &[Pair]) {
        let mut table = text::table(&["median of a run", "without", "with", "gain (95 %)"]);
        for ((name, get), ratio) in KINDS.into_iter().zip(self.ratios) {
            row(&mut table, name, pairs, get, ratio);
        }
        let _ = writeln!(
            out,
            "\n{} of runs, each in random order, after an unmeasured warm-up pair",
            plural(self.pairs, "pair")
        );
        text::put(out, &table);
    }

    pub(super) fn say(&self, out: &mut String) {
        let Some(interval) = self.wall() else {
            return say(out, '!', &self.no_verdict());
        };
        say(out, '-', &self.verdict(interval));
        if let Some(interval) = self.processor().filter(|interval| !interval.holds_one()) {
            let sentence = format!("processor time (user + sys): {}.", change(interval));
            say(out, '-', &sentence);
        }
    }

    fn no_verdict(&self) -> String {
        format!(
            "{}: too few to tell a gain or a loss from noise. --runs {ENOUGH_PAIRS} is enough; --runs 20 finds smaller differences.",
            plural(self.pairs, "pair")
        )
    }

    fn verdict(&self, interval: Interval) -> String {
        let [without, with] = self.wall_ns;
        let ratio = text::ratio(Some(interval));
        let by = text::duration((without - with).abs());
        let of = text::duration(without);
        let claim = self.claim();
        if claim == Claim::NoDifference {
            format!(
                "No gain here: {ratio} as fast. The interval contains 1, so no difference is certain."
            )
        } else if claim == Claim::WithinNoise {
            format!("No gain here: {ratio} as fast, a difference not worth a word.")
        } else if claim == Claim::Gain {
            format!("A gain: the command is {ratio} as fast with smallfry, {by} less than {of}.")
        } else {
            format!(
                "A LOSS: the command is {ratio} as fast with smallfry, {by} more than {of}. No gain here."
            )
        }
    }
}

fn row(
    table: &mut Table,
    name: &str,
    pairs: &[Pair],
    get: fn(&Usage) -> Option<u64>,
    ratio: Option<Interval>,
) {
    let shown =
        |side| middle(&times(pairs, side, get)).map_or_else(|| "-".to_owned(), text::duration);
    table.add_row([
        name.to_owned(),
        shown(Side::Without),
        shown(Side::With),
        text::ratio(ratio),
    ]);
}

pub(super) fn times(
    pairs: &[Pair],
    side: Side,
    get: fn(&Usage) -> Option<u64>,
) -> Vec<Option<f64>> {
    let time = |Pair(usages): &Pair| get(&usages[side as usize]).map(|ns| ns as f64);
    pairs.iter().map(time).collect()
}

pub(super) fn middle(times: &[Option<f64>]) -> Option<f64> {
    median(times.iter().copied().flatten())
}

/// Returns how much less or more is needed, if the command is `interval` times as fast.
fn change(interval: Interval) -> String {
    let percent = |ratio: f64| (1.0 - 1.0 / ratio) * 100.0;
    let (sign, what) = if interval.estimate > 1.0 {
        (1.0, "less")
    } else {
        (-1.0, "MORE")
    };
    let mut ends = [interval.low, interval.high].map(|ratio| sign * percent(ratio));
    ends.sort_unstable_by(f64::total_cmp);
    format!(
        "{:.0} % {what} ({:.0}-{:.0} %)",
        sign * percent(interval.estimate),
        ends[0],
        ends[1]
    )
}

/// Returns each run's wall time as a part of its side's median, in the order of the pairs, and the
/// median without smallfry.
pub(super) fn parts(pairs: &[Pair]) -> (Vec<f64>, f64) {
    let wall = KINDS[0].1;
    let sides = Side::BOTH.map(|side| times(pairs, side, wall));
    let medians = sides
        .each_ref()
        .map(|times| middle(times).filter(|ns| *ns > 0.0).unwrap_or(1.0));
    let of_pair = |pair: usize| {
        let part = |side: usize| Some(sides[side][pair]? / medians[side]);
        [part(0), part(1)].into_iter().flatten()
    };
    let parts = (0..pairs.len()).flat_map(of_pair).collect();
    (parts, medians[0])
}

/// Says what smallfry adds to the start of a process of Node.
pub(super) fn short_start(start: Start) -> String {
    let [more, without] = [start.more_ns, start.without_ns].map(text::duration);
    format!("{more} more for each process of Node, which starts in {without}")
}

/// Tells the cost of loading smallfry into a process.
pub(super) fn say_start(out: &mut String, start: Start) {
    let [more, without] = [start.more_ns, start.without_ns].map(text::duration);
    let part = start.more_ns / start.without_ns * 100.0;
    let sentence = format!(
        "loading smallfry adds {more} to the start of a process of Node, which takes {without} without it ({part:.1} %)."
    );
    say(out, '-', &sentence);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal pairs in which the side with smallfry takes half the time.
    fn pairs(count: usize) -> Vec<Pair> {
        let usage = |wall_ns| Usage {
            wall_ns,
            processor: None,
        };
        vec![Pair([usage(2_000_000_000), usage(1_000_000_000)]); count]
    }

    #[test]
    fn too_few_pairs_give_no_verdict_and_no_interval() {
        for count in 1..ENOUGH_PAIRS {
            let pairs = pairs(count);
            let gain = Gain::of(&pairs);
            let mut said = String::new();
            gain.show(&mut said, &pairs);
            gain.say(&mut said);
            assert!(gain.wall().is_none() && !gain.is_one() && gain.has_too_few_pairs());
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("too few to tell"), "{words}");
            assert!(words.contains("--runs 6"), "{words}");
            for verdict in ["2.00x", "A gain:", "A LOSS", "No gain here"] {
                assert!(!words.contains(verdict), "{verdict:?} is in {words}");
            }
        }
    }

    #[test]
    fn enough_pairs_give_a_verdict() {
        let gain = Gain::of(&pairs(ENOUGH_PAIRS));
        let mut said = String::new();
        gain.say(&mut said);
        assert!(gain.is_one() && !gain.has_too_few_pairs());
        assert_eq!(gain.saved_ns(), Some(1e9));
        assert!(said.contains("A gain: "), "{said}");
    }

    #[test]
    fn a_change_is_a_percentage_of_the_old_value() {
        let [low, estimate, high] = [1.25, 2.0, 4.0];
        let interval = Interval {
            low,
            estimate,
            high,
        };
        assert_eq!(change(interval), "50 % less (20-75 %)");
        let (low, estimate, high) = (0.5, 0.8, 0.9);
        let interval = Interval {
            low,
            estimate,
            high,
        };
        assert_eq!(change(interval), "25 % MORE (11-100 %)");
    }
}
