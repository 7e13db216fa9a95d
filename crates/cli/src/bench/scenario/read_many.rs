//! `read-many`: many files of the same size read whole, all results kept, every byte looked at.
//!
//! | case | what is kept of each file |
//! |---|---|
//! | Buffer | its bytes (in Rust a `Vec<u8>`) |
//! | string | its text, decoded from UTF-8 (in Rust a `String`) |
//!
//! The files are of ASCII text that resembles source code. They are made once, flushed, and read by a round that is not counted: the
//! cache is warm.
//!
//! Every run is a fresh process, timed from its first call to the last byte looked at; its start and the listing of the folder are
//! not. All is read before anything is looked at. Looking is a search for a byte that is not there: without it a result could
//! put its cost off until it is used. In the round that is not counted what was read is compared with the files.
//!
//! The floor keeps nothing: bare system calls into one buffer, looked at file by file.

use super::runs;
use crate::bench::arguments::Scenario;
use crate::bench::failure::Failure;
use crate::bench::folders;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{
    Data, Functions, ReadMany, ReadTimes, Reply, Request, Style,
};
use crate::bench::session::{Extent, Session};
use std::fmt::Write as _;
use std::path::Path;

/// Of each file.
pub(crate) const BYTES: usize = 10_000;
const FILES: usize = 10_000;
const QUICK_FILES: usize = 300;
pub(crate) const CASES: [Data; 2] = [Data::Buffer, Data::String];
pub(crate) const FLOOR: &str = "floor";

pub(crate) type RowResult = runs::RowResult<ReadTimes>;

pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) cases: Vec<CaseResult>,
    pub(crate) files: usize,
    pub(crate) rounds: usize,
}

pub(crate) struct CaseResult {
    pub(crate) data: Data,
    /// By row.
    pub(crate) outcomes: Vec<RowResult>,
}

impl Results {
    pub(crate) fn failures(&self) -> usize {
        let of = |case: &CaseResult| RowResult::failures(&case.outcomes);
        self.cases.iter().map(of).sum()
    }

    /// By case, then by row.
    fn turn_names(&self) -> Vec<String> {
        let name = |data| {
            let rows = self.rows.iter();
            rows.map(move |row| format!("read-many: {data}, {}", row.label))
        };
        CASES.into_iter().flat_map(name).collect()
    }

    /// One run. What goes wrong in it stands here; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        session: &Session,
        case: usize,
        row: usize,
        request: ReadMany,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        let outcome = &mut self.cases[case].outcomes[row];
        if outcome.error.is_none() {
            let answer = runs::run_once(session, &self.rows[row], &Request::ReadMany(request))?;
            outcome.record(answer.and_then(|reply| check(reply, self.files)), round);
        }
        Ok(())
    }
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let files = match session.plan.extent {
        Extent::Quick => QUICK_FILES,
        Extent::Core | Extent::All => FILES,
    };
    let folder = session.folders.on_disk(0).join("read");
    make_files(session, &folder, files)?;
    let folder = folders::unicode(&folder)?;
    let (rows, styles): (Vec<Row>, Vec<Style>) = rows(session).into_iter().unzip();
    let case = |data| CaseResult {
        data,
        outcomes: RowResult::for_each(&rows),
    };
    let mut results = Results {
        cases: Vec::from(CASES.map(case)),
        rows,
        files,
        rounds: 0,
    };
    let names = results.turn_names();
    results.rounds = runs::measure(
        session,
        Scenario::ReadMany,
        &names,
        |session, turn, round| {
            let (case, row) = (turn / styles.len(), turn % styles.len());
            let request = ReadMany {
                style: styles[row],
                data: CASES[case],
                folder: folder.clone(),
                compare: round.is_none(),
            };
            results.turn(session, case, row, request, round)
        },
    )?;
    Ok(results)
}

/// Those of the idioms, and the floor.
fn rows(session: &Session) -> Vec<(Row, Style)> {
    let mut rows = runs::rows(session, Style::Parallel);
    if cfg!(unix) {
        rows.push((Session::native_row(Functions::Floor, FLOOR), Style::Sync));
    }
    rows
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    CASES.len() * rows(session).len()
}

/// A row that read less than there is has not done its work.
fn check(reply: Reply, files: usize) -> Result<ReadTimes, String> {
    match reply {
        Reply::ReadMany(times) if (times.files, times.bytes) == (files, files * BYTES) => Ok(times),
        Reply::ReadMany(times) => Err(format!(
            "it read {} bytes of {} files instead of {} bytes of {files}",
            times.bytes,
            times.files,
            files * BYTES
        )),
        other => Err(format!("unexpected reply {other:?}")),
    }
}

/// Flushed, so that their writeback is over when the first is read.
fn make_files(session: &Session, folder: &Path, files: usize) -> Result<(), Failure> {
    session.progress.show(0.0, "read-many: making the files");
    std::fs::create_dir(folder).map_err(Failure::at("make folder", folder))?;
    for index in 0..files {
        session.interrupt.check()?;
        let path = folder.join(format!("module-{index:05}.js"));
        std::fs::write(&path, source(index)).map_err(Failure::at("write", &path))?;
    }
    host::flush_all(folder).map_err(Failure::at("flush the file system of", folder))
}

/// As long as the others, and unlike them.
fn source(index: usize) -> String {
    let mut random = fastrand::Rng::with_seed(index as u64);
    let mut text = format!("// Module {index}, made by smallfry bench.\n");
    while text.len() < BYTES {
        let (name, value) = (random.u16(..), random.u32(..));
        let _ = writeln!(
            text,
            "export const item{name} = (left, right) => left * {value} + right;"
        );
    }
    text.truncate(BYTES - 1);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_ascii_of_the_length_promised_and_differ() {
        let [first, second] = [source(0), source(1)];
        for text in [&first, &second] {
            assert!(text.is_ascii() && !text.contains('\0') && text.ends_with('\n'));
            assert_eq!(text.len(), BYTES);
        }
        assert_ne!(first, second);
    }
}
