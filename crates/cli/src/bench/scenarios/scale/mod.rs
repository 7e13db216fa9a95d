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
use super::read_many::case::{Request, Watch, check};
use super::read_many::source;

pub(crate) struct Scale {
    output: Output,
    cache: Cache,
}

impl Scenario for Scale {
    const FACTS: Facts = Facts {
        seconds: 200.0,
        rounds: 4,
        turn_seconds: 2.0,
        question: Some(Question::of("does a file cost more among a million?", &[])),
        help: "Bulk reads of 1,000 to 1,000,000 files: cost per file, and memory",
        ..Facts::of("scale")
    };
    const REQUEST: &'static str = "read-many";
    type Case = Shape;

    fn cases(session: &Session) -> Vec<Shape> {
        let mut usual = (vec![1_000, 10_000, 100_000], 1_000);
        if session.extent == Extent::All {
            usual.0.push(1_000_000);
        }
        let (mut numbers, directories) = session.extent.pick((vec![100, 1_000], 10), usual);
        if session.options.files.is_some() {
            numbers.truncate(1);
        }
        let shape = |files| Shape {
            files: session.files(files),
            bytes_per_file: session.bytes(1_000),
            directories,
        };
        numbers.into_iter().map(shape).collect()
    }

    fn rows(session: &Session, _: &Shape) -> Vec<Row> {
        let in_rust = [rows::bulk(BULK_RUST)];
        let mut rows = rows::all(session, [&OURS[2..], &[], &in_rust], rows::find);
        let mut dropping = Way::from(Style::BulkSync);
        dropping.keep = false;
        let name = "bulk Rust, nothing kept";
        rows.push(Row::native(Functions::Smallfry, name, dropping));
        // The kernel's work depends on the number too: names and inodes of many files are in no
        // processor's cache.
        rows.extend(rows::raw(session, RAW));
        rows
    }

    /// Makes the files of the largest case: the others read the first of them.
    fn prepare(session: &mut Session, cases: &mut Vec<Shape>) -> Result<Self, Failure> {
        session.progress.show(0.0, "scale: making the files");
        let output = Output::of(session, 0, "scale");
        if let Some(case) = cases.iter().max_by_key(|case| case.files) {
            make_directories(&output.beneath, case.directories)?;
            let contents = source(0, case.bytes_per_file);
            let layout = case.within(&output.beneath, "")?;
            fill(session, &layout, |_| contents.clone())?;
            flush(&output.beneath)?;
        }
        let cache = Cache::default();
        Ok(Self { output, cache })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let (case, keep) = (*turn.case, turn.row.way.keep);
        let layout = case.within(self.output.seen(false), "")?;
        let sample: Vec<PathBuf> = layout.paths().map(PathBuf::from).collect();
        let cached = self.cache.make_warm(turn.session, turn.rows, &sample)?;
        let times = turn.ask(&Request {
            many: many::Request::of(turn.row, Data::Buffer, layout, &case),
            compare: turn.is_careful() && keep,
            watch: Watch::Memory,
        })?;
        check((times.files, times.bytes), (case.files, case.bytes()))?;
        Ok(Times { cached, ..times })
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Shape>) {
        report::show(page, session, results);
    }
}
