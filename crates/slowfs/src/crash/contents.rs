//! What a crash may leave of a file's contents.

use super::extents::Extents;
use super::log::Log;
use super::model::{Crash, Model, Survival, durable};
use super::node::Inode;
use super::operation::{Operation, apply};
use fastrand::Rng;

/// What a system writes at a time.
pub(super) const PAGE: u64 = 4096;
/// What a disk writes as a whole.
const SECTOR: u64 = 512;
/// The most parts of one write that have a fate of their own; those of larger ones are larger.
const PARTS: u64 = 1 << 16;

/// The contents of a file. `commit`: up to where the journal was written, if there is one.
pub(super) fn contents(log: &Log, inode: Inode, crash: &Crash, commit: usize) -> Extents {
    let Ok(node) = log.node(inode) else {
        return Extents::default();
    };
    let mut contents = node.before.clone();
    let until = |before: usize| node.contents.partition_point(|&index| index < before);
    let flushed = until(durable(log, inode, crash.point, false));
    let operations: Vec<&Operation> = node.contents[..until(crash.point)]
        .iter()
        .map(|&index| &log.entries[index].operation)
        .collect();
    let (durable, doubtful) = operations.split_at(flushed);
    for operation in durable {
        apply(&mut contents, operation);
    }
    let mut random = crash.random(u64::from(inode.0));
    match crash.model {
        Model::Weak => weak(&mut contents, doubtful, &mut random),
        Model::Ordered => {
            // Behind a truncation that the journal does not have, all is as if it had not been.
            let committed = until(commit).saturating_sub(flushed);
            let lost = doubtful.iter().skip(committed);
            let reached = lost
                .take_while(|operation| !matches!(operation, Operation::Resize(..)))
                .count();
            let reached = &doubtful[..committed.min(doubtful.len()) + reached];
            ordered(&mut contents, reached, &mut random);
        }
    }
    contents
}

/// At some moment the system writes what there is of the file by then, and lets it be as long as that. Before and after,
/// only what overwrites something may reach the disk.
fn ordered(contents: &mut Extents, doubtful: &[&Operation], random: &mut Rng) {
    let survival = Survival::draw(random);
    let moment = match survival {
        Survival::Nothing => 0,
        Survival::Everything => doubtful.len(),
        Survival::Each(_) => random.usize(..=doubtful.len()),
    };
    let (before, after) = doubtful.split_at(moment);
    let mut shown = contents.clone();
    let mut wanted = contents.clone();
    for operation in before {
        apply(&mut wanted, operation);
    }
    // Truncations take effect at once, and writes behind the end only as a whole.
    let written = if random.bool() {
        wanted.size
    } else {
        random.u64(..=wanted.size) / PAGE * PAGE
    };
    for operation in before {
        match operation {
            Operation::Resize(_, size) => shown.resize(*size),
            Operation::Write {
                offset,
                length,
                bytes,
                ..
            } => {
                let end = offset + length;
                let old = shown.size.clamp(*offset, end);
                overwrite(&mut shown, (*offset, old, *bytes), survival, random);
                let grown = written.clamp(old, end);
                if grown > old {
                    place(&mut shown, *offset, (old, grown), *bytes);
                    shown.size = grown;
                }
            }
            _ => {}
        }
    }
    for operation in after {
        match operation {
            Operation::Resize(_, size) => shown.resize(*size),
            Operation::Write {
                offset,
                length,
                bytes,
                ..
            } => {
                let old = shown.size.clamp(*offset, offset + length);
                overwrite(&mut shown, (*offset, old, *bytes), survival, random);
            }
            _ => {}
        }
    }
    *contents = shown;
}

/// Any part of anything.
fn weak(contents: &mut Extents, doubtful: &[&Operation], random: &mut Rng) {
    let survival = Survival::draw(random);
    let mut sizes = vec![contents.size];
    for operation in doubtful {
        let size = sizes.last().copied().unwrap_or_default();
        match operation {
            Operation::Resize(_, size) => {
                sizes.push(*size);
                if survival.keeps(random) {
                    contents.zero(*size, u64::MAX - *size);
                }
            }
            Operation::Write {
                offset,
                length,
                bytes,
                ..
            } => {
                let end = offset + length;
                sizes.push(size.max(end));
                overwrite(contents, (*offset, end, *bytes), survival, random);
            }
            _ => {}
        }
    }
    let size = match survival {
        Survival::Nothing => 0,
        Survival::Everything => sizes.len() - 1,
        Survival::Each(_) => random.usize(..sizes.len()),
    };
    contents.resize(sizes[size]);
}

/// What survives of a write that begins at an offset, up to an end: each page of it, none, or some of its sectors.
fn overwrite(
    contents: &mut Extents,
    (offset, end, bytes): (u64, u64, Option<u64>),
    survival: Survival,
    random: &mut Rng,
) {
    for (start, stop) in parts(offset, end) {
        match survival {
            Survival::Nothing => {}
            // Parts larger than pages are too many to be torn.
            Survival::Each(_) if stop - start <= PAGE && random.u8(..4) == 0 => {
                for sectors in torn((start, stop), random) {
                    place(contents, offset, sectors, bytes);
                }
            }
            Survival::Each(_) | Survival::Everything => {
                if survival.keeps(random) {
                    place(contents, offset, (start, stop), bytes);
                }
            }
        }
    }
}

/// A range in pages.
pub(super) fn parts(offset: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let length = end.saturating_sub(offset);
    let part = PAGE * (length / (PAGE * PARTS) + 1);
    cut(offset, end, part)
}

/// Some sectors of a range: the first ones, or any.
fn torn((start, stop): (u64, u64), random: &mut Rng) -> Vec<(u64, u64)> {
    let sectors: Vec<_> = cut(start, stop, SECTOR).collect();
    if random.bool() {
        let first = random.usize(..=sectors.len());
        sectors.into_iter().take(first).collect()
    } else {
        sectors.into_iter().filter(|_| random.bool()).collect()
    }
}

/// A range at the multiples of `part`.
fn cut(offset: u64, end: u64, part: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut start = offset;
    std::iter::from_fn(move || {
        (start < end).then(|| {
            let stop = ((start / part + 1) * part).min(end);
            (std::mem::replace(&mut start, stop), stop)
        })
    })
}

/// Puts a range of a write that begins at an offset where it belongs; the size stays.
pub(super) fn place(
    contents: &mut Extents,
    offset: u64,
    (start, stop): (u64, u64),
    bytes: Option<u64>,
) {
    match bytes {
        Some(at) => contents.put(start, stop - start, at + (start - offset)),
        None => contents.zero(start, stop - start),
    }
}
