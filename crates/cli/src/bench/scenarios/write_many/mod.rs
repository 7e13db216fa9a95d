//! `write-many`: many small files of the same size written whole, spread over directories.
//!
//! | case | |
//! |---|---|
//! | `new` | no file of the name is there |
//! | `overwritten` | a file as long is there, with other contents in the round that is not counted |
//!
//! The contents are made before: a string or a Buffer each (Rust has bytes for both; its rows run
//! in the cases of strings). The time is from the first call to the return of the last; nothing is
//! flushed. In the round that is not counted every file is compared with what it should hold, in
//! the others its length is.
//!
//! Every run is a fresh process, on a file system that was flushed just before. The rounds are as
//! few as leave half of the free inodes.

mod native;
mod report;

use super::prelude::*;
use super::shared::outputs::{Output, Written};
use super::shared::rows::{self, RowOf, SMALLFRY_JVM, in_jvm};
use super::shared::shape;
use crate::bench::runtime::protocol::Data;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    files: usize,
    bytes_per_file: usize,
    directories: usize,
    data: Data,
    new: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = shape(self.files, self.bytes_per_file);
        let state = if self.new { "new" } else { "overwritten" };
        write!(f, "{shape} {} {state}", self.data)
    }
}

impl Case {
    /// Returns the files of that turn, in a directory yet to be named.
    fn layout(&self, count: usize) -> Layout {
        Layout {
            directory: String::new(),
            directories: self.directories,
            files: self.files,
            // Names of new files are new in each run: a mount might remember the last run's.
            name: if self.new {
                format!("new-{count}-")
            } else {
                "old-".to_owned()
            },
        }
    }
}

/// One run.
#[derive(Serialize, Deserialize)]
struct Request {
    style: Style,
    threads: Threads,
    data: Data,
    /// The directories are there; the files are, or are not.
    layout: Layout,
    /// The size of each file.
    bytes: usize,
}

const IN_JVM: [RowOf; 1] = [(SMALLFRY_JVM, Functions::Smallfry, Style::Sync)];

pub(crate) struct WriteMany {
    outputs: Vec<Output>,
}

impl Scenario for WriteMany {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        driver: include_str!("driver.js"),
        ..Facts::of(
            "write-many",
            "Many small files written, new and overwritten, spread over directories",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let options = &session.options;
        let (files, directories) = match session.extent {
            Extent::Quick => (200, 10),
            Extent::Core | Extent::All => (10_000, 100),
        };
        let mut cases = Vec::new();
        for data in [Data::String, Data::Buffer] {
            for new in [true, false] {
                cases.push(Case {
                    files: session.files(files),
                    bytes_per_file: session.bytes(1_000),
                    directories,
                    data,
                    new,
                });
            }
        }
        if session.extent != Extent::All && options.cells.is_none() {
            // Generators write strings.
            cases.retain(|case| case.data == Data::String);
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        if case.data == Data::Buffer {
            return rows::scripts(session);
        }
        let mut rows = rows::of_many(session);
        rows.extend(in_jvm(session, &IN_JVM));
        rows.extend(rows::raw(session, false));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        if cases.iter().any(|case| case.data == Data::String) {
            rows::leave_out_peers(session);
        }
        let directories = cases.iter().map(|case| case.directories).max();
        let old = cases.iter().find(|case| !case.new);
        let old: Vec<_> = old
            .map(|case| (case.layout(0), case.bytes_per_file))
            .into_iter()
            .collect();
        let directories = directories.unwrap_or(0);
        let outputs = Output::make_filled(session, "write", directories, &old)?;
        Ok(Self { outputs })
    }

    fn new_files(case: &Case) -> usize {
        if case.new { case.files } else { 0 }
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let case = *turn.case;
        let written = Written {
            output: &self.outputs[turn.output()],
            layout: case.layout(turn.count),
            bytes: case.bytes_per_file,
            is_new: case.new,
            is_undelayed: false,
        };
        written.ask(turn, |row, layout| Request {
            style: row.way.style,
            threads: row.way.threads,
            data: case.data,
            layout,
            bytes: case.bytes_per_file,
        })
    }
}
