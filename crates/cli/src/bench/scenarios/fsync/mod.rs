//! `fsync`: what it costs that a write survives a crash of the system.
//!
//! One file is written again and again, by path, with and without a flush; each write is timed
//! alone. A case is a number of ASCII characters.
//!
//! Rows that flush less are named so: `fdatasync` keeps the contents and the size, `fsync` all that
//! the file itself has, and only the flush of its directory keeps the name of a file that is new. A
//! file that is replaced is new each time. Replacing a file frees an inode, and ext4 without a
//! journal passes over those that were freed in the last minutes one by one when it makes a file:
//! all rows that replace pay for what the others have freed, raw system calls included.
//!
//! Every run is a fresh process, on a file system that was flushed just before; some writes that
//! are not counted come first. The round that is not counted is watched by strace, where it is
//! installed: it tells which system calls flushed, and how often.

mod case;
mod native;
mod report;

use super::prelude::*;
use case::{Case, IN_JVM, IN_NODE, IN_RUST, Level, RAW_MOUNT_ALONE, Request, Write, write_of};

/// Calls before those that count: enough for a runtime to compile what is called, few where each
/// waits for the disk or frees an inode.
const WARM_UP: u32 = 500;

const WARM_UP_SYNCED: u32 = 10;
const FILE: &str = "file";

pub(crate) struct Fsync {
    outputs: Vec<Output>,
}

impl Scenario for Fsync {
    const FACTS: Facts = Facts {
        seconds: 120.0,
        // A thousand writes in all.
        rounds: 10,
        counts_rounds: true,
        turn_seconds: 0.2,
        has_jvm_rows: true,
        counts_flushes: true,
        driver: include_str!("driver.js"),
        question: Some(Question {
            asked: "what does an fsync cost here?",
            adopt: &[],
            next: "smallfry bench fsync-many: many files at once cost one barrier",
            rows: &["unsynced", "ata", "ull"],
        }),
        help: "One file written 1,000 times, with and without a flush, each write timed alone",
        ..Facts::of("fsync")
    };
    const SAMPLE: &'static str = "write";
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let usual = (100, &[500, 1_000, 2_000, 10_000][..]);
        let (writes, lengths) = session.extent.pick((10, &[500][..]), usual);
        let given = session.options.size.map(|given| vec![given as usize]);
        let case = |characters| Case {
            characters,
            writes: session.files(writes),
        };
        let lengths = given.unwrap_or_else(|| lengths.to_vec());
        lengths.into_iter().map(case).collect()
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let row = |write: &Write| (write.name, write.functions, Style::Sync);
        let [node, jvm, rust]: [Vec<RowOf>; 3] =
            [&IN_NODE[..], &IN_JVM, &IN_RUST].map(|writes| writes.iter().map(row).collect());
        let mut rows = rows::all(session, [&node, &jvm, &rust], rows::find_durable);
        rows.extend(rows::mount_alone(session, RAW_MOUNT_ALONE));
        rows
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        let outputs = Output::make(session, "fsync", 0)?;
        Ok(Self { outputs })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let write = write_of(turn.row);
        let output = &self.outputs[turn.output()];
        flush(&output.beneath)?;
        let text = Text::Ascii.repeat(turn.case.characters);
        let path = output.seen(write.name == RAW_MOUNT_ALONE).join(FILE);
        let times = turn.ask(&Request {
            path: unicode(&path)?,
            text: text.clone(),
            level: write.level,
            replace: write.replace,
            batch: Batch {
                // The calls of a run that is watched are all to be those of its writes.
                warm_up: match (turn.round, write.level) {
                    (None, _) => 0,
                    (_, Level::None) if !write.replace => WARM_UP,
                    _ => WARM_UP_SYNCED,
                },
                samples: u32::try_from(turn.case.writes).unwrap_or(u32::MAX),
                calls: 1,
            },
        })?;
        let file = (output.beneath.join(FILE), text.into_bytes().into());
        verify_files([file].into_iter(), true)?;
        let entries = fs::read_dir(&output.beneath).map_err(|error| error.to_string())?;
        match entries.count() - 1 {
            0 => Ok(times),
            more => Err(format!("it left {more} files beside the one it wrote").into()),
        }
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
        report::REPORT.show(Self::FACTS.name, page, session, results);
        report::percentiles(page, results);
    }
}
