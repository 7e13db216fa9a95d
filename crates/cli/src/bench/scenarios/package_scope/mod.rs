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
//! | `smallfry`, `Rust` | one call for each file, or one for all (`batch`), with each way of looking again |
//! | `raw system calls` | those that a cold answer takes, or a warm one that is looked at again: see `native.rs` |
//!
//! All rows are asked for the same files, by paths made anew for each pass, and must give the same
//! answers. Files are asked for as `.js`, so that an extension does not settle it;
//! `findPackageJSON` and resolvers want the files that are there, so answers are compared of `.js`
//! files.

mod native;
mod report;

use super::prelude::*;
use super::shared::rows::{self, not_built, not_installed};
use super::shared::trees::{self, make_above};
use super::shared::word;
use crate::bench::runtime::native::PEERS_BUILT;
use crate::bench::runtime::{Kind, node};
use crate::bench::session::Node;
use crate::bench::{directories, host};
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Tree,
    Deep,
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    place: Place,
    files: usize,
    /// The number of directories to look into.
    directories: usize,
    cold: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.cold { "cold" } else { "warm" };
        write!(f, "{} {state}", word(self.place))
    }
}

/// The way in which a row finds out whether a file's nearest package.json says `module`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lookup {
    /// By smallfry, which never looks again, each time, or after a second.
    Never,
    OnChange,
    After,
    /// By `findPackageJSON` of `node:module`.
    FindPackageJson,
    /// By `readFileSync` and `JSON.parse`, for each file up to the one that decides.
    Walk,
    /// The same, with a `Map` from each directory to its answer.
    Map,
    /// By the one way that these functions have.
    Theirs,
    /// The same, spared what they ask of the file itself.
    TheirsAlone,
    /// By raw system calls: each directory's file once.
    EachDirectory,
    /// By raw system calls: for each file all directories up to the one that decides.
    EachFile,
}

/// One run.
#[derive(Serialize, Deserialize)]
struct Request {
    style: Style,
    lookup: Lookup,
    /// A file that has a line for each file: in how many directories there is to look, and its
    /// path.
    list: String,
    /// True for one pass, the first of the process. Else there are passes for so many
    /// milliseconds untimed, then so many timed.
    cold: bool,
    warm_up_ms: u64,
    measure_ms: u64,
}

const FIND: &str = "Node findPackageJSON";
/// The baseline on Node.
const INTERNAL: &str = "Node INTERNAL function";
const INTERNAL_AA: &str = "Node INTERNAL function A/A";
const WALK: &str = "JavaScript, walking";
const MAP: &str = "JavaScript, a Map";
const NEVER: &str = "smallfry Never";
const NEVER_BATCH: &str = "smallfry Never, batch";
const ON_CHANGE: &str = "smallfry OnChange";
const ON_CHANGE_BATCH: &str = "smallfry OnChange, batch";
/// The baseline in Rust.
const OXC: &str = "oxc_resolver crate";
const OXC_ALONE: &str = "oxc_resolver crate, no stats";
const RUST_NEVER: &str = "Rust Never";
const RUST_NEVER_BATCH: &str = "Rust Never, batch";
const RUST_ON_CHANGE: &str = "Rust OnChange";
const RUST_ON_CHANGE_BATCH: &str = "Rust OnChange, batch";
const RAW: &str = "raw system calls, opens and reads";
const RAW_BATCH: &str = "raw system calls, a stat a directory";
const RAW_EACH: &str = "raw system calls, stats of each file";

type RowOf = (&'static str, Functions, Style, Lookup);

const ON_NODE: [RowOf; 15] = {
    use Functions::{Node, NodeInternal, OxcResolver, PkgTypes, ReadPackageUp, Smallfry};
    use Lookup::{After, FindPackageJson, Never, OnChange, Theirs};
    use Style::{BulkSync, Parallel, Sync};
    [
        (FIND, Node, Sync, FindPackageJson),
        (INTERNAL, NodeInternal, Sync, Theirs),
        (INTERNAL_AA, NodeInternal, Sync, Theirs),
        (WALK, Node, Sync, Lookup::Walk),
        (MAP, Node, Sync, Lookup::Map),
        ("read-package-up", ReadPackageUp, Sync, Theirs),
        ("pkg-types", PkgTypes, Sync, Theirs),
        ("pkg-types, 256 at once", PkgTypes, Parallel, Theirs),
        ("oxc-resolver", OxcResolver, Sync, Theirs),
        (NEVER, Smallfry, Sync, Never),
        (NEVER_BATCH, Smallfry, BulkSync, Never),
        (ON_CHANGE, Smallfry, Sync, OnChange),
        (ON_CHANGE_BATCH, Smallfry, BulkSync, OnChange),
        ("smallfry After 1 s", Smallfry, Sync, After),
        ("smallfry After 1 s, batch", Smallfry, BulkSync, After),
    ]
};

const IN_RUST: [RowOf; 8] = {
    use Functions::{OxcResolver, Smallfry};
    use Lookup::{After, Never, OnChange, Theirs, TheirsAlone};
    use Style::{BulkSync, Sync};
    [
        (OXC, OxcResolver, Sync, Theirs),
        (OXC_ALONE, OxcResolver, Sync, TheirsAlone),
        (RUST_NEVER, Smallfry, Sync, Never),
        (RUST_NEVER_BATCH, Smallfry, BulkSync, Never),
        (RUST_ON_CHANGE, Smallfry, Sync, OnChange),
        (RUST_ON_CHANGE_BATCH, Smallfry, BulkSync, OnChange),
        ("Rust After 1 s", Smallfry, Sync, After),
        ("Rust After 1 s, batch", Smallfry, BulkSync, After),
    ]
};

const RAW_COLD: [RowOf; 1] = [(RAW, Functions::Raw, Style::Sync, Lookup::EachDirectory)];

const RAW_WARM: [RowOf; 2] = {
    use Functions::Raw;
    [
        (RAW_BATCH, Raw, Style::BulkSync, Lookup::EachDirectory),
        (RAW_EACH, Raw, Style::Sync, Lookup::EachFile),
    ]
};

fn lookup(row: &Row) -> Lookup {
    [&ON_NODE[..], &IN_RUST, &RAW_COLD, &RAW_WARM]
        .into_iter()
        .flatten()
        .find(|(name, ..)| *name == row.implementation)
        .map_or(Lookup::Theirs, |(.., lookup)| *lookup)
}

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
    place: Place,
    /// The file with a line for each file, for the rows to read.
    list: PathBuf,
    /// The directory whose page cache is dropped.
    root: PathBuf,
    files: usize,
    directories: usize,
}

pub(crate) struct PackageScope {
    places: Vec<Prepared>,
    expected: HashMap<Place, u32>,
}

impl Scenario for PackageScope {
    const FACTS: Facts = Facts {
        seconds: 480.0,
        rounds: 8,
        driver: include_str!("driver.js"),
        ..Facts::of(
            "package-scope",
            "Whether each file's nearest package.json says module: cold and warm",
        )
    };
    type Case = Case;
    const SHOW: Show<Case> = report::show;
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
        let mut rows = Vec::new();
        for node in &session.nodes {
            for (name, functions, style, lookup) in ON_NODE {
                if is_there(node, functions, lookup) {
                    rows.push(session.row(node, functions, name, style));
                }
            }
        }
        let raw = if case.cold { &RAW_COLD[..] } else { &RAW_WARM };
        let of: Vec<rows::RowOf> = IN_RUST
            .iter()
            .chain(raw)
            .filter(|row| row.1 != Functions::OxcResolver || PEERS_BUILT)
            .map(|&(name, functions, style, _)| (name, functions, style))
            .collect();
        rows.extend(rows::in_rust(&of));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        leave_out(session);
        let mut places: Vec<Prepared> = Vec::new();
        for case in cases {
            if places.last().is_none_or(|last| last.place != case.place) {
                let what = format!("package-scope: making ready {}", word(case.place));
                session.progress.show(0.0, &what);
                places.push(prepare(session, case.place)?);
            }
            if let Some(last) = places.last() {
                case.files = last.files;
                case.directories = last.directories;
            }
        }
        Ok(Self {
            places,
            expected: HashMap::new(),
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Answer, Failure> {
        let Case { place, cold, .. } = *turn.case;
        let Some(prepared) = self.places.iter().find(|it| it.place == place) else {
            return Ok(Err("its files were not made".to_owned()));
        };
        let session = turn.session;
        let (warm_up_ms, measure_ms) = match session.extent {
            Extent::Quick => (1, 2),
            Extent::Core | Extent::All => (100, 200),
        };
        let request = Request {
            style: turn.row.way.style,
            lookup: lookup(turn.row),
            list: directories::unicode(&prepared.list)?,
            cold,
            warm_up_ms,
            measure_ms,
        };
        let mut not_cold = None;
        let answer = turn.ask_prepared(&request, || {
            if cold && session.directories.profile().is_some() {
                // A mount remembers names for seconds, which the row before has asked for.
                let dropped = host::drop_cache(&prepared.root);
                let dropped = dropped.and_then(|()| session.directories.empty_device_cache());
                let error = dropped.err();
                not_cold = error.map(|error| format!("it could not be dropped: {error}"));
            }
            Ok(())
        })?;
        *turn.not_cold = turn.not_cold.take().or(not_cold);
        Ok(answer.and_then(|times| match times.answers {
            Some(answers) if *self.expected.entry(place).or_insert(answers) != answers => {
                Err("the answers differ from the other rows'".to_owned())
            }
            _ => Ok(times),
        }))
    }
}

fn is_there(node: &Node, functions: Functions, lookup: Lookup) -> bool {
    match functions {
        Functions::Smallfry => {
            let package = node.package.as_ref();
            package.is_some_and(|package| node::looks_packages_up(&package.directory))
        }
        Functions::Node if lookup == Lookup::FindPackageJson => is_node_since(node, 22, 14),
        Functions::NodeInternal => is_node_since(node, 22, 0),
        _ => rows::is_there(node, functions),
    }
}

fn is_node_since(node: &Node, major: u32, minor: u32) -> bool {
    let mut numbers = node.runtime.name().trim_start_matches('v').split('.');
    let mut number = || numbers.next().and_then(|it| it.parse::<u32>().ok());
    node.runtime.kind == Kind::Node && (number(), number()) >= (Some(major), Some(minor))
}

/// Notes the rows that are missing.
fn leave_out(session: &mut Session) {
    let mut reasons = Vec::new();
    if !PEERS_BUILT {
        reasons.push(not_built(OXC));
    }
    for node in &session.nodes {
        let runtime = node.runtime.full_name();
        for (name, functions, _, lookup) in ON_NODE {
            if is_there(node, functions, lookup) {
                continue;
            }
            reasons.push(match functions {
                Functions::Smallfry if node.package.is_none() => continue,
                Functions::Smallfry => format!(
                    "rows of smallfry on {runtime} are left out of package-scope: this package looks \
                     no package.json up"
                ),
                Functions::Node | Functions::NodeInternal => {
                    format!("rows {name} on {runtime} are left out: it has none")
                }
                _ => not_installed(name),
            });
        }
    }
    for reason in reasons {
        session.leave_out(reason);
    }
}

fn prepare(session: &Session, place: Place) -> Result<Prepared, Failure> {
    let beneath = session.directories.beneath(0).join(DIRECTORY);
    let shown = session.directories.on_disk(0).join(DIRECTORY);
    // Where the files are for the bench, and for the rows.
    let own = [beneath.join(word(place)), shown.join(word(place))];
    let ([here, there], files) = match place {
        Place::Tree => prepare_tree(session, own)?,
        Place::Deep => (own.clone(), make_deep(session, &own[0])?),
        Place::Wide => (own.clone(), make_wide(session, &own[0])?),
    };
    // As loaders name files: without a dot in the middle, which the directory of a bench may have.
    let there = std::path::absolute(&there).map_err(Failure::at("find", &there))?;
    let mut levels = Levels::default();
    let mut text = String::new();
    for file in &files {
        let path = directories::unicode(&there.join(file))?;
        let above = Path::new(file).parent().unwrap_or(Path::new(""));
        let count = levels.of(&here, above, &there);
        let _ = writeln!(text, "{count} {path}");
    }
    let name = format!("{}.list", word(place));
    let list = beneath.join(&name);
    make_above(&list)?;
    fs::write(&list, text).map_err(Failure::at("write", &list))?;
    Ok(Prepared {
        place,
        list: shown.join(name),
        root: there,
        files: files.len(),
        directories: levels.seen.len(),
    })
}

/// Counts directories on the way to what decides.
#[derive(Default)]
struct Levels {
    /// True if it has a package.json.
    seen: HashMap<PathBuf, bool>,
}

impl Levels {
    /// Counts from `directory` on, which is in `here`, where rows see `there`. Also reads what
    /// there is, so that it is in the page cache.
    fn of(&mut self, here: &Path, directory: &Path, there: &Path) -> usize {
        let mut count = 0;
        let shown = there.join(directory);
        for directory in shown.ancestors() {
            let is_end = directory.parent().is_none();
            if is_end || directory.file_name().is_some_and(|it| it == "node_modules") {
                break;
            }
            count += 1;
            let is_found = *self.seen.entry(directory.to_owned()).or_insert_with(|| {
                let real = match directory.strip_prefix(there) {
                    Ok(within) => here.join(within),
                    Err(_) => directory.to_owned(),
                };
                fs::read(real.join("package.json")).is_ok()
            });
            if is_found {
                break;
            }
        }
        count
    }
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
    let files = trees::walk(session, &tree, &EXTENSIONS)?;
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
    let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
    for file in &files {
        let file = Path::new(file);
        wanted.insert(file.to_owned());
        wanted.extend(file.ancestors().skip(1).map(|it| it.join("package.json")));
    }
    for file in wanted {
        if tree.join(&file).is_file() {
            trees::copy(session, &tree.join(&file), &places[0].join(&file))?;
        }
    }
    Ok((places, files))
}

fn make_deep(session: &Session, root: &Path) -> Result<Vec<String>, Failure> {
    let directories = match session.extent {
        Extent::Quick => 2,
        Extent::Core | Extent::All => DEEP_DIRECTORIES,
    };
    let above: Vec<String> = (1..DEEP).map(|level| format!("level-{level}/")).collect();
    let above = above.concat();
    let mut files = Vec::new();
    for directory in 0..directories {
        files.extend((0..DEEP_FILES).map(|file| format!("{above}leaf-{directory}/{file}.js")));
    }
    make_package(&root.join("package.json"), "deep", "module")?;
    make_files(session, root, &files)?;
    Ok(files)
}

fn make_wide(session: &Session, root: &Path) -> Result<Vec<String>, Failure> {
    let directories = session.files(match session.extent {
        Extent::Quick => 120,
        Extent::Core | Extent::All => WIDE,
    });
    let mut files = Vec::new();
    make_package(&root.join("package.json"), "wide", "commonjs")?;
    for index in 0..directories {
        let (group, within) = (index / WIDE_GROUP, index % WIDE_GROUP);
        let directory = format!("group-{group}/part-{within}");
        if index % WIDE_PACKAGES == 0 {
            let package = root.join(&directory).join("package.json");
            make_package(&package, &format!("part-{index}"), "module")?;
        }
        files.push(format!("{directory}/index.js"));
    }
    make_files(session, root, &files)?;
    Ok(files)
}

fn make_package(path: &Path, name: &str, kind: &str) -> Result<(), Failure> {
    let text = format!(
        r#"{{
  "name": "{name}",
  "version": "1.0.0",
  "type": "{kind}",
  "main": "./index.js",
  "license": "MIT"
}}
"#
    );
    make_above(path)?;
    fs::write(path, text).map_err(Failure::at("write", path))
}

/// Makes empty files: nothing reads them.
fn make_files(session: &Session, root: &Path, files: &[String]) -> Result<(), Failure> {
    for file in files {
        session.interrupt.check()?;
        let path = root.join(file);
        make_above(&path)?;
        fs::write(&path, "").map_err(Failure::at("write", &path))?;
    }
    Ok(())
}
