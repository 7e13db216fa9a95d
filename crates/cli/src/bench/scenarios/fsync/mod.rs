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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{characters} characters")]
pub(crate) struct Case {
    characters: usize,
    /// The number in a round.
    writes: usize,
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
    #[serde(flatten)]
    batch: Batch,
}

/// The flush of a row.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    functions: Functions,
    level: Level,
    replace: bool,
}

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

const ATOMIC: &str = "write-file-atomic, no directory flush";
const IN_NODE: [Kind; 11] = {
    use Functions::{Before, Node, Smallfry, WriteFileAtomic};
    use Level::{Data, File, Full};
    [
        write("Node writeFileSync, flush", Node, File),
        write("Node open, write, fsync, close", Before, File),
        replace(ATOMIC, WriteFileAtomic, File),
        write("smallfry data", Smallfry, Data),
        write("smallfry full", Smallfry, Full),
        replace("smallfry replaced", Smallfry, Full),
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
        write("Java FileOutputStream, fd.sync", JavaStream, File),
        write("Java FileChannel, force", JavaChannel, Data),
        write("okio, flush", Okio, File),
        write("smallfry in the JVM, Data", Smallfry, Data),
        write("smallfry in the JVM, Full", Smallfry, Full),
        write("Java FileOutputStream, unsynced", JavaStream, Level::None),
        write("Java FileChannel, unsynced", JavaChannel, Level::None),
        write("Kotlin File.writeText, unsynced", KotlinFile, Level::None),
        write("Java Files.writeString, unsynced", JavaFiles, Level::None),
        write("okio, unsynced", Okio, Level::None),
        write("smallfry in the JVM, unsynced", Smallfry, Level::None),
    ]
};

const IN_RUST: [Kind; 14] = {
    use Functions::{Raw, Smallfry, Std};
    use Level::{Data, File, Full};
    [
        write("Rust std, fsync", Std, File),
        write("Rust std, fsync A/A", Std, File),
        write("smallfry in Rust, Data", Smallfry, Data),
        write("smallfry in Rust, Full", Smallfry, Full),
        replace("smallfry in Rust, replaced", Smallfry, Full),
        write("raw system calls, fdatasync", Raw, Data),
        write("raw system calls, fsync", Raw, File),
        write("raw system calls, fsync and directory", Raw, Full),
        replace("raw system calls, replaced", Raw, Full),
        write("Rust std, unsynced", Std, Level::None),
        write("smallfry in Rust, unsynced", Smallfry, Level::None),
        replace("smallfry in Rust, replaced unsynced", Smallfry, Level::None),
        write("raw system calls, unsynced", Raw, Level::None),
        replace("raw system calls, replaced unsynced", Raw, Level::None),
    ]
};

/// The row beside a slow disk, through a mount that adds no delay.
const MOUNT_ALONE: &str = "raw system calls, fsync, mount alone";
const ALONE: Kind = write(MOUNT_ALONE, Functions::Raw, Level::File);

/// Finds the kind of a row, by its name.
fn kind_of(row: &Row) -> Kind {
    let mut kinds = [&IN_NODE[..], &IN_JVM, &IN_RUST].into_iter().flatten();
    let found = kinds.find(|kind| kind.name == row.implementation);
    found.copied().unwrap_or(ALONE)
}

/// Names the calls that flush for a row, here; what strace has seen is another matter.
fn primitive(level: Level) -> &'static str {
    match level {
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
        help: "One file written 1,000 times, with and without a flush, each write timed alone",
        ..Facts::of("fsync")
    };
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
        let row = |kind: &Kind| (kind.name, kind.functions, Style::Sync);
        let [node, jvm, rust]: [Vec<RowOf>; 3] =
            [&IN_NODE[..], &IN_JVM, &IN_RUST].map(|kinds| kinds.iter().map(row).collect());
        let mut rows = rows::all(session, [&node, &jvm, &rust], rows::find_durable);
        rows.extend(rows::mount_alone(session, MOUNT_ALONE));
        rows
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        let outputs = Output::make(session, "fsync", 0)?;
        Ok(Self { outputs })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let kind = kind_of(turn.row);
        let output = &self.outputs[turn.output()];
        flush(&output.beneath)?;
        let text = Text::Ascii.repeat(turn.case.characters);
        let path = output.seen(kind.name == MOUNT_ALONE).join(FILE);
        let times = turn.ask(&Request {
            path: unicode(&path)?,
            text: text.clone(),
            level: kind.level,
            replace: kind.replace,
            batch: Batch {
                // The calls of a run that is watched are all to be those of its writes.
                warm_up: match (turn.round, kind.level) {
                    (None, _) => 0,
                    (_, Level::None) if !kind.replace => WARM_UP,
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
