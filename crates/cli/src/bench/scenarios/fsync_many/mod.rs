//! `fsync-many`: many files that must all survive a crash of the system, contents and names, and
//! how often that waits for the disk.
//!
//! | case | |
//! |---|---|
//! | `new` | no file of the name is there |
//! | `replaced` | each is there, and a new one takes its name, so that a crash leaves the old contents or the new |
//!
//! | way, in raw system calls | |
//! |---|---|
//! | `fsync and directory flush each` | one file after the other: written, flushed, renamed if it replaces, its directory flushed |
//! | `concurrent fsyncs` | the same for files on up to 128 threads; then each directory once |
//! | `writeout, then fsync` | all written, writing to the device started for all, then each flushed; then each directory once |
//! | `syncfs` | all written, the whole file system flushed; after renaming once more. On ext4 without a journal the flush of a directory follows each time |
//! | `git's way` | as `core.fsyncMethod=batch`: the device takes each file's pages, then one other file is flushed. Nothing promises that metadata and names are there after it |
//!
//! Every run is a fresh process, on a file system that was flushed just before. In the round that
//! is not counted every file is compared with what it should hold, in the others its length is.
//! strace, where it is installed, watches that round: it counts the system calls that flush, and
//! how many of them had to be waited for one after the other. No run can tell whether the promise
//! is kept; it follows from the documentation of the system calls.

mod flush;
mod native;
mod report;

use super::prelude::*;
use super::shared::outputs::{Output, Written};
use super::shared::rows::{self, RowOf, in_jvm, in_rust, on_nodes};
use super::shared::shape;
use crate::bench::host::Syncfs;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    files: usize,
    bytes_per_file: usize,
    directories: usize,
    replaced: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = shape(self.files, self.bytes_per_file);
        let state = if self.replaced { "replaced" } else { "new" };
        write!(f, "{shape} {state}")
    }
}

impl Case {
    /// Returns the files of that turn, in a directory yet to be named.
    fn layout(&self, count: usize) -> Layout {
        Layout {
            directory: String::new(),
            directories: self.directories,
            files: self.files,
            // Names of new files are new in each run: a mount might remember the last run's.
            name: if self.replaced {
                format!("old-{}-", self.files)
            } else {
                format!("new-{count}-")
            },
        }
    }
}

/// The way in which raw system calls make many files durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Flushing {
    /// Each file is flushed and named, and its directory flushed, before the next one.
    Each,
    /// The same for files, many at once; then each directory once.
    Concurrent,
    /// Writing to the device is started for all, then each file is flushed; then each directory
    /// once.
    Writeout,
    /// All is written, then the whole file system flushed; after renaming once more.
    Syncfs,
    /// Likewise, each time followed by the flush of a directory.
    SyncfsThenFsync,
    /// Each file is written to the device and that awaited, then one other file is flushed, which
    /// empties the device's cache.
    Git,
}

/// One run.
#[derive(Serialize, Deserialize)]
struct Request {
    style: Style,
    /// Only for raw system calls.
    flushing: Flushing,
    /// The directories are there; the files are, or are not.
    layout: Layout,
    /// True if a new file takes the old one's name.
    replace: bool,
    /// The size of each file.
    bytes: usize,
}

/// The baseline.
const EACH: &str = "fsync and directory flush each";
const EACH_AA: &str = "fsync and directory flush each A/A";
/// The baseline through a mount that adds no delay, beside a slow disk.
const MOUNT_ALONE: &str = "one by one, mount alone";
const SYNCFS: &str = "syncfs";
const SYNCFS_THEN_FSYNC: &str = "syncfs, then fsync";
/// The row on a file system where syncfs may flush nothing.
const SYNCFS_UNKNOWN: &str = "syncfs, NOT known to flush here";
const GIT: &str = "git's way, WEAKER promise";
const RUST: &str = "smallfry in Rust";
const NODE_EACH: &str = "Node fsync and directory flush each";
const ATOMIC: &str = "write-file-atomic sync, NO directory flush";
const ATOMIC_ALL: &str = "write-file-atomic Promise.all, NO directory flush";
const BULK_SYNC: &str = "smallfry writeFilesSync";
const BULK: &str = "smallfry writeFiles";
const JVM_EACH: &str = "Java force and directory flush each";
const BULK_JVM: &str = "smallfry writeAll in the JVM";

const ON_NODE: [RowOf; 5] = [
    (NODE_EACH, Functions::Node, Style::Sync),
    (ATOMIC, Functions::WriteFileAtomic, Style::Sync),
    (ATOMIC_ALL, Functions::WriteFileAtomic, Style::Parallel),
    (BULK_SYNC, Functions::Smallfry, Style::BulkSync),
    (BULK, Functions::Smallfry, Style::Bulk),
];

const IN_JVM: [RowOf; 2] = [
    (JVM_EACH, Functions::JavaChannel, Style::Sync),
    (BULK_JVM, Functions::Smallfry, Style::BulkSync),
];

/// Returns true if the row promises less than that all files survive, contents and names.
fn promises_less(row: &Row) -> bool {
    [SYNCFS_UNKNOWN, GIT, ATOMIC, ATOMIC_ALL].contains(&row.implementation.as_str())
}

/// Returns the ways that this system has, by name.
fn ways(session: &Session) -> Vec<(&'static str, Flushing)> {
    let mut ways = vec![
        (EACH, Flushing::Each),
        (EACH_AA, Flushing::Each),
        ("concurrent fsyncs", Flushing::Concurrent),
    ];
    if cfg!(target_os = "linux") {
        // A simulated disk is a mount of its own kind, whose server hears nothing of syncfs.
        let syncfs = match session.directories.profile() {
            Some(_) => Syncfs::Unknown,
            None => session.host.file_system.syncfs(),
        };
        ways.push(("writeout, then fsync", Flushing::Writeout));
        ways.push(match syncfs {
            Syncfs::Barrier => (SYNCFS, Flushing::Syncfs),
            Syncfs::BarrierWithFsync => (SYNCFS_THEN_FSYNC, Flushing::SyncfsThenFsync),
            Syncfs::Unknown => (SYNCFS_UNKNOWN, Flushing::Syncfs),
        });
        ways.push((GIT, Flushing::Git));
    }
    ways
}

/// The number of files with `--all` or `--cells`: a millisecond per file is ten seconds per row.
const MANY: usize = 10_000;
/// Files in a directory, on average.
const FILES_PER_DIRECTORY: usize = 100;
const MAX_DIRECTORIES: usize = 100;

/// The name in each of the session's directories.
const DIRECTORY: &str = "fsync-many";

pub(crate) struct FsyncMany {
    outputs: Vec<Output>,
}

impl Scenario for FsyncMany {
    const FACTS: Facts = Facts {
        seconds: 240.0,
        rounds: 4,
        turn_seconds: 2.0,
        has_jvm_rows: true,
        fewer_files: false,
        counts_flushes: true,
        driver: include_str!("driver.js"),
        ..Facts::of(
            "fsync-many",
            "10 to 10,000 files that must survive a crash: ways to wait for the disk",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let options = &session.options;
        let has_many = session.extent == Extent::All || options.cells.is_some();
        let numbers = match (options.files, session.extent) {
            (Some(given), _) => vec![given as usize],
            (None, Extent::Quick) => vec![10],
            (None, _) if has_many => vec![10, 100, 1_000, MANY],
            (None, _) => vec![10, 100, 1_000],
        };
        let mut cases = Vec::new();
        for files in numbers {
            for replaced in [false, true] {
                cases.push(Case {
                    files,
                    bytes_per_file: session.bytes(1_000),
                    directories: (files / FILES_PER_DIRECTORY).clamp(1, MAX_DIRECTORIES),
                    replaced,
                });
            }
        }
        cases
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let mut rows = on_nodes(session, &ON_NODE, rows::is_durable);
        rows.extend(in_jvm(session, &IN_JVM));
        rows.extend(in_rust(&[(RUST, Functions::Smallfry, Style::BulkSync)]));
        let raw = |name| Row::native(Functions::Raw, name, Style::Sync);
        rows.extend(ways(session).into_iter().map(|(name, _)| raw(name)));
        if session.directories.undelayed(0).is_some() {
            rows.push(raw(MOUNT_ALONE));
        }
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        rows::leave_out_durable(session);
        let directories = cases.iter().map(|case| case.directories).max();
        let old = cases.iter().filter(|case| case.replaced);
        let old: Vec<_> = old
            .map(|case| (case.layout(0), case.bytes_per_file))
            .collect();
        let directories = directories.unwrap_or(0);
        let outputs = Output::make_filled(session, DIRECTORY, directories, &old)?;
        Ok(Self { outputs })
    }

    fn new_files(case: &Case) -> usize {
        if case.replaced { 0 } else { case.files }
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let case = *turn.case;
        let name = turn.row.implementation.as_str();
        let mut ways = ways(turn.session).into_iter();
        let way = ways.find(|(way, _)| *way == name);
        let written = Written {
            output: &self.outputs[turn.output()],
            layout: case.layout(turn.count),
            bytes: case.bytes_per_file,
            is_new: !case.replaced,
            is_undelayed: name == MOUNT_ALONE,
        };
        written.ask(turn, |row, layout| Request {
            style: row.way.style,
            flushing: way.map_or(Flushing::Each, |(_, flushing)| flushing),
            layout,
            replace: case.replaced,
            bytes: case.bytes_per_file,
        })
    }
}
