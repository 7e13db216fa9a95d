//! `write-string`: one string into one file, by every function, kind of text, length and target
//! that matters.
//!
//! - text: `ascii`; `latin1`, one byte per character in memory but not in UTF-8; `mixed`,
//!   characters of two and three bytes
//! - target: the disk (`--dir`), a tmpfs, the null device (the overhead alone)
//! - addressing: by path onto a file that is `new` (another name for each call) or `overwritten`
//!   (for append: appended to); by `fd`, a descriptor that the caller holds. A file that grows is
//!   cut back, untimed, every few megabytes
//!
//! In a round each row has one process, which does a batch in every case; the rows of a case follow
//! each other. The first round, which is not counted, tells how many calls and samples suit each
//! row. Where a call takes less than [`SHORTEST_SAMPLE_NS`] a sample times several calls; the
//! number is shown.
//!
//! Files on the disk stay, emptied, until the run ends: ext4 passes over the inodes of files
//! removed in the last minute one by one, so that removing between samples would make each later
//! create slower, up to twenty times.

mod case;
mod native;
mod report;

use super::prelude::*;
use super::scenario::times;
use crate::bench::runtime::peer::{Peer, PeerError};
use case::{Addressing, Case, Function, IN_RUST, ON_NODE, Request, Target, calls, percentiles};

/// Accepts every write and keeps nothing.
const NULL_DEVICE: &str = ["/dev/null", r"\\.\NUL"][cfg!(windows) as usize];
/// The clock takes up to 0.1 us to read twice: at most some 2 % of this.
const SHORTEST_SAMPLE_NS: f64 = 4_000.0;
const LENGTHS: [u32; 6] = [12, 1_024, 12_288, 18_432, 102_400, 1_048_576];
const MIN_SAMPLES: f64 = 5.0;
const MAX_SAMPLES: f64 = 200.0;
/// Each sample on a new file leaves a name.
const MAX_NEW_FILES: f64 = 20.0;
const GROW_TO: u64 = 16 << 20;

/// Kinds of cases, and the lengths in each.
type Kinds = [(&'static str, &'static [u32])];

/// The cases that the reference tables show, and the overhead at three lengths.
const CORE: &Kinds = &[
    ("ascii disk overwritten", &[1_024, 102_400, 1_048_576]),
    ("ascii disk fd", &[1_024, 102_400, 1_048_576]),
    ("ascii tmpfs overwritten", &[12, 12_288, 1_048_576]),
    ("ascii null path", &[12, 12_288]),
    ("mixed null path", &[12, 18_432]),
    ("ascii null fd", &[12, 12_288, 1_048_576]),
];

const QUICK: &Kinds = &[
    ("ascii null fd", &[12]),
    ("mixed tmpfs overwritten", &[12_288]),
    ("ascii disk new", &[1_024]),
];

fn all_cases() -> Vec<Case> {
    use Addressing::{Fd, New, Overwritten, Path};
    let places = [
        (Target::Disk, &[New, Overwritten, Fd][..]),
        (Target::Tmpfs, &[New, Overwritten, Fd]),
        (Target::Null, &[Path, Fd]),
    ];
    let mut cases = Vec::new();
    for (target, addressings) in places {
        for &addressing in addressings {
            for function in [Function::Write, Function::Append] {
                for data in [Data::String, Data::Buffer] {
                    for text in [Text::Ascii, Text::Latin1, Text::Mixed] {
                        cases.extend(LENGTHS.map(|length| Case {
                            length,
                            text,
                            function,
                            data,
                            target,
                            addressing,
                        }));
                    }
                }
            }
        }
    }
    cases
}

/// The numbers in the round that is not counted.
const FIRST: Batch = Batch {
    warm_up: 8,
    samples: 5,
    calls: 1,
};

#[derive(Default)]
pub(crate) struct WriteString {
    /// Nanoseconds of a call in the round that is not counted, by case and row.
    pilot: HashMap<(usize, usize), f64>,
    /// The processes of this round, by the row's label.
    peers: HashMap<String, Peer>,
    round: Option<usize>,
    /// The case whose rows are running, and their directory.
    directory: Option<(usize, usize)>,
    random: fastrand::Rng,
}

impl Scenario for WriteString {
    const FACTS: Facts = Facts {
        unasked: true,
        seconds: 20.0,
        rounds: 12,
        turn_seconds: 0.0035,
        fewer_files: false,
        by_case: true,
        driver: include_str!("driver.js"),
        help: "One string into one file, over lengths, texts and kinds of target",
        ..Facts::of("write-string")
    };
    const SAMPLE: &'static str = "call";
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn time() -> Time {
        |run, _| case::call_ns(run)
    }

    fn cases(session: &Session) -> Vec<Case> {
        let few = match session.extent {
            Extent::Core => CORE,
            Extent::Quick => QUICK,
            Extent::All => &[],
        };
        let is_all = few.is_empty() || session.options.cells.is_some();
        let has_memory = session.directories.has_memory();
        let mut cases = all_cases();
        cases.retain(|case| {
            let (name, length) = (case.short(), case.length);
            let mut few = few.iter().filter(|(_, lengths)| lengths.contains(&length));
            let is_wanted = is_all || few.any(|(kind, _)| name == format!("{length} {kind}"));
            is_wanted && (has_memory || case.target != Target::Tmpfs)
        });
        cases
    }

    /// Rust has one kind of string: in the cases of Buffers it would repeat itself.
    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let in_rust = IN_RUST.iter().filter(|_| case.data == Data::String);
        let in_rust: Vec<RowOf> = in_rust.copied().collect();
        let mut rows = rows::all(session, [&ON_NODE, &[], &in_rust], rows::find);
        for row in &mut rows {
            row.launch.warm_up = true;
        }
        rows
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        Ok(Self {
            random: session.random.fork(),
            ..Self::default()
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let (session, label) = (turn.session, &turn.row.label);
        let interrupt = &session.interrupt;
        if self.peers.is_empty() || self.round != turn.round {
            self.round = turn.round;
            self.directory = None;
            self.peers.clear();
            // All are started before the first is waited for.
            for row in turn.rows {
                self.peers.insert(row.label.clone(), row.start(interrupt)?);
            }
            self.peers.retain(|_, peer| peer.hello().is_ok());
        }
        let (case, row) = turn.place;
        let running = self.directory.filter(|(running, _)| *running == case);
        let directory = running.map_or_else(|| self.random.usize(..directories::COUNT), |it| it.1);
        self.directory = Some((case, directory));
        let batch = match turn.round {
            None => FIRST,
            Some(_) => self.size(session.extent, turn.case, turn.place),
        };
        let request = Request {
            case: *turn.case,
            pattern: turn.case.text.pattern().to_owned(),
            path: path(session, turn.case.target, directory)?,
            batch,
            grow_to: GROW_TO,
        };
        let mut peer = if let Some(peer) = self.peers.remove(label) {
            peer
        } else {
            let mut peer = turn.row.start(interrupt)?;
            if let Err(error) = peer.hello() {
                return times(session, Err(error));
            }
            peer
        };
        let answer = peer.ask(Self::REQUEST, &request);
        if !matches!(answer, Err(PeerError::Lost(_))) {
            self.peers.insert(label.clone(), peer);
        }
        let times = times(session, answer)?;
        if turn.round.is_none() {
            let ns = median(times.samples_ns.iter().map(|ns| *ns as f64));
            self.pilot.extend(ns.map(|ns| ((case, row), ns)));
        }
        Ok(Times {
            calls: batch.calls,
            directory: Some(directory),
            ..times
        })
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
        report::show(page, session, results);
    }

    fn json(results: &Results<Case>) -> Value {
        let batch = |run: &Option<Times>| {
            let run = run.as_ref()?;
            let samples = json!({ "ns": run.samples_ns, "usage": run.usage });
            Some(json!({ "directory": run.directory, "samples": samples }))
        };
        let case = |result: &CaseResult<Case>| {
            let rows = result.rows.iter().enumerate().map(|(index, row)| {
                let outcome = &result.outcomes[index];
                json!({
                    "implementation": row.implementation,
                    "runtime": row.runtime.name(),
                    "error": outcome.error,
                    "percentiles": percentiles(result, index),
                    "batches": outcome.runs.iter().map(batch).collect::<Vec<_>>(),
                })
            });
            json!({
                "cell": result.case,
                "calls_per_sample": calls(result),
                "rows": rows.collect::<Vec<_>>(),
            })
        };
        let cells: Vec<Value> = results.cases.iter().map(case).collect();
        json!({ "rounds": results.rounds, "cells": cells })
    }
}

impl WriteString {
    /// Returns how many calls and samples suit the row, as its first round tells.
    fn size(&self, extent: Extent, case: &Case, place: (usize, usize)) -> Batch {
        let of_case = self.pilot.iter().filter(|(of, _)| of.0 == place.0);
        let fastest = of_case.map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
        let fastest = fastest.max(1.0);
        let is_new = case.addressing == Addressing::New;
        let calls = if !is_new && fastest < SHORTEST_SAMPLE_NS / 2.0 {
            (SHORTEST_SAMPLE_NS / fastest).ceil()
        } else {
            1.0
        };
        let batch_ns = match extent {
            Extent::Quick => 1e6,
            Extent::Core => 4e6,
            Extent::All => 3e6,
        };
        let max = if is_new { MAX_NEW_FILES } else { MAX_SAMPLES };
        let call_ns = self.pilot.get(&place).copied().unwrap_or(fastest);
        Batch {
            warm_up: (batch_ns / 8.0 / call_ns).clamp(2.0, 2.0 * max) as u32,
            samples: (batch_ns / (call_ns * calls)).clamp(MIN_SAMPLES, max) as u32,
            calls: calls as u32,
        }
    }
}

fn path(session: &Session, target: Target, directory: usize) -> Result<String, Failure> {
    let parent = match target {
        Target::Disk => Some(session.directories.on_disk(directory)),
        Target::Tmpfs => session.directories.in_memory(directory),
        Target::Null => return Ok(NULL_DEVICE.to_owned()),
    };
    let parent = parent.ok_or_else(|| Failure::said("there is no tmpfs to write to"))?;
    unicode(&parent.join("file"))
}
