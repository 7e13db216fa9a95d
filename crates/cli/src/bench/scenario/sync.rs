//! `sync`: what it costs that a write survives a crash of the system. One file is written again and again, by path, with and
//! without a flush; each write is timed alone.
//!
//! | case | |
//! |---|---|
//! | `500`, `1000`, `2000`, `10000` | so many characters of ASCII |
//!
//! Rows that flush less are named so: `fdatasync` keeps the contents and the size, `fsync` all that the file itself has, and only
//! the flush of its directory keeps the name of a file that is new. A file that is replaced is new each time.
//!
//! Replacing a file frees an inode, and ext4 without a journal passes over those that were freed in the last minutes one by one when
//! it makes a file: all rows that replace pay for what the others have freed, the floor included.
//!
//! Every run is a fresh process, on a file system that was flushed just before; some writes that are not counted come first. The
//! round that is not counted is watched by strace, where it is installed: which system calls flushed, and how often.

use super::many::{self, CaseResult};
use super::rows::{self, counted};
use super::runs;
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Level, Reply, Request, Style, Sync, Text, Times};
use crate::bench::runtime::strace::Strace;
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use std::fmt;
use std::fs;

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) characters: usize,
    /// In a round.
    pub(crate) writes: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} characters", self.characters)
    }
}

/// What a row does beside writing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    functions: Functions,
    pub(crate) level: Level,
    pub(crate) replace: bool,
    /// The row that does the same without flushing.
    pub(crate) unsynced: Option<&'static str>,
}

pub(crate) const STD: &str = "Rust std, fsync";
pub(crate) const STD_AGAIN: &str = "Rust std again";
const STD_UNSYNCED: &str = "Rust std, unsynced";
pub(crate) const FLOOR_DATA: &str = "floor, fdatasync";
pub(crate) const FLOOR_FILE: &str = "floor, fsync";
const MOUNT_ALONE: &str = "floor, fsync, mount alone";
pub(crate) const FLOOR_FULL: &str = "floor, fsync and directory";
pub(crate) const FLOOR_REPLACED: &str = "floor, replaced";
const FLOOR_UNSYNCED: &str = "floor, unsynced";
const FLOOR_REPLACED_UNSYNCED: &str = "floor, replaced unsynced";
pub(crate) const RUST_DATA: &str = "smallfry in Rust, Data";
pub(crate) const RUST_FULL: &str = "smallfry in Rust, Full";
pub(crate) const RUST_REPLACED: &str = "smallfry in Rust, replaced";
const RUST_UNSYNCED: &str = "smallfry in Rust, unsynced";
const RUST_REPLACED_UNSYNCED: &str = "smallfry in Rust, replaced unsynced";
pub(crate) const NODE_FLUSH: &str = "Node writeFileSync, flush";
const NODE_UNSYNCED: &str = "Node writeFileSync, unsynced";
pub(crate) const NODE_APART: &str = "Node open, write, fsync, close";
const NODE_APART_UNSYNCED: &str = "Node open, write, close";
pub(crate) const ATOMIC: &str = "write-file-atomic, no directory flush";
const ATOMIC_UNSYNCED: &str = "write-file-atomic, unsynced";
pub(crate) const DATA: &str = "smallfry data";
pub(crate) const FULL: &str = "smallfry full";
pub(crate) const REPLACED: &str = "smallfry replaced";
const UNSYNCED: &str = "smallfry unsynced";
const REPLACED_UNSYNCED: &str = "smallfry replaced unsynced";

pub(crate) const STREAM: &str = "Java FileOutputStream, fd.sync";
const STREAM_UNSYNCED: &str = "Java FileOutputStream, unsynced";
const CHANNEL: &str = "Java FileChannel, force";
const CHANNEL_UNSYNCED: &str = "Java FileChannel, unsynced";
const OKIO: &str = "okio, flush";
const OKIO_UNSYNCED: &str = "okio, unsynced";
pub(crate) const FILE_UNSYNCED: &str = "Kotlin File.writeText, unsynced";
const FILES_UNSYNCED: &str = "Java Files.writeString, unsynced";
pub(crate) const JVM_DATA: &str = "smallfry in the JVM, Data";
pub(crate) const JVM_FULL: &str = "smallfry in the JVM, Full";
pub(crate) const JVM_UNSYNCED: &str = "smallfry in the JVM, unsynced";

const fn synced(
    name: &'static str,
    functions: Functions,
    level: Level,
    unsynced: &'static str,
) -> Kind {
    Kind {
        name,
        functions,
        level,
        replace: false,
        unsynced: Some(unsynced),
    }
}

const fn unsynced(name: &'static str, functions: Functions) -> Kind {
    Kind {
        name,
        functions,
        level: Level::None,
        replace: false,
        unsynced: None,
    }
}

const fn replacing(kind: Kind) -> Kind {
    Kind {
        replace: true,
        ..kind
    }
}

/// On each Node.
const IN_NODE: [Kind; 11] = {
    use Functions::{Before, Node, Smallfry, WriteFileAtomic};
    [
        synced(NODE_FLUSH, Node, Level::File, NODE_UNSYNCED),
        synced(NODE_APART, Before, Level::File, NODE_APART_UNSYNCED),
        replacing(synced(
            ATOMIC,
            WriteFileAtomic,
            Level::File,
            ATOMIC_UNSYNCED,
        )),
        synced(DATA, Smallfry, Level::Data, UNSYNCED),
        synced(FULL, Smallfry, Level::Full, UNSYNCED),
        replacing(synced(REPLACED, Smallfry, Level::Full, REPLACED_UNSYNCED)),
        unsynced(NODE_UNSYNCED, Node),
        unsynced(NODE_APART_UNSYNCED, Before),
        replacing(unsynced(ATOMIC_UNSYNCED, WriteFileAtomic)),
        unsynced(UNSYNCED, Smallfry),
        replacing(unsynced(REPLACED_UNSYNCED, Smallfry)),
    ]
};

/// In the JVM.
const IN_JVM: [Kind; 11] = {
    use Functions::{JavaChannel, JavaFiles, JavaStream, KotlinFile, Okio, Smallfry};
    [
        synced(STREAM, JavaStream, Level::File, STREAM_UNSYNCED),
        synced(CHANNEL, JavaChannel, Level::Data, CHANNEL_UNSYNCED),
        synced(OKIO, Okio, Level::File, OKIO_UNSYNCED),
        synced(JVM_DATA, Smallfry, Level::Data, JVM_UNSYNCED),
        synced(JVM_FULL, Smallfry, Level::Full, JVM_UNSYNCED),
        unsynced(STREAM_UNSYNCED, JavaStream),
        unsynced(CHANNEL_UNSYNCED, JavaChannel),
        unsynced(FILE_UNSYNCED, KotlinFile),
        unsynced(FILES_UNSYNCED, JavaFiles),
        unsynced(OKIO_UNSYNCED, Okio),
        unsynced(JVM_UNSYNCED, Smallfry),
    ]
};

/// On a slow disk, through a mount that adds no delay.
const ALONE: Kind = Kind {
    name: MOUNT_ALONE,
    functions: Functions::Floor,
    level: Level::File,
    replace: false,
    unsynced: None,
};

const IN_RUST: [Kind; 14] = {
    use Functions::{Floor, Smallfry, Std};
    [
        synced(STD, Std, Level::File, STD_UNSYNCED),
        synced(STD_AGAIN, Std, Level::File, STD_UNSYNCED),
        synced(RUST_DATA, Smallfry, Level::Data, RUST_UNSYNCED),
        synced(RUST_FULL, Smallfry, Level::Full, RUST_UNSYNCED),
        replacing(synced(
            RUST_REPLACED,
            Smallfry,
            Level::Full,
            RUST_REPLACED_UNSYNCED,
        )),
        synced(FLOOR_DATA, Floor, Level::Data, FLOOR_UNSYNCED),
        synced(FLOOR_FILE, Floor, Level::File, FLOOR_UNSYNCED),
        synced(FLOOR_FULL, Floor, Level::Full, FLOOR_UNSYNCED),
        replacing(synced(
            FLOOR_REPLACED,
            Floor,
            Level::Full,
            FLOOR_REPLACED_UNSYNCED,
        )),
        unsynced(STD_UNSYNCED, Std),
        unsynced(RUST_UNSYNCED, Smallfry),
        replacing(unsynced(RUST_REPLACED_UNSYNCED, Smallfry)),
        unsynced(FLOOR_UNSYNCED, Floor),
        replacing(unsynced(FLOOR_REPLACED_UNSYNCED, Floor)),
    ]
};

/// Of a row, by its name.
pub(crate) fn kind_of(row: &Row) -> Option<&'static Kind> {
    let mut kinds = IN_NODE
        .iter()
        .chain(&IN_JVM)
        .chain(&IN_RUST)
        .chain([&ALONE]);
    kinds.find(|kind| kind.name == row.implementation)
}

/// How the calls are named that flush for a row, here; what strace has seen is another matter.
pub(crate) fn primitive(kind: &Kind) -> &'static str {
    let of_file = if cfg!(target_vendor = "apple") {
        "F_FULLFSYNC"
    } else if cfg!(windows) {
        return match kind.level {
            Level::None => "nothing",
            Level::Data | Level::File | Level::Full => "FlushFileBuffers",
        };
    } else {
        "fsync"
    };
    match (kind.level, of_file) {
        (Level::None, _) => "nothing",
        (Level::Data, "fsync") => "fdatasync",
        (Level::Data | Level::File, name) => name,
        (Level::Full, "fsync") => "fsync + fsync of directory",
        (Level::Full, _) => "F_FULLFSYNC + that of directory",
    }
}

const LENGTHS: [usize; 4] = [500, 1_000, 2_000, 10_000];
/// In a round; ten rounds make a thousand.
const WRITES: usize = 100;
/// Rotated through.
const OUTPUTS: usize = 4;
/// Before those that count: enough for a runtime to compile what is called, few where each waits for the disk or frees an inode.
const WARM_UP: u32 = 500;
const WARM_UP_SYNCED: u32 = 10;

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let writes = match session.plan.extent {
        Extent::Quick => 10,
        Extent::Core | Extent::All => WRITES,
    };
    let lengths = match session.arguments.size {
        Some(given) => vec![given as usize],
        None if session.plan.extent == Extent::Quick => LENGTHS[..1].to_vec(),
        None => LENGTHS.to_vec(),
    };
    let case = |characters| Case {
        characters,
        writes: session.files(writes),
    };
    many::named(session, "sync", lengths.into_iter().map(case).collect())
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = cases(session)?;
    rows::leave_out_durable(session);
    let strace = counted(session);
    let rows = rows(session);
    let mut results = Results {
        cases: cases
            .into_iter()
            .map(|case| CaseResult::new(case, rows.clone()))
            .collect(),
        rounds: 0,
    };
    for index in 0..OUTPUTS {
        let dir = session.directories.beneath(index).join(FOLDER);
        fs::create_dir(&dir).map_err(Failure::at("make directory", &dir))?;
    }
    let turns = results.turns("sync", |_| 0);
    results.rounds = runs::measure(session, Scenario::Sync, &turns, |session, turn, round| {
        let (case, row) = results.place(turn);
        results.cases[case].turn(session, row, strace.as_ref(), round)
    })?;
    Ok(results)
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    cases(session).map_or(0, |cases| cases.len()) * rows(session).len()
}

fn rows(session: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        for kind in &IN_NODE {
            if rows::is_there(node, kind.functions) {
                rows.push(session.row(node, kind.functions, kind.name, Style::Sync));
            }
        }
    }
    let in_jvm = IN_JVM.iter();
    rows.extend(in_jvm.filter_map(|kind| session.jvm_row(kind.functions, kind.name, Style::Sync)));
    let in_rust = IN_RUST
        .iter()
        .filter(|kind| cfg!(unix) || kind.functions != Functions::Floor);
    rows.extend(in_rust.map(|kind| Session::native_row(kind.functions, kind.name, Style::Sync)));
    if session.directories.undelayed(0).is_some() {
        rows.push(Session::native_row(
            ALONE.functions,
            ALONE.name,
            Style::Sync,
        ));
    }
    rows::chosen(session, rows)
}

const FOLDER: &str = "sync";
const FILE: &str = "file";

impl CaseResult<Case> {
    /// One run. What goes wrong in it stands here; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        session: &Session,
        row: usize,
        strace: Option<&Strace>,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        let of = &self.rows[row];
        let Some(kind) = kind_of(of).filter(|_| self.outcomes[row].error.is_none()) else {
            return Ok(());
        };
        let index = round.unwrap_or(0) % OUTPUTS;
        let beneath = session.directories.beneath(index).join(FOLDER);
        // Writing waits for what is on its way to the device from the run before.
        host::flush_all(&beneath).map_err(Failure::at("flush the file system of", &beneath))?;
        let text = Text::Ascii.repeat(self.case.characters);
        let dir = match session.directories.undelayed(index) {
            Some(dir) if kind.name == MOUNT_ALONE => dir,
            _ => session.directories.on_disk(index),
        };
        let path = dir.join(FOLDER).join(FILE);
        let request = Sync {
            path: directories::unicode(&path)?,
            text: text.clone(),
            level: kind.level,
            replace: kind.replace,
            // The calls of a run that is watched are all to be those of its writes.
            warm_up: match (round.is_none(), kind.level) {
                (true, _) => 0,
                (_, Level::None) if !kind.replace => WARM_UP,
                _ => WARM_UP_SYNCED,
            },
            samples: u32::try_from(self.case.writes).unwrap_or(u32::MAX),
        };
        let request = Request::Sync(request);
        let (answer, flushes) =
            runs::run_perhaps_counted(session, of, &request, strace.filter(|_| round.is_none()))?;
        let times = answer.and_then(|reply| match reply {
            Reply::Many(times) => verify(&beneath, &text).map(|()| times),
            other => Err(format!("unexpected reply {other:?}")),
        });
        self.outcomes[row].flushes = flushes.or(self.outcomes[row].flushes);
        self.outcomes[row].record(times, round);
        Ok(())
    }
}

/// Does the file hold the text, and is there nothing else beside it?
fn verify(dir: &std::path::Path, text: &str) -> Result<(), String> {
    let path = dir.join(FILE);
    match fs::read(&path) {
        Ok(found) if found == text.as_bytes() => {}
        Ok(_) => return Err(format!("it wrote something else into {}", path.display())),
        Err(error) => return Err(format!("it has not written {}: {error}", path.display())),
    }
    let entries = fs::read_dir(dir).map_err(|error| error.to_string())?;
    match entries.count() {
        1 => Ok(()),
        more => Err(format!(
            "it left {} files beside the one it wrote",
            more - 1
        )),
    }
}

/// The median of a run's writes, which one slow write does not move.
pub(crate) fn middle(times: &Times) -> Option<f64> {
    crate::bench::stats::percentiles::median(times.samples_ns.iter().map(|ns| *ns as f64))
}
