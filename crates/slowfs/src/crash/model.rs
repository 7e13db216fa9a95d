//! Names and attributes after a crash.

use super::log::Log;
use super::node::{Attributes, Inode, Name};
use super::operation::Operation;
use crate::error::Error;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// The promises of a file system about operations that were not flushed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Model {
    /// The promises of ext4 with its journal (`data=ordered`). Names, attributes and truncations
    /// survive in the order in which they were made, up to some moment not before the last flush of
    /// anything. A file is as long as the part of it that was written to the disk, so a file that
    /// was renamed but not flushed may be short or empty. Parts that were overwritten in place may
    /// be old, new or torn.
    Ordered,
    /// The promises of POSIX only. A name is sure to survive once its directory was flushed;
    /// flushing the file does not help. Contents, size and (except with fdatasync) attributes are
    /// sure to survive once the file was flushed. Of everything else any part may survive, in any
    /// order, with torn pages and sectors. A rename happens as a whole or not at all, and
    /// operations on one name keep their order.
    Weak,
}

impl Model {
    /// All models.
    pub const ALL: [Self; 2] = [Self::Ordered, Self::Weak];

    fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Weak => "weak",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|model| model.name() == text)
            .ok_or_else(|| Error::Argument(format!("{text}: the models are ordered and weak")))
    }
}

/// One crash: its moment, and which of the possible states it leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Crash {
    /// The number of operations before the crash.
    pub point: usize,
    /// The promises of the file system.
    pub model: Model,
    /// The seed. The same seed leaves the same state.
    pub seed: u64,
}

impl Crash {
    /// Random numbers for one part of the state, independent of those for other parts.
    pub(super) fn random(&self, part: u64) -> Rng {
        let mut mixed = self.seed;
        for value in [self.point as u64, self.model as u64, part] {
            mixed = Rng::with_seed(mixed ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15)).u64(..);
        }
        Rng::with_seed(mixed)
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, model, seed } = self;
        write!(
            formatter,
            "a crash after {point} operations, model {model}, seed {seed}"
        )
    }
}

/// The part that survives of the operations that were not flushed.
#[derive(Clone, Copy)]
pub(super) enum Survival {
    Nothing,
    Everything,
    Each(f64),
}

impl Survival {
    /// Draws the extremes often: programs break there, and with many operations they would hardly
    /// ever come by chance.
    pub(super) fn draw(random: &mut Rng) -> Self {
        match random.u8(..5) {
            0 => Self::Nothing,
            1 => Self::Everything,
            _ => Self::Each(random.f64()),
        }
    }

    pub(super) fn keeps(self, random: &mut Rng) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Each(share) => random.f64() < share,
        }
    }
}

/// Names that differ from those before the log, and the inodes that they lead to, if any.
pub(super) type Names<'log> = BTreeMap<(Inode, &'log OsStr), Option<Inode>>;

/// The operation up to which the journal was written.
pub(super) fn commit(log: &Log, crash: &Crash) -> usize {
    let mut earliest = 0;
    for (inode, data_only, before) in flushes(log, &log.flushes, crash.point) {
        // fdatasync(2) needs the journal only when the size changed.
        let resized = |&size: &usize| (earliest..before).contains(&size);
        let sizes = log.node(inode).map_or(&[][..], |node| &node.sizes);
        if !data_only || sizes.iter().any(resized) {
            earliest = earliest.max(before);
        }
    }
    let mut random = crash.random(u64::MAX);
    match Survival::draw(&mut random) {
        Survival::Nothing => earliest,
        Survival::Everything => crash.point,
        Survival::Each(_) => random.usize(earliest..=crash.point),
    }
}

/// Returns the names that survive.
pub(super) fn names<'log>(log: &'log Log, crash: &Crash, commit: usize) -> Names<'log> {
    let mut names = Names::new();
    let survivors = match crash.model {
        Model::Ordered => vec![true; commit],
        Model::Weak => independent(log, crash),
    };
    let entries = log.entries.iter().zip(survivors);
    for (entry, _) in entries.filter(|(_, survives)| *survives) {
        let mut enter = |name: &'log Name, inode| {
            names.insert((name.directory, name.name.as_os_str()), inode);
        };
        match &entry.operation {
            Operation::Make(inode, name) | Operation::Link(inode, name) => {
                enter(name, Some(*inode));
            }
            Operation::Remove(name) => enter(name, None),
            Operation::Rename {
                moved,
                from,
                to,
                exchanged,
            } => {
                enter(from, *exchanged);
                enter(to, Some(*moved));
            }
            _ => {}
        }
    }
    names
}

/// Chooses the surviving operations on names before the crash, where each directory is independent.
fn independent(log: &Log, crash: &Crash) -> Vec<bool> {
    let entries = &log.entries[..crash.point];
    let durable = durable_directories(log, crash.point);
    let is_durable = |index: usize, name: &Name| {
        durable
            .get(&name.directory)
            .is_some_and(|&before| index < before)
    };
    let mut survives: Vec<bool> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| match &entry.operation {
            Operation::Make(_, name) | Operation::Link(_, name) | Operation::Remove(name) => {
                is_durable(index, name)
            }
            // A rename is durable in both directories or in neither.
            Operation::Rename { from, to, .. } => is_durable(index, from) || is_durable(index, to),
            _ => false,
        })
        .collect();
    for index in (0..entries.len()).rev() {
        if survives[index] {
            for &needed in &entries[index].needs {
                survives[needed] = true;
            }
        }
    }
    let mut random = crash.random(u64::MAX);
    let survival = Survival::draw(&mut random);
    for (index, entry) in entries.iter().enumerate() {
        if !survives[index] {
            let possible = entry.needs.iter().all(|&needed| survives[needed]);
            survives[index] = possible && survival.keeps(&mut random);
        }
    }
    survives
}

/// For each directory that was flushed, the number of operations before its last flush.
fn durable_directories(log: &Log, point: usize) -> BTreeMap<Inode, usize> {
    let mut durable = BTreeMap::new();
    for (inode, _, before) in flushes(log, &log.flushes, point) {
        let latest = durable.entry(inode).or_insert(before);
        *latest = before.max(*latest);
    }
    durable
}

/// The number of operations before the last flush of an inode.
pub(super) fn durable(log: &Log, inode: Inode, point: usize, attributes: bool) -> usize {
    let indices = log.node(inode).map_or(&[][..], |node| &node.flushes);
    flushes(log, indices, point)
        .filter(|(_, data_only, _)| !(attributes && *data_only))
        .map(|(_, _, before)| before)
        .max()
        .unwrap_or(0)
}

/// Completed flushes: the inode, whether only its data were flushed, and the number of operations
/// before.
fn flushes<'log>(
    log: &'log Log,
    indices: &'log [usize],
    point: usize,
) -> impl Iterator<Item = (Inode, bool, usize)> {
    let ended = indices.iter().take_while(move |&&index| index < point);
    ended.filter_map(|&index| match log.entries[index].operation {
        Operation::Flush {
            inode,
            data_only,
            before,
        } => Some((inode, data_only, before)),
        _ => None,
    })
}

/// Returns the attributes of an inode.
pub(super) fn attributes(log: &Log, inode: Inode, crash: &Crash, commit: usize) -> Attributes {
    let Ok(node) = log.node(inode) else {
        return Attributes::default();
    };
    let made = |before: usize| node.changes.partition_point(|&change| change < before);
    let survives = match crash.model {
        Model::Ordered => made(commit),
        Model::Weak => {
            let fewest = made(durable(log, inode, crash.point, true));
            let all = made(crash.point);
            crash.random(!u64::from(inode.0) << 1).usize(fewest..=all)
        }
    };
    let last = survives.checked_sub(1).map(|last| node.changes[last]);
    match last.map(|last| &log.entries[last].operation) {
        Some(Operation::Change(_, attributes)) => *attributes,
        _ => node.attributes,
    }
}
