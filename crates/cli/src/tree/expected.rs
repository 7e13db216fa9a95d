//! The amount of work of a command, which tells how much time is left.

use super::exclude::Exclude;
use indicatif::ProgressBar;
use smallfry::bulk::Progress;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use walkdir::WalkDir;

/// The bytes that take about as long as an entry. It only weighs both in the time that is left.
const BYTES_PER_ENTRY: u64 = 16 << 10;

/// The trees that a command works on.
pub(super) struct Trees {
    pub(super) paths: Vec<PathBuf>,
    pub(super) exclude: Option<Exclude>,
    pub(super) job: Job,
}

/// The work on trees.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// All bytes are read or written.
    Bytes,
    /// Entries are looked at, and the bytes of some of them are read.
    Entries,
    /// Entries are removed.
    Remove,
}

impl Job {
    fn position(self, progress: &Progress) -> u64 {
        let bytes = match self {
            Self::Bytes => progress.bytes,
            Self::Entries | Self::Remove => 0,
        };
        progress.operations * BYTES_PER_ENTRY + bytes
    }
}

/// The amount of work of a command, once it is known.
#[derive(Default)]
pub(super) struct Expected {
    job: OnceLock<Job>,
    amount: OnceLock<u64>,
}

impl Expected {
    /// Counts what is in trees. `progress` is what was done before; the count ends early if it
    /// returns `None`.
    pub(super) fn count(&self, trees: &Trees, progress: impl Fn() -> Option<Progress>) {
        _ = self.job.set(trees.job);
        let mut amount = match progress() {
            // They have these entries no longer.
            Some(before) if trees.job == Job::Remove => trees.job.position(&before),
            _ => 0,
        };
        for entry in trees.paths.iter().flat_map(|path| trees.walk(path)) {
            if progress().is_none() {
                return;
            }
            amount += BYTES_PER_ENTRY;
            if trees.job == Job::Bytes && entry.file_type().is_file() {
                amount += entry.metadata().map_or(0, |found| found.len());
            }
        }
        _ = self.amount.set(amount);
    }

    /// Shows how much is done. Returns true if it is known how much is to be done.
    pub(super) fn show(&self, bar: &ProgressBar, progress: &Progress) -> bool {
        if progress.end > 0 {
            bar.set_length(progress.end);
            bar.set_position(progress.reached);
            return true;
        }
        let Some(job) = self.job.get() else {
            return false;
        };
        let position = job.position(progress);
        bar.set_position(position);
        let Some(&amount) = self.amount.get() else {
            return false;
        };
        bar.set_length(amount.max(position));
        true
    }
}

impl Trees {
    fn walk<'t>(&'t self, path: &'t Path) -> impl Iterator<Item = walkdir::DirEntry> + 't {
        let is_wanted = move |entry: &walkdir::DirEntry| {
            let below = entry.path().strip_prefix(path);
            let exclude = self.exclude.as_ref().zip(below.ok());
            entry.depth() == 0 || exclude.is_none_or(|(exclude, below)| !exclude.has(below))
        };
        let walk = WalkDir::new(path).into_iter();
        walk.filter_entry(is_wanted).filter_map(Result::ok)
    }
}
