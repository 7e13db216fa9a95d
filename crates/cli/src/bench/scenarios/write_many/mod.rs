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

mod case;
mod native;
mod report;

use super::prelude::*;
use case::Case;

pub(crate) struct WriteMany {
    outputs: Vec<Output>,
}

impl Scenario for WriteMany {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        driver: include_str!("driver.js"),
        question: Some(Question::of(
            "which way writes many files?",
            &[
                (
                    "Node",
                    "node --require smallfry/register, or writeFiles(files)",
                ),
                ("Rust", "smallfry::bulk::Writer"),
                ("JDK", "Smallfry.writeAll"),
            ],
        )),
        help: "Many small files written, new and overwritten, spread over directories",
        ..Facts::of("write-many")
    };
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let (files, directories) = session.extent.pick((200, 10), (6_000, 100));
        let shape = Shape {
            files: session.files(files),
            bytes_per_file: session.bytes(1_000),
            directories,
        };
        let is_whole = session.extent == Extent::All || session.options.cells.is_some();
        // Generators write strings.
        let is_wanted = |data: &Data| is_whole || *data == Data::String;
        let both = |data| [true, false].map(|new| Case { shape, data, new });
        let data = [Data::String, Data::Buffer].into_iter().filter(is_wanted);
        data.flat_map(both).collect()
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        if case.data == Data::Buffer {
            return rows::scripts(session);
        }
        let mut rows = rows::of_many(session);
        let one_by_one = ("smallfry in the JVM", Functions::Smallfry, Style::Sync);
        rows.extend(rows::all(session, [&[], &[one_by_one], &[]], rows::find));
        rows.extend(rows::raw(session, RAW));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let directories = cases.first().map(|case| case.shape.directories);
        let old = cases.iter().filter(|case| !case.new).map(|case| case.shape);
        let old: Vec<Shape> = old.take(1).collect();
        let outputs = Output::make_filled(session, "write", directories, &old)?;
        Ok(Self { outputs })
    }

    fn new_files(case: &Case) -> usize {
        if case.new { case.shape.files } else { 0 }
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let written = Written {
            output: &self.outputs[turn.output()],
            shape: turn.case.shape,
            data: turn.case.data,
            is_new: turn.case.new,
            is_undelayed: false,
        };
        written.ask(turn, |request| request)
    }
}
