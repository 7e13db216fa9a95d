//! `close`: the small files of a real font written, with each way of closing them.
//!
//! | case | |
//! |---|---|
//! | `write` | one thread writes the files of the glyphs: create, write, hand the file to whoever closes |
//! | `norad` | the library norad loads the font and saves it, one glyph after another; the crate it closes with is replaced |
//! | `norad-rayon` | the same with norad's feature `rayon`: several threads load and save |
//! | ` watched` | one of these once more, and meanwhile the most open handles, threads and memory are looked for; the looking takes time, so it has cases of its own |
//!
//! Timed is until the last file is closed. The writer is the same in all rows. 2,300 files are as many as the font had with which
//! `close_already` was measured; 3,359 are all of ours. What is written is in memory before the clock starts (`write`), or loaded
//! from the disk that is measured (norad), where a kernel's cache has it and a slow disk is asked for it.
//!
//! Every run is a fresh process, on a file system that was flushed just before. In the round that is not counted every file is
//! compared with what it should hold (norad writes the font in a form of its own: there rows are compared with each other), in the
//! others lengths are. What was written is then moved aside and emptied, uncounted, and removed when the run ends: ext4 passes over
//! the inodes of files removed in the last minute one by one. Names are new in each run: a mount might remember the last run's.

use super::many::{self, CaseResult};
use super::rows::{self, DESIGN_UNBOUNDED, PLAIN_MOUNT_ALONE};
use super::runs;
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::font::{self, Font};
use crate::bench::host;
use crate::bench::runtime::norad::Program;
use crate::bench::runtime::protocol::{Close, Reply, Request, Times};
use crate::bench::runtime::{Row, Runtime, peaks};
use crate::bench::session::{Extent, Session};
use serde::Serialize;
use smallfry_bench_closing::{Backend, Way};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) work: Work,
    /// Glyphs, each in a file of its own.
    pub(crate) files: usize,
    pub(crate) watched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    Write,
    Norad,
    NoradRayon,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match self.work {
            Work::Write => "write",
            Work::Norad => "norad",
            Work::NoradRayon => "norad-rayon",
        };
        let watched = if self.watched { " watched" } else { "" };
        write!(f, "{} {work}{watched}", self.files)
    }
}

impl Work {
    /// In whose programs it is done, if they were built.
    fn runtime(self) -> Option<Runtime> {
        match self {
            Self::Write => Some(Runtime::Native),
            Self::Norad => Program::find(false).map(Runtime::Norad),
            Self::NoradRayon => Program::find(true).map(Runtime::Norad),
        }
    }
}

/// As many as the font had with which `close_already` was measured.
const PUBLISHED: usize = 2_300;
/// Rotated through.
const OUTPUTS: usize = 4;

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let mut numbers = match session.plan.extent {
        Extent::Quick => vec![60],
        Extent::Core | Extent::All => vec![font::GLYPHS, PUBLISHED],
    };
    if session.arguments.files.is_some() {
        numbers.truncate(1);
    }
    let case = |work, files, watched| Case {
        work,
        files: session.files(files).min(font::GLYPHS),
        watched,
    };
    let works = [Work::Write, Work::Norad, Work::NoradRayon];
    let mut cases: Vec<Case> = numbers
        .iter()
        .map(|files| case(Work::Write, *files, false))
        .collect();
    for work in [Work::Norad, Work::NoradRayon] {
        cases.push(case(work, numbers[0], false));
    }
    if peaks::are_told() {
        cases.extend(works.map(|work| case(work, numbers[0], true)));
    }
    let is_built = |case: &Case| case.work.runtime().is_some();
    cases.retain(is_built);
    if session.plan.extent != Extent::All && session.arguments.cells.is_none() {
        // One kind of work tells how many there are at once.
        cases.retain(|case| !case.watched || case.work == Work::Write);
    }
    many::named(session, "close", cases)
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let cases = cases(session)?;
    leave_out(session);
    let fonts = unpack(session, &cases)?;
    let outputs = Output::make(session)?;
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for case in cases {
        let rows = rows(session, case.work);
        if !rows.is_empty() {
            results.cases.push(CaseResult::new(case, rows));
        }
    }
    limit_rounds(session, &results);
    let turns = results.turns("close", |_| 0);
    let mut expected = BTreeMap::new();
    let mut count = 0;
    let rounds = runs::measure(session, Scenario::Close, &turns, |session, turn, round| {
        count += 1;
        let (case, row) = results.place(turn);
        let Some(font) = fonts.get(&results.cases[case].case.files) else {
            return Ok(());
        };
        let mut run = Run {
            session,
            font,
            output: &outputs[round.unwrap_or(0) % OUTPUTS],
            name: format!("{count}-"),
            expected: expected.entry(case).or_default(),
        };
        run.turn(&mut results.cases[case], row, round)
    });
    session.max_rounds = None;
    results.rounds = rounds?;
    Ok(results)
}

/// What this build does not have is missed aloud.
fn leave_out(session: &mut Session) {
    let has_norad = |work: Work| work.runtime().is_some();
    if !has_norad(Work::Norad) || !has_norad(Work::NoradRayon) {
        session.leave_out(
            "cases with the library norad are left out: its programs are not built (make bench-all builds them)"
                .to_owned(),
        );
    }
    if !smallfry_bench_closing::PEERS_BUILT {
        session.leave_out(format!(
            "rows {DESIGN_UNBOUNDED}, and of smallfry closing on other libraries' threads, are left out: not in this build \
             (make bench-all, or cargo build --features peers, has them)"
        ));
    }
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    let cases = cases(session).unwrap_or_default();
    let of = |case: &Case| rows(session, case.work).len();
    cases.iter().map(of).sum()
}

fn rows(session: &Session, work: Work) -> Vec<Row> {
    let Some(runtime) = work.runtime() else {
        return Vec::new();
    };
    let mut rows = rows::of_close(session, &runtime);
    if work == Work::NoradRayon {
        // rayon's threads write there, and they are in no runtime of tokio's.
        rows.retain(|row| !row.launch.closing.is_some_and(needs_tokio));
    }
    rows
}

const fn needs_tokio(way: Way) -> bool {
    matches!(
        way,
        Way::Smallfry {
            backend: Backend::Tokio,
            ..
        }
    )
}

/// So that the files of all rounds leave room for others'.
fn limit_rounds(session: &mut Session, results: &Results) {
    let a_round: usize = results
        .cases
        .iter()
        .map(|result| result.rows.len() * result.case.files)
        .sum();
    let free = host::free_inodes(&session.directories.on_disk(0)).unwrap_or(2_000_000);
    let most = free as usize / 2 / a_round.max(1);
    // One goes to the round that is not counted.
    session.max_rounds = Some(most.saturating_sub(1).max(1));
}

/// One directory, by its paths.
struct Place {
    on_disk: PathBuf,
    /// Without waiting for a slow disk.
    beneath: PathBuf,
    /// Through a mount that adds no delay.
    undelayed: Option<PathBuf>,
}

impl Place {
    /// In the directory of that number.
    fn of(session: &Session, index: usize, name: &str) -> Self {
        let directories = &session.directories;
        Self {
            on_disk: directories.on_disk(index).join(name),
            beneath: directories.beneath(index).join(name),
            undelayed: directories
                .undelayed(index)
                .map(|directory| directory.join(name)),
        }
    }

    /// Where a row sees it.
    fn seen(&self, undelayed: bool) -> &Path {
        match &self.undelayed {
            Some(path) if undelayed => path,
            _ => &self.on_disk,
        }
    }
}

/// A font in the directory to measure.
struct Source {
    font: Font,
    place: Place,
}

/// One for each number of glyphs.
fn unpack(session: &Session, cases: &[Case]) -> Result<BTreeMap<usize, Source>, Failure> {
    session.progress.show(0.0, "close: unpacking the font");
    let mut fonts = BTreeMap::new();
    for files in cases.iter().map(|case| case.files) {
        session.interrupt.check()?;
        if fonts.contains_key(&files) {
            continue;
        }
        let place = Place::of(session, 0, &format!("{files}.ufo"));
        let beneath = &place.beneath;
        let font = Font::unpack(beneath, files).map_err(Failure::at("unpack", beneath))?;
        fonts.insert(files, Source { font, place });
    }
    Ok(fonts)
}

/// One row's turn.
struct Run<'a, 'b> {
    session: &'a Session<'b>,
    font: &'a Source,
    output: &'a Output,
    /// What the names of all that it writes begin with.
    name: String,
    /// What norad has written in the first row.
    expected: &'a mut Option<Written>,
}

impl Run<'_, '_> {
    /// What goes wrong in it stands in `result`; a row that failed has no further turns in the case.
    fn turn(
        &mut self,
        result: &mut CaseResult<Case>,
        row: usize,
        round: Option<usize>,
    ) -> Result<(), Failure> {
        if result.outcomes[row].error.is_some() {
            return Ok(());
        }
        let beneath = &self.output.place.beneath;
        // Writing waits for what is on its way to the device from the run before.
        host::flush_all(beneath).map_err(Failure::at("flush the file system of", beneath))?;
        let case = result.case;
        let times = self.measure(case, &result.rows[row])?.and_then(|times| {
            let careful = round.is_none();
            match case.work {
                Work::Write => self.verify_glyphs(careful).map(|()| times),
                Work::Norad | Work::NoradRayon => {
                    let bytes = self.verify_font(case, careful)?;
                    Ok(Times { bytes, ..times })
                }
            }
        });
        match case.work {
            Work::Write => self.put_glyphs_aside()?,
            Work::Norad | Work::NoradRayon => self.put_font_aside()?,
        }
        result.outcomes[row].record(times, round);
        Ok(())
    }

    fn measure(&self, case: Case, row: &Row) -> Result<Result<Times, String>, Failure> {
        let undelayed = row.implementation == PLAIN_MOUNT_ALONE;
        let written = self.output.place.seen(undelayed);
        let (font, name) = match case.work {
            // What is read is not timed.
            Work::Write => (self.font.place.beneath.as_path(), self.name.clone()),
            Work::Norad | Work::NoradRayon => (self.font.place.seen(undelayed), self.font_name()),
        };
        let request = Close {
            font: directories::unicode(font)?,
            target: directories::unicode(&written.join(name))?,
        };
        let request = Request::Close(request);
        let answer = if case.watched {
            runs::run_watched(self.session, row, &request)?
                .map(|(reply, peaks)| (reply, Some(peaks)))
        } else {
            runs::run_once(self.session, row, &request)?.map(|reply| (reply, None))
        };
        Ok(answer.and_then(|(reply, peaks)| match reply {
            Reply::Many(times) => Ok(Times { peaks, ..times }),
            other => Err(format!("unexpected reply {other:?}")),
        }))
    }

    fn font_name(&self) -> String {
        format!("{}font.ufo", self.name)
    }

    /// Where the glyphs' files are now, and where they go when they are done with.
    fn glyphs(&self) -> impl Iterator<Item = (PathBuf, PathBuf, &[u8])> {
        self.font.font.glyphs.iter().map(|(path, contents)| {
            let own = path.rsplit('/').next().unwrap_or(path);
            let name = format!("{}{own}", self.name);
            let written = self.output.place.beneath.join(&name);
            (written, self.output.aside.join(&name), contents.as_slice())
        })
    }

    /// Is every file there, as long as it should be, and if `careful` with what it should hold?
    fn verify_glyphs(&self, careful: bool) -> Result<(), String> {
        for (path, _, contents) in self.glyphs() {
            let right = if careful {
                fs::read(&path).map(|found| found == contents)
            } else {
                fs::metadata(&path).map(|found| found.len() == contents.len() as u64)
            };
            match right {
                Ok(true) => {}
                Ok(false) => {
                    return Err(format!("it wrote something else into {}", path.display()));
                }
                Err(error) => {
                    return Err(format!("it has not written {}: {error}", path.display()));
                }
            }
        }
        Ok(())
    }

    /// Is a file there for every glyph, and is all as the first row wrote it, if `careful` byte for byte? How many bytes.
    fn verify_font(&mut self, case: Case, careful: bool) -> Result<usize, String> {
        let font = self.output.place.beneath.join(self.font_name());
        let found = Written::look(&font, careful)
            .map_err(|error| format!("it has not written {}: {error}", font.display()))?;
        if found.glyphs != case.files {
            return Err(format!(
                "it wrote {} glyphs instead of {}",
                found.glyphs, case.files
            ));
        }
        let expected = self.expected.get_or_insert_with(|| found.clone());
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

    /// Those of a run that failed may not all be there.
    fn put_glyphs_aside(&self) -> Result<(), Failure> {
        for (path, aside, _) in self.glyphs() {
            match empty(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Failure::at("empty", &path)(error)),
            }
            fs::rename(&path, aside).map_err(Failure::at("move", &path))?;
        }
        Ok(())
    }

    fn put_font_aside(&self) -> Result<(), Failure> {
        let font = self.output.place.beneath.join(self.font_name());
        if !font.exists() {
            return Ok(());
        }
        let each = |path: &Path| empty(path);
        for_each_file(&font, each).map_err(Failure::at("empty the files in", &font))?;
        let aside = self.output.aside.join(self.font_name());
        fs::rename(&font, aside).map_err(Failure::at("move", &font))
    }
}

fn empty(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path)?.set_len(0)
}

/// In order.
fn for_each_file(
    directory: &Path,
    mut each: impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort_unstable();
        for path in paths {
            if path.is_dir() {
                directories.push(path);
            } else {
                each(&path)?;
            }
        }
    }
    Ok(())
}

/// A font that norad has saved.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    glyphs: usize,
    bytes: usize,
    /// Of names and contents; 0 if nobody wants to know.
    hash: u64,
}

impl Written {
    fn look(font: &Path, careful: bool) -> io::Result<Self> {
        let mut found = Self {
            glyphs: 0,
            bytes: 0,
            hash: 0,
        };
        let mut hasher = DefaultHasher::new();
        for_each_file(font, |path| {
            found.glyphs += usize::from(font::is_glyph(path));
            found.bytes += fs::metadata(path)?.len() as usize;
            if careful {
                path.strip_prefix(font).unwrap_or(path).hash(&mut hasher);
                fs::read(path)?.hash(&mut hasher);
            }
            Ok(())
        })?;
        if careful {
            found.hash = hasher.finish();
        }
        Ok(found)
    }
}

/// Where one run writes.
struct Output {
    place: Place,
    /// Where files go that are done with.
    aside: PathBuf,
}

impl Output {
    fn make(session: &Session) -> Result<Vec<Self>, Failure> {
        let make = |directory: &Path| {
            fs::create_dir(directory).map_err(Failure::at("make directory", directory))
        };
        let mut outputs = Vec::new();
        for index in 0..OUTPUTS {
            let output = Self {
                place: Place::of(session, index, "close"),
                aside: session.directories.beneath(index).join("close-aside"),
            };
            make(&output.place.beneath)?;
            make(&output.aside)?;
            outputs.push(output);
        }
        Ok(outputs)
    }
}
