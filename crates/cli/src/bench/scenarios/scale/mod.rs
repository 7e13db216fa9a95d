//! `scale`: bulk reads of 1,000 to 1,000,000 files of 1 kB, spread over 1,000 directories.
//!
//! The cost of a file should not depend on how many there are, and neither should memory beside
//! what the caller has: its paths, and the contents it keeps.
//!
//! Memory is the highest resident set while reading, less that before, when the paths are there
//! already, less the bytes kept. The rest is the batch's own, and with it what holds the contents:
//! an object each in Node, a handle each in Rust. The row `nothing kept` looks at each file's bytes
//! and drops them.

mod report;

use super::prelude::*;
use super::read_many::{Request, Watch, check, source};
use super::shared::cache::Cache;
use super::shared::outputs::flush;
use super::shared::outputs::{Output, make_directory, within};
use super::shared::rows::{self, BULK, BULK_RUST, BULK_SYNC, RowOf, in_rust, on_nodes};
use super::shared::shape;
use crate::bench::runtime::Way;
use crate::bench::runtime::protocol::Data;
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    files: usize,
    bytes_per_file: usize,
    directories: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shape(self.files, self.bytes_per_file))
    }
}

impl Case {
    fn layout(&self, directory: &Path) -> Result<Layout, Failure> {
        let layout = Layout {
            directory: String::new(),
            directories: self.directories,
            files: self.files,
            name: String::new(),
        };
        within(&layout, directory)
    }
}

const DROPPED: &str = "bulk Rust, nothing kept";

const ON_NODE: [RowOf; 2] = [
    (BULK_SYNC, Functions::Smallfry, Style::BulkSync),
    (BULK, Functions::Smallfry, Style::Bulk),
];

pub(crate) struct Scale {
    output: Output,
    cache: Cache,
}

impl Scenario for Scale {
    const FACTS: Facts = Facts {
        seconds: 200.0,
        rounds: 4,
        turn_seconds: 2.0,
        ..Facts::of(
            "scale",
            "Bulk reads of 1,000 to 1,000,000 files: cost per file, and memory",
        )
    };
    const REQUEST: &'static str = "read-many";
    type Case = Case;
    const SHOW: Show<Case> = report::show;

    fn cases(session: &Session) -> Vec<Case> {
        let options = &session.options;
        let (mut numbers, directories) = match session.extent {
            Extent::Quick => (vec![100, 1_000], 10),
            Extent::Core | Extent::All => (vec![1_000, 10_000, 100_000, 1_000_000], 1_000),
        };
        if options.files.is_some() {
            numbers.truncate(1);
        }
        let case = |files| Case {
            files: session.files(files),
            bytes_per_file: session.bytes(1_000),
            directories,
        };
        numbers.into_iter().map(case).collect()
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let mut rows = on_nodes(session, &ON_NODE, rows::is_there);
        rows.extend(in_rust(&[(
            BULK_RUST,
            Functions::Smallfry,
            Style::BulkSync,
        )]));
        let dropping = Way {
            style: Style::BulkSync,
            threads: Threads::Auto,
            keep: false,
        };
        rows.push(Row::native(Functions::Smallfry, DROPPED, dropping));
        // The kernel's work depends on the number too: names and inodes of many files are in no
        // processor's cache.
        rows.extend(rows::raw(session, false));
        rows
    }

    /// Makes the files of the largest case: the others read the first of them.
    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        session.progress.show(0.0, "scale: making the files");
        let output = Output::of(session, 0, "scale");
        if let Some(case) = cases.iter().max_by_key(|case| case.files) {
            make_directory(&output.beneath)?;
            for directory in 0..case.directories {
                make_directory(&output.beneath.join(format!("{directory:04}")))?;
            }
            let contents = source(0, case.bytes_per_file);
            for path in case.layout(&output.beneath)?.paths() {
                session.interrupt.check()?;
                std::fs::write(&path, &contents).map_err(Failure::at("write", Path::new(&path)))?;
            }
            flush(&output.beneath)?;
        }
        Ok(Self {
            output,
            cache: Cache::default(),
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let case = *turn.case;
        let layout = case.layout(self.output.seen(false))?;
        let sample: Vec<PathBuf> = layout.paths().map(PathBuf::from).collect();
        let cached = self.cache.make_warm(turn.session, turn.rows, &sample)?;
        let way = turn.row.way;
        let answer = turn.ask(&Request {
            style: way.style,
            threads: way.threads,
            data: Data::Buffer,
            keep: way.keep,
            layout,
            compare: turn.is_careful() && way.keep,
            watch: Watch::Memory,
        })?;
        let answer = answer.and_then(|times| check(times, (case.files, case.bytes_per_file)));
        Ok(answer.map(|times| Times { cached, ..times }))
    }
}
