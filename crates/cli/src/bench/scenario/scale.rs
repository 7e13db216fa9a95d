//! `scale`: bulk reads of 1,000, 10,000, 100,000 and 1,000,000 files of 1 kB, spread over 1,000 directories. What a file costs should not
//! depend on how many there are, and neither should memory beside what the caller has: its paths, and the contents it keeps.
//!
//! Memory is the highest resident set while reading, less that before, when the paths are there already, less the bytes kept.
//! The rest is the batch's own, and with it what holds the contents: an object each in Node, a handle each in Rust. The row `nothing
//! kept` looks at each file's bytes and drops them: there the rest is the batch's own alone.

use super::many::{self, Cache, CaseResult};
use super::read_many::{check, source};
use super::rows::{self, BULK, BULK_RUST, BULK_SYNC};
use super::runs;
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::protocol::{
    Data, Functions, Layout, ReadMany, Request, Style, Threads, Watch,
};
use crate::bench::runtime::{Row, Way};
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) files: usize,
    pub(crate) bytes_per_file: usize,
    pub(crate) directories: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&many::shape(self.files, self.bytes_per_file))
    }
}

pub(crate) const DROPPED: &str = "bulk Rust, nothing kept";

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let arguments = session.arguments;
    let (mut numbers, directories) = match session.plan.extent {
        Extent::Quick => (vec![100, 1_000], 10),
        Extent::Core | Extent::All => (vec![1_000, 10_000, 100_000, 1_000_000], 1_000),
    };
    if arguments.files.is_some() {
        numbers.truncate(1);
    }
    for number in &mut numbers {
        *number = session.files(*number);
    }
    let case = |files| Case {
        files,
        bytes_per_file: arguments.size.map_or(1_000, |given| given as usize),
        directories,
    };
    many::named(session, "scale", numbers.into_iter().map(case).collect())
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = cases(session)?;
    let most = cases.iter().max_by_key(|case| case.files).copied();
    let dir = match most {
        Some(most) => make(session, &most)?,
        None => PathBuf::new(),
    };
    let rows = rows(session);
    let mut results = Results {
        cases: cases
            .into_iter()
            .map(|case| CaseResult::new(case, rows.clone()))
            .collect(),
        rounds: 0,
    };
    let turns = results.turns("scale", |_| 0);
    let cache = Cache::default();
    results.rounds = runs::measure(session, Scenario::Scale, &turns, |session, turn, round| {
        let (case, row) = results.place(turn);
        results.cases[case].turn(session, row, &dir, &cache, round)
    })?;
    Ok(results)
}

fn rows(session: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in session.nodes.iter().filter(|node| node.package.is_some()) {
        for (name, style) in [(BULK_SYNC, Style::BulkSync), (BULK, Style::Bulk)] {
            rows.push(session.row(node, Functions::Smallfry, name, style));
        }
    }
    rows.push(Session::native_row(
        Functions::Smallfry,
        BULK_RUST,
        Style::BulkSync,
    ));
    let dropping = Way {
        style: Style::BulkSync,
        threads: Threads::Auto,
        keep: false,
    };
    rows.push(Session::native_row(Functions::Smallfry, DROPPED, dropping));
    // What the kernel does depends on the number too: names and inodes of many files are in no processor's cache.
    rows.extend(rows::floors(session, false));
    rows::chosen(session, rows)
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    cases(session).map_or(0, |cases| cases.len()) * rows(session).len()
}

/// The files of the largest case: the others read the first of them.
fn make(session: &Session, case: &Case) -> Result<PathBuf, Failure> {
    session.progress.show(0.0, "scale: making the files");
    let dir = session.directories.on_disk(0).join("scale");
    let beneath = session.directories.beneath(0).join("scale");
    let make = |dir: &Path| std::fs::create_dir(dir).map_err(Failure::at("make directory", dir));
    make(&beneath)?;
    for directory in 0..case.directories {
        make(&beneath.join(format!("{directory:04}")))?;
    }
    let contents = source(0, case.bytes_per_file);
    for path in layout(case, &beneath)?.paths() {
        session.interrupt.check()?;
        std::fs::write(&path, &contents).map_err(Failure::at("write", Path::new(&path)))?;
    }
    host::flush_all(&beneath).map_err(Failure::at("flush the file system of", &beneath))?;
    Ok(dir)
}

fn layout(case: &Case, dir: &Path) -> Result<Layout, Failure> {
    Ok(Layout {
        directory: directories::unicode(dir)?,
        directories: case.directories,
        files: case.files,
        name: String::new(),
    })
}

impl CaseResult<Case> {
    /// One run. What goes wrong in it stands here; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        session: &Session,
        row: usize,
        dir: &Path,
        cache: &Cache,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        if self.outcomes[row].error.is_some() {
            return Ok(());
        }
        let layout = layout(&self.case, dir)?;
        let sample: Vec<PathBuf> = layout.paths().map(PathBuf::from).collect();
        let cached = cache.make_warm(session, &self.rows, &sample)?;
        let way = self.rows[row].way;
        let request = ReadMany {
            style: way.style,
            threads: way.threads,
            data: Data::Buffer,
            keep: way.keep,
            layout,
            compare: round.is_none() && way.keep,
            watch: Watch::Memory,
        };
        let shape = (self.case.files, self.case.bytes_per_file);
        let answer = runs::run_once(session, &self.rows[row], &Request::ReadMany(request))?;
        let answer = answer
            .and_then(|reply| check(reply, shape))
            .map(|mut times| {
                times.cached = cached;
                times
            });
        self.outcomes[row].record(answer, round);
        Ok(())
    }
}
