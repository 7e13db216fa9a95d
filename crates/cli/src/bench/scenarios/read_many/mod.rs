//! `read-many`: many files of the same size read whole.
//!
//! | use | what is timed |
//! |---|---|
//! | `kept Buffer` | every file's bytes, all kept (in Rust a `Vec<u8>`), then a look at every byte |
//! | `kept string` | the same as text, decoded from UTF-8 (in Rust a `String`; smallfry's bulk call: bytes, checked) |
//! | `discarded` | a whole process from its start to its end, as `time node script` does: list the directory, read every file, keep nothing |
//! | `delay` | as `kept`; how late the event loop turns meanwhile |
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

pub(crate) mod discard;
mod memory;
mod native;
mod report;

use super::prelude::*;
use super::shared::cache::{self, Cache};
use super::shared::outputs::flush;
use super::shared::outputs::{Output, make_directory, within};
use super::shared::rows::{self, MOUNT_ALONE, RAW, RAW_KEPT};
use super::shared::shape;
use crate::bench::runtime::Kind;
use crate::bench::runtime::protocol::Data;
use discard::Discard;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    files: usize,
    bytes_per_file: usize,
    /// `None`: discarded.
    kept: Option<Data>,
    cold: bool,
    /// Only how late the event loop turns.
    delay: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kept {
            Some(data) => format!("kept {data}"),
            None => "discarded".to_owned(),
        };
        let shape = shape(self.files, self.bytes_per_file);
        let cache = if self.cold { "cold" } else { "warm" };
        let delay = if self.delay { " delay" } else { "" };
        write!(f, "{shape} {what} {cache}{delay}")
    }
}

impl Case {
    fn shape(&self) -> (usize, usize) {
        (self.files, self.bytes_per_file)
    }

    /// Returns the row of raw system calls that the rows of this case are compared with.
    fn raw(&self) -> &'static str {
        if self.kept.is_some() { RAW_KEPT } else { RAW }
    }
}

/// One run that keeps what it reads; `scale` asks the same.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) style: Style,
    pub(super) threads: Threads,
    /// The form in which each file is kept.
    pub(super) data: Data,
    /// Only for raw system calls and bulk calls in Rust: others keep what they read.
    pub(super) keep: bool,
    pub(super) layout: Layout,
    /// True to compare the contents with the files, untimed.
    pub(super) compare: bool,
    pub(super) watch: Watch,
}

/// A figure that is watched beside the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Watch {
    Nothing,
    /// The turns of the event loop.
    EventLoop,
    Memory,
}

pub(crate) struct ReadMany {
    sets: Vec<Files>,
    cache: Cache,
}

impl Scenario for ReadMany {
    const FACTS: Facts = Facts {
        turn_seconds: 0.5,
        has_jvm_rows: true,
        driver: include_str!("driver.js"),
        ..Facts::of(
            "read-many",
            "Many files read whole: kept or discarded, with a warm or a cold cache",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    /// Returns the cases: on a slow disk a warm cache tells little, on a fast one a cold one takes
    /// long.
    fn cases(session: &Session) -> Vec<Case> {
        let is_slow = session.directories.profile().is_some();
        let has_words = session.options.cells.is_some();
        let uses = [
            (Some(Data::Buffer), false),
            (Some(Data::String), false),
            (None, false),
            (Some(Data::Buffer), true),
        ];
        let mut cases = Vec::new();
        for (index, (files, bytes_per_file)) in shapes(session).into_iter().enumerate() {
            for cold in [false, true] {
                for (kept, delay) in uses {
                    let tells_most = index == 0 && cold == is_slow;
                    let of_all = index == 0 || kept != Some(Data::String) && !delay;
                    let wanted = has_words
                        || match session.extent {
                            Extent::All => of_all,
                            Extent::Core | Extent::Quick => tells_most,
                        };
                    cases.extend(wanted.then_some(Case {
                        files,
                        bytes_per_file,
                        kept,
                        cold,
                        delay,
                    }));
                }
            }
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        if case.delay {
            let mut rows = rows::scripts(session);
            rows.retain(|row| row.way.style.is_async());
            return rows;
        }
        let mut rows = rows::of_many(session);
        if case.kept.is_none() {
            // The start of a JVM would be all that is timed.
            rows.retain(|row| row.runtime.kind != Kind::Jvm);
        }
        rows.extend(rows::raw(session, false));
        if case.kept.is_some() {
            rows.extend(rows::raw(session, true));
        }
        rows.extend(rows::mount_alone(session, MOUNT_ALONE));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        rows::leave_out_peers(session);
        let host = &session.host;
        let memory = host.memory_limit_bytes.or(host.memory_bytes);
        cases.retain(|case| {
            // Some rows hold the contents twice.
            let needed = 3 * (case.files * case.bytes_per_file) as u64;
            let fits = memory.is_none_or(|memory| needed < memory);
            if !fits {
                session.leave_out(format!(
                    "case {case} is left out: too large for the memory here"
                ));
            }
            fits
        });
        let mut sets: Vec<Files> = Vec::new();
        for case in cases {
            if !sets.iter().any(|set| set.shape == case.shape()) {
                sets.push(Files::make(session, case.shape())?);
            }
        }
        Ok(Self {
            sets,
            cache: Cache::default(),
        })
    }

    fn group(case: &Case) -> usize {
        usize::from(case.cold)
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let case = *turn.case;
        let Some(files) = self.sets.iter().find(|set| set.shape == case.shape()) else {
            return Ok(Err("its files were not made".to_owned()));
        };
        let cache = &self.cache;
        let mut cached = None;
        if !case.cold {
            cached = cache.make_warm(turn.session, turn.rows, &files.paths)?;
        }
        let layout = files.layout(turn.row);
        let mut not_cold = None;
        let mut empty = || {
            if case.cold {
                let directory = Path::new(&files.layout.directory);
                match cache.make_cold(turn.session, directory, &files.paths) {
                    Ok(left) => cached = Some(left),
                    Err(reason) => not_cold = Some(reason),
                }
            }
        };
        let answer = if let Some(data) = case.kept {
            let request = Request {
                style: turn.row.way.style,
                threads: turn.row.way.threads,
                data,
                keep: turn.row.way.keep,
                layout: layout.clone(),
                compare: turn.is_careful(),
                watch: if case.delay {
                    Watch::EventLoop
                } else {
                    Watch::Nothing
                },
            };
            let answer = turn.ask_prepared(&request, || {
                empty();
                Ok(())
            })?;
            answer.and_then(|times| check(times, files.shape))
        } else {
            empty();
            if case.cold {
                // Its program was dropped as well, and reading that is not what is compared.
                cache::warm_up(turn.session, turn.row)?;
            }
            discard(turn.session, turn.row, layout, files.shape)?
        };
        *turn.not_cold = turn.not_cold.take().or(not_cold);
        Ok(answer.map(|times| Times { cached, ..times }))
    }
}

/// Returns numbers of files, and bytes of each.
fn shapes(session: &Session) -> Vec<(usize, usize)> {
    let options = &session.options;
    let mut shapes = match session.extent {
        Extent::Quick => vec![(300, 10_000), (10, 1_000_000), (2, 10_000_000)],
        Extent::Core | Extent::All => {
            vec![(10_000, 10_000), (100, 10_000_000), (10, 100_000_000)]
        }
    };
    if options.files.is_some() || options.size.is_some() {
        shapes.truncate(1);
    }
    for (files, bytes) in &mut shapes {
        *files = session.files(*files);
        *bytes = session.bytes(*bytes);
    }
    shapes
}

/// The files of one shape.
struct Files {
    shape: (usize, usize),
    layout: Layout,
    /// The same files, through a mount that adds no delay.
    undelayed: Layout,
    paths: Vec<PathBuf>,
}

impl Files {
    /// Makes and flushes the files, so that their writeback is over when the first is read.
    fn make(session: &Session, shape: (usize, usize)) -> Result<Self, Failure> {
        session.progress.show(0.0, "read-many: making the files");
        let (files, bytes) = shape;
        let output = Output::of(
            session,
            0,
            &format!("read-{}", super::shared::shape(files, bytes)),
        );
        make_directory(&output.beneath)?;
        let layout = Layout {
            directory: String::new(),
            directories: 0,
            files,
            name: "module-".to_owned(),
        };
        for (index, path) in within(&layout, &output.beneath)?.paths().enumerate() {
            session.interrupt.check()?;
            let contents = source(index, bytes);
            std::fs::write(&path, contents).map_err(Failure::at("write", Path::new(&path)))?;
        }
        flush(&output.beneath)?;
        let undelayed = within(&layout, output.seen(true))?;
        let layout = within(&layout, output.seen(false))?;
        Ok(Self {
            shape,
            paths: layout.paths().map(PathBuf::from).collect(),
            layout,
            undelayed,
        })
    }

    /// Returns the files as this row sees them.
    fn layout(&self, row: &Row) -> &Layout {
        if row.implementation == MOUNT_ALONE {
            &self.undelayed
        } else {
            &self.layout
        }
    }
}

/// Runs a whole process.
fn discard(
    session: &Session,
    row: &Row,
    layout: &Layout,
    (files, bytes): (usize, usize),
) -> Result<Answer, Failure> {
    let work = Discard {
        style: row.way.style,
        threads: row.way.threads,
        directory: layout.directory.clone(),
        files,
        bytes: files * bytes,
    };
    // As short as what it stands for: its compilation is timed too.
    let script = include_str!("discard.js");
    let usage = row.run_whole(script, &work, &session.interrupt)?;
    Ok(usage.map(|usage| Times {
        files,
        bytes: files * bytes,
        usage,
        ..Times::default()
    }))
}

/// Refuses a row that has read less than there is.
pub(super) fn check(times: Times, (files, bytes): (usize, usize)) -> Answer {
    let all = files * bytes;
    if (times.files, times.bytes) == (files, all) {
        return Ok(times);
    }
    let (read, of) = (times.bytes, times.files);
    Err(format!(
        "it read {read} bytes of {of} files instead of {all} bytes of {files}"
    ))
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
            files: 100,
            bytes_per_file: 10_000_000,
            kept: None,
            cold: true,
            delay: false,
        };
        assert_eq!(case.to_string(), "100x10MB discarded cold");
    }
}
