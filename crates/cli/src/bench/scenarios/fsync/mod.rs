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

mod native;
mod report;

use super::prelude::*;
use super::scenario::OUTPUTS;
use super::shared::outputs::flush;
use super::shared::outputs::{Output, make_directory};
use super::shared::rows::{self, RowOf, in_jvm, in_rust, on_nodes};
use crate::bench::directories;
use crate::bench::runtime::protocol::Text;
use std::path::Path;
use std::{fmt, fs};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    characters: usize,
    /// The number in a round.
    writes: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} characters", self.characters)
    }
}

/// The part that must survive a crash of the system.
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
    /// ASCII text.
    text: String,
    level: Level,
    /// True if a new file takes the old one's name.
    replace: bool,
    /// Calls before the first sample.
    warm_up: u32,
    samples: u32,
}

/// The flush of a row.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    functions: Functions,
    level: Level,
    replace: bool,
}

impl Kind {
    /// Returns the row that does the same without flushing.
    fn unsynced(&self) -> Option<&'static str> {
        if self.level == Level::None || self.name == ALONE.name {
            return None;
        }
        let tables = [&IN_NODE[..], &IN_JVM, &IN_RUST];
        let table = tables
            .into_iter()
            .find(|table| table.iter().any(|kind| kind.name == self.name))?;
        let is_it = |kind: &&Kind| {
            let same = (kind.functions, kind.replace) == (self.functions, self.replace);
            same && kind.level == Level::None
        };
        table.iter().find(is_it).map(|kind| kind.name)
    }
}

const STD: &str = "Rust std, fsync";
const STD_AA: &str = "Rust std, fsync A/A";
const RAW_DATA: &str = "raw system calls, fdatasync";
const RAW_FILE: &str = "raw system calls, fsync";
const RAW_FULL: &str = "raw system calls, fsync and directory";
const RAW_REPLACED: &str = "raw system calls, replaced";
const RUST_DATA: &str = "smallfry in Rust, Data";
const RUST_FULL: &str = "smallfry in Rust, Full";
const RUST_REPLACED: &str = "smallfry in Rust, replaced";
const NODE_FLUSH: &str = "Node writeFileSync, flush";
const NODE_APART: &str = "Node open, write, fsync, close";
const ATOMIC: &str = "write-file-atomic, no directory flush";
const DATA: &str = "smallfry data";
const FULL: &str = "smallfry full";
const REPLACED: &str = "smallfry replaced";
const STREAM: &str = "Java FileOutputStream, fd.sync";
const FILE_UNSYNCED: &str = "Kotlin File.writeText, unsynced";
const JVM_DATA: &str = "smallfry in the JVM, Data";
const JVM_FULL: &str = "smallfry in the JVM, Full";
const JVM_UNSYNCED: &str = "smallfry in the JVM, unsynced";

const fn write(name: &'static str, functions: Functions, level: Level) -> Kind {
    Kind {
        name,
        functions,
        level,
        replace: false,
    }
}

const fn replace(name: &'static str, functions: Functions, level: Level) -> Kind {
    Kind {
        replace: true,
        ..write(name, functions, level)
    }
}

const IN_NODE: [Kind; 11] = {
    use Functions::{Before, Node, Smallfry, WriteFileAtomic};
    use Level::{Data, File, Full};
    [
        write(NODE_FLUSH, Node, File),
        write(NODE_APART, Before, File),
        replace(ATOMIC, WriteFileAtomic, File),
        write(DATA, Smallfry, Data),
        write(FULL, Smallfry, Full),
        replace(REPLACED, Smallfry, Full),
        write("Node writeFileSync, unsynced", Node, Level::None),
        write("Node open, write, close", Before, Level::None),
        replace("write-file-atomic, unsynced", WriteFileAtomic, Level::None),
        write("smallfry unsynced", Smallfry, Level::None),
        replace("smallfry replaced unsynced", Smallfry, Level::None),
    ]
};

const IN_JVM: [Kind; 11] = {
    use Functions::{JavaChannel, JavaFiles, JavaStream, KotlinFile, Okio, Smallfry};
    use Level::{Data, File, Full};
    [
        write(STREAM, JavaStream, File),
        write("Java FileChannel, force", JavaChannel, Data),
        write("okio, flush", Okio, File),
        write(JVM_DATA, Smallfry, Data),
        write(JVM_FULL, Smallfry, Full),
        write("Java FileOutputStream, unsynced", JavaStream, Level::None),
        write("Java FileChannel, unsynced", JavaChannel, Level::None),
        write(FILE_UNSYNCED, KotlinFile, Level::None),
        write("Java Files.writeString, unsynced", JavaFiles, Level::None),
        write("okio, unsynced", Okio, Level::None),
        write(JVM_UNSYNCED, Smallfry, Level::None),
    ]
};

/// The row beside a slow disk, through a mount that adds no delay.
const ALONE: Kind = write(
    "raw system calls, fsync, mount alone",
    Functions::Raw,
    Level::File,
);

const IN_RUST: [Kind; 14] = {
    use Functions::{Raw, Smallfry, Std};
    use Level::{Data, File, Full};
    [
        write(STD, Std, File),
        write(STD_AA, Std, File),
        write(RUST_DATA, Smallfry, Data),
        write(RUST_FULL, Smallfry, Full),
        replace(RUST_REPLACED, Smallfry, Full),
        write(RAW_DATA, Raw, Data),
        write(RAW_FILE, Raw, File),
        write(RAW_FULL, Raw, Full),
        replace(RAW_REPLACED, Raw, Full),
        write("Rust std, unsynced", Std, Level::None),
        write("smallfry in Rust, unsynced", Smallfry, Level::None),
        replace("smallfry in Rust, replaced unsynced", Smallfry, Level::None),
        write("raw system calls, unsynced", Raw, Level::None),
        replace("raw system calls, replaced unsynced", Raw, Level::None),
    ]
};

/// Finds the kind of a row, by its name.
fn kind_of(row: &Row) -> Option<&'static Kind> {
    let all = [&IN_NODE[..], &IN_JVM, &IN_RUST, &[ALONE]];
    let mut kinds = all.into_iter().flatten();
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
        ..Facts::of(
            "fsync",
            "One file written 1,000 times, with and without a flush, each write timed alone",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

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
        let output = &self.outputs[turn.output()];
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
