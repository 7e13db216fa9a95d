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

pub(super) mod font;
mod native;
mod report;

use super::prelude::*;
use super::shared::outputs::flush;
use super::shared::outputs::{Output, empty, put_aside, verify_files};
use super::shared::trees::{files_below, hash};
use super::shared::word;
use crate::bench::directories;
use crate::bench::runtime::{self, Runtime, norad, peaks};
use font::Font;
use smallfry_bench_closing::{self as closing, Backend, Policy, Way};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    work: Work,
    /// Glyphs, each in a file of its own.
    files: usize,
    watched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Work {
    Write,
    Norad,
    NoradRayon,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = word(self.work);
        let watched = if self.watched { " watched" } else { "" };
        write!(f, "{} {work}{watched}", self.files)
    }
}

impl Work {
    /// Returns the runtime of its rows, if the programs were built.
    fn runtime(self) -> Option<Runtime> {
        match self {
            Self::Write => Some(runtime::native::runtime()),
            Self::Norad => norad::find(false),
            Self::NoradRayon => norad::find(true),
        }
    }
}

/// One run: the glyphs' files written, or, through norad, the font loaded and saved.
#[derive(Serialize, Deserialize)]
struct Request {
    /// The directory of the font.
    font: String,
    /// The prefix of the path of each glyph's file, or the path of norad's font. Nothing is there.
    target: String,
}

/// The number of files that `close_already` was measured with.
const PUBLISHED: usize = 2_300;

/// The writer closes.
const PLAIN: &str = "std";
const PLAIN_AA: &str = "std A/A";
const DESIGN: &str = "close_already's design";
const DESIGN_UNBOUNDED: &str = "close_already's design, unbounded threads";
/// The baseline through a mount that adds no delay, beside a slow disk.
const MOUNT_ALONE: &str = "std, mount alone";

/// Names the row in which smallfry closes that way.
fn closer(policy: Policy, backend: Backend) -> String {
    let backend = match backend {
        Backend::Threads => "",
        Backend::Rayon => ", rayon",
        Backend::Blocking => ", blocking",
        Backend::Smol => ", smol",
        Backend::AsyncStd => ", async-std",
        Backend::Tokio => ", tokio",
    };
    format!("smallfry {policy:?}{backend}")
}

pub(crate) struct Close {
    /// One for each number of glyphs.
    fonts: BTreeMap<usize, (Font, Output)>,
    outputs: Vec<Output>,
    /// The font that norad has written in the first row, by case.
    expected: BTreeMap<usize, Written>,
}

impl Scenario for Close {
    const FACTS: Facts = Facts::of(
        "close",
        "A font's 3,359 small files written, with each way of closing them",
    );
    type Case = Case;
    const SHOW: Show<Case> = report::show;
    const SERVE: Serve = |launch, request| native::run(launch, &parse(request)?);

    fn cases(session: &Session) -> Vec<Case> {
        let mut numbers = match session.extent {
            Extent::Quick => vec![60],
            Extent::Core | Extent::All => vec![font::GLYPHS, PUBLISHED],
        };
        if session.options.files.is_some() {
            numbers.truncate(1);
        }
        let case = |work, files, watched| Case {
            work,
            files: session.files(files).min(font::GLYPHS),
            watched,
        };
        let numbers_of = numbers.iter();
        let mut cases: Vec<Case> = numbers_of
            .map(|files| case(Work::Write, *files, false))
            .collect();
        cases.extend([Work::Norad, Work::NoradRayon].map(|work| case(work, numbers[0], false)));
        if peaks::are_told() {
            let works = [Work::Write, Work::Norad, Work::NoradRayon];
            cases.extend(works.map(|work| case(work, numbers[0], true)));
        }
        cases.retain(|case| case.work.runtime().is_some());
        if session.extent != Extent::All && session.options.cells.is_none() {
            // One kind of work tells how many there are at once.
            cases.retain(|case| !case.watched || case.work == Work::Write);
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        let Some(runtime) = case.work.runtime() else {
            return Vec::new();
        };
        let mut ways = vec![
            (PLAIN.to_owned(), Way::Plain),
            (PLAIN_AA.to_owned(), Way::Plain),
            (DESIGN.to_owned(), Way::Pool),
        ];
        if closing::PEERS_BUILT {
            ways.push((DESIGN_UNBOUNDED.to_owned(), Way::Blocking));
        }
        for way in closing::ours() {
            let Way::Smallfry { policy, backend } = way else {
                continue;
            };
            // rayon's threads write there, and they are in no runtime of tokio's.
            if case.work != Work::NoradRayon || backend != Backend::Tokio {
                ways.push((closer(policy, backend), way));
            }
        }
        if session.directories.undelayed(0).is_some() {
            ways.push((MOUNT_ALONE.to_owned(), Way::Plain));
        }
        let row = |(name, way): (String, Way)| {
            let functions = match way {
                Way::Smallfry { .. } => Functions::Smallfry,
                _ => Functions::Std,
            };
            let mut row = Row::native(functions, &name, Style::Sync);
            row.runtime = runtime.clone();
            row.launch.closing = Some(way);
            row
        };
        ways.into_iter().map(row).collect()
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        leave_out(session);
        session.progress.show(0.0, "close: unpacking the font");
        let mut fonts = BTreeMap::new();
        for files in cases.iter().map(|case| case.files) {
            session.interrupt.check()?;
            if let Entry::Vacant(vacant) = fonts.entry(files) {
                let place = Output::of(session, 0, &format!("{files}.ufo"));
                let beneath = &place.beneath;
                let font = Font::unpack(beneath, files).map_err(Failure::at("unpack", beneath))?;
                vacant.insert((font, place));
            }
        }
        Ok(Self {
            fonts,
            outputs: Output::make(session, "close", 0)?,
            expected: BTreeMap::new(),
        })
    }

    fn new_files(case: &Case) -> usize {
        case.files
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let Some((font, place)) = self.fonts.get(&turn.case.files) else {
            return Ok(Err("its font was not unpacked".to_owned()));
        };
        let output = &self.outputs[turn.output()];
        flush(&output.beneath)?;
        let (case, careful) = (*turn.case, turn.is_careful());
        let is_alone = turn.row.implementation == MOUNT_ALONE;
        let count = turn.count;
        let (font_read, target) = match case.work {
            // Reading is not timed.
            Work::Write => (place.beneath.as_path(), format!("{count}-")),
            Work::Norad | Work::NoradRayon => (place.seen(is_alone), format!("{count}-font.ufo")),
        };
        let request = Request {
            font: directories::unicode(font_read)?,
            target: directories::unicode(&output.seen(is_alone).join(&target))?,
        };
        let answer = if case.watched {
            turn.ask_watched(&request)?
        } else {
            turn.ask(&request)?
        };
        let written = output.beneath.join(&target);
        let aside = output.aside().join(&target);
        if case.work == Work::Write {
            let beside = |path: &Path, own: &str| -> PathBuf {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                path.with_file_name(format!("{name}{own}"))
            };
            let own = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            let glyphs = || font.glyphs.iter().map(|(path, held)| (own(path), held));
            let files =
                glyphs().map(|(own, held)| (beside(&written, &own), Cow::from(held.as_slice())));
            let answer = answer.and_then(|times| verify_files(files, careful).map(|()| times));
            for (own, _) in glyphs() {
                put_aside(&beside(&written, &own), &beside(&aside, &own))?;
            }
            return Ok(answer);
        }
        let answer = answer.and_then(|times| {
            let bytes = self.verify_font(&written, turn.place.0, case, careful)?;
            Ok(Times { bytes, ..times })
        });
        if written.exists() {
            files_below(&written)
                .and_then(|files| files.iter().try_for_each(|path| empty(path)))
                .map_err(Failure::at("empty the files in", &written))?;
            fs::rename(&written, aside).map_err(Failure::at("move", &written))?;
        }
        Ok(answer)
    }
}

/// Notes what this build does not have.
fn leave_out(session: &mut Session) {
    let works = [Work::Norad, Work::NoradRayon];
    if works.iter().any(|work| work.runtime().is_none()) {
        session.leave_out(
            "cases with the library norad are left out: its programs are not built (make bench-all \
             builds them)"
                .to_owned(),
        );
    }
    if !closing::PEERS_BUILT {
        session.leave_out(format!(
            "rows {DESIGN_UNBOUNDED}, and of smallfry closing on other libraries' threads, are left \
             out: not in this build (make bench-all, or cargo build --features peers, has them)"
        ));
    }
}

impl Close {
    /// Checks that a file is there for every glyph, and that all is as the first row wrote it, if
    /// `careful` byte for byte. Returns the number of bytes.
    fn verify_font(
        &mut self,
        font: &Path,
        index: usize,
        case: Case,
        careful: bool,
    ) -> Result<usize, String> {
        let found = Written::look(font, careful)
            .map_err(|error| format!("it has not written {}: {error}", font.display()))?;
        if found.glyphs != case.files {
            let (glyphs, files) = (found.glyphs, case.files);
            return Err(format!("it wrote {glyphs} glyphs instead of {files}"));
        }
        let expected = self.expected.entry(index).or_insert(found);
        let same = if careful {
            *expected == found
        } else {
            expected.bytes == found.bytes
        };
        if same {
            Ok(found.bytes)
        } else {
            Err("what it wrote differs from the other rows'".to_owned())
        }
    }
}

/// A font that norad has saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    glyphs: usize,
    bytes: usize,
    /// The hash of names and contents; 0 if they were not read.
    hash: u64,
}

impl Written {
    fn look(font: &Path, careful: bool) -> io::Result<Self> {
        let files = files_below(font)?;
        let mut hasher = DefaultHasher::new();
        if careful {
            hash(font, &files, &mut hasher)?;
        }
        let mut bytes = 0;
        for path in &files {
            bytes += fs::metadata(path)?.len() as usize;
        }
        Ok(Self {
            glyphs: files.iter().filter(|path| font::is_glyph(path)).count(),
            bytes,
            hash: if careful { hasher.finish() } else { 0 },
        })
    }
}
