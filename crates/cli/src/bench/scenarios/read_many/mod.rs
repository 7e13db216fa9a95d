//! `read-many`: many files of the same size read whole.
//!
//! | use | what is timed |
//! |---|---|
//! | `kept Buffer` | every file's bytes, all kept (in Rust a `Vec<u8>`), then a look at every byte |
//! | `kept string` | the same as text, decoded from UTF-8 (in Rust a `String`; smallfry's bulk call: bytes, checked) |
//! | `discarded` | a whole process from its start to its end, as `time node script` does: list the directory, read every file, keep nothing |
//! | `delay` | as `kept`; how late the event loop turns meanwhile |
//! | `steady` | as `kept`, eight times in one process, dropped in between; mean of the last five |
//!
//! The files are of ASCII text that resembles source code, made once and flushed. `warm`: they were
//! read before. `cold`: before every run the page cache is dropped and a sample of the files is
//! looked up in it; where a sample is still there, or dropping fails, the case is labelled warm.
//! The row's program is in memory nevertheless.
//!
//! Every run is a fresh process. A run that keeps is timed from the first call to the last byte
//! looked at, without the start of the process. All is read before anything is looked at: a search
//! for a byte that is not there, without which a result could put its cost off until it is used. In
//! the round that is not counted, what was read is compared with the files.
//!
//! Raw system calls read into one buffer per thread, looked at on the spot; or, kept, each file
//! into fresh memory. On a slow disk one such row reads through a mount that adds no delay: the
//! time of the simulation itself.

pub(super) mod case;
pub(crate) mod discard;
mod memory;
mod native;
mod report;

use super::prelude::*;
use case::{Case, Request, Watch, check};
use discard::Discard;

pub(crate) struct ReadMany {
    sets: Vec<Files>,
    cache: Cache,
}

impl Scenario for ReadMany {
    const FACTS: Facts = Facts {
        turn_seconds: 0.5,
        has_jvm_rows: true,
        driver: include_str!("driver.js"),
        question: Some(Question::of(
            "which way reads many files?",
            &[
                (
                    "Node",
                    "node --require smallfry/register, or readFiles(paths)",
                ),
                ("Rust", "smallfry::bulk::Reader"),
                ("JDK", "Smallfry.readAll"),
            ],
        )),
        help: "Many files read whole: kept or discarded, with a warm or a cold cache",
        ..Facts::of("read-many")
    };
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    /// Returns the cases: on a slow disk a warm cache tells little, on a fast one a cold one takes
    /// long.
    fn cases(session: &Session) -> Vec<Case> {
        let is_slow = session.directories.profile().is_some();
        let has_words = session.options.cells.is_some();
        let uses = [
            (Some(Data::Buffer), Watch::Nothing),
            (Some(Data::String), Watch::Nothing),
            (None, Watch::Nothing),
            (Some(Data::Buffer), Watch::EventLoop),
            (Some(Data::Buffer), Watch::Steady),
            (Some(Data::String), Watch::Steady),
        ];
        let mut cases = Vec::new();
        for (index, shape) in shapes(session).into_iter().enumerate() {
            for cold in [false, true] {
                for (kept, watch) in uses {
                    let is_wanted = match session.extent {
                        _ if watch == Watch::Steady => {
                            !cold && index == 0 && (has_words || session.extent == Extent::All)
                        }
                        _ if has_words => true,
                        Extent::All => {
                            index == 0 || kept != Some(Data::String) && watch == Watch::Nothing
                        }
                        Extent::Core | Extent::Quick => index == 0 && cold == is_slow,
                    };
                    let case = Case {
                        shape,
                        kept,
                        cold,
                        watch,
                    };
                    cases.extend(is_wanted.then_some(case));
                }
            }
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        if case.watch != Watch::Nothing {
            let mut rows = rows::scripts(session);
            rows.retain(|row| row.way.style.is_async());
            return rows;
        }
        let mut rows = rows::of_many(session);
        if case.kept.is_none() {
            // The start of a JVM would be all that is timed.
            rows.retain(|row| row.runtime.kind != Kind::Jvm);
        }
        rows.extend(rows::raw(session, RAW));
        if case.kept.is_some() {
            rows.extend(rows::raw(session, rows::RAW_KEPT));
        }
        rows.extend(rows::mount_alone(session, MOUNT_ALONE));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let host = &session.host;
        let memory = host.memory_limit_bytes.or(host.memory_bytes);
        cases.retain(|case| {
            // Some rows hold the contents twice.
            let fits = memory.is_none_or(|memory| 3 * (case.shape.bytes() as u64) < memory);
            if !fits {
                let why = "too large for the memory here";
                session.leave_out(format!("case {case} is left out: {why}"));
            }
            fits
        });
        let mut sets: Vec<Files> = Vec::new();
        for case in cases {
            if !sets.iter().any(|set| set.shape == case.shape) {
                sets.push(Files::make(session, case.shape)?);
            }
        }
        let cache = Cache::default();
        Ok(Self { sets, cache })
    }

    fn group(case: &Case) -> usize {
        usize::from(case.cold)
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let (session, row, case) = (turn.session, turn.row, *turn.case);
        let found = self.sets.iter().find(|set| set.shape == case.shape);
        let files = found.ok_or_else(|| "its files were not made".to_owned())?;
        let (mut cached, mut not_cold) = (None, None);
        if !case.cold {
            cached = self.cache.make_warm(session, turn.rows, &files.paths)?;
        }
        let mut empty = || {
            if case.cold {
                let directory = files.output.seen(false);
                match self.cache.make_cold(session, directory, &files.paths) {
                    Ok(left) => cached = Some(left),
                    Err(reason) => not_cold = Some(reason),
                }
            }
        };
        let seen = files.output.seen(row.implementation == MOUNT_ALONE);
        let layout = case.shape.within(seen, NAME)?;
        let times = if let Some(data) = case.kept {
            let request = Request {
                many: many::Request::of(row, data, layout, &case.shape),
                compare: turn.is_careful(),
                watch: case.watch,
            };
            let times = turn.ask_within(&request, |_, ask| {
                empty();
                ask()
            });
            times.and_then(|times| {
                let there = (case.shape.files, case.shape.bytes());
                check((times.files, times.bytes), there)?;
                Ok(times)
            })
        } else {
            empty();
            if case.cold {
                // Its program was dropped as well, and reading that is not what is compared.
                cache::warm_up(session, row)?;
            }
            discard(session, row, layout, &case.shape)
        };
        turn.note_not_cold(not_cold);
        Ok(Times { cached, ..times? })
    }
}

fn shapes(session: &Session) -> Vec<Shape> {
    let quick = vec![(300, 10_000), (10, 1_000_000), (2, 10_000_000)];
    let usual = vec![(10_000, 10_000), (100, 10_000_000), (10, 100_000_000)];
    let mut shapes = session.extent.pick(quick, usual);
    if session.options.files.is_some() || session.options.size.is_some() {
        shapes.truncate(1);
    }
    let here = |(files, bytes)| Shape {
        files: session.files(files),
        bytes_per_file: session.bytes(bytes),
        directories: 0,
    };
    shapes.into_iter().map(here).collect()
}

/// The files of one shape.
struct Files {
    shape: Shape,
    output: Output,
    paths: Vec<PathBuf>,
}

impl Files {
    /// Makes and flushes the files, so that their writeback is over when the first is read.
    fn make(session: &Session, shape: Shape) -> Result<Self, Failure> {
        session.progress.show(0.0, "read-many: making the files");
        let output = Output::of(session, 0, &format!("read-{shape}"));
        make_directory(&output.beneath)?;
        let contents = |index| source(index, shape.bytes_per_file);
        fill(session, &shape.within(&output.beneath, NAME)?, contents)?;
        flush(&output.beneath)?;
        let layout = shape.within(output.seen(false), NAME)?;
        Ok(Self {
            shape,
            paths: layout.paths().map(PathBuf::from).collect(),
            output,
        })
    }
}

const NAME: &str = "module-";

/// Runs a whole process.
fn discard(session: &Session, row: &Row, layout: Layout, shape: &Shape) -> Result<Times, Fault> {
    let work = Discard {
        way: row.way,
        directory: layout.directory,
        files: shape.files,
        bytes: shape.bytes(),
    };
    // As short as what it stands for: its compilation is timed too.
    let script = include_str!("discard.js");
    let usage = row.run_whole(script, &work, &session.interrupt)??;
    Ok(Times::of(shape.files, shape.bytes(), usage))
}

/// Returns text that resembles source code; text longer than a module repeats.
pub(super) fn source(index: usize, bytes: usize) -> Vec<u8> {
    const MODULE: usize = 10_000;
    let mut random = fastrand::Rng::with_seed(index as u64);
    let mut text = format!("// Module {index}, made by smallfry bench.\n");
    while text.len() < bytes.min(MODULE) {
        let (name, value) = (random.u16(..), random.u32(..));
        let _ = writeln!(
            text,
            "export const item{name} = (left, right) => left * {value} + right;"
        );
    }
    text.bytes().cycle().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_ascii_of_the_length_promised_and_differ() {
        let [first, second] = [source(0, 10_000), source(1, 10_000)];
        for text in [&first, &second] {
            assert!(text.is_ascii() && !text.contains(&0));
            assert_eq!(text.len(), 10_000);
        }
        assert_ne!(first, second);
        assert_eq!(source(0, 25_001).len(), 25_001);
    }

    #[test]
    fn names_of_cases_are_words() {
        let case = Case {
            shape: Shape {
                files: 100,
                bytes_per_file: 10_000_000,
                directories: 0,
            },
            kept: None,
            cold: true,
            watch: Watch::Nothing,
        };
        assert_eq!(case.to_string(), "100x10MB discarded cold");
    }
}
