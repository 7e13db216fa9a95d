//! `sync-many`: many files that must all survive a crash of the system, contents and names, and how often that waits for the disk.
//!
//! | case | |
//! |---|---|
//! | `new` | no file of the name is there |
//! | `replaced` | each is there, and a new one takes its name, so that a crash leaves the old contents or the new |
//!
//! | way, in bare system calls | |
//! |---|---|
//! | `fsync and directory flush each` | one file after the other: written, flushed, renamed if it replaces, its directory flushed |
//! | `concurrent fsyncs` | the same for files on up to 128 threads; then each directory once |
//! | `writeout, then fsync` | all written, writing to the device started for all, then each flushed; then each directory once |
//! | `syncfs` | all written, the whole file system flushed; after renaming once more. On ext4 without a journal the flush of a directory follows each time |
//! | `git's way` | as `core.fsyncMethod=batch`: the device takes each file's pages, then one other file is flushed. Nothing promises that metadata and names are there after it |
//!
//! Every run is a fresh process, on a file system that was flushed just before. All rows write into the same directories, made
//! beforehand, in turn. In the round that is not counted every file is compared with what it should hold, in the others its length
//! is; and that round is watched by strace, where it is installed: how many system calls flush, and how many of them had to
//! be waited for one after the other. Whether the promise is kept no run can tell; it is looked up for the system calls.

use super::many::{self, CaseResult};
use super::rows::{self, counted};
use super::runs;
use super::write_many::{OUTPUTS, Output, fill, verify};
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host::{self, Syncfs};
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{
    Flushing, Functions, Layout, Reply, Request, Style, SyncMany,
};
use crate::bench::runtime::strace::Strace;
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use std::fmt;
use std::path::Path;

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) files: usize,
    pub(crate) bytes_per_file: usize,
    pub(crate) directories: usize,
    pub(crate) replaced: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = many::shape(self.files, self.bytes_per_file);
        let state = if self.replaced { "replaced" } else { "new" };
        write!(f, "{shape} {state}")
    }
}

/// The baseline.
pub(crate) const EACH: &str = "fsync and directory flush each";
pub(crate) const EACH_AGAIN: &str = "the same again";
/// On a slow disk, the baseline through a mount that adds no delay.
pub(crate) const MOUNT_ALONE: &str = "one by one, mount alone";
pub(crate) const CONCURRENT: &str = "concurrent fsyncs";
pub(crate) const WRITEOUT: &str = "writeout, then fsync";
pub(crate) const SYNCFS: &str = "syncfs";
pub(crate) const SYNCFS_THEN_FSYNC: &str = "syncfs, then fsync";
/// On a file system where it may flush nothing.
pub(crate) const SYNCFS_UNKNOWN: &str = "syncfs, NOT known to flush here";
pub(crate) const GIT: &str = "git's way, WEAKER promise";
pub(crate) const RUST: &str = "smallfry in Rust";
pub(crate) const NODE_EACH: &str = "Node fsync and directory flush each";
pub(crate) const ATOMIC: &str = "write-file-atomic sync, NO directory flush";
pub(crate) const ATOMIC_ALL: &str = "write-file-atomic Promise.all, NO directory flush";
pub(crate) const BULK_SYNC: &str = "smallfry writeFilesSync";
pub(crate) const BULK: &str = "smallfry writeFiles";
pub(crate) const JVM_EACH: &str = "Java force and directory flush each";
pub(crate) const BULK_JVM: &str = "smallfry writeAll in the JVM";

/// Does the row promise less than that all files survive, contents and names?
pub(crate) fn promises_less(row: &Row) -> bool {
    [SYNCFS_UNKNOWN, GIT, ATOMIC, ATOMIC_ALL].contains(&row.implementation.as_str())
}

/// Those that this system has, by name.
fn ways(session: &Session) -> Vec<(&'static str, Flushing)> {
    let mut ways = vec![
        (EACH, Flushing::Each),
        (EACH_AGAIN, Flushing::Each),
        (CONCURRENT, Flushing::Concurrent),
    ];
    if cfg!(target_os = "linux") {
        // A simulated disk is a mount of its own kind, of which syncfs tells the one who serves it nothing.
        let syncfs = match session.directories.profile() {
            Some(_) => Syncfs::Unknown,
            None => session.host.file_system.syncfs(),
        };
        ways.push((WRITEOUT, Flushing::Writeout));
        ways.push(match syncfs {
            Syncfs::Barrier => (SYNCFS, Flushing::Syncfs),
            Syncfs::BarrierWithFsync => (SYNCFS_THEN_FSYNC, Flushing::SyncfsThenFsync),
            Syncfs::Unknown => (SYNCFS_UNKNOWN, Flushing::Syncfs),
        });
        ways.push((GIT, Flushing::Git));
    }
    ways
}

const NUMBERS: [usize; 4] = [10, 100, 1_000, 10_000];
/// Only of those who ask for them: a file a millisecond is ten seconds a row.
const MANY: usize = 10_000;
const BYTES: usize = 1_000;
/// Files in a directory, on average.
const TOGETHER: usize = 100;
const MAX_DIRECTORIES: usize = 100;

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let arguments = session.arguments;
    let mut numbers = match (arguments.files, session.plan.extent) {
        (Some(given), _) => vec![given as usize],
        (None, Extent::Quick) => vec![10],
        (None, Extent::Core | Extent::All) => NUMBERS.to_vec(),
    };
    if session.plan.extent != Extent::All && arguments.cells.is_none() && numbers.len() > 1 {
        numbers.retain(|files| *files < MANY);
    }
    let mut cases = Vec::new();
    for files in numbers {
        for replaced in [false, true] {
            cases.push(Case {
                files,
                bytes_per_file: arguments.size.map_or(BYTES, |given| given as usize),
                directories: (files / TOGETHER).clamp(1, MAX_DIRECTORIES),
                replaced,
            });
        }
    }
    many::named(session, "sync-many", cases)
}

/// In each of the session's directories.
const FOLDER: &str = "sync-many";

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = cases(session)?;
    rows::leave_out_durable(session);
    let strace = counted(session);
    let directories = cases.iter().map(|case| case.directories).max();
    let old: Vec<(Layout, usize)> = cases
        .iter()
        .filter(|case| case.replaced)
        .map(|case| (case.layout(String::new(), 0), case.bytes_per_file))
        .collect();
    let outputs = Output::make(session, FOLDER, directories.unwrap_or(0), &old)?;
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for case in cases {
        let rows = rows(session);
        if !rows.is_empty() {
            results.cases.push(CaseResult::new(case, rows));
        }
    }
    limit_rounds(session, &results);
    let turns = results.turns("sync-many", |_| 0);
    let mut count = 0;
    let rounds = runs::measure(
        session,
        Scenario::SyncMany,
        &turns,
        |session, turn, round| {
            count += 1;
            let (case, row) = results.place(turn);
            let output = &outputs[round.unwrap_or(0) % OUTPUTS];
            let run = Run {
                session,
                output,
                strace: strace.as_ref().filter(|_| round.is_none()),
                count,
            };
            run.turn(&mut results.cases[case], row, round)
        },
    );
    session.max_rounds = None;
    results.rounds = rounds?;
    Ok(results)
}

/// So that the files of all rounds leave room for others'.
fn limit_rounds(session: &mut Session, results: &Results) {
    let new = results.cases.iter().filter(|result| !result.case.replaced);
    let a_round: usize = new
        .map(|result| result.rows.len() * result.case.files)
        .sum();
    let free = host::free_inodes(&session.directories.on_disk(0)).unwrap_or(2_000_000);
    let most = free as usize / 2 / a_round.max(1);
    // One goes to the round that is not counted.
    session.max_rounds = (a_round > 0).then(|| most.saturating_sub(1).max(1));
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    cases(session).map_or(0, |cases| cases.len()) * rows(session).len()
}

fn rows(session: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        for (name, functions, style) in [
            (NODE_EACH, Functions::Node, Style::Sync),
            (ATOMIC, Functions::WriteFileAtomic, Style::Sync),
            (ATOMIC_ALL, Functions::WriteFileAtomic, Style::Parallel),
            (BULK_SYNC, Functions::Smallfry, Style::BulkSync),
            (BULK, Functions::Smallfry, Style::Bulk),
        ] {
            if rows::is_there(node, functions) {
                rows.push(session.row(node, functions, name, style));
            }
        }
    }
    rows.extend(session.jvm_row(Functions::JavaChannel, JVM_EACH, Style::Sync));
    rows.extend(session.jvm_row(Functions::Smallfry, BULK_JVM, Style::BulkSync));
    rows.push(Session::native_row(
        Functions::Smallfry,
        RUST,
        Style::BulkSync,
    ));
    let bare = |name| Session::native_row(Functions::Floor, name, Style::Sync);
    rows.extend(ways(session).into_iter().map(|(name, _)| bare(name)));
    if session.directories.undelayed(0).is_some() {
        rows.push(bare(MOUNT_ALONE));
    }
    rows::chosen(session, rows)
}

impl Case {
    fn layout(&self, dir: String, run: usize) -> Layout {
        let Self {
            files, directories, ..
        } = *self;
        Layout {
            directory: dir,
            directories,
            files,
            // Names of new files are new in each run: a mount might remember the last run's.
            name: if self.replaced {
                format!("old-{files}-")
            } else {
                format!("new-{run}-")
            },
        }
    }
}

/// One row's turn.
struct Run<'a, 'b> {
    session: &'a Session<'b>,
    output: &'a Output,
    strace: Option<&'a Strace>,
    count: usize,
}

impl Run<'_, '_> {
    /// What goes wrong in it stands in `result`; a row that failed has no further turns in the case.
    fn turn(
        &self,
        result: &mut CaseResult<Case>,
        row: usize,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        if result.outcomes[row].error.is_some() {
            return Ok(());
        }
        let case = result.case;
        let bytes = case.bytes_per_file;
        let layout = |dir: &Path| Ok(case.layout(directories::unicode(dir)?, self.count));
        let beneath = layout(&self.output.beneath)?;
        let careful = round.is_none();
        if careful && case.replaced {
            fill(&beneath, bytes, 1)?;
        }
        // Flushing waits for what is on its way to the device from the run before.
        host::flush_all(&self.output.beneath).map_err(Failure::at(
            "flush the file system of",
            &self.output.beneath,
        ))?;
        let of = &result.rows[row];
        let mut ways = ways(self.session).into_iter();
        let way = ways.find(|(name, _)| *name == of.implementation);
        let undelayed = self
            .session
            .directories
            .undelayed(round.unwrap_or(0) % OUTPUTS);
        let written = match undelayed {
            Some(dir) if of.implementation == MOUNT_ALONE => dir.join(FOLDER),
            _ => self.output.dir.clone(),
        };
        let request = Request::SyncMany(SyncMany {
            style: of.way.style,
            flushing: way.map_or(Flushing::Each, |(_, flushing)| flushing),
            layout: layout(&written)?,
            replace: case.replaced,
            bytes,
        });
        let (answer, flushes) = runs::run_perhaps_counted(self.session, of, &request, self.strace)?;
        let times = answer.and_then(|reply| match reply {
            Reply::Many(times) => verify(&beneath, bytes, careful).map(|()| times),
            other => Err(format!("unexpected reply {other:?}")),
        });
        if !case.replaced {
            self.output.put_aside(&beneath)?;
        }
        let outcome = &mut result.outcomes[row];
        outcome.flushes = flushes.or(outcome.flushes);
        outcome.record(times, round);
        Ok(())
    }
}
