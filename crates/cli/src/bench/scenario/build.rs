//! `build`: what a file-heavy build does to a tree of sources, phase by phase.
//!
//! | phase | what every row does |
//! |---|---|
//! | walk | list the tree, keep the source files in order of their paths |
//! | type | what Node takes each file for: by its extension, or else by its nearest package.json's `type`, each directory asked once. Bulk rows in one call of smallfry's package.json look-ups; the others by reading and parsing, since what drops in replaces node:fs only |
//! | read | every file into a string, all kept |
//! | transform | put a line in front, CRLF to LF: work on strings alone, the same in all rows |
//! | write | every string to its file, in directories that are there already (every row writes into the same ones) |
//! | close | of files that a row opens, writes and then closes: the closing, until the last file is closed. It takes turns with write, file by file. A row that calls functions for whole files or for many closes inside write and has no such phase |
//! | publish | up to some files once more, each to appear whole or not at all and to survive a crash of the system: written beside its place, flushed, renamed, its directory flushed. Idioms do that one by one; with `Promise.all` all files at once, then each directory; smallfry's bulk rows in one call, with one barrier for all |
//!
//! smallfry replaces reading and writing whole files, in the phases type, read, write and publish, and closing in close;
//! its bulk rows ask the types of all files, read, write and publish them in one call each. The other phases run the plain way in every row.
//!
//! Every run is a fresh process on a tree that was read just before (a warm cache); its start is not counted. The outputs of
//! all rows must be the same bytes. They are then moved aside and emptied, uncounted, and removed when the run ends: ext4 passes over
//! the inodes of files removed in the last minute one by one, so that removing between runs would make each later run slower, up
//! to twenty times.

use super::rows;
use super::runs::{self, Turn};
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Build, BuildTimes, Reply, Request, Style};
use crate::bench::session::{Extent, Session};
use smallfry::{Durability, WriteOptions};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// In the order in which they run.
pub(crate) const PHASES: [&str; 7] = [
    "walk",
    "type",
    "read",
    "transform",
    "write",
    "close",
    "publish",
];

/// Stands for write and, where it is told apart, close: what rows that do and rows that do not can be compared by.
pub(crate) const WRITE_AND_CLOSE: &str = "write and close";

/// Stands for every phase but publish, whose waits for the device drown the others.
pub(crate) const BUT_PUBLISH: &str = "all but publish";

const EXTENSIONS: [&str; 5] = ["js", "cjs", "mjs", "json", "ts"];
/// Enough to be a build, few enough for many runs.
const MAX_FILES: usize = 1_000;
/// With `--all`.
const ALL_FILES: usize = 3_000;
const MAX_PUBLISHED: usize = 100;
/// Rotated through.
const OUTPUTS: usize = 4;
/// A disk that times slowly publishes fewer files.
const PUBLISH_TIME: Duration = Duration::from_millis(100);

pub(crate) type RowResult = runs::RowResult<BuildTimes>;

pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) outcomes: Vec<RowResult>,
    pub(crate) tree: PathBuf,
    /// Source files found, those beyond the limit included.
    pub(crate) found: usize,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) published: usize,
    pub(crate) rounds: usize,
    /// Part of a sample of the sources, from 0 to 1, that was in the kernel's cache at the end.
    pub(crate) cached: Option<f64>,
}

impl Results {
    pub(crate) fn failures(&self) -> usize {
        RowResult::failures(&self.outcomes)
    }

    /// Nanoseconds by round: of a phase, of [`WRITE_AND_CLOSE`], of [`BUT_PUBLISH`], or of all of them. `None` where the
    /// row has no such phase.
    pub(crate) fn phase_times(&self, row: usize, phase: Option<&str>) -> Vec<Option<f64>> {
        let counts = |name: &str| match phase {
            None => true,
            Some(BUT_PUBLISH) => name != "publish",
            Some(WRITE_AND_CLOSE) => matches!(name, "write" | "close"),
            Some(phase) => name == phase,
        };
        let time = |run: &BuildTimes| {
            run.phases
                .iter()
                .filter(|(name, _)| counts(name))
                .map(|(_, ns)| *ns as f64)
                .reduce(f64::add)
        };
        self.outcomes[row]
            .runs
            .iter()
            .map(|run| run.as_ref().and_then(time))
            .collect()
    }
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    let rows = rows(session);
    let tree = tree(session)?;
    session.progress.show(0.0, "build: reading the tree once");
    let mut sources = read_once(&tree)?;
    if sources.is_empty() {
        return Err(Failure::said(format!(
            "cannot build {}: it holds no source files",
            tree.display()
        )));
    }
    let found = sources.len();
    let most = match session.plan.extent {
        Extent::Quick => 60,
        Extent::Core => MAX_FILES,
        Extent::All => ALL_FILES,
    };
    sources.truncate(most);
    let published = publishable(session)?;
    let outputs = make_outputs(session, &sources, published)?;
    let tree = on_the_disk(session, tree, &sources)?;
    let mut results = Results {
        outcomes: RowResult::for_each(&rows),
        rows,
        tree,
        found,
        files: sources.len(),
        bytes: 0,
        published,
        rounds: 0,
        cached: None,
    };
    let mut expected = None;
    let turns: Vec<Turn> = results
        .rows
        .iter()
        .map(|row| Turn {
            name: format!("build: {}", row.label),
            group: 0,
        })
        .collect();
    let rounds = runs::measure(session, Scenario::Build, &turns, |session, row, round| {
        let output = &outputs[round.unwrap_or(0) % outputs.len()];
        let request = request(&results, results.rows[row].way.style, output)?;
        turn(
            session,
            &mut results,
            row,
            request,
            output,
            &mut expected,
            round,
        )
    })?;
    results.rounds = rounds;
    let sources: Vec<PathBuf> = sources.iter().map(|file| results.tree.join(file)).collect();
    results.cached = host::cached(&sources);
    Ok(results)
}

pub(crate) fn rows(session: &Session) -> Vec<Row> {
    rows::of_build(session)
}

/// `--tree`, else the development dependencies of this project's own npm package or the nearest ones, else the source it was built
/// from.
pub(super) fn tree(session: &Session) -> Result<PathBuf, Failure> {
    if let Some(named) = &session.arguments.tree {
        let tree = std::fs::canonicalize(named).map_err(Failure::at("open tree", named))?;
        return if tree.is_dir() {
            Ok(tree)
        } else {
            Err(Failure::said(format!(
                "cannot walk {}: it is not a directory",
                tree.display()
            )))
        };
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = session
        .nodes
        .iter()
        .filter_map(|node| node.package.as_ref());
    let own = packages
        .map(|package| package.directory.clone())
        .chain([source.join("../../bindings/node")]);
    let here = std::env::current_dir().unwrap_or_default();
    let candidates = own
        .chain(here.ancestors().map(Path::to_owned))
        .map(|directory| directory.join("node_modules"));
    for candidate in candidates {
        if let Ok(tree) = std::fs::canonicalize(&candidate) {
            return Ok(tree);
        }
    }
    Err(Failure::said(
        "build needs a source tree, and no node_modules with files is near: npm install makes one, --tree DIR names one",
    ))
}

/// A slow disk has to hold the sources too, or reading them would not be slow. Only those that are read are copied.
fn on_the_disk(session: &Session, tree: PathBuf, sources: &[PathBuf]) -> Result<PathBuf, Failure> {
    if session.directories.profile().is_none() {
        return Ok(tree);
    }
    let copy = session.directories.beneath(0).join("tree");
    for source in sources {
        session.interrupt.check()?;
        let to = copy.join(source);
        let directory = to.parent().unwrap_or(&copy);
        std::fs::create_dir_all(directory).map_err(Failure::at("make directory", directory))?;
        std::fs::copy(tree.join(source), &to).map_err(Failure::at("copy", &to))?;
    }
    Ok(session.directories.on_disk(0).join("tree"))
}

/// One run of one row. What goes wrong in it stands in the results; a row that failed has no further turns.
fn turn(
    session: &Session,
    results: &mut Results,
    row: usize,
    request: Build,
    output: &Output,
    expected: &mut Option<u64>,
    round: Option<usize>,
) -> Result<(), Failure> {
    if results.outcomes[row].error.is_some() {
        return Ok(());
    }
    let answer = runs::run_once(session, &results.rows[row], &Request::Build(request))?;
    let run = answer.and_then(|reply| match reply {
        Reply::Build(times) => output.check(expected).map(|()| times),
        other => Err(format!("unexpected reply {other:?}")),
    });
    output.clear()?;
    if let Ok(run) = &run {
        results.bytes = run.bytes;
        results.files = run.files;
        results.published = results.published.min(run.files);
    }
    results.outcomes[row].record(run, round);
    Ok(())
}

fn request(results: &Results, style: Style, output: &Output) -> Result<Build, Failure> {
    Ok(Build {
        style,
        tree: directories::unicode(&results.tree)?,
        extensions: EXTENSIONS.map(str::to_owned).to_vec(),
        files: results.files,
        output: directories::unicode(&output.built)?,
        published: directories::unicode(&output.published)?,
        publish: results.published,
    })
}

/// Where one run writes.
struct Output {
    built: PathBuf,
    published: PathBuf,
    /// Where files go that are done with.
    aside: PathBuf,
    moved: Cell<usize>,
}

impl Output {
    fn under(directory: &Path) -> Self {
        let at = |name| directory.join(name);
        Self {
            built: at("built"),
            published: at("published"),
            aside: at("aside"),
            moved: Cell::new(0),
        }
    }

    /// The first row's output is what the others must equal, byte for byte.
    fn check(&self, expected: &mut Option<u64>) -> Result<(), String> {
        let mut hasher = DefaultHasher::new();
        for tree in [&self.built, &self.published] {
            hash(tree, tree, &mut hasher)
                .map_err(|error| format!("cannot check the output {}: {error}", tree.display()))?;
        }
        let found = hasher.finish();
        if *expected.get_or_insert(found) == found {
            Ok(())
        } else {
            Err("the output differs from the other rows'".to_owned())
        }
    }

    /// Leaves the directories.
    fn clear(&self) -> Result<(), Failure> {
        self.put_aside(&self.built)?;
        self.put_aside(&self.published)
    }

    /// Every file below `directory`.
    fn put_aside(&self, directory: &Path) -> Result<(), Failure> {
        for entry in
            std::fs::read_dir(directory).map_err(Failure::at("read directory", directory))?
        {
            let entry = entry.map_err(Failure::at("read directory", directory))?;
            let path = entry.path();
            if entry
                .file_type()
                .map_err(Failure::at("look at", &path))?
                .is_dir()
            {
                self.put_aside(&path)?;
            } else {
                let file = File::options()
                    .write(true)
                    .open(&path)
                    .map_err(Failure::at("open", &path))?;
                file.set_len(0).map_err(Failure::at("empty", &path))?;
                std::fs::rename(&path, self.aside_name()).map_err(Failure::at("move", &path))?;
            }
        }
        Ok(())
    }

    fn aside_name(&self) -> PathBuf {
        let count = self.moved.get();
        self.moved.set(count + 1);
        self.aside.join(count.to_string())
    }
}

/// The same directories for every row: how long a file takes to create depends on where the file system put its directory.
fn make_outputs(
    session: &Session,
    sources: &[PathBuf],
    published: usize,
) -> Result<Vec<Output>, Failure> {
    let outputs: Vec<Output> = (0..OUTPUTS)
        .map(|index| Output::under(&session.directories.on_disk(index)))
        .collect();
    let directories_of = |sources: &[PathBuf]| -> BTreeSet<PathBuf> {
        let directories = sources.iter().filter_map(|source| source.parent());
        directories.map(Path::to_owned).collect()
    };
    for output in &outputs {
        std::fs::create_dir(&output.aside).map_err(Failure::at("make directory", &output.aside))?;
        for (root, sources) in [
            (&output.built, sources),
            (&output.published, &sources[..published.min(sources.len())]),
        ] {
            for directory in directories_of(sources) {
                session.interrupt.check()?;
                let path = root.join(directory);
                std::fs::create_dir_all(&path).map_err(Failure::at("make directory", &path))?;
            }
        }
    }
    Ok(outputs)
}

/// Names, kinds and contents of everything below `directory`, in order.
fn hash(root: &Path, directory: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        path.strip_prefix(root).unwrap_or(&path).hash(hasher);
        let is_directory = entry.file_type()?.is_dir();
        is_directory.hash(hasher);
        if is_directory {
            hash(root, &path, hasher)?;
        } else {
            std::fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}

/// Reads all source files, so that every run finds them in the kernel's cache. Their paths within the tree, in order.
fn read_once(tree: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut directories = vec![tree.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in
            std::fs::read_dir(&directory).map_err(Failure::at("read directory", &directory))?
        {
            let entry = entry.map_err(Failure::at("read directory", &directory))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(Failure::at("look at", &path))?;
            let wanted = path
                .extension()
                .is_some_and(|extension| EXTENSIONS.iter().any(|wanted| extension == *wanted));
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() && wanted {
                std::fs::read(&path).map_err(Failure::at("read", &path))?;
                files.push(path.strip_prefix(tree).unwrap_or(&path).to_owned());
            }
        }
    }
    // By their bytes, as the rows do: Path's own order is by component.
    files.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(files)
}

/// As many files as this disk flushes one after another in [`PUBLISH_TIME`], each with its directory.
fn publishable(session: &Session) -> Result<usize, Failure> {
    if session.plan.extent == Extent::Quick {
        return Ok(3);
    }
    let mut times = Vec::new();
    for index in 0..directories::COUNT {
        let path = session.directories.on_disk(index).join("flushed");
        let started = Instant::now();
        let flushed = WriteOptions::new()
            .durability(Durability::Full)
            .write(&path, b"flushed");
        times.push(started.elapsed());
        flushed.map_err(|error| Failure::at("write and flush", &path)(error.into_io_error()))?;
    }
    times.sort_unstable();
    let typical = times[times.len() / 2].as_secs_f64();
    Ok(((PUBLISH_TIME.as_secs_f64() / typical) as usize).clamp(10, MAX_PUBLISHED))
}
