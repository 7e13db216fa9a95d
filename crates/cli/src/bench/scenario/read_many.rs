//! `read-many`: many files of the same size read whole.
//!
//! | use | what is timed |
//! |---|---|
//! | `kept Buffer` | every file's bytes, all kept (in Rust a `Vec<u8>`), then a look at every byte |
//! | `kept string` | the same as text, decoded from UTF-8 (in Rust a `String`; smallfry's bulk call: bytes, checked) |
//! | `discarded` | a whole process from its start to its end, as `time node script` does: list the directory, read every file, keep nothing |
//! | `delay` | as `kept`; how late the event loop turns meanwhile |
//!
//! The files are of ASCII text that resembles source code, made once and flushed. `warm`: they were read before.
//! `cold`: before every run the kernel's cache is emptied, a sample of the files is looked up in it, and it is emptied
//! again of what looking brought in; where a sample is still there, or it cannot be done, the case is labelled warm.
//! The row's program is in memory nevertheless: its process runs already, or, where its start is timed, another one was
//! started and ended in between.
//!
//! Every run is a fresh process. What is kept is timed from the first call to the last byte looked at; the start of the process is
//! not. All is read before anything is looked at. Looking is a search for a byte that is not there: without it a result could
//! put its cost off until it is used. In the round that is not counted what was read is compared with the files.
//!
//! The floors are bare system calls: into one buffer for each thread, looked at on the spot; or, kept, each file into
//! fresh memory. On a slow disk there is one more, the first of these through a mount that adds no delay: so much of
//! each row's time is the simulation's own.

use super::many::{self, Cache, CaseResult};
use super::rows::{self, FLOOR};
use super::runs;
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::protocol::{
    Data, Discard, Layout, ReadMany, Reply, Request, Times, Watch,
};
use crate::bench::runtime::{Row, Runtime};
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) files: usize,
    pub(crate) bytes_per_file: usize,
    /// `None`: discarded.
    pub(crate) kept: Option<Data>,
    pub(crate) cold: bool,
    /// Only how late the event loop turns.
    pub(crate) delay: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kept {
            Some(data) => format!("kept {data}"),
            None => "discarded".to_owned(),
        };
        let shape = many::shape(self.files, self.bytes_per_file);
        let cache = if self.cold { "cold" } else { "warm" };
        let delay = if self.delay { " delay" } else { "" };
        write!(f, "{shape} {what} {cache}{delay}")
    }
}

impl Case {
    fn shape(&self) -> (usize, usize) {
        (self.files, self.bytes_per_file)
    }
}

/// Files, and bytes of each.
fn shapes(session: &Session) -> Vec<(usize, usize)> {
    let arguments = session.arguments;
    let mut shapes = match session.plan.extent {
        Extent::Quick => vec![(300, 10_000), (10, 1_000_000), (2, 10_000_000)],
        Extent::Core | Extent::All => {
            vec![(10_000, 10_000), (100, 10_000_000), (10, 100_000_000)]
        }
    };
    if arguments.files.is_some() || arguments.size.is_some() {
        shapes.truncate(1);
    }
    for (files, bytes) in &mut shapes {
        *files = session.files(*files);
        *bytes = arguments.size.map_or(*bytes, |given| given as usize);
    }
    shapes
}

/// The cases of this run. On a slow disk a warm cache tells little, on a fast one a cold one takes long.
fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let is_slow = session.directories.profile().is_some();
    let extent = session.plan.extent;
    let has_words = session.arguments.cells.is_some();
    let mut cases = Vec::new();
    for (index, (files, bytes_per_file)) in shapes(session).into_iter().enumerate() {
        for cold in [false, true] {
            for (kept, delay) in [
                (Some(Data::Buffer), false),
                (Some(Data::String), false),
                (None, false),
                (Some(Data::Buffer), true),
            ] {
                let case = Case {
                    files,
                    bytes_per_file,
                    kept,
                    cold,
                    delay,
                };
                let tells_most = index == 0 && cold == is_slow;
                let of_all = index == 0 || kept != Some(Data::String) && !delay;
                let wanted = match extent {
                    _ if has_words => true,
                    Extent::All => of_all,
                    Extent::Core | Extent::Quick => tells_most,
                };
                cases.extend(wanted.then_some(case));
            }
        }
    }
    many::named(session, "read-many", cases)
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = fitting(session)?;
    let mut sets: Vec<Files> = Vec::new();
    for case in &cases {
        if !sets.iter().any(|set| set.shape == case.shape()) {
            sets.push(Files::make(session, case.shape())?);
        }
    }
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for case in cases {
        let rows = rows(session, &case);
        if !rows.is_empty() {
            results.cases.push(CaseResult::new(case, rows));
        }
    }
    let turns = results.turns("read-many", |case| usize::from(case.cold));
    let cache = Cache::default();
    results.rounds = runs::measure(
        session,
        Scenario::ReadMany,
        &turns,
        |session, turn, round| {
            let (case, row) = results.place(turn);
            let case = &mut results.cases[case];
            match sets.iter().find(|set| set.shape == case.case.shape()) {
                Some(files) => case.turn(session, row, files, &cache, round),
                None => Ok(()),
            }
        },
    )?;
    Ok(results)
}

/// Those for whose contents there is memory: some rows hold them twice.
fn fitting(session: &mut Session) -> Result<Vec<Case>, Failure> {
    let memory = session
        .host
        .memory_limit_bytes
        .or(session.host.memory_bytes);
    let mut cases = cases(session)?;
    cases.retain(|case| {
        let needed = 3 * (case.files * case.bytes_per_file) as u64;
        let fits = memory.is_none_or(|memory| needed < memory);
        if !fits {
            session.leave_out(format!(
                "case {case} is left out: too large for the memory here"
            ));
        }
        fits
    });
    Ok(cases)
}

fn rows(session: &mut Session, case: &Case) -> Vec<Row> {
    if case.delay {
        let mut rows = rows::scripts(session);
        rows.retain(|row| row.way.style.is_async());
        return rows::chosen(session, rows);
    }
    let mut rows = rows::of_many(session);
    if case.kept.is_none() {
        // The start of a JVM would be all that is timed.
        rows.retain(|row| !matches!(row.runtime, Runtime::Jvm(_)));
    }
    rows.extend(rows::floors(session, false));
    if case.kept.is_some() {
        rows.extend(rows::floors(session, true));
    }
    rows.extend(rows::mount_alone(session));
    rows::chosen(session, rows)
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    // A case has about as many in each: counted for the plan that is printed, where a few do not matter.
    cases(session).map_or(0, |cases| cases.len()) * (16 + rows::scripts(session).len())
}

/// Files of one shape.
struct Files {
    shape: (usize, usize),
    layout: Layout,
    /// The same files, through a mount that adds no delay.
    undelayed: Option<Layout>,
    paths: Vec<PathBuf>,
}

impl Files {
    /// Flushed, so that their writeback is over when the first is read.
    fn make(session: &Session, shape: (usize, usize)) -> Result<Self, Failure> {
        session.progress.show(0.0, "read-many: making the files");
        let (count, bytes) = shape;
        let name = format!("read-{}", many::shape(count, bytes));
        let beneath = session.directories.beneath(0).join(&name);
        std::fs::create_dir(&beneath).map_err(Failure::at("make directory", &beneath))?;
        let layout = |directory: &Path| -> Result<Layout, Failure> {
            Ok(Layout {
                directory: directories::unicode(directory)?,
                directories: 0,
                files: count,
                name: "module-".to_owned(),
            })
        };
        for (index, path) in layout(&beneath)?.paths().enumerate() {
            session.interrupt.check()?;
            std::fs::write(&path, source(index, bytes))
                .map_err(Failure::at("write", Path::new(&path)))?;
        }
        host::flush_all(&beneath).map_err(Failure::at("flush the file system of", &beneath))?;
        let undelayed = session.directories.undelayed(0);
        let undelayed = undelayed.map(|directory| layout(&directory.join(&name)));
        let layout = layout(&session.directories.on_disk(0).join(&name))?;
        Ok(Self {
            shape,
            paths: layout.paths().map(PathBuf::from).collect(),
            layout,
            undelayed: undelayed.transpose()?,
        })
    }

    /// As this row sees them.
    fn layout(&self, row: &Row) -> &Layout {
        let undelayed = self.undelayed.as_ref();
        undelayed
            .filter(|_| row.implementation == rows::MOUNT_ALONE)
            .unwrap_or(&self.layout)
    }
}

impl CaseResult<Case> {
    /// One run. What goes wrong in it stands here; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        session: &Session,
        row: usize,
        files: &Files,
        cache: &Cache,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        if self.outcomes[row].error.is_some() {
            return Ok(());
        }
        let mut cached = None;
        if !self.case.cold {
            cached = cache.make_warm(session, &self.rows, &files.paths)?;
        }
        let row_of = &self.rows[row];
        let mut empty = || {
            if self.case.cold {
                match cache.make_cold(session, Path::new(&files.layout.directory), &files.paths) {
                    Ok(left) => cached = Some(left),
                    Err(reason) => self.not_cold = Some(reason),
                }
            }
            Ok(())
        };
        let answer = if let Some(data) = self.case.kept {
            let request = ReadMany {
                style: row_of.way.style,
                threads: row_of.way.threads,
                data,
                keep: row_of.way.keep,
                layout: files.layout(row_of).clone(),
                compare: round.is_none(),
                watch: if self.case.delay {
                    Watch::EventLoop
                } else {
                    Watch::Nothing
                },
            };
            runs::run_prepared(session, row_of, &Request::ReadMany(request), empty)?
                .and_then(|reply| check(reply, files.shape))
        } else {
            empty()?;
            if self.case.cold {
                // Its program was dropped as well, and reading that from the disk is not what is compared.
                many::warm_up(session, row_of)?;
            }
            discard(session, row_of, files)?
        };
        let answer = answer.map(|times| Times { cached, ..times });
        self.outcomes[row].record(answer, round);
        Ok(())
    }
}

fn discard(session: &Session, row: &Row, files: &Files) -> Result<Result<Times, String>, Failure> {
    let (count, bytes) = files.shape;
    let work = Discard {
        style: row.way.style,
        threads: row.way.threads,
        directory: files.layout(row).directory.clone(),
        files: count,
        bytes: count * bytes,
    };
    let usage = row.run_whole(&work, &session.interrupt)?;
    Ok(usage.map(|usage| Times {
        files: count,
        bytes: count * bytes,
        usage,
        ..Times::default()
    }))
}

/// A row that read less than there is has not done its work.
pub(crate) fn check(reply: Reply, (files, bytes): (usize, usize)) -> Result<Times, String> {
    match reply {
        Reply::Many(times) if (times.files, times.bytes) == (files, files * bytes) => Ok(times),
        Reply::Many(times) => Err(format!(
            "it read {} bytes of {} files instead of {} bytes of {files}",
            times.bytes,
            times.files,
            files * bytes
        )),
        other => Err(format!("unexpected reply {other:?}")),
    }
}

/// Text that resembles source code, repeated in what is longer than a module.
pub(crate) fn source(index: usize, bytes: usize) -> Vec<u8> {
    const MODULE: usize = 10_000;
    let mut random = fastrand::Rng::with_seed(index as u64);
    let mut text = format!("// Module {index}, made by smallfry bench.\n");
    while text.len() < bytes.min(MODULE) {
        let (name, value) = (random.u16(..), random.u32(..));
        let _ = writeln!(
            text,
            "export const item{name} = (left, right) => left * {value} + right;"
        );
    }
    text.bytes().cycle().take(bytes).collect()
}

/// The floor that rows of a case have to be compared with.
pub(crate) fn floor(case: &Case) -> &'static str {
    if case.kept.is_some() {
        rows::FLOOR_KEPT
    } else {
        FLOOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_ascii_of_the_length_promised_and_differ() {
        let [first, second] = [source(0, 10_000), source(1, 10_000)];
        for text in [&first, &second] {
            assert!(text.is_ascii() && !text.contains(&0));
            assert_eq!(text.len(), 10_000);
        }
        assert_ne!(first, second);
        assert_eq!(source(0, 25_001).len(), 25_001);
    }

    #[test]
    fn names_of_cases_are_words() {
        let case = Case {
            files: 100,
            bytes_per_file: 10_000_000,
            kept: None,
            cold: true,
            delay: false,
        };
        assert_eq!(case.to_string(), "100x10MB discarded cold");
    }
}
