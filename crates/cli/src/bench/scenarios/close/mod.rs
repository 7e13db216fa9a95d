//! `close`: the small files of a real font written, with each way of closing them.
//!
//! | case | |
//! |---|---|
//! | `write` | one thread writes the files of the glyphs: create, write, hand the file to whatever closes |
//! | `norad` | the library norad loads the font and saves it, one glyph after another; the crate it closes with is replaced |
//! | `norad-rayon` | the same with norad's feature `rayon`: several threads load and save |
//! | ` watched` | one of these once more, and meanwhile the most open handles, threads and memory are looked for; the looking takes time, so it has cases of its own |
//!
//! The time ends when the last file is closed. The writer is the same in all rows. The crate
//! `close_already` was measured with a font of 2,300 files; ours has 3,359. What is written is in
//! memory before the clock starts (`write`), or loaded from the disk that is measured (norad),
//! where the page cache has it and a slow disk is asked for it.
//!
//! Every run is a fresh process, on a file system that was flushed just before. In the round that
//! is not counted every file is compared with what it should hold (norad writes the font in a form
//! of its own: there rows are compared with each other), in the others lengths are. Names are new
//! in each run: a mount might remember the last run's.

mod case;
mod native;
mod report;

use super::prelude::*;
use super::shared::font;
use super::shared::trees::Held;
use crate::bench::runtime::peaks;
use case::{Case, DESIGN, DESIGN_UNBOUNDED, PLAIN, Request, STD_MOUNT_ALONE, WORKS, Work, closer};
use smallfry_bench_closing::{self as closing, Backend, Way};
use std::collections::btree_map::Entry;

/// The number of files that `close_already` was measured with.
const PUBLISHED: usize = 2_300;

pub(crate) struct Close {
    /// One for each number of glyphs.
    fonts: BTreeMap<usize, (font::Glyphs, Output)>,
    outputs: Vec<Output>,
    /// The number of files moved aside.
    moved: usize,
    /// The font that norad has written in the first row, by case.
    expected: BTreeMap<usize, Held>,
}

impl Scenario for Close {
    const FACTS: Facts = Facts {
        question: Some(Question::of(
            "what does closing cost?",
            &[(
                "Rust",
                "file.fast_close() of smallfry::close; smallfry/register does it in Node",
            )],
        )),
        help: "A font's 3,359 small files written, with each way of closing them",
        ..Facts::of("close")
    };
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
    const SERVE: Serve = |launch, request| native::run(launch, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let usual = vec![font::GLYPHS, PUBLISHED];
        let mut numbers = session.extent.pick(vec![60], usual);
        if session.options.files.is_some() {
            numbers.truncate(1);
        }
        // One kind of work tells how many there are at once.
        let watches_all = session.extent == Extent::All || session.options.cells.is_some();
        let mut cases = Vec::new();
        for watched in [false, true] {
            for work in WORKS.into_iter().filter(|work| work.runtime().is_some()) {
                // One kind of work is done with each number.
                let is_write = work == Work::Write;
                let count = [1, numbers.len()][usize::from(is_write && !watched)];
                let case = |files: &usize| Case {
                    work,
                    files: session.files(*files).min(font::GLYPHS),
                    watched,
                };
                if !watched || peaks::are_told() && (watches_all || is_write) {
                    cases.extend(numbers[..count].iter().map(case));
                }
            }
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let Some(runtime) = case.work.runtime() else {
            return Vec::new();
        };
        let row = |functions, name: &str, way| {
            let mut row = Row::native(functions, name, Style::Sync);
            row.runtime = runtime.clone();
            row.launch.closing = Some(way);
            row
        };
        let other = |name, way| row(Functions::Std, name, way);
        let mut rows = vec![other(PLAIN, Way::Plain), other(DESIGN, Way::Pool)];
        if closing::PEERS_BUILT {
            rows.push(other(DESIGN_UNBOUNDED, Way::Blocking));
        }
        for way in closing::ours() {
            if let Way::Smallfry { policy, backend } = way {
                // rayon's threads write there, and they are in no runtime of tokio's.
                if case.work != Work::NoradRayon || backend != Backend::Tokio {
                    rows.push(row(Functions::Smallfry, &closer(policy, backend), way));
                }
            }
        }
        if session.directories.undelayed(0).is_some() {
            rows.push(other(STD_MOUNT_ALONE, Way::Plain));
        }
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        leave_out(session);
        session.progress.show(0.0, "close: unpacking the font");
        let mut fonts = BTreeMap::new();
        let numbers: BTreeSet<usize> = cases.iter().map(|case| case.files).collect();
        for files in numbers {
            session.interrupt.check()?;
            let place = Output::of(session, 0, &format!("{files}.ufo"));
            let glyphs = font::unpack(&place.beneath, files);
            let glyphs = glyphs.map_err(Failure::at("unpack", &place.beneath))?;
            fonts.insert(files, (glyphs, place));
        }
        Ok(Self {
            fonts,
            outputs: Output::make(session, "close", 0)?,
            moved: 0,
            expected: BTreeMap::new(),
        })
    }

    fn new_files(case: &Case) -> usize {
        case.files
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let case = *turn.case;
        let (glyphs, place) = &self.fonts[&case.files];
        let output = &self.outputs[turn.output()];
        flush(&output.beneath)?;
        let is_alone = turn.row.implementation == STD_MOUNT_ALONE;
        let (read, name) = match case.work {
            // Reading is not timed.
            Work::Write => (place.beneath.as_path(), format!("{}-", turn.count)),
            _ => (place.seen(is_alone), format!("{}-font.ufo", turn.count)),
        };
        let request = Request {
            font: unicode(read)?,
            target: unicode(&output.seen(is_alone).join(&name))?,
        };
        let mut peaks = None;
        let asked = turn.ask_within(&request, |process, ask| {
            if !case.watched {
                return ask();
            }
            let (answer, seen) = peaks::Watch::of(process).during(ask);
            peaks = Some(seen);
            answer
        });
        let asked = asked.map(|times| Times { peaks, ..times });
        let careful = turn.is_careful();
        let checked = asked.and_then(|times| {
            if case.work != Work::Write {
                let written = output.beneath.join(&name);
                let expected = self.expected.entry(turn.place.0);
                let bytes = verify_font(&written, case.files, expected, careful)?;
                return Ok(Times { bytes, ..times });
            }
            let files = glyphs.iter().map(|(path, held)| {
                let own = path.rsplit('/').next().unwrap_or_default();
                let path = output.beneath.join(format!("{name}{own}"));
                (path, held.as_slice().into())
            });
            verify_files(files, careful)?;
            Ok(times)
        });
        put_all_aside(&output.beneath, &output.aside(), &mut self.moved)?;
        checked
    }
}

/// Notes what this build does not have.
fn leave_out(session: &Session) {
    if WORKS.iter().any(|work| work.runtime().is_none()) {
        session.leave_out(
            "cases with the library norad are left out: its programs are not built (make bench-all \
             builds them)"
                .to_owned(),
        );
    }
    if !closing::PEERS_BUILT {
        let names =
            format!("{DESIGN_UNBOUNDED}, and of smallfry closing on other libraries' threads,");
        session.leave_out(rows::not_built(&names));
    }
}

/// Checks that a file is there for every glyph, and that all is as the first row wrote it, if
/// `careful` byte for byte. Returns the number of bytes.
fn verify_font(
    font: &Path,
    glyphs: usize,
    expected: Entry<usize, Held>,
    careful: bool,
) -> Result<usize, String> {
    let look = || {
        let files = walk(font, |_| true)?;
        let glyphs = files.iter().filter(|it| font::is_glyph(Path::new(it)));
        io::Result::Ok((glyphs.count(), Held::by(font, &files, careful)?))
    };
    match look() {
        Err(error) => Err(format!("it has not written {}: {error}", font.display())),
        Ok((found, _)) if found != glyphs => {
            Err(format!("it wrote {found} glyphs instead of {glyphs}"))
        }
        Ok((_, held)) if expected.or_insert(held).equals(held) => Ok(held.bytes),
        Ok(_) => Err("what it wrote differs from the other rows'".to_owned()),
    }
}
