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

mod native;
mod report;

use super::prelude::*;
use super::scenario::times;
use super::shared::rows::{self, RowOf, in_rust, on_nodes};
use super::shared::word;
use crate::bench::directories;
use crate::bench::results::RowResult;
use crate::bench::runtime::peer::{Peer, PeerError};
use crate::bench::runtime::protocol::{Data, Text};
use crate::bench::stats::percentiles::{Percentiles, median};
use serde_json::json;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Accepts every write and keeps nothing.
const NULL_DEVICE: &str = if cfg!(windows) {
    r"\\.\NUL"
} else {
    "/dev/null"
};

/// The clock takes up to 0.1 us to read twice: at most some 2 % of this.
const SHORTEST_SAMPLE_NS: f64 = 4_000.0;
const LENGTHS: [u32; 6] = [12, 1_024, 12_288, 18_432, 102_400, 1_048_576];
const MIN_SAMPLES: f64 = 5.0;
const MAX_SAMPLES: f64 = 200.0;
/// Each sample on a new file leaves a name.
const MAX_NEW_FILES: f64 = 20.0;
const GROW_TO: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    Disk,
    Tmpfs,
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Function {
    #[serde(rename = "writeFileSync")]
    Write,
    #[serde(rename = "appendFileSync")]
    Append,
}

/// The way in which the file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Addressing {
    /// By path; the file is not there.
    New,
    /// By path; the file is there (for append: appended to).
    Overwritten,
    /// By path; the null device.
    Path,
    /// By a descriptor that the caller holds open.
    Fd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    length: u32,
    text: Text,
    function: Function,
    data: Data,
    target: Target,
    addressing: Addressing,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [text, function, target] = [word(self.text), word(self.function), word(self.target)];
        let by_path = matches!(self.addressing, Addressing::New | Addressing::Overwritten);
        let addressing = [if by_path { "path " } else { "" }, &word(self.addressing)].concat();
        let Self { length, data, .. } = self;
        write!(f, "{length} {text} {data} {function} {target} {addressing}")
    }
}

impl Case {
    /// Returns a string written with `writeFileSync`.
    const fn written(length: u32, text: Text, target: Target, addressing: Addressing) -> Self {
        Self {
            length,
            text,
            function: Function::Write,
            data: Data::String,
            target,
            addressing,
        }
    }

    /// Returns true if the file system of `--dir` looks the path up each time. Elsewhere the
    /// overhead is what is seen.
    fn is_by_path_on_disk(&self) -> bool {
        self.target == Target::Disk && self.addressing != Addressing::Fd
    }
}

/// Returns the cases that the reference tables show, and the overhead at three lengths.
fn core_cases() -> Vec<Case> {
    use Addressing::{Fd, Overwritten, Path};
    use Target::{Disk, Null, Tmpfs};
    use Text::Ascii;
    let mut cases = Vec::new();
    for length in [1_024, 102_400, 1_048_576] {
        cases.push(Case::written(length, Ascii, Disk, Overwritten));
        cases.push(Case::written(length, Ascii, Disk, Fd));
    }
    cases.extend(DISTRIBUTIONS.map(|(length, text, _)| Case::written(length, text, Null, Path)));
    for length in [12, 12_288, 1_048_576] {
        cases.push(Case::written(length, Ascii, Null, Fd));
        cases.push(Case::written(length, Ascii, Tmpfs, Overwritten));
    }
    cases
}

/// The lengths and texts of the second table of the reference, and their names in it.
const DISTRIBUTIONS: [(u32, Text, &str); 4] = [
    (12, Text::Ascii, "12 ascii"),
    (12, Text::Mixed, "12 utf8"),
    (12_288, Text::Ascii, "12288 ascii"),
    (18_432, Text::Mixed, "18432 utf8"),
];

fn quick_cases() -> Vec<Case> {
    use Target::{Disk, Null, Tmpfs};
    vec![
        Case::written(12, Text::Ascii, Null, Addressing::Fd),
        Case::written(12_288, Text::Mixed, Tmpfs, Addressing::Overwritten),
        Case::written(1_024, Text::Ascii, Disk, Addressing::New),
    ]
}

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

/// One batch of samples of one case.
#[derive(Serialize, Deserialize)]
struct Request {
    /// In UTF-16 units.
    length: u32,
    text: Text,
    pattern: String,
    function: Function,
    data: Data,
    addressing: Addressing,
    /// The path of the file; for [`Addressing::New`] the prefix of the paths of the files.
    path: String,
    /// True to leave the new files, empty, instead of removing them.
    keep_names: bool,
    /// Calls before the first sample, untimed.
    warm_up: u32,
    samples: u32,
    /// Per sample.
    calls: u32,
    /// A file that grows is cut back, untimed, before it passes this many bytes.
    grow_to: u64,
}

const NODE: &str = "node:fs";
/// The baseline once more: what differs between the two is noise.
const NODE_AA: &str = "node:fs A/A";
const BEFORE: &str = "before";
const SMALLFRY: &str = "smallfry";
const STD: &str = "std";
const SMALLFRY_RUST: &str = "smallfry Rust";
const RAW: &str = rows::RAW;

const ON_NODE: [RowOf; 4] = [
    (NODE, Functions::Node, Style::Sync),
    (NODE_AA, Functions::Node, Style::Sync),
    (BEFORE, Functions::Before, Style::Sync),
    (SMALLFRY, Functions::Smallfry, Style::Sync),
];

const IN_RUST: [RowOf; 3] = [
    (STD, Functions::Std, Style::Sync),
    (SMALLFRY_RUST, Functions::Smallfry, Style::Sync),
    (RAW, Functions::Raw, Style::Sync),
];

/// The numbers of calls and samples that suit one row of one case.
#[derive(Clone, Copy)]
struct Size {
    warm_up: u32,
    samples: u32,
    calls: u32,
}

/// The numbers in the round that is not counted.
const FIRST: Size = Size {
    warm_up: 8,
    samples: 5,
    calls: 1,
};

impl Size {
    fn fitting(call_ns: f64, calls: u32, batch: Duration, max: f64) -> Self {
        let sample_ns = call_ns * f64::from(calls);
        let batch_ns = batch.as_nanos() as f64;
        Self {
            warm_up: (batch_ns / 8.0 / call_ns).clamp(2.0, 2.0 * max) as u32,
            samples: (batch_ns / sample_ns).clamp(MIN_SAMPLES, max) as u32,
            calls,
        }
    }
}

#[derive(Default)]
pub(crate) struct WriteString {
    /// Nanoseconds of a call in the round that is not counted, by case and row.
    pilot: HashMap<(usize, usize), f64>,
    /// The processes of this round, by the row's label.
    peers: HashMap<String, Result<Peer, String>>,
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
        ..Facts::of(
            "write-string",
            "One string into one file, over lengths, texts and kinds of target",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let has_words = session.options.cells.is_some();
        let mut cases = match session.extent {
            Extent::Core if !has_words => core_cases(),
            Extent::Quick if !has_words => quick_cases(),
            _ => all_cases(),
        };
        if !session.directories.has_memory() {
            cases.retain(|case| case.target != Target::Tmpfs);
        }
        cases
    }

    /// Rust has one kind of string: in the cases of Buffers it would repeat itself.
    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let mut rows = on_nodes(session, &ON_NODE, rows::is_there);
        if case.data == Data::String {
            rows.extend(in_rust(&IN_RUST));
        }
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

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        if self.peers.is_empty() || self.round != turn.round {
            self.round = turn.round;
            self.directory = None;
            self.start(turn.session)?;
        }
        let (case, row) = turn.place;
        let directory = match self.directory {
            Some((running, directory)) if running == case => directory,
            _ => self.random.usize(..directories::COUNT),
        };
        self.directory = Some((case, directory));
        let size = match turn.round {
            None => FIRST,
            Some(_) => self.size(turn.session.extent, turn.case, turn.place),
        };
        let request = request(turn.session, turn.case, directory, size)?;
        let label = &turn.row.label;
        let answer = match self.peers.get_mut(label) {
            Some(Ok(peer)) => peer.ask(Self::REQUEST, &request),
            Some(Err(gone)) => Err(PeerError::Lost(gone.clone())),
            None => Err(PeerError::Lost("its process was not started".to_owned())),
        };
        let answer = turn.session.judge(answer)?;
        if matches!(answer, Err(PeerError::Lost(_))) {
            let peer = ready(turn.session, turn.row.start(&turn.session.interrupt)?)?;
            self.peers.insert(label.clone(), peer);
        }
        let answer = times(answer);
        if let (Ok(times), None) = (&answer, turn.round) {
            let ns = median(times.samples_ns.iter().map(|ns| *ns as f64));
            self.pilot.extend(ns.map(|ns| ((case, row), ns)));
        }
        Ok(answer.map(|times| Times {
            calls: size.calls,
            directory: Some(directory),
            ..times
        }))
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
    /// Starts the processes of a round; all are started before the first is waited for.
    fn start(&mut self, session: &Session) -> Result<(), Failure> {
        self.peers.clear();
        let mut rows = on_nodes(session, &ON_NODE, rows::is_there);
        rows.extend(in_rust(&IN_RUST));
        let mut started = Vec::new();
        for row in &mut rows {
            row.launch.warm_up = true;
            started.push((row.label.clone(), row.start(&session.interrupt)?));
        }
        for (label, peer) in started {
            self.peers.insert(label, ready(session, peer)?);
        }
        Ok(())
    }

    /// Returns how many calls and samples suit the row, as its first round tells.
    fn size(&self, extent: Extent, case: &Case, place: (usize, usize)) -> Size {
        let of_case = self.pilot.iter().filter(|(of, _)| of.0 == place.0);
        let fastest = of_case.map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
        let fastest = fastest.max(1.0);
        let is_new = case.addressing == Addressing::New;
        let calls = if !is_new && fastest < SHORTEST_SAMPLE_NS / 2.0 {
            (SHORTEST_SAMPLE_NS / fastest).ceil() as u32
        } else {
            1
        };
        let batch = Duration::from_millis(match extent {
            Extent::Quick => 1,
            Extent::Core => 4,
            Extent::All => 3,
        });
        let max = if is_new { MAX_NEW_FILES } else { MAX_SAMPLES };
        let own = self.pilot.get(&place).copied().unwrap_or(fastest);
        Size::fitting(own, calls, batch, max)
    }
}

fn ready(session: &Session, mut peer: Peer) -> Result<Result<Peer, String>, Failure> {
    let hello = peer.hello();
    session.interrupt.check()?;
    Ok(hello.map(|_| peer).map_err(|error| error.to_string()))
}

fn request(
    session: &Session,
    case: &Case,
    directory: usize,
    size: Size,
) -> Result<Request, Failure> {
    let path = match case.target {
        Target::Disk => session.directories.on_disk(directory).join("file"),
        Target::Tmpfs => session
            .directories
            .in_memory(directory)
            .ok_or_else(|| Failure::said("there is no tmpfs to write to"))?
            .join("file"),
        Target::Null => PathBuf::from(NULL_DEVICE),
    };
    Ok(Request {
        length: case.length,
        text: case.text,
        pattern: case.text.pattern().to_owned(),
        function: case.function,
        data: case.data,
        addressing: case.addressing,
        path: directories::unicode(&path)?,
        keep_names: case.target == Target::Disk,
        warm_up: size.warm_up,
        samples: size.samples,
        calls: size.calls,
        grow_to: GROW_TO,
    })
}

/// Returns how many calls a sample timed.
fn calls(result: &CaseResult<Case>) -> u32 {
    let mut runs = result.outcomes.iter().flat_map(RowResult::done);
    runs.next().map_or(1, |run| run.calls)
}

/// Returns the percentiles of all samples of the row.
fn percentiles(result: &CaseResult<Case>, row: usize) -> Option<Percentiles> {
    let runs = result.outcomes[row].done();
    let samples = runs.flat_map(|run| run.samples_ns.iter().copied());
    Percentiles::of(samples, calls(result))
}

/// Returns nanoseconds per call.
fn call_ns(run: &Times) -> Option<f64> {
    let calls = f64::from(run.calls.max(1));
    median(run.samples_ns.iter().map(|ns| *ns as f64 / calls))
}

/// Returns calls per second.
fn rate(run: &Times) -> Option<f64> {
    let total: u64 = run.samples_ns.iter().sum();
    let calls = run.samples_ns.len() as f64 * f64::from(run.calls);
    (total > 0).then(|| calls * 1e9 / total as f64)
}
