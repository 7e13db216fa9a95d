//! `build`: what a file-heavy build does to a tree of sources, phase by phase.
//!
//! | phase | what every row does |
//! |---|---|
//! | clean | removes what the last build has written |
//! | walk | lists the tree and keeps the source files in order of their paths |
//! | type | finds what Node takes each file for: by its extension, or else by its nearest package.json's `type`, each directory asked once |
//! | read | reads every file into a string, all kept |
//! | transform | puts a line in front and turns CRLF into LF: work on strings alone, the same in all rows |
//! | write | writes every string to its file, in directories that are there already |
//! | close | closes files that a row opens, writes and then closes; it takes turns with write, file by file. A row whose functions close inside write has no such phase |
//! | assets | copies a directory of other files beside what is built |
//! | publish | writes up to some files once more, each to appear whole or not at all and to survive a crash of the system |
//!
//! smallfry replaces clean, type, read, write, close, assets and publish; its bulk rows make one
//! call for each of them. Publishing writes a file beside its place, flushes it, renames it and
//! flushes its directory. Idioms do that one by one; with `Promise.all` all files at once, then
//! each directory; smallfry's bulk rows in one call, with one barrier for all.
//!
//! Every run is a fresh process on a tree that was read just before (a warm cache); its start is
//! not counted. The outputs of all rows must be the same bytes.

mod case;
mod native;
mod report;
mod screen;

use super::prelude::*;
use super::shared::tree_jobs;
use super::shared::trees::{Held, make_above};
use case::{Case, EXTENSIONS, IDIOMS, IN_JVM, Request};
use smallfry::{Durability, WriteOptions};

/// The directories of a build.
const BUILT: &str = "built";
const PUBLISHED: &str = "published";
const COPIED: &str = "assets";
/// The directories beside the outputs: what a first build cleans, and other files.
const FIRST: &str = "first";
const ASSETS: &str = "assets";
/// Other files of the tree that are larger are no assets: they would hide the cost for each file.
const LARGEST_ASSET: u64 = 64 << 10;
const MAX_PUBLISHED: usize = 100;
/// A disk that flushes slowly publishes fewer files.
const PUBLISH_TIME: Duration = Duration::from_millis(100);

pub(crate) struct Build {
    sources: Vec<String>,
    /// The directory that the first build in an output cleans, beneath a slow disk.
    first: PathBuf,
    outputs: Vec<Output>,
    /// The directories that the last builds have written, by output: within it.
    last: BTreeMap<usize, PathBuf>,
    /// The number of files moved aside.
    moved: usize,
    /// The first row's output.
    expected: Option<Held>,
}

impl Scenario for Build {
    const FACTS: Facts = Facts {
        unasked: true,
        seconds: 35.0,
        rounds: 12,
        turn_seconds: 0.8,
        has_jvm_rows: true,
        fewer_files: false,
        is_single: true,
        driver: include_str!("driver.js"),
        help: "A file-heavy build: walk, ask types, read all, write all, publish durably",
        ..Facts::of("build")
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn time() -> Time {
        case::phase
    }

    fn cases(_: &Session) -> Vec<Case> {
        vec![Case::default()]
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let on_node = [&IDIOMS[..], &OURS].concat();
        rows::all(session, [&on_node, &IN_JVM, &rows::IN_RUST], rows::find)
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let tree = trees::tree(session)?;
        session.progress.show(0.0, "build: reading the tree once");
        let all = walk(&tree, |_| true).map_err(Failure::at("read directory", &tree))?;
        let (mut sources, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|file| has_extension(file, &EXTENSIONS));
        for source in &sources {
            // So that every run finds it in the page cache.
            let path = tree.join(source);
            fs::read(&path).map_err(Failure::at("read", &path))?;
        }
        if sources.is_empty() {
            return Err(Failure::said(format!(
                "cannot build {}: it holds no source files",
                tree.display()
            )));
        }
        let files_found = sources.len();
        let at_most = match session.extent {
            Extent::Quick => 60,
            Extent::Core => 1_000,
            Extent::All => 3_000,
        };
        sources.truncate(at_most);
        let (first, assets) = beside(session, &tree, &sources, &others, at_most)?;
        let published = publishable(session)?.min(sources.len());
        let outputs = Output::make(session, "build", 0)?;
        for output in &outputs {
            // What a build removes makes an ext4 without a journal slow at that place for minutes:
            // it passes over the inodes of recently removed files one by one.
            host::spread_directories(&output.beneath);
        }
        let case = Case {
            tree: on_the_disk(session, tree, &sources)?,
            files_found,
            files: sources.len(),
            assets: assets.len(),
            published,
            ..Case::default()
        };
        *cases = vec![case];
        Ok(Self {
            sources,
            first,
            outputs,
            last: BTreeMap::new(),
            moved: 0,
            expected: None,
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let index = turn.output();
        let output = &self.outputs[index];
        // A mount remembers names, so each build has a directory of its own. ext4 chooses its place
        // by its name.
        let build = PathBuf::from(format!("{}-{}", std::process::id(), turn.count));
        let beneath = output.beneath.join(&build);
        for (index, source) in self.sources.iter().enumerate() {
            make_above(&beneath.join(BUILT).join(source))?;
            if index < turn.case.published {
                make_above(&beneath.join(PUBLISHED).join(source))?;
            }
        }
        let last = if let Some(last) = self.last.remove(&index) {
            last
        } else {
            let first = build.join(FIRST);
            tree_jobs::copy(&self.first, &output.beneath.join(&first))?;
            first
        };
        flush(&output.beneath)?;
        let root = output.seen(false);
        let request = Request {
            style: turn.row.way.style,
            tree: unicode(&turn.case.tree)?,
            extensions: EXTENSIONS.map(str::to_owned).to_vec(),
            files: turn.case.files,
            output: unicode(&root.join(&build).join(BUILT))?,
            published: unicode(&root.join(&build).join(PUBLISHED))?,
            publish: turn.case.published,
            last: unicode(&root.join(&last))?,
            assets: unicode(&turn.session.directories.on_disk(0).join(ASSETS))?,
            copied: unicode(&root.join(&build).join(COPIED))?,
        };
        let asked = turn.ask(&request);
        let is_left = root.join(&last).exists();
        tree_jobs::remove(&root.join(&last))?;
        let aside = root.with_extension("aside");
        let root = root.join(&build);
        let files = walk(&root, |_| true).map_err(Failure::at("read directory", &root))?;
        let checked = asked.and_then(|times| {
            // Byte for byte.
            let held = Held::by(&root, &files, true);
            let held = held.map_err(|error| format!("cannot check what it wrote: {error}"))?;
            if is_left {
                return Err("it has left something of the last build".to_owned().into());
            }
            if *self.expected.get_or_insert(held) != held {
                return Err("the output differs from the other rows'".to_owned().into());
            }
            turn.case.bytes = times.bytes;
            turn.case.files = times.files;
            Ok(times)
        });
        for done in [PUBLISHED, COPIED].map(|name| root.join(name)) {
            if done.exists() {
                put_all_aside(&done, &aside, &mut self.moved)?;
            }
        }
        // The next build in this output cleans it.
        if checked.is_ok() {
            self.last.insert(index, build.join(BUILT));
        } else {
            put_all_aside(&root, &aside, &mut self.moved)?;
        }
        checked
    }

    fn finish(&self, results: &mut Results<Case>) {
        for result in &mut results.cases {
            let paths = self.sources.iter().map(|file| result.case.tree.join(file));
            result.case.cached = host::cached(&paths.collect::<Vec<_>>());
        }
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
        report::show(page, session, results);
    }

    fn json(results: &Results<Case>) -> Value {
        let Some(result) = results.cases.first() else {
            return Value::Null;
        };
        let mut json = json!(result.case);
        json["rounds"] = json!(results.rounds);
        json["rows"] = json!(result.rows_json());
        json
    }
}

/// Makes what a first build cleans, and a directory of other files of the tree: two directories
/// with at most so many files. Returns the first, and the files of the second.
fn beside(
    session: &Session,
    tree: &Path,
    sources: &[String],
    others: &[String],
    at_most: usize,
) -> Result<(PathBuf, Vec<String>), Failure> {
    let root = session.directories.beneath(0);
    let (first, assets) = (root.join(FIRST), root.join(ASSETS));
    for source in sources {
        trees::copy(session, &tree.join(source), &first.join(source))?;
    }
    make_directory(&assets)?;
    let is_small = |file: &&String| {
        let found = fs::metadata(tree.join(file));
        found.is_ok_and(|found| found.len() <= LARGEST_ASSET)
    };
    let others: Vec<String> = others
        .iter()
        .filter(is_small)
        .take(at_most)
        .cloned()
        .collect();
    for other in &others {
        trees::copy(session, &tree.join(other), &assets.join(other))?;
    }
    Ok((first, others))
}

/// Copies the sources to a slow disk, or reading them would not be slow.
fn on_the_disk(session: &Session, tree: PathBuf, sources: &[String]) -> Result<PathBuf, Failure> {
    if session.directories.profile().is_none() {
        return Ok(tree);
    }
    let copy = session.directories.beneath(0).join("tree");
    for source in sources {
        trees::copy(session, &tree.join(source), &copy.join(source))?;
    }
    Ok(session.directories.on_disk(0).join("tree"))
}

/// Returns as many files as this disk flushes one after another in [`PUBLISH_TIME`], each with its
/// directory.
fn publishable(session: &Session) -> Result<usize, Failure> {
    if session.extent == Extent::Quick {
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
