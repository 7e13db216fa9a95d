//! `write-string`: one string into one file, by every function, kind of text, length and target that matters.
//!
//! - text: `ascii`; `latin1`, one byte a character in memory but not in UTF-8; `mixed`, characters of two and three bytes
//! - target: the disk (`--dir`), a tmpfs, the null device (the overhead alone)
//! - addressing: by path onto a file that is `new` (another name for each call) or `overwritten` (for append: appended to); by `fd`, a descriptor that the caller holds. A file that grows is cut back, untimed, every few megabytes.
//!
//! Files on the disk stay, emptied, until the run ends: ext4 passes over the inodes of files removed in the last minute one by one, so
//! that removing between samples would make each later create slower, up to twenty times.
//!
//! Where a call takes less than [`SHORTEST_SAMPLE_NS`] a sample times several calls; the number is shown.

use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::runtime::Row;
use crate::bench::runtime::peer::{Peer, PeerError};
use crate::bench::runtime::protocol::{
    Addressing, Data, Function, Functions, Reply, Request, Samples, Style, Text, WriteString,
};
use crate::bench::schedule::Schedule;
use crate::bench::session::{Extent, Session};
use crate::bench::stats::percentiles::{Percentiles, median};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Accepts every write and keeps nothing.
pub(crate) const NULL_DEVICE: &str = if cfg!(windows) {
    r"\\.\NUL"
} else {
    "/dev/null"
};

/// The clock takes up to 0.1 us to read twice: at most some 2 % of this.
const SHORTEST_SAMPLE_NS: f64 = 4_000.0;
const LENGTHS: [u32; 6] = [12, 1_024, 12_288, 18_432, 102_400, 1_048_576];
const MAX_SAMPLES: f64 = 200.0;
const LEAST_SAMPLES: f64 = 5.0;
/// Each sample on a new file leaves a name.
const MAX_NEW_FILES: f64 = 20.0;
const GROW_TO: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    Disk,
    Tmpfs,
    Null,
}

/// One case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Cell {
    pub(crate) length: u32,
    pub(crate) text: Text,
    pub(crate) function: Function,
    pub(crate) data: Data,
    pub(crate) target: Target,
    pub(crate) addressing: Addressing,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.text {
            Text::Ascii => "ascii",
            Text::Latin1 => "latin1",
            Text::Mixed => "mixed",
        };
        let function = match self.function {
            Function::Write => "writeFileSync",
            Function::Append => "appendFileSync",
        };
        let place = match self.target {
            Target::Disk => "disk",
            Target::Tmpfs => "tmpfs",
            Target::Null => "null",
        };
        let addressing = match self.addressing {
            Addressing::New => "path new",
            Addressing::Overwritten => "path overwritten",
            Addressing::Path => "path",
            Addressing::Fd => "fd",
        };
        write!(
            f,
            "{} {text} {} {function} {place} {addressing}",
            self.length, self.data
        )
    }
}

impl Cell {
    /// A string written with `writeFileSync`.
    pub(crate) const fn written(
        length: u32,
        text: Text,
        target: Target,
        addressing: Addressing,
    ) -> Self {
        Self {
            length,
            text,
            function: Function::Write,
            data: Data::String,
            target,
            addressing,
        }
    }

    /// Does the file system of `--dir` look the path up each time? Elsewhere the overhead is what is seen.
    pub(crate) fn is_by_path_on_disk(&self) -> bool {
        self.target == Target::Disk && self.addressing != Addressing::Fd
    }

    fn named_by(&self, words: &str) -> bool {
        let name = self.to_string();
        words
            .split_whitespace()
            .all(|word| name.split(' ').any(|part| part == word))
    }

    /// Rust has one kind of string: in the cases of Buffers it would repeat itself.
    fn has_row(&self, row: &Row) -> bool {
        row.runtime.is_node() || self.data == Data::String
    }
}

/// The cases whose figures the reference tables show, and the overhead at three lengths.
fn core_cells() -> Vec<Cell> {
    use Addressing::{Fd, Overwritten, Path};
    let mut cells = Vec::new();
    for length in [1_024, 102_400, 1_048_576] {
        cells.push(Cell::written(
            length,
            Text::Ascii,
            Target::Disk,
            Overwritten,
        ));
        cells.push(Cell::written(length, Text::Ascii, Target::Disk, Fd));
    }
    for (length, text) in [
        (12, Text::Ascii),
        (12, Text::Mixed),
        (12_288, Text::Ascii),
        (18_432, Text::Mixed),
    ] {
        cells.push(Cell::written(length, text, Target::Null, Path));
    }
    for length in [12, 12_288, 1_048_576] {
        cells.push(Cell::written(length, Text::Ascii, Target::Null, Fd));
        cells.push(Cell::written(
            length,
            Text::Ascii,
            Target::Tmpfs,
            Overwritten,
        ));
    }
    cells
}

fn quick_cells() -> Vec<Cell> {
    vec![
        Cell::written(12, Text::Ascii, Target::Null, Addressing::Fd),
        Cell::written(12_288, Text::Mixed, Target::Tmpfs, Addressing::Overwritten),
        Cell::written(1_024, Text::Ascii, Target::Disk, Addressing::New),
    ]
}

fn all_cells() -> Vec<Cell> {
    use Addressing::{Fd, New, Overwritten, Path};
    let places = [
        (Target::Disk, &[New, Overwritten, Fd][..]),
        (Target::Tmpfs, &[New, Overwritten, Fd]),
        (Target::Null, &[Path, Fd]),
    ];
    let mut cells = Vec::new();
    for (target, addressings) in places {
        for &addressing in addressings {
            for function in [Function::Write, Function::Append] {
                for data in [Data::String, Data::Buffer] {
                    for text in [Text::Ascii, Text::Latin1, Text::Mixed] {
                        cells.extend(LENGTHS.map(|length| Cell {
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
    cells
}

/// The cases of this run.
pub(crate) fn cells(session: &Session) -> Result<Vec<Cell>, Failure> {
    let words = session.arguments.cells.as_deref();
    let mut cells = match (session.plan.extent, words) {
        (Extent::Core, None) => core_cells(),
        (Extent::Quick, None) => quick_cells(),
        (Extent::All, _) | (_, Some(_)) => all_cells(),
    };
    if !session.directories.has_memory() {
        cells.retain(|cell| cell.target != Target::Tmpfs);
    }
    if let Some(words) = words {
        cells.retain(|cell| cell.named_by(words));
        if cells.is_empty() {
            return Err(Failure::said(format!(
                "no case of write-string has all the words {words:?}; one has {:?}",
                core_cells()[0].to_string()
            )));
        }
    }
    Ok(cells)
}

/// The rows of this run.
pub(crate) fn rows(session: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        rows.push(session.row(node, Functions::Node, NODE, Style::Sync));
        rows.push(session.row(node, Functions::Node, AGAIN, Style::Sync));
        rows.push(session.row(node, Functions::Before, BEFORE, Style::Sync));
        if node.package.is_some() {
            rows.push(session.row(node, Functions::Smallfry, SMALLFRY, Style::Sync));
        }
    }
    rows.push(Session::native_row(Functions::Std, STD, Style::Sync));
    rows.push(Session::native_row(
        Functions::Smallfry,
        SMALLFRY_RUST,
        Style::Sync,
    ));
    if cfg!(unix) {
        rows.push(Session::native_row(Functions::Floor, FLOOR, Style::Sync));
    }
    for row in &mut rows {
        row.launch.warm_up = true;
    }
    rows
}

pub(crate) const NODE: &str = "node:fs";
/// The baseline once more: what differs between the two is noise.
pub(crate) const AGAIN: &str = "node:fs again";
pub(crate) const BEFORE: &str = "before";
pub(crate) const SMALLFRY: &str = "smallfry";
pub(crate) const STD: &str = "std";
pub(crate) const SMALLFRY_RUST: &str = "smallfry Rust";
pub(crate) const FLOOR: &str = "floor";

/// What one process gave in one round.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Batch {
    pub(crate) directory: usize,
    pub(crate) samples: Samples,
}

/// One row in one case.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowResult {
    pub(crate) error: Option<String>,
    /// By round.
    pub(crate) batches: Vec<Option<Batch>>,
}

pub(crate) struct CellResult {
    pub(crate) cell: Cell,
    /// A sample.
    pub(crate) calls: u32,
    /// By row; `None` where the row has no such case.
    pub(crate) rows: Vec<Option<RowResult>>,
}

pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) cells: Vec<CellResult>,
    pub(crate) rounds: usize,
}

impl Results {
    pub(crate) fn failures(&self) -> usize {
        self.cells
            .iter()
            .flat_map(|cell| cell.rows.iter().flatten())
            .filter(|row| row.error.is_some())
            .count()
    }

    pub(crate) fn cell(&self, cell: Cell) -> Option<&CellResult> {
        self.cells.iter().find(|result| result.cell == cell)
    }
}

impl CellResult {
    pub(crate) fn row(&self, index: usize) -> Option<&RowResult> {
        self.rows.get(index)?.as_ref()
    }

    /// Of all samples of the row.
    pub(crate) fn percentiles(&self, row: usize) -> Option<Percentiles> {
        let batches = self.row(row)?.batches.iter().flatten();
        Percentiles::of(
            batches.flat_map(|batch| batch.samples.ns.iter().copied()),
            self.calls,
        )
    }

    /// Nanoseconds per call, a median per round.
    pub(crate) fn medians(&self, row: usize) -> Vec<Option<f64>> {
        self.per_round(row, |ns| {
            median(ns.iter().map(|ns| *ns as f64 / f64::from(self.calls)))
        })
    }

    /// Calls per second, one rate per round.
    pub(crate) fn rates(&self, row: usize) -> Vec<f64> {
        let rate = |ns: &[u64]| {
            let total: u64 = ns.iter().sum();
            (total > 0).then(|| ns.len() as f64 * f64::from(self.calls) * 1e9 / total as f64)
        };
        self.per_round(row, rate).into_iter().flatten().collect()
    }

    fn per_round(&self, row: usize, of: impl Fn(&[u64]) -> Option<f64>) -> Vec<Option<f64>> {
        let batches = self
            .row(row)
            .map(|row| row.batches.as_slice())
            .unwrap_or_default();
        batches
            .iter()
            .map(|batch| batch.as_ref().and_then(|batch| of(&batch.samples.ns)))
            .collect()
    }
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let rows = rows(session);
    let cells = cells(session)?;
    let cells = cells
        .into_iter()
        .map(|cell| CellResult {
            cell,
            calls: 1,
            rows: rows
                .iter()
                .map(|row| cell.has_row(row).then(RowResult::default))
                .collect(),
        })
        .collect();
    let mut results = Results {
        rows,
        cells,
        rounds: 0,
    };
    let mut schedule = Schedule::start(session.budget(Scenario::WriteString));
    let sizes = pilot(session, &mut results, &schedule)?;
    while schedule.next_round().is_some() {
        round(session, &mut results, &sizes, &schedule)?;
    }
    Ok(results)
}

/// How many calls and samples suit one row of one case.
#[derive(Clone, Copy)]
struct Size {
    warm_up: u32,
    samples: u32,
    calls: u32,
}

/// A round that is thrown away: it warms the caches, and tells how long each row takes in each case.
fn pilot(
    session: &mut Session,
    results: &mut Results,
    schedule: &Schedule,
) -> Result<Vec<Vec<Size>>, Failure> {
    let first = Size {
        warm_up: 8,
        samples: 5,
        calls: 1,
    };
    let guess = vec![vec![first; results.rows.len()]; results.cells.len()];
    round(session, results, &guess, schedule)?;
    results.rounds = 0;
    let batch = match session.plan.extent {
        Extent::Quick => Duration::from_millis(1),
        Extent::Core => Duration::from_millis(4),
        Extent::All => Duration::from_millis(3),
    };
    let mut sizes = Vec::with_capacity(results.cells.len());
    for result in &mut results.cells {
        let times: Vec<Option<f64>> = (0..results.rows.len())
            .map(|row| result.medians(row).first().copied().flatten())
            .collect();
        let fastest = times
            .iter()
            .flatten()
            .copied()
            .fold(f64::INFINITY, f64::min)
            .max(1.0);
        if result.cell.addressing != Addressing::New && fastest < SHORTEST_SAMPLE_NS / 2.0 {
            result.calls = (SHORTEST_SAMPLE_NS / fastest).ceil() as u32;
        }
        let calls = result.calls;
        let most = if result.cell.addressing == Addressing::New {
            MAX_NEW_FILES
        } else {
            MAX_SAMPLES
        };
        let size = |time: Option<f64>| Size::fitting(time.unwrap_or(fastest), calls, batch, most);
        sizes.push(times.into_iter().map(size).collect());
        for row in result.rows.iter_mut().flatten() {
            row.batches.clear();
        }
    }
    Ok(sizes)
}

impl Size {
    fn fitting(call_ns: f64, calls: u32, batch: Duration, most: f64) -> Self {
        let sample_ns = call_ns * f64::from(calls);
        let batch_ns = batch.as_nanos() as f64;
        Self {
            warm_up: (batch_ns / 8.0 / call_ns).clamp(2.0, 2.0 * most) as u32,
            samples: (batch_ns / sample_ns).clamp(LEAST_SAMPLES, most) as u32,
            calls,
        }
    }
}

/// A fresh process for every row; all rows side by side through every case, both in random order.
fn round(
    session: &mut Session,
    results: &mut Results,
    sizes: &[Vec<Size>],
    schedule: &Schedule,
) -> Result<(), Failure> {
    let mut peers = start(session, &results.rows)?;
    let mut order: Vec<usize> = (0..results.cells.len()).collect();
    session.random.shuffle(&mut order);
    for (done, cell) in order.iter().copied().enumerate() {
        let part = done as f64 / order.len() as f64;
        let name = results.cells[cell].cell.to_string();
        session
            .progress
            .show(schedule.used(part), &format!("write-string: {name}"));
        let directory = session.random.usize(..directories::COUNT);
        let mut turns: Vec<usize> = (0..results.rows.len()).collect();
        session.random.shuffle(&mut turns);
        for row in turns {
            let lost = turn(
                session,
                &mut results.cells[cell],
                row,
                &mut peers[row],
                directory,
                sizes[cell][row],
            )?;
            if lost {
                peers[row] = ready(session, results.rows[row].start(&session.interrupt)?)?;
            }
        }
    }
    results.rounds += 1;
    Ok(())
}

/// Starts all before waiting for the first, so that they get ready together.
fn start(session: &Session, rows: &[Row]) -> Result<Vec<Result<Peer, String>>, Failure> {
    let mut peers = Vec::with_capacity(rows.len());
    for row in rows {
        peers.push(row.start(&session.interrupt)?);
    }
    peers.into_iter().map(|peer| ready(session, peer)).collect()
}

fn ready(session: &Session, mut peer: Peer) -> Result<Result<Peer, String>, Failure> {
    let hello = peer.hello();
    session.interrupt.check()?;
    Ok(hello.map(|_| peer).map_err(|error| error.to_string()))
}

/// One batch of one row in one case. What goes wrong in it stands in the results, and the row has no further turns there.
/// Whether the row's process was lost.
fn turn(
    session: &Session,
    result: &mut CellResult,
    row: usize,
    peer: &mut Result<Peer, String>,
    directory: usize,
    size: Size,
) -> Result<bool, Failure> {
    let request = request(session, &result.cell, directory, size)?;
    let Some(outcome) = result.rows[row].as_mut().filter(|row| row.error.is_none()) else {
        return Ok(false);
    };
    let answer = match peer {
        Ok(living) => living.ask(&Request::WriteString(request)),
        Err(gone) => Err(PeerError::Lost(gone.clone())),
    };
    let mut lost = false;
    let batch = match session.judge(answer)? {
        Ok(Reply::Samples(samples)) => Ok(Batch { directory, samples }),
        Ok(other) => Err(format!("unexpected reply {other:?}")),
        Err(error) => {
            lost = peer.is_ok() && matches!(error, PeerError::Lost(_));
            Err(error.to_string())
        }
    };
    outcome.error = batch.as_ref().err().cloned();
    outcome.batches.push(batch.ok());
    Ok(lost)
}

fn request(
    session: &Session,
    cell: &Cell,
    directory: usize,
    size: Size,
) -> Result<WriteString, Failure> {
    let path = match cell.target {
        Target::Disk => session.directories.on_disk(directory).join("file"),
        Target::Tmpfs => session
            .directories
            .in_memory(directory)
            .ok_or_else(|| Failure::said("there is no tmpfs to write to"))?
            .join("file"),
        Target::Null => Path::new(NULL_DEVICE).to_owned(),
    };
    Ok(WriteString {
        length: cell.length,
        text: cell.text,
        pattern: cell.text.pattern().to_owned(),
        function: cell.function,
        data: cell.data,
        addressing: cell.addressing,
        path: directories::unicode(&path)?,
        keep_names: cell.target == Target::Disk,
        warm_up: size.warm_up,
        samples: size.samples,
        calls: size.calls,
        grow_to: GROW_TO,
    })
}
