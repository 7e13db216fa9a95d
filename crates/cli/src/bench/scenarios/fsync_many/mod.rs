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

#[cfg(target_os = "linux")]
mod linux;
mod native;
mod report;

use super::prelude::*;
use crate::bench::host::Syncfs;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{shape} {}", if self.replaced { "replaced" } else { "new" })]
pub(crate) struct Case {
    #[serde(flatten)]
    shape: Shape,
    replaced: bool,
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
    #[serde(flatten)]
    many: many::Request,
    /// Only for raw system calls.
    flushing: Flushing,
    /// True if a new file takes the old one's name.
    replace: bool,
}

/// The baselines.
const EACH: &str = "fsync and directory flush each";
const NODE_EACH: &str = "Node fsync and directory flush each";
const JVM_EACH: &str = "Java force and directory flush each";
/// The baseline through a mount that adds no delay, beside a slow disk.
const MOUNT_ALONE: &str = "one by one, mount alone";
const SYNCFS_THEN_FSYNC: &str = "syncfs, then fsync";
/// The row on a file system where syncfs may flush nothing.
const SYNCFS_UNKNOWN: &str = "syncfs, NOT known to flush here";
const GIT: &str = "git's way, WEAKER promise";
const RUST: &str = "smallfry in Rust";
const ATOMIC: &str = "write-file-atomic sync, NO directory flush";
const ATOMIC_ALL: &str = "write-file-atomic Promise.all, NO directory flush";

const ON_NODE: [RowOf; 5] = [
    (NODE_EACH, Functions::Node, Style::Sync),
    (ATOMIC, Functions::WriteFileAtomic, Style::Sync),
    (ATOMIC_ALL, Functions::WriteFileAtomic, Style::Parallel),
    rows::bulk("smallfry writeFilesSync"),
    ("smallfry writeFiles", Functions::Smallfry, Style::Bulk),
];

const IN_JVM: [RowOf; 2] = [
    (JVM_EACH, Functions::JavaChannel, Style::Sync),
    rows::bulk("smallfry writeAll in the JVM"),
];

/// Returns true if the row promises less than that all files survive, contents and names.
fn promises_less(row: &Row) -> bool {
    [SYNCFS_UNKNOWN, GIT, ATOMIC, ATOMIC_ALL].contains(&row.implementation.as_str())
}

/// Returns the ways that this system has, by name.
fn ways(session: &Session) -> Vec<(&'static str, Flushing)> {
    let mut ways = vec![
        (EACH, Flushing::Each),
        ("fsync and directory flush each A/A", Flushing::Each),
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
            Syncfs::Barrier => ("syncfs", Flushing::Syncfs),
            Syncfs::BarrierWithFsync => (SYNCFS_THEN_FSYNC, Flushing::SyncfsThenFsync),
            Syncfs::Unknown => (SYNCFS_UNKNOWN, Flushing::Syncfs),
        });
        ways.push((GIT, Flushing::Git));
    }
    if session.directories.undelayed(0).is_some() {
        ways.push((MOUNT_ALONE, Flushing::Each));
    }
    ways
}

/// The number of files with `--all` or `--cells`: a millisecond per file is ten seconds per row.
const MANY: usize = 10_000;
/// Files in a directory, on average.
const FILES_PER_DIRECTORY: usize = 100;
const MAX_DIRECTORIES: usize = 100;

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
        help: "10 to 10,000 files that must survive a crash: ways to wait for the disk",
        ..Facts::of("fsync-many")
    };
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
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
        let shape = |files| Shape {
            files,
            bytes_per_file: session.bytes(1_000),
            directories: (files / FILES_PER_DIRECTORY).clamp(1, MAX_DIRECTORIES),
        };
        let both = |shape| [false, true].map(|replaced| Case { shape, replaced });
        numbers.into_iter().map(shape).flat_map(both).collect()
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let tables: [&[RowOf]; 3] = [&ON_NODE, &IN_JVM, &[rows::bulk(RUST)]];
        let mut rows = rows::all(session, tables, rows::find_durable);
        let raw = |(name, _)| Row::native(Functions::Raw, name, Style::Sync);
        rows.extend(ways(session).into_iter().map(raw));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let directories = cases.iter().map(|case| case.shape.directories).max();
        let old = cases.iter().filter(|case| case.replaced);
        let old: Vec<Shape> = old.map(|case| case.shape).collect();
        let outputs = Output::make_filled(session, "fsync-many", directories, &old)?;
        Ok(Self { outputs })
    }

    fn new_files(case: &Case) -> usize {
        if case.replaced { 0 } else { case.shape.files }
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let Case { shape, replaced } = *turn.case;
        let name = turn.row.implementation.as_str();
        let way = ways(turn.session).into_iter().find(|(way, _)| *way == name);
        let written = Written {
            output: &self.outputs[turn.output()],
            shape,
            data: Data::String,
            is_new: !replaced,
            is_undelayed: name == MOUNT_ALONE,
        };
        written.ask(turn, |many| Request {
            many,
            flushing: way.map_or(Flushing::Each, |(_, flushing)| flushing),
            replace: replaced,
        })
    }
}
