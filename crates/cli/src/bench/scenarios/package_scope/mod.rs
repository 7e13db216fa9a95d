//! `package-scope`: whether the nearest package.json of each file says `module`, as every loader
//! and bundler asks.
//!
//! | place | |
//! |---|---|
//! | `tree` | every .js, .mjs and .cjs file of real packages: `--tree`, else those that `make bench-peers` installs, else the tree of `build` |
//! | `deep` | files 30 directories beneath the only package.json |
//! | `wide` | a file in each of 20,000 directories, a package.json above them and in every 50th |
//!
//! Each cold (a fresh process, which remembers nothing; the files are in the page cache, but for
//! those on a slow disk) and warm (further passes in the same process). On a slow disk `tree` and
//! `wide` are a tenth, copied there.
//!
//! | row | what it calls |
//! |---|---|
//! | `Node findPackageJSON` | `findPackageJSON` of `node:module` with the file's URL; the row remembers what the file that it finds says |
//! | `Node INTERNAL function` | `getNearestParentPackageJSONType`, which only `--expose-internals` shows: what Node itself calls |
//! | `JavaScript, walking` | `existsSync`, `readFileSync` and `JSON.parse` in each directory on the way, as the loader once did; nothing remembered |
//! | `JavaScript, a Map` | the same, each directory once |
//! | `read-package-up` | `readPackageUpSync` with `normalize: false`; it remembers nothing |
//! | `pkg-types` | `readPackageJSON` with `cache: true`, awaited, or for many files at once; it remembers what files say, and not where they are |
//! | `oxc-resolver`, `oxc_resolver crate` | resolves `./name` from the file's directory, and says of what type the file is |
//! | `crate, no stats` | the same with the questions whether it is a file answered from memory, which leaves finding and reading |
//! | `smallfry` | one call for each file, or one for all (`batch`), with each way of looking again |
//! | `raw system calls` | those that a cold answer takes, or a warm one that is looked at again: see `native.rs` |
//!
//! All rows are asked for the same files, by paths made anew for each pass, and must give the same
//! answers. Files are asked for as `.js`, so that an extension does not decide it;
//! `findPackageJSON` and resolvers want the files that are there, so answers are compared of `.js`
//! files.

mod case;
mod native;
mod report;

use super::prelude::*;
use super::shared::rows::Missing;
use super::shared::trees::put;
use crate::bench::runtime::node::{self, Package};
use case::{Asked, Case, IN_RUST, Lookup, ON_NODE, Place, RAW_READS, Request, lookup};
use std::collections::hash_map::Entry;

/// Directories beneath the package.json of `deep`.
const DEEP: usize = 30;
/// Directories at its bottom, and files in each.
const DEEP_DIRECTORIES: usize = 15;
const DEEP_FILES: usize = 20;
const WIDE: usize = 20_000;
/// Directories of `wide` in a directory above them.
const WIDE_GROUP: usize = 100;
/// One directory of so many has a package.json.
const WIDE_PACKAGES: usize = 50;
const EXTENSIONS: [&str; 3] = ["js", "mjs", "cjs"];
/// The name in each of the session's directories.
const DIRECTORY: &str = "package-scope";

/// Files to ask about.
struct Prepared {
    /// The file with a line for each file, for the rows to read.
    list: PathBuf,
    /// The directory whose page cache is dropped.
    root: PathBuf,
    files: usize,
    directories: usize,
}

pub(crate) struct PackageScope {
    places: HashMap<Place, Prepared>,
    expected: HashMap<Place, u32>,
}

impl Scenario for PackageScope {
    const FACTS: Facts = Facts {
        seconds: 480.0,
        rounds: 8,
        driver: include_str!("driver.js"),
        question: Some(Question::of(
            "what does the nearest package.json cost?",
            &[
                ("Node", "moduleFormats of smallfry/package-json"),
                ("Rust", "the crate smallfry-package-json"),
            ],
        )),
        help: "Whether each file's nearest package.json says module: cold and warm",
        ..Facts::of("package-scope")
    };
    const SAMPLE: &'static str = "look-up";
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);

    fn cases(_: &Session) -> Vec<Case> {
        let mut cases = Vec::new();
        for place in [Place::Tree, Place::Deep, Place::Wide] {
            cases.extend([true, false].map(|cold| Case {
                place,
                files: 0,
                directories: 0,
                cold,
            }));
        }
        cases
    }

    fn rows(session: &Session, case: &Case) -> Vec<Row> {
        // With nothing known directories are opened, with everything known looked at.
        let is_of_case =
            |row: &&Asked| row.1 != Functions::Raw || case.cold == (row.0 == RAW_READS);
        let plain = |&(name, functions, style, _): &Asked| (name, functions, style);
        let on_node: Vec<RowOf> = ON_NODE.iter().map(plain).collect();
        let in_rust: Vec<RowOf> = IN_RUST.iter().filter(is_of_case).map(plain).collect();
        rows::all(session, [&on_node, &[], &in_rust], find)
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        let mut places = HashMap::new();
        for case in cases {
            if let Entry::Vacant(missing) = places.entry(case.place) {
                let what = format!("package-scope: making ready {}", word(case.place));
                session.progress.show(0.0, &what);
                missing.insert(prepare(session, case.place)?);
            }
            case.files = places[&case.place].files;
            case.directories = places[&case.place].directories;
        }
        Ok(Self {
            places,
            expected: HashMap::new(),
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let (session, Case { place, cold, .. }) = (turn.session, *turn.case);
        let prepared = &self.places[&place];
        let (warm_up_ms, measure_ms) = session.extent.pick((1, 2), (100, 200));
        let request = Request {
            style: turn.row.way.style,
            lookup: lookup(&turn.row.implementation),
            list: unicode(&prepared.list)?,
            cold,
            warm_up_ms,
            measure_ms,
        };
        let mut not_cold = None;
        let times = turn.ask_within(&request, |_, ask| {
            if cold && session.directories.profile().is_some() {
                // A mount remembers names for seconds, which the row before has asked for.
                let dropped = host::drop_cache(&prepared.root);
                let dropped = dropped.and_then(|()| session.directories.empty_device_cache());
                let error = dropped.err();
                not_cold = error.map(|error| format!("it could not be dropped: {error}"));
            }
            ask()
        });
        turn.note_not_cold(not_cold);
        let times = times?;
        let answers = times.answers;
        if answers.is_some_and(|own| *self.expected.entry(place).or_insert(own) != own) {
            return Err("the answers differ from the other rows'".to_owned().into());
        }
        Ok(times)
    }
}

fn find(node: &Node, row: &RowOf) -> Result<(), Missing> {
    let looks_up = |package: &Package| node::looks_packages_up(&package.directory);
    let is_known = lookup(row.0) != Lookup::FindPackageJson;
    let is_there = match row.1 {
        Functions::Smallfry => node.package.as_ref().is_none_or(looks_up),
        Functions::NodeInternal => is_node_since(node, 22, 0),
        _ => is_known || is_node_since(node, 22, 14),
    };
    if is_there {
        return rows::find(node, row);
    }
    let (name, why) = match row.1 {
        Functions::Smallfry => ("of smallfry", "this package looks no package.json up"),
        _ => (row.0, "it has none"),
    };
    let runtime = node.runtime.full_name();
    Err(Some(format!(
        "rows {name} on {runtime} are left out of package-scope: {why}"
    )))
}

fn is_node_since(node: &Node, major: u32, minor: u32) -> bool {
    let mut numbers = node.runtime.name().trim_start_matches('v').split('.');
    let mut number = || numbers.next().and_then(|it| it.parse::<u32>().ok());
    node.runtime.kind == Kind::Node && (number(), number()) >= (Some(major), Some(minor))
}

fn prepare(session: &Session, place: Place) -> Result<Prepared, Failure> {
    let beneath = session.directories.beneath(0).join(DIRECTORY);
    let shown = session.directories.on_disk(0).join(DIRECTORY);
    // Where the files are for the bench, and for the rows.
    let own = [beneath.join(word(place)), shown.join(word(place))];
    let ([here, there], files) = match place {
        Place::Tree => prepare_tree(session, own)?,
        Place::Deep => make(session, own, deep(session))?,
        Place::Wide => make(session, own, wide(session))?,
    };
    // As loaders name files: without a dot in the middle, which the directory of a bench may have.
    let there = std::path::absolute(&there).map_err(Failure::at("find", &there))?;
    let mut seen = HashMap::new();
    let mut text = String::new();
    for file in &files {
        let path = there.join(file);
        let count = levels(&mut seen, &path, [&here, &there]);
        let _ = writeln!(text, "{count} {}", unicode(&path)?);
    }
    let name = format!("{}.list", word(place));
    put(session, &beneath.join(&name), &text)?;
    Ok(Prepared {
        list: shown.join(name),
        root: there,
        files: files.len(),
        directories: seen.len(),
    })
}

/// Counts the directories on the way from a file in `there` to what decides; rows see as `there`
/// what is `here`. Also reads what there is, so that it is in the page cache. `seen` tells which
/// directories have a package.json.
fn levels(seen: &mut HashMap<PathBuf, bool>, file: &Path, [here, there]: [&Path; 2]) -> usize {
    let mut count = 0;
    let above = file.ancestors().skip(1);
    for directory in above.take_while(|directory| is_searched(directory)) {
        count += 1;
        let is_found = seen.entry(directory.to_owned()).or_insert_with(|| {
            let within = directory.strip_prefix(there);
            let real = within.map_or_else(|_| directory.to_owned(), |within| here.join(within));
            fs::read(real.join("package.json")).is_ok()
        });
        if *is_found {
            break;
        }
    }
    count
}

/// The places of files for the bench and for the rows, and the files in them.
type Made = ([PathBuf; 2], Vec<String>);

/// Takes `--tree`, else the packages of `crates/cli/peers/package-scope`, else what `build` takes.
fn prepare_tree(session: &Session, own: [PathBuf; 2]) -> Result<Made, Failure> {
    let installed = node::peer_directory("package-scope/node_modules");
    let tree = match installed.filter(|_| session.options.tree.is_none()) {
        Some(tree) => tree,
        None => trees::tree(session)?,
    };
    let files = walk(&tree, |name| has_extension(name, &EXTENSIONS));
    let files = files.map_err(Failure::at("read directory", &tree))?;
    if files.is_empty() {
        let tree = tree.display();
        return Err(Failure::said(format!(
            "cannot ask about {tree}: it holds no .js, .mjs or .cjs files"
        )));
    }
    let wanted = session.files(files.len()).min(files.len());
    // All over it.
    let step = files.len().div_ceil(wanted.max(1));
    let files: Vec<String> = files.into_iter().step_by(step).collect();
    if session.directories.profile().is_none() {
        return Ok(([tree.clone(), tree], files));
    }
    // By its own name: node_modules means something.
    let name = tree.file_name().unwrap_or("tree".as_ref());
    let places = own.map(|place| place.join(name));
    let above = files
        .iter()
        .flat_map(|file| Path::new(file).ancestors().skip(1));
    let packages = above.map(|directory| directory.join("package.json"));
    let mut wanted: BTreeSet<PathBuf> = packages.collect();
    wanted.retain(|file| tree.join(file).is_file());
    wanted.extend(files.iter().map(PathBuf::from));
    for file in wanted {
        trees::copy(session, &tree.join(&file), &places[0].join(&file))?;
    }
    Ok((places, files))
}

/// Makes these files, by paths and contents.
fn make(session: &Session, own: [PathBuf; 2], all: Vec<(String, String)>) -> Result<Made, Failure> {
    for (path, text) in &all {
        put(session, &own[0].join(path), text)?;
    }
    let mut files: Vec<String> = all.into_iter().map(|(path, _)| path).collect();
    files.retain(|path| !path.ends_with("package.json"));
    Ok((own, files))
}

fn deep(session: &Session) -> Vec<(String, String)> {
    let above: Vec<String> = (1..DEEP).map(|level| format!("level-{level}")).collect();
    let above = above.join("/");
    let mut all = vec![package("", "deep", "module")];
    for directory in 0..session.extent.pick(2, DEEP_DIRECTORIES) {
        let path = |file| format!("{above}/leaf-{directory}/{file}.js");
        all.extend((0..DEEP_FILES).map(|file| (path(file), String::new())));
    }
    all
}

fn wide(session: &Session) -> Vec<(String, String)> {
    let mut all = vec![package("", "wide", "commonjs")];
    for index in 0..session.files(session.extent.pick(120, WIDE)) {
        let (group, within) = (index / WIDE_GROUP, index % WIDE_GROUP);
        let directory = format!("group-{group}/part-{within}/");
        if index % WIDE_PACKAGES == 0 {
            all.push(package(&directory, &format!("part-{index}"), "module"));
        }
        // Nothing reads it.
        all.push((format!("{directory}index.js"), String::new()));
    }
    all
}

fn package(directory: &str, name: &str, kind: &str) -> (String, String) {
    let package = json!({
        "name": name, "version": "1.0.0", "type": kind, "main": "./index.js", "license": "MIT",
    });
    (format!("{directory}package.json"), format!("{package:#}\n"))
}
