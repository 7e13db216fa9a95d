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
//! | `concurrent fsyncs, attributes kept` | the same, with the attributes of the replaced files |
//! | `writeout, then fsync` | all written, writing to the device started for all, then each flushed; then each directory once |
//! | `syncfs` | all written, the whole file system flushed; after renaming once more. On ext4 without a journal the flush of a directory follows each time |
//! | `git's way` | as `core.fsyncMethod=batch`: the device takes each file's pages, then one other file is flushed. Nothing promises that metadata and names are there after it |
//!
//! Every run is a fresh process, on a file system that was flushed just before. In the round that
//! is not counted every file is compared with what it should hold, in the others its length is.
//! strace, where it is installed, watches that round: it counts the system calls that flush, and
//! how many of them had to be waited for one after the other. No run can tell whether the promise
//! is kept; it follows from the documentation of the system calls.

mod case;
#[cfg(target_os = "linux")]
mod linux;
mod native;
mod report;

use super::prelude::*;
use case::{Case, EACH_MOUNT_ALONE, Flushing, IN_JVM, ON_NODE, RUST, Request, ways};

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
        question: Some(Question::of(
            "which way makes many files durable?",
            &[
                ("Node", "writeFiles(files, { durability: 'full' })"),
                ("Rust", "smallfry::bulk::Writer, Durability::Full"),
                ("JDK", "Smallfry.writeAll, Durability.Full"),
            ],
        )),
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
            // If there is no time for all, the first is what programs do.
            (None, _) => vec![100, 1_000, 10],
        };
        let shape = |files| Shape {
            files,
            bytes_per_file: session.bytes(1_000),
            directories: (files / FILES_PER_DIRECTORY).clamp(1, MAX_DIRECTORIES),
        };
        let both = |shape| [false, true].map(|replaced| Case { shape, replaced });
        numbers.into_iter().map(shape).flat_map(both).collect()
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let tables: [&[RowOf]; 3] = [&ON_NODE, &IN_JVM, &[rows::bulk(RUST)]];
        let mut rows = rows::all(session, tables, rows::find_durable);
        let raw = |(name, _)| Row::native(Functions::Raw, name, Style::Sync);
        rows.extend(ways(session, case.replaced).into_iter().map(raw));
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
        let way = ways(turn.session, replaced)
            .into_iter()
            .find(|(way, _)| *way == name);
        let written = Written {
            output: &self.outputs[turn.output()],
            shape,
            data: Data::String,
            is_new: !replaced,
            is_undelayed: name == EACH_MOUNT_ALONE,
        };
        written.ask(turn, |many| Request {
            many,
            flushing: way.map_or(Flushing::Each, |(_, flushing)| flushing),
            replace: replaced,
        })
    }
}
