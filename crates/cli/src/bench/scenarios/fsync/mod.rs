//! `fsync`: what it costs that a write survives a crash of the system.
//!
//! One file is written again and again, by path, with and without a flush; each write is timed alone. A
//! case is a number of ASCII characters.
//!
//! Rows that flush less are named so: `fdatasync` keeps the contents and the size, `fsync` all that the
//! file itself has, and only the flush of its directory keeps the name of a file that is new. A file that
//! is replaced is new each time. Replacing a file frees an inode, and ext4 without a journal passes over
//! those that were freed in the last minutes one by one when it makes a file: all rows that replace pay
//! for what the others have freed, raw system calls included.
//!
//! Every run is a fresh process, on a file system that was flushed just before; some writes that are not
//! counted come first. The round that is not counted is watched by strace, where it is installed: it
//! tells which system calls flushed, and how often.

mod native;
mod report;

use super::engine::{Turn, flush};
use super::scenario::{Answer, Facts, Scenario, parse};
use super::shared::outputs::{OUTPUTS, Output, make_directory};
use super::shared::rows::{self, RowOf, in_jvm, in_rust, on_nodes};
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::options::Extent;
use crate::bench::report::page::Page;
use crate::bench::results::Results;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Functions, Launch, PeerFailure, Style, Text, Times};
use crate::bench::session::Session;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::fs;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    characters: usize,
    /// In a round.
    writes: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} characters", self.characters)
    }
}

/// What must survive a crash of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    None,
    /// The contents and the size.
    Data,
    /// All that the file itself has.
    File,
    /// And its name.
    Full,
}

/// Writes of one file, each timed alone.
#[derive(Serialize, Deserialize)]
struct Request {
    /// Its directory is there.
    path: String,
    /// Of ASCII.
    text: String,
    level: Level,
    /// Whether a new file takes the old one's name.
    replace: bool,
    /// Calls before the first sample.
    warm_up: u32,
    samples: u32,
}

/// What a row does beside writing.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    functions: Functions,
    level: Level,
    replace: bool,
    /// The row that does the same without flushing.
    unsynced: Option<&'static str>,
}

const STD: &str = "Rust std, fsync";
const STD_AA: &str = "Rust std, fsync A/A";
const STD_UNSYNCED: &str = "Rust std, unsynced";
const RAW_DATA: &str = "raw system calls, fdatasync";
const RAW_FILE: &str = "raw system calls, fsync";
const MOUNT_ALONE: &str = "raw system calls, fsync, mount alone";
const RAW_FULL: &str = "raw system calls, fsync and directory";
const RAW_REPLACED: &str = "raw system calls, replaced";
const RAW_UNSYNCED: &str = "raw system calls, unsynced";
const RAW_REPLACED_UNSYNCED: &str = "raw system calls, replaced unsynced";
const RUST_DATA: &str = "smallfry in Rust, Data";
const RUST_FULL: &str = "smallfry in Rust, Full";
const RUST_REPLACED: &str = "smallfry in Rust, replaced";
const RUST_UNSYNCED: &str = "smallfry in Rust, unsynced";
const RUST_REPLACED_UNSYNCED: &str = "smallfry in Rust, replaced unsynced";
const NODE_FLUSH: &str = "Node writeFileSync, flush";
const NODE_UNSYNCED: &str = "Node writeFileSync, unsynced";
const NODE_APART: &str = "Node open, write, fsync, close";
const NODE_APART_UNSYNCED: &str = "Node open, write, close";
const ATOMIC: &str = "write-file-atomic, no directory flush";
const ATOMIC_UNSYNCED: &str = "write-file-atomic, unsynced";
const DATA: &str = "smallfry data";
const FULL: &str = "smallfry full";
const REPLACED: &str = "smallfry replaced";
const UNSYNCED: &str = "smallfry unsynced";
const REPLACED_UNSYNCED: &str = "smallfry replaced unsynced";

const STREAM: &str = "Java FileOutputStream, fd.sync";
const STREAM_UNSYNCED: &str = "Java FileOutputStream, unsynced";
const CHANNEL: &str = "Java FileChannel, force";
const CHANNEL_UNSYNCED: &str = "Java FileChannel, unsynced";
const OKIO: &str = "okio, flush";
const OKIO_UNSYNCED: &str = "okio, unsynced";
const FILE_UNSYNCED: &str = "Kotlin File.writeText, unsynced";
const FILES_UNSYNCED: &str = "Java Files.writeString, unsynced";
const JVM_DATA: &str = "smallfry in the JVM, Data";
const JVM_FULL: &str = "smallfry in the JVM, Full";
const JVM_UNSYNCED: &str = "smallfry in the JVM, unsynced";

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
    functions: Functions::Raw,
    level: Level::File,
    replace: false,
    unsynced: None,
};

const IN_RUST: [Kind; 14] = {
    use Functions::{Raw, Smallfry, Std};
    [
        synced(STD, Std, Level::File, STD_UNSYNCED),
        synced(STD_AA, Std, Level::File, STD_UNSYNCED),
        synced(RUST_DATA, Smallfry, Level::Data, RUST_UNSYNCED),
        synced(RUST_FULL, Smallfry, Level::Full, RUST_UNSYNCED),
        replacing(synced(
            RUST_REPLACED,
            Smallfry,
            Level::Full,
            RUST_REPLACED_UNSYNCED,
        )),
        synced(RAW_DATA, Raw, Level::Data, RAW_UNSYNCED),
        synced(RAW_FILE, Raw, Level::File, RAW_UNSYNCED),
        synced(RAW_FULL, Raw, Level::Full, RAW_UNSYNCED),
        replacing(synced(
            RAW_REPLACED,
            Raw,
            Level::Full,
            RAW_REPLACED_UNSYNCED,
        )),
        unsynced(STD_UNSYNCED, Std),
        unsynced(RUST_UNSYNCED, Smallfry),
        replacing(unsynced(RUST_REPLACED_UNSYNCED, Smallfry)),
        unsynced(RAW_UNSYNCED, Raw),
        replacing(unsynced(RAW_REPLACED_UNSYNCED, Raw)),
    ]
};

/// Finds the kind of a row, by its name.
fn kind_of(row: &Row) -> Option<&'static Kind> {
    let mut kinds = IN_NODE
        .iter()
        .chain(&IN_JVM)
        .chain(&IN_RUST)
        .chain([&ALONE]);
    kinds.find(|kind| kind.name == row.implementation)
}

/// Names the calls that flush for a row, here; what strace has seen is another matter.
fn primitive(kind: &Kind) -> &'static str {
    match kind.level {
        Level::None => "nothing",
        Level::Data | Level::File | Level::Full if cfg!(windows) => "FlushFileBuffers",
        Level::Full if cfg!(target_vendor = "apple") => "F_FULLFSYNC + that of directory",
        Level::Data | Level::File if cfg!(target_vendor = "apple") => "F_FULLFSYNC",
        Level::Data => "fdatasync",
        Level::File => "fsync",
        Level::Full => "fsync + fsync of directory",
    }
}

/// Calls before those that count: enough for a runtime to compile what is called, few where each waits
/// for the disk or frees an inode.
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
        ..Facts::of(
            "fsync",
            "One file written 1,000 times, with and without a flush, each write timed alone",
        )
    };
    type Case = Case;

    fn cases(session: &Session) -> Vec<Case> {
        let (writes, lengths) = match session.extent {
            Extent::Quick => (10, &[500][..]),
            Extent::Core | Extent::All => (100, &[500, 1_000, 2_000, 10_000][..]),
        };
        let given = session.options.size.map(|given| vec![given as usize]);
        let case = |characters| Case {
            characters,
            writes: session.files(writes),
        };
        let lengths = given.unwrap_or_else(|| lengths.to_vec());
        lengths.into_iter().map(case).collect()
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let of = |kinds: &[Kind]| -> Vec<RowOf> {
            let row = |kind: &Kind| (kind.name, kind.functions, Style::Sync);
            kinds.iter().map(row).collect()
        };
        let mut rows = on_nodes(session, &of(&IN_NODE), rows::is_durable);
        rows.extend(in_jvm(session, &of(&IN_JVM)));
        rows.extend(in_rust(&of(&IN_RUST)));
        rows.extend(rows::mount_alone(session, ALONE.name));
        rows
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        rows::leave_out_durable(session);
        let outputs = (0..OUTPUTS).map(|index| Output::of(session, index, "fsync"));
        let outputs: Vec<Output> = outputs.collect();
        for output in &outputs {
            make_directory(&output.beneath)?;
        }
        Ok(Self { outputs })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let Some(kind) = kind_of(turn.row) else {
            return Ok(Err("there is no such row".to_owned()));
        };
        let output = &self.outputs[turn.round.unwrap_or(0) % OUTPUTS];
        flush(&output.beneath)?;
        let text = Text::Ascii.repeat(turn.case.characters);
        let path = output.seen(kind.name == ALONE.name).join(FILE);
        let answer = turn.ask(&Request {
            path: directories::unicode(&path)?,
            text: text.clone(),
            level: kind.level,
            replace: kind.replace,
            // The calls of a run that is watched are all to be those of its writes.
            warm_up: match (turn.round, kind.level) {
                (None, _) => 0,
                (_, Level::None) if !kind.replace => WARM_UP,
                _ => WARM_UP_SYNCED,
            },
            samples: u32::try_from(turn.case.writes).unwrap_or(u32::MAX),
        })?;
        Ok(answer.and_then(|times| verify(&output.beneath, &text).map(|()| times)))
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
        report::show(page, session, results);
    }

    fn serve(launch: &Launch, request: Value) -> Result<Times, PeerFailure> {
        native::run(launch.functions, &parse(request)?)
    }
}

/// Checks that the file holds the text, and that nothing else is beside it.
fn verify(directory: &Path, text: &str) -> Result<(), String> {
    let path = directory.join(FILE);
    let shown = path.display();
    match fs::read(&path) {
        Ok(found) if found == text.as_bytes() => {}
        Ok(_) => return Err(format!("it wrote something else into {shown}")),
        Err(error) => return Err(format!("it has not written {shown}: {error}")),
    }
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    match entries.count() - 1 {
        0 => Ok(()),
        more => Err(format!("it left {more} files beside the one it wrote")),
    }
}
