//! `write-many`: many small files of the same size written whole, spread over directories.
//!
//! | case | |
//! |---|---|
//! | `new` | no file of the name is there |
//! | `overwritten` | a file as long is there, with other contents in the round that is not counted |
//!
//! What is written is made before, and is a string or a Buffer each (in Rust, which has one kind of both, bytes; its rows run in the
//! cases of strings). Timed is from the first call to the return of the last; nothing is flushed. In the round that is not
//! counted every file is compared with what it should hold, in the others its length is.
//!
//! Every run is a fresh process, on a file system that was flushed just before. All rows write into the same directories, made beforehand, in turn: how long a file takes to create
//! depends on where the file system put its directory. New files are then moved aside and emptied, uncounted, and removed when the run
//! ends: ext4 passes over the inodes of files removed in the last minute one by one, so that removing between runs would make each
//! later run slower, up to twenty times. The rounds are as few as leave half of the free inodes.

use super::many::{self, CaseResult};
use super::{rows, runs};
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{
    Data, Functions, Layout, Reply, Request, Style, WriteMany, contents_of,
};
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) files: usize,
    pub(crate) bytes_per_file: usize,
    pub(crate) directories: usize,
    pub(crate) data: Data,
    pub(crate) new: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = many::shape(self.files, self.bytes_per_file);
        let state = if self.new { "new" } else { "overwritten" };
        write!(f, "{shape} {} {state}", self.data)
    }
}

/// Rotated through.
pub(super) const OUTPUTS: usize = 4;
const FILES: usize = 10_000;
const BYTES: usize = 1_000;
const DIRECTORIES: usize = 100;

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let arguments = session.arguments;
    let (files, directories) = match session.plan.extent {
        Extent::Quick => (200, 10),
        Extent::Core | Extent::All => (FILES, DIRECTORIES),
    };
    let mut cases = Vec::new();
    for data in [Data::String, Data::Buffer] {
        for new in [true, false] {
            cases.push(Case {
                files: session.files(files),
                bytes_per_file: arguments.size.map_or(BYTES, |given| given as usize),
                directories,
                data,
                new,
            });
        }
    }
    if session.plan.extent != Extent::All && arguments.cells.is_none() {
        // What generators write.
        cases.retain(|case| case.data == Data::String);
    }
    many::named(session, "write-many", cases)
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = cases(session)?;
    let directories = cases.iter().map(|case| case.directories).max();
    let old = cases.iter().find(|case| !case.new);
    let old = old.map(|old| (old_layout(old), old.bytes_per_file));
    let outputs = Output::make(session, "write", directories.unwrap_or(0), old.as_slice())?;
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for case in cases {
        let rows = rows(session, &case);
        if !rows.is_empty() {
            results.cases.push(CaseResult::new(case, rows));
        }
    }
    limit_rounds(session, &results);
    let turns = results.turns("write-many", |_| 0);
    let mut count = 0;
    let rounds = runs::measure(
        session,
        Scenario::WriteMany,
        &turns,
        |session, turn, round| {
            count += 1;
            let (case, row) = results.place(turn);
            let output = &outputs[round.unwrap_or(0) % OUTPUTS];
            results.cases[case].turn(session, row, output, count, round)
        },
    );
    session.max_rounds = None;
    results.rounds = rounds?;
    Ok(results)
}

/// So that the files of all rounds leave room for others'.
fn limit_rounds(session: &mut Session, results: &Results) {
    let new = results.cases.iter().filter(|result| result.case.new);
    let a_round: usize = new
        .map(|result| result.rows.len() * result.case.files)
        .sum();
    let free = host::free_inodes(&session.directories.on_disk(0)).unwrap_or(2_000_000);
    let most = free as usize / 2 / a_round.max(1);
    // One goes to the round that is not counted.
    session.max_rounds = (a_round > 0).then(|| most.saturating_sub(1).max(1));
}

fn rows(session: &mut Session, case: &Case) -> Vec<Row> {
    let rows = if case.data == Data::Buffer {
        rows::scripts(session)
    } else {
        let mut rows = rows::of_many(session);
        rows.extend(session.jvm_row(Functions::Smallfry, rows::SMALLFRY_JVM, Style::Sync));
        rows.extend(rows::floors(session, false));
        rows
    };
    rows::chosen(session, rows)
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    cases(session).map_or(0, |cases| cases.len()) * (8 + rows::scripts(session).len())
}

impl CaseResult<Case> {
    /// One run. What goes wrong in it stands here; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        session: &Session,
        row: usize,
        output: &Output,
        count: usize,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        if self.outcomes[row].error.is_some() {
            return Ok(());
        }
        let Case {
            files,
            bytes_per_file,
            directories,
            data,
            new,
        } = self.case;
        // Names of new files are new in each run: a mount might remember the last run's.
        let layout = |dir: &Path| -> Result<Layout, Failure> {
            Ok(Layout {
                directory: directories::unicode(dir)?,
                directories,
                files,
                name: if new {
                    format!("new-{count}-")
                } else {
                    OLD.to_owned()
                },
            })
        };
        let beneath = layout(&output.beneath)?;
        let careful = round.is_none();
        if careful && !new {
            fill(&beneath, bytes_per_file, 1)?;
        }
        // Writing over a file waits for what is on its way to the device from the run before.
        host::flush_all(&output.beneath)
            .map_err(Failure::at("flush the file system of", &output.beneath))?;
        let way = self.rows[row].way;
        let request = WriteMany {
            style: way.style,
            threads: way.threads,
            data,
            layout: layout(&output.dir)?,
            bytes: bytes_per_file,
        };
        let answer = runs::run_once(session, &self.rows[row], &Request::WriteMany(request))?;
        let times = answer.and_then(|reply| match reply {
            Reply::Many(times) => verify(&beneath, bytes_per_file, careful).map(|()| times),
            other => Err(format!("unexpected reply {other:?}")),
        });
        if new {
            output.put_aside(&beneath)?;
        }
        self.outcomes[row].record(times, round);
        Ok(())
    }
}

/// What the names of files begin with that are there already.
const OLD: &str = "old-";

/// In a directory yet to be named.
fn old_layout(case: &Case) -> Layout {
    Layout {
        directory: String::new(),
        directories: case.directories,
        files: case.files,
        name: OLD.to_owned(),
    }
}

/// Is every file there, as long as it should be, and if `careful` with what it should hold?
pub(super) fn verify(layout: &Layout, bytes: usize, careful: bool) -> Result<(), String> {
    for (index, path) in layout.paths().enumerate() {
        let right = if careful {
            fs::read(&path).map(|found| found == contents_of(index, bytes))
        } else {
            fs::metadata(&path).map(|found| found.len() == bytes as u64)
        };
        match right {
            Ok(true) => {}
            Ok(false) => return Err(format!("it wrote something else into {path}")),
            Err(error) => return Err(format!("it has not written {path}: {error}")),
        }
    }
    Ok(())
}

/// Makes the files with the contents of the one `shift` further on.
pub(super) fn fill(layout: &Layout, bytes: usize, shift: usize) -> Result<(), Failure> {
    for (index, path) in layout.paths().enumerate() {
        fs::write(&path, contents_of(index + shift, bytes))
            .map_err(Failure::at("write", Path::new(&path)))?;
    }
    Ok(())
}

/// Where one run writes.
pub(super) struct Output {
    pub(super) dir: PathBuf,
    /// The same, without waiting for a slow disk.
    pub(super) beneath: PathBuf,
    /// Where files go that are done with.
    aside: PathBuf,
}

impl Output {
    /// Directories of that name, with so many directories in each, and the files of these layouts, each of so many bytes.
    pub(super) fn make(
        session: &Session,
        name: &str,
        directories: usize,
        old: &[(Layout, usize)],
    ) -> Result<Vec<Self>, Failure> {
        session.progress.show(0.0, "making the directories");
        let make = |dir: &Path| fs::create_dir(dir).map_err(Failure::at("make directory", dir));
        let mut outputs = Vec::new();
        for index in 0..OUTPUTS {
            session.interrupt.check()?;
            let beneath = session.directories.beneath(index);
            let output = Self {
                dir: session.directories.on_disk(index).join(name),
                aside: beneath.join(format!("{name}-aside")),
                beneath: beneath.join(name),
            };
            make(&output.beneath)?;
            make(&output.aside)?;
            for directory in 0..directories {
                make(&output.beneath.join(format!("{directory:04}")))?;
                make(&output.aside.join(format!("{directory:04}")))?;
            }
            for (old, bytes) in old {
                let layout = Layout {
                    directory: directories::unicode(&output.beneath)?,
                    ..old.clone()
                };
                fill(&layout, *bytes, 0)?;
            }
            host::flush_all(&output.beneath)
                .map_err(Failure::at("flush the file system of", &output.beneath))?;
            outputs.push(output);
        }
        Ok(outputs)
    }

    /// Those of a run that failed may not all be there.
    pub(super) fn put_aside(&self, layout: &Layout) -> Result<(), Failure> {
        let aside = Layout {
            directory: directories::unicode(&self.aside)?,
            ..layout.clone()
        };
        for (path, aside) in layout.paths().zip(aside.paths()) {
            match File::options().write(true).open(&path) {
                Ok(file) => file
                    .set_len(0)
                    .map_err(Failure::at("empty", Path::new(&path)))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Failure::at("open", Path::new(&path))(error)),
            }
            fs::rename(&path, aside).map_err(Failure::at("move", Path::new(&path)))?;
        }
        Ok(())
    }
}
