//! The contents of a file after a crash.

use super::extents::Extents;
use super::log::Log;
use super::model::{Crash, Model, Survival, durable};
use super::node::Inode;
use super::operation::{Operation, apply};
use fastrand::Rng;

/// Bytes that a system writes at a time.
pub(super) const PAGE: u64 = 4096;
/// Bytes that a disk writes as a whole.
const SECTOR: u64 = 512;
/// The maximum number of parts of one write that survive independently. The parts of larger writes
/// are larger.
const PARTS: u64 = 1 << 16;

/// Returns the contents of a file. `commit` is the operation up to which the journal was written,
/// if there is one.
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
            // After a truncation that is not in the journal, all is as if it had not happened.
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

/// At some moment the system writes the file as it is by then, with its length. Of earlier and
/// later operations, only those that overwrite something may reach the disk.
fn ordered(contents: &mut Extents, doubtful: &[&Operation], random: &mut Rng) {
    let survival = Survival::draw(random);
    let moment = match survival {
        Survival::Nothing => 0,
        Survival::Everything => doubtful.len(),
        Survival::Each(_) => random.usize(..=doubtful.len()),
    };
    let mut shown = contents.clone();
    let mut wanted = contents.clone();
    for operation in &doubtful[..moment] {
        apply(&mut wanted, operation);
    }
    // Truncations take effect at once, and writes beyond the end only as a whole.
    let written = if random.bool() {
        wanted.size
    } else {
        random.u64(..=wanted.size) / PAGE * PAGE
    };
    for (index, operation) in doubtful.iter().enumerate() {
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
                if index < moment && grown > old {
                    place(&mut shown, *offset, (old, grown), *bytes);
                    shown.size = grown;
                }
            }
            _ => {}
        }
    }
    *contents = shown;
}

/// Any part of any operation may survive.
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

/// Applies the part of a write from `offset` to `end` that survives: each page as a whole, not at
/// all, or in some sectors.
fn overwrite(
    contents: &mut Extents,
    (offset, end, bytes): (u64, u64, Option<u64>),
    survival: Survival,
    random: &mut Rng,
) {
    for (start, stop) in parts(offset, end) {
        match survival {
            Survival::Nothing => {}
            // Parts larger than a page are not torn, since there are too many sectors.
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

/// Splits a range into pages.
pub(super) fn parts(offset: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let length = end.saturating_sub(offset);
    let part = PAGE * (length / (PAGE * PARTS) + 1);
    cut(offset, end, part)
}

/// Chooses some sectors of a range: the first ones, or any.
fn torn((start, stop): (u64, u64), random: &mut Rng) -> Vec<(u64, u64)> {
    let sectors: Vec<_> = cut(start, stop, SECTOR).collect();
    if random.bool() {
        let first = random.usize(..=sectors.len());
        sectors.into_iter().take(first).collect()
    } else {
        sectors.into_iter().filter(|_| random.bool()).collect()
    }
}

/// Splits a range at the multiples of `part`.
fn cut(offset: u64, end: u64, part: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut start = offset;
    std::iter::from_fn(move || {
        (start < end).then(|| {
            let stop = ((start / part + 1) * part).min(end);
            (std::mem::replace(&mut start, stop), stop)
        })
    })
}

/// Puts a range of a write that begins at `offset` where it belongs. The size does not change.
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
