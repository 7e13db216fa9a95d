//! The values of each thing over all runs of both sides, and the judgement about smallfry.

use super::outputs::Entry;
use super::printed::Printed;
use super::run::Seen;
use super::value::{Shape, Value};
use crate::trial::subject::Side;
use crate::trial::system::Stamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trial) enum Thing {
    ExitStatus,
    StandardOutput,
    StandardError,
    Output(PathBuf),
}

impl Thing {
    /// The directory of an output.
    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Output(path) => path.parent(),
            Self::ExitStatus | Self::StandardOutput | Self::StandardError => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::trial) enum Judgement {
    Same,
    /// It also varies without smallfry.
    Varies,
    /// Printed text that is the same in all runs of both sides except for numbers, which also vary
    /// without smallfry.
    NumbersVary,
    /// Printed text that is the same in all runs of both sides except for times.
    TimesVary,
    /// It has a value with smallfry that it never had without.
    Differs(Difference),
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::trial) struct Difference {
    /// As in `it <how>`.
    pub(in crate::trial) how: &'static str,
    /// The number of runs with smallfry in which it differed.
    pub(in crate::trial) runs: usize,
    pub(in crate::trial) of: usize,
    /// The first line of printed text that differs, without and with smallfry.
    pub(in crate::trial) lines: Option<[String; 2]>,
}

/// Distinct values (`None`: it was missing), each with the number of runs.
type Tally = Vec<(Option<Value>, usize)>;

#[derive(Default)]
pub(in crate::trial) struct Comparison {
    runs: [usize; 2],
    /// By side.
    tallies: BTreeMap<Thing, [Tally; 2]>,
    /// Regular files among the outputs of the last run.
    files: BTreeMap<PathBuf, FileFacts>,
    /// For each stream the first text without smallfry, and the first different one with it.
    printed: [Vec<(Side, Printed)>; 2],
    /// For each stream whether the printed text varied, times included.
    times_vary: [bool; 2],
}

struct FileFacts {
    bytes: u64,
    stamp: Stamp,
    /// True if a run wrote it after the first look.
    written: bool,
}

impl Comparison {
    pub(in crate::trial) fn add(&mut self, side: Side, seen: Seen) {
        let status = Value {
            shape: Shape::Status(seen.status),
            contents: blake3::hash(&[]),
        };
        let mut values = BTreeMap::from([
            (Thing::ExitStatus, status),
            (Thing::StandardOutput, seen.output.value),
            (Thing::StandardError, seen.errors.value),
        ]);
        self.note_files(&seen.entries);
        let outputs = seen.entries.into_iter();
        values.extend(outputs.map(|(path, entry)| (Thing::Output(path), entry.value)));
        self.tally(side, values);
        for (index, printed) in [seen.output, seen.errors].into_iter().enumerate() {
            let kept = &mut self.printed[index];
            self.times_vary[index] |= kept
                .first()
                .is_some_and(|(_, first)| first.whole != printed.whole);
            keep_for_example(kept, side, printed);
        }
    }

    fn note_files(&mut self, entries: &BTreeMap<PathBuf, Entry>) {
        let before = std::mem::take(&mut self.files);
        let is_first = self.runs == [0, 0];
        let is_file = |entry: &Entry| matches!(entry.value.shape, Shape::File | Shape::Executable);
        for (path, entry) in entries.iter().filter(|(_, entry)| is_file(entry)) {
            let written = match before.get(path) {
                Some(known) => known.written || known.stamp != entry.stamp,
                None => !is_first,
            };
            let facts = FileFacts {
                bytes: entry.bytes,
                stamp: entry.stamp,
                written,
            };
            self.files.insert(path.clone(), facts);
        }
    }

    fn tally(&mut self, side: Side, mut values: BTreeMap<Thing, Value>) {
        let before = self.runs;
        self.runs[side as usize] += 1;
        for thing in values.keys() {
            if !self.tallies.contains_key(thing) {
                // It was missing in all runs before.
                let absent = before.map(|runs| match runs {
                    0 => Vec::new(),
                    runs => vec![(None, runs)],
                });
                self.tallies.insert(thing.clone(), absent);
            }
        }
        for (thing, tallies) in &mut self.tallies {
            let value = values.remove(thing);
            let tally = &mut tallies[side as usize];
            match tally.iter_mut().find(|(known, _)| *known == value) {
                Some((_, runs)) => *runs += 1,
                None => tally.push((value, 1)),
            }
        }
    }

    /// By side.
    pub(in crate::trial) fn runs(&self) -> [usize; 2] {
        self.runs
    }

    /// Returns true if nothing has a value with smallfry that it never had without.
    pub(in crate::trial) fn is_same(&self) -> bool {
        self.judgements()
            .all(|(_, judgement)| !matches!(judgement, Judgement::Differs(_)))
    }

    pub(in crate::trial) fn judgements(&self) -> impl Iterator<Item = (&Thing, Judgement)> {
        let unstable = self.unstable_directories();
        self.tallies.iter().map(move |(thing, tallies)| {
            let judgement = if is_chance_name(thing, tallies, &unstable) {
                Judgement::Varies
            } else {
                self.judge(thing, tallies)
            };
            (thing, judgement)
        })
    }

    /// Directories whose names vary from run to run without smallfry.
    fn unstable_directories(&self) -> BTreeSet<&Path> {
        let varying = self.tallies.iter().filter(|(_, [without, _])| {
            let absent = without.iter().any(|(value, _)| value.is_none());
            absent && without.len() > 1
        });
        varying.filter_map(|(thing, _)| thing.directory()).collect()
    }

    /// The number of regular files among the outputs of the last run, and their bytes.
    pub(in crate::trial) fn files(&self) -> (usize, u64) {
        let bytes = self.files.values().map(|facts| facts.bytes).sum();
        (self.files.len(), bytes)
    }

    /// The number of those files that no run wrote after the first look. Comparing them proves
    /// nothing.
    pub(in crate::trial) fn never_written(&self) -> usize {
        self.files.values().filter(|facts| !facts.written).count()
    }

    fn judge(&self, thing: &Thing, [without, with]: &[Tally; 2]) -> Judgement {
        let shape = |value: &Option<Value>| value.map(|value| value.shape);
        let shapes: Vec<_> = without.iter().map(|(value, _)| shape(value)).collect();
        if shapes.iter().any(|other| *other != shapes[0]) {
            return Judgement::Varies;
        }
        let strange = |is_strange: &dyn Fn(&Option<Value>) -> bool| {
            let strange = with.iter().filter(|(value, _)| is_strange(value));
            let (value, _) = strange.clone().next()?;
            Some((*value, strange.map(|(_, runs)| runs).sum::<usize>()))
        };
        let known = without.first().and_then(|(value, _)| *value);
        let difference = |value, runs| Difference {
            how: how(known, value),
            runs,
            of: self.runs[Side::With as usize],
            lines: self.example(thing),
        };
        if let Some((value, runs)) = strange(&|value| !shapes.contains(&shape(value))) {
            return Judgement::Differs(difference(value, runs));
        }
        if without.len() > 1 {
            return match shapes[0] {
                Some(Shape::Text(_)) => Judgement::NumbersVary,
                _ => Judgement::Varies,
            };
        }
        match strange(&|value| *value != known) {
            // A changed count may be the only sign of a page that was left out.
            Some((value, runs)) => Judgement::Differs(difference(value, runs)),
            None if self.only_times_vary(thing) => Judgement::TimesVary,
            None => Judgement::Same,
        }
    }

    fn only_times_vary(&self, thing: &Thing) -> bool {
        stream(thing).is_some_and(|index| self.times_vary[index])
    }

    /// A line of printed text that differs.
    fn example(&self, thing: &Thing) -> Option<[String; 2]> {
        let [(_, without), (_, with)] = self.printed[stream(thing)?].as_slice() else {
            return None;
        };
        // No lines are kept beyond the maximum.
        Some(without.first_difference(with).unwrap_or_default())
    }
}

/// The index of a stream of printed text.
fn stream(thing: &Thing) -> Option<usize> {
    match thing {
        Thing::StandardOutput => Some(0),
        Thing::StandardError => Some(1),
        Thing::ExitStatus | Thing::Output(_) => None,
    }
}

/// Returns true if a name came up only with smallfry, but by chance: it came up once, in a
/// directory where names also vary without smallfry.
fn is_chance_name(thing: &Thing, [without, with]: &[Tally; 2], unstable: &BTreeSet<&Path>) -> bool {
    let never_without = without.iter().all(|(value, _)| value.is_none());
    let times: usize = with
        .iter()
        .filter(|(value, _)| value.is_some())
        .map(|(_, runs)| runs)
        .sum();
    let directories = thing.directory().into_iter().flat_map(Path::ancestors);
    never_without
        && times == 1
        && directories
            .into_iter()
            .any(|directory| unstable.contains(directory))
}

/// Keeps the first text without smallfry, and one different text with it: one that differs in more
/// than numbers, if there is one.
fn keep_for_example(kept: &mut Vec<(Side, Printed)>, side: Side, printed: Printed) {
    match (kept.as_slice(), side) {
        ([], Side::Without) => kept.push((side, printed)),
        ([(_, first)], Side::With) if first.value != printed.value => kept.push((side, printed)),
        ([(_, first), (_, second)], Side::With)
            if second.value.shape == first.value.shape
                && printed.value.shape != first.value.shape =>
        {
            kept[1] = (side, printed);
        }
        _ => {}
    }
}

fn how(without: Option<Value>, with: Option<Value>) -> &'static str {
    match (without, with) {
        (Some(_), None) => "is missing",
        (None, _) => "is there only with smallfry",
        (Some(without), Some(with)) => match (without.shape, with.shape) {
            (Shape::Executable, Shape::File) => "is not executable",
            (Shape::File, Shape::Executable) => "is executable",
            (Shape::Link, Shape::Link) => "points elsewhere",
            (Shape::Text(own), Shape::Text(other)) if own == other => "has other numbers",
            (own, other) if own == other => "has other bytes",
            (Shape::Text(_), _) => "is different",
            (Shape::Status(_), _) => "is another",
            _ => "is something else",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: [Side; 4] = [Side::Without, Side::With, Side::With, Side::Without];

    /// Judges four runs that leave one file with these contents, or none.
    fn judgement(contents: [Option<&str>; 4]) -> Judgement {
        let mut comparison = Comparison::default();
        let thing = Thing::Output("file".into());
        for (side, contents) in SIDES.into_iter().zip(contents) {
            let value = contents.map(|text| Value {
                shape: Shape::File,
                contents: blake3::hash(text.as_bytes()),
            });
            comparison.tally(
                side,
                value
                    .map(|value| (thing.clone(), value))
                    .into_iter()
                    .collect(),
            );
        }
        let judgement = comparison.judgements().next();
        judgement.map_or(Judgement::Same, |(_, judgement)| judgement)
    }

    fn differs(how: &'static str, runs: usize) -> Judgement {
        Judgement::Differs(Difference {
            how,
            runs,
            of: 2,
            lines: None,
        })
    }

    #[test]
    fn a_value_never_seen_without_smallfry_is_a_difference() {
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(judgement([a, a, a, a]), Judgement::Same);
        assert_eq!(judgement([a, b, b, a]), differs("has other bytes", 2));
        assert_eq!(judgement([a, a, b, a]), differs("has other bytes", 1));
        assert_eq!(judgement([a, None, None, a]), differs("is missing", 2));
        assert_eq!(
            judgement([None, a, a, None]),
            differs("is there only with smallfry", 2)
        );
        assert_eq!(
            judgement([None, None, a, None]),
            differs("is there only with smallfry", 1)
        );
    }

    #[test]
    fn a_value_that_varies_without_smallfry_is_no_difference() {
        let (a, b, c) = (Some("a"), Some("b"), Some("c"));
        assert_eq!(judgement([a, c, c, b]), Judgement::Varies);
        assert_eq!(judgement([a, a, a, None]), Judgement::Varies);
    }

    /// A build that names files by something random in them: `chunk-1`, `chunk-2`.
    #[test]
    fn a_name_seen_once_is_no_difference_where_names_vary_without_smallfry() {
        let mut comparison = Comparison::default();
        let value = Value {
            shape: Shape::File,
            contents: blake3::hash(&[]),
        };
        let output = |name: String| (Thing::Output(name.into()), value);
        for (run, side) in SIDES.into_iter().enumerate() {
            let mut values = BTreeMap::from([
                output("stable".to_owned()),
                output(format!("chunks/chunk-{run}")),
                output(format!("chunks/directory-{run}/file")),
            ]);
            if side == Side::With {
                values.extend([output("chunks/again".to_owned())]);
            }
            comparison.tally(side, values);
        }
        let judgements: Vec<_> = comparison.judgements().collect();
        let differing = judgements
            .iter()
            .filter(|(_, judgement)| matches!(judgement, Judgement::Differs(_)));
        let differing: Vec<_> = differing.map(|(thing, _)| (*thing).clone()).collect();
        assert_eq!(differing, [Thing::Output("chunks/again".into())]);
    }

    #[test]
    fn a_missing_file_is_a_difference_even_if_its_contents_vary() {
        assert_eq!(
            judgement([Some("a"), None, None, Some("b")]),
            differs("is missing", 2)
        );
    }
}
