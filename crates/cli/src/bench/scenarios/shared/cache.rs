//! The state of the page cache before a run.

use super::prelude::*;
use crate::bench::results::RowResult;
use std::cell::Cell;

/// A run whose files are cached by more than this did not begin cold.
const COLD: f64 = 0.02;
/// A sample of files of which less is cached was not all in the cache.
const ALL_CACHED: f64 = 0.98;
/// A page that is in use just then stays; the next try may drop it.
const TRIES: usize = 3;

/// Knows whether the cache was dropped since it was filled.
#[derive(Default)]
pub(crate) struct Cache {
    dropped: Cell<bool>,
}

impl Cache {
    /// Drops the cache and looks up a sample of the files in it. Returns the part that is still
    /// there, or why the cache is not cold.
    ///
    /// Looking opens the files, which brings inodes and names back, so the cache is dropped once
    /// more.
    pub(crate) fn make_cold(
        &self,
        session: &Session,
        directory: &Path,
        paths: &[PathBuf],
    ) -> Result<f64, String> {
        self.dropped.set(true);
        let mut left = 1.0;
        let empty = || {
            host::drop_cache(directory).map_err(|error| format!("it could not be dropped: {error}"))
        };
        for _ in 0..TRIES {
            empty()?;
            left = host::cached(paths).ok_or("this system does not tell what is cached")?;
            if left <= COLD {
                empty()?;
                return match session.directories.empty_device_cache() {
                    Ok(()) => Ok(left),
                    Err(error) => Err(format!("the disk's own could not be emptied: {error}")),
                };
            }
        }
        let percent = left * 100.0;
        Err(format!(
            "{percent:.0} % of a sample stayed when it was dropped"
        ))
    }

    /// Refills the cache if it was dropped, with the programs that run the rows. Returns the part
    /// of a sample that is in it.
    pub(crate) fn make_warm(
        &self,
        session: &Session,
        rows: &[Row],
        paths: &[PathBuf],
    ) -> Result<Option<f64>, Failure> {
        if self.dropped.replace(false) {
            for path in paths {
                session.interrupt.check()?;
                fs::read(path).map_err(Failure::at("read", path))?;
            }
            for row in rows {
                warm_up(session, row)?;
            }
        }
        Ok(host::cached(paths))
    }
}

/// Brings the row's program back into memory.
pub(crate) fn warm_up(session: &Session, row: &Row) -> Result<(), Failure> {
    // If it does not start, its turn will tell.
    let _ = row.start(&session.interrupt)?.hello();
    session.interrupt.check()
}

/// Describes the state of the cache that was found, whatever was wanted.
pub(crate) fn describe<C>(result: &CaseResult<C>, cold: bool) -> String {
    if let Some(reason) = &result.not_cold {
        return format!("cache warm: {reason}");
    }
    let runs = result.outcomes.iter().flat_map(RowResult::done);
    let parts: Vec<f64> = runs.filter_map(|run| run.cached).collect();
    let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
    let max = parts.iter().copied().fold(0.0, f64::max);
    let percent = |part: f64| (part * 100.0).round();
    match (parts.is_empty(), cold) {
        (true, _) => "cache warm, not checked".to_owned(),
        (_, true) => format!(
            "cache cold: dropped before every run, at most {} % of a sample of the files left in it",
            percent(max)
        ),
        (_, false) if least >= ALL_CACHED => "cache warm: checked before every run".to_owned(),
        (_, false) => format!(
            "cache not warm: before some run only {} % of a sample of the files was in it",
            percent(least)
        ),
    }
}
