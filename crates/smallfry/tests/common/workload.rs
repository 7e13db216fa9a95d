//! Programs that write durably, and a judge of the files that a crash has left.
//!
//! Each write is announced and, when it has returned, acknowledged. The judge knows nothing of
//! flushes. It takes the acknowledgements before the crash at their word, and checks the files.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use smallfry::bulk::Writer;
use smallfry::{Durability, WriteOptions};

/// The number of programs that run at once, each on files of its own.
pub(crate) const PROGRAMS: usize = 3;

/// The way a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Exists from the start, and is replaced.
    Replaced,
    /// Is made once.
    New,
    /// Exists from the start, and is written in place.
    InPlace,
    /// The same, without being emptied first.
    WrittenOver,
    /// Exists from the start, and is appended to.
    Appended,
    /// The same, by replacing the old contents with longer ones.
    AppendedWhole,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Replaced,
        Self::New,
        Self::InPlace,
        Self::WrittenOver,
        Self::Appended,
        Self::AppendedWhole,
    ];

    /// The first letter of the file's name.
    const fn letter(self) -> char {
        match self {
            Self::Replaced => 'r',
            Self::New => 'n',
            Self::InPlace => 'p',
            Self::WrittenOver => 'o',
            Self::Appended => 'a',
            Self::AppendedWhole => 'w',
        }
    }

    fn of(file: &str) -> Self {
        let name = file.rsplit('/').next().unwrap();
        let kind = Self::ALL
            .into_iter()
            .find(|kind| name.starts_with(kind.letter()));
        kind.unwrap()
    }

    const fn is_there(self) -> bool {
        !matches!(self, Self::New)
    }
}

/// The contents of a file after this many writes, or the text of one append. Some are a few bytes
/// and some several pages.
fn text(file: &str, version: u32) -> String {
    let sizes = [1, 40, 300, 700];
    let lines = sizes[(version as usize + file.len()) % sizes.len()];
    let mut text = format!("{file} {version}\n").repeat(lines);
    text.push_str("end\n");
    text
}

/// All text that was written to a file that is appended to.
fn texts(file: &str, versions: u32) -> String {
    (0..=versions).map(|version| text(file, version)).collect()
}

/// The files of one program that exist from the start.
fn files_of(program: usize) -> Vec<String> {
    let mut files = Vec::new();
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_there()) {
        for number in 0..2 {
            files.push(format!("{}{program}-{number}", kind.letter()));
        }
    }
    for number in 0..12 {
        files.push(format!("batch{program}/r{number}"));
    }
    files
}

/// Makes the files that exist from the start. They must be on the disk before anything is recorded.
pub(crate) fn prepare(directory: &Path) {
    for program in 0..PROGRAMS {
        std::fs::create_dir(directory.join(format!("batch{program}"))).unwrap();
        for file in files_of(program) {
            std::fs::write(directory.join(&file), text(&file, 0)).unwrap();
        }
    }
}

/// The levels that are used, and the number of rounds of each program.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) levels: &'static [Durability],
    pub(crate) rounds: u32,
}

/// Runs all programs to their end. `tell` is called with each announcement and acknowledgement,
/// which fits into a file name.
pub(crate) fn run(directory: &Path, workload: Workload, tell: impl Fn(&str) + Sync) {
    thread::scope(|scope| {
        for program in 0..PROGRAMS {
            let tell = &tell;
            scope.spawn(move || {
                for round in 1..=workload.rounds {
                    for (number, &level) in workload.levels.iter().enumerate() {
                        let version =
                            (round - 1) * workload.levels.len() as u32 + number as u32 + 1;
                        one_round(directory, program, version, level, tell);
                    }
                }
            });
        }
    });
}

fn one_round(
    directory: &Path,
    program: usize,
    version: u32,
    level: Durability,
    tell: &(impl Fn(&str) + Sync),
) {
    let announce = |file: &str| tell(&said("begun", file, version, level));
    let acknowledge = |file: &str| tell(&said("done", file, version, level));
    let mut files: Vec<_> = files_of(program)
        .into_iter()
        .filter(|file| !file.contains('/'))
        .collect();
    files.push(format!("n{program}-{version}"));
    files.push(format!("made{program}-{version}/x/n"));
    for file in &files {
        let kind = Kind::of(file);
        let mut options = WriteOptions::new();
        options
            .durability(level)
            .replace(matches!(kind, Kind::Replaced | Kind::AppendedWhole))
            .append(matches!(kind, Kind::Appended | Kind::AppendedWhole))
            .overwrite(kind == Kind::WrittenOver)
            .create_parents(kind == Kind::New);
        announce(file);
        options
            .write(directory.join(file), text(file, version))
            .unwrap();
        acknowledge(file);
    }
    // As batches: existing files, then new ones, some in directories that are made.
    let there = (0..12)
        .map(|number| format!("batch{program}/r{number}"))
        .collect();
    let new = (0..12)
        .map(|number| format!("batch{program}/{version}/{}/n{number}", number % 3))
        .collect();
    for (files, replace) in [(there, true), (new, false)] {
        let files: Vec<String> = files;
        for file in &files {
            announce(file);
        }
        let mut writer = Writer::new();
        writer
            .durability(level)
            .replace(replace)
            .create_parents(true);
        let entries = files
            .iter()
            .map(|file| (directory.join(file), text(file, version)));
        writer.write(entries).into_result().unwrap();
        for file in &files {
            acknowledge(file);
        }
    }
}

fn said(what: &str, file: &str, version: u32, level: Durability) -> String {
    format!("{what},{},{version},{level:?}", file.replace('/', "+"))
}

/// The knowledge of a file at the moment of the crash.
#[derive(Default)]
struct Known {
    begun: u32,
    done: u32,
    /// Writes done at the level `Full`.
    done_full: u32,
}

/// Returns the first promise that the crash broke, if any. `read` returns the contents of a file,
/// or `None` if it is missing.
pub(crate) fn judge<'a>(
    told: impl IntoIterator<Item = &'a str>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<(), String> {
    let mut files = BTreeMap::<String, Known>::new();
    for program in 0..PROGRAMS {
        for file in files_of(program) {
            files.insert(file, Known::default());
        }
    }
    for told in told {
        let parts: Vec<_> = told.split(',').collect();
        let [what, file, version, level] = parts[..] else {
            panic!("{told}");
        };
        let known = files.entry(file.replace('+', "/")).or_default();
        let version = version.parse().unwrap();
        if what == "begun" {
            known.begun = version;
            continue;
        }
        known.done = version;
        if level == "Full" {
            known.done_full = version;
        }
    }
    for (file, known) in &files {
        judge_one(file, known, read(file).as_deref()).map_err(|broken| {
            format!(
                "{broken}: {file}, begun {}, done {}, done in full {}",
                known.begun, known.done, known.done_full
            )
        })?;
    }
    Ok(())
}

fn judge_one(file: &str, known: &Known, found: Option<&[u8]>) -> Result<(), &'static str> {
    let kind = Kind::of(file);
    let Some(found) = found else {
        return match () {
            () if kind.is_there() => Err("a file that was there is gone"),
            () if known.done_full > 0 => Err("a file that was written in full is gone"),
            () => Ok(()),
        };
    };
    let is = |version: u32| found == text(file, version).as_bytes();
    let possible = known.done_full..=known.begun;
    match kind {
        Kind::Replaced => match possible.clone().any(is) {
            true => Ok(()),
            false if (0..known.done_full).any(is) => Err("a replaced file has an older state"),
            false => Err("a replaced file is not whole"),
        },
        Kind::New if known.done > 0 && !is(known.done) => Err("a new file is not whole"),
        Kind::InPlace | Kind::WrittenOver if known.done == known.begun && !is(known.done) => {
            Err("a file does not hold what was written to it")
        }
        Kind::Appended if !found.starts_with(texts(file, known.done).as_bytes()) => {
            Err("an append is lost")
        }
        Kind::AppendedWhole => {
            let mut possible = possible;
            if possible.any(|version| found == texts(file, version).as_bytes()) {
                return Ok(());
            }
            Err("a file that was added to as a whole is not whole, or older")
        }
        Kind::New | Kind::InPlace | Kind::WrittenOver | Kind::Appended => Ok(()),
    }
}
