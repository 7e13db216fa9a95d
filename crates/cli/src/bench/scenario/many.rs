//! What the scenarios of many files share: cases with rows of their own, their results, and the state of the kernel's cache.

use super::runs::{self, Turn};
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::Times;
use crate::bench::session::Session;
use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) type RowResult = runs::RowResult<Times>;

pub(crate) struct Results<C> {
    pub(crate) cases: Vec<CaseResult<C>>,
    pub(crate) rounds: usize,
}

pub(crate) struct CaseResult<C> {
    pub(crate) case: C,
    pub(crate) rows: Vec<Row>,
    /// By row.
    pub(crate) outcomes: Vec<RowResult>,
    /// Why the cache was not cold where it should have been.
    pub(crate) not_cold: Option<String>,
}

impl<C> CaseResult<C> {
    pub(crate) fn new(case: C, rows: Vec<Row>) -> Self {
        Self {
            case,
            outcomes: RowResult::for_each(&rows),
            rows,
            not_cold: None,
        }
    }
}

impl<C: fmt::Display> Results<C> {
    pub(crate) fn failures(&self) -> usize {
        let of = |case: &CaseResult<C>| RowResult::failures(&case.outcomes);
        self.cases.iter().map(of).sum()
    }

    /// Every row of every case, by case.
    pub(crate) fn turns(&self, scenario: &str, group: impl Fn(&C) -> usize) -> Vec<Turn> {
        let mut turns = Vec::new();
        for CaseResult { case, rows, .. } in &self.cases {
            turns.extend(rows.iter().map(|row| Turn {
                name: format!("{scenario}: {case}, {}", row.label),
                group: group(case),
            }));
        }
        turns
    }

    /// Which case and row a turn is.
    pub(crate) fn place(&self, mut turn: usize) -> (usize, usize) {
        for (index, case) in self.cases.iter().enumerate() {
            if turn < case.rows.len() {
                return (index, turn);
            }
            turn -= case.rows.len();
        }
        (0, 0)
    }
}

/// Those whose names hold all the words, if there are words.
pub(crate) fn named<C: fmt::Display>(
    session: &Session,
    scenario: &str,
    mut cases: Vec<C>,
) -> Result<Vec<C>, Failure> {
    let Some(words) = session.arguments.cells.as_deref() else {
        return Ok(cases);
    };
    let example = cases.first().map(ToString::to_string).unwrap_or_default();
    cases.retain(|case| {
        let name = case.to_string();
        words
            .split_whitespace()
            .all(|word| name.split(' ').any(|part| part == word))
    });
    if cases.is_empty() {
        return Err(Failure::said(format!(
            "no case of {scenario} has all the words {words:?}; one has {example:?}"
        )));
    }
    Ok(cases)
}

/// `300x10kB`
pub(crate) fn shape(files: usize, bytes: usize) -> String {
    match bytes {
        bytes if bytes >= 1_000_000 && bytes.is_multiple_of(1_000_000) => {
            format!("{files}x{}MB", bytes / 1_000_000)
        }
        bytes if bytes >= 1_000 && bytes.is_multiple_of(1_000) => {
            format!("{files}x{}kB", bytes / 1_000)
        }
        bytes => format!("{files}x{bytes}B"),
    }
}

/// A run whose files are cached by more than this did not begin cold.
const COLD: f64 = 0.02;
/// A page that is in use just then stays; it is not the next time.
const TRIES: usize = 3;

/// What the runs before have left in the kernel's cache.
#[derive(Default)]
pub(crate) struct Cache {
    dropped: Cell<bool>,
}

impl Cache {
    /// Empties it, and looks whether that worked: which part of a sample of the files is still there, or why it is not
    /// cold. Looking opens them, which brings blocks of inodes and names back, of their neighbours too; so it is
    /// emptied once more.
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
        Err(format!(
            "{:.0} % of a sample stayed when it was dropped",
            left * 100.0
        ))
    }

    /// Fills it again if it was emptied since, the programs that run the rows included. Which part of a sample is there.
    pub(crate) fn make_warm(
        &self,
        session: &Session,
        rows: &[Row],
        paths: &[PathBuf],
    ) -> Result<Option<f64>, Failure> {
        if self.dropped.replace(false) {
            for path in paths {
                session.interrupt.check()?;
                std::fs::read(path).map_err(Failure::at("read", path))?;
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
    // Should it not start, its turn will tell.
    let _ = row.start(&session.interrupt)?.hello();
    session.interrupt.check()
}
