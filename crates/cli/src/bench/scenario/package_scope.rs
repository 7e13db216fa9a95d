//! `package-scope`: whether the nearest package.json of each file says `module`, as every loader and bundler asks.
//!
//! | place | |
//! |---|---|
//! | `tree` | every .js, .mjs and .cjs file of real packages: `--tree`, else what `make bench-peers` has npm install, else the tree of `build` |
//! | `deep` | files 30 directories beneath the only package.json |
//! | `wide` | a file in each of 20,000 directories, a package.json above them and in every 50th |
//!
//! Each cold (a fresh process, which remembers nothing; the files are in the kernel's cache, but for those on a slow disk) and warm
//! (further passes in the same process). On a slow disk `tree` and `wide` are a tenth, copied there.
//!
//! | row | what it calls |
//! |---|---|
//! | `Node findPackageJSON` | `findPackageJSON` of `node:module` with the file's URL; what the file that it finds says is remembered by the row |
//! | `Node INTERNAL function` | `getNearestParentPackageJSONType`, which only `--expose-internals` shows: what Node itself calls |
//! | `JavaScript, walking` | `existsSync`, `readFileSync` and `JSON.parse` in each directory on the way, as the loader once did; nothing remembered |
//! | `JavaScript, a Map` | the same, each directory once |
//! | `read-package-up` | `readPackageUpSync` with `normalize: false`; it remembers nothing |
//! | `pkg-types` | `readPackageJSON` with `cache: true`, awaited, or for many files at once; it remembers what files say, and not where they are |
//! | `oxc-resolver`, `oxc_resolver crate` | resolves `./name` from the file's directory, and says of what type the file is |
//! | `crate, no stats` | the same with the questions whether it is a file answered from memory, which leaves finding and reading |
//! | `smallfry`, `Rust` | one call for each file, or one for all (`batch`), with each way of looking again |
//! | `floor` | the bare system calls that a cold answer takes, or a warm one that is looked at again: see `native/package_scope.rs` |
//!
//! All rows are asked for the same files, by paths made anew for each pass, and must give the same answers. Files are asked for as
//! `.js`, so that an extension does not settle it; `findPackageJSON` and resolvers want the files that are there, so answers are compared of `.js` files.

use super::many::{self, CaseResult};
use super::runs;
use super::{build, rows};
use crate::bench::arguments::Scenario;
use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::native::PEERS_BUILT;
use crate::bench::runtime::protocol::{Functions, Lookup, PackageScope, Reply, Request, Style};
use crate::bench::runtime::{Engine, Row, Runtime, node};
use crate::bench::session::{Extent, Node, Session};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) type Results = many::Results<Case>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    Tree,
    Deep,
    Wide,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Deep => "deep",
            Self::Wide => "wide",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) place: Place,
    pub(crate) files: usize,
    /// To look into.
    pub(crate) directories: usize,
    pub(crate) cold: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.cold { "cold" } else { "warm" };
        write!(f, "{} {state}", self.place.name())
    }
}

pub(crate) const FIND: &str = "Node findPackageJSON";
/// The baseline on Node.
pub(crate) const INTERNAL: &str = "Node INTERNAL function";
pub(crate) const INTERNAL_AGAIN: &str = "Node INTERNAL function again";
pub(crate) const WALK: &str = "JavaScript, walking";
pub(crate) const MAP: &str = "JavaScript, a Map";
pub(crate) const NEVER: &str = "smallfry Never";
pub(crate) const NEVER_BATCH: &str = "smallfry Never, batch";
pub(crate) const ON_CHANGE: &str = "smallfry OnChange";
pub(crate) const ON_CHANGE_BATCH: &str = "smallfry OnChange, batch";
/// The baseline in Rust.
pub(crate) const OXC: &str = "oxc_resolver crate";
pub(crate) const OXC_ALONE: &str = "oxc_resolver crate, no stats";
pub(crate) const RUST_NEVER: &str = "Rust Never";
pub(crate) const RUST_NEVER_BATCH: &str = "Rust Never, batch";
pub(crate) const RUST_ON_CHANGE: &str = "Rust OnChange";
pub(crate) const RUST_ON_CHANGE_BATCH: &str = "Rust OnChange, batch";
pub(crate) const FLOOR: &str = "floor, opens and reads";
pub(crate) const FLOOR_BATCH: &str = "floor, a stat a directory";
pub(crate) const FLOOR_EACH: &str = "floor, stats of each file";

type RowOf = (&'static str, Functions, Style, Lookup);

const ON_NODE: [RowOf; 15] = [
    (FIND, Functions::Node, Style::Sync, Lookup::FindPackageJson),
    (
        INTERNAL,
        Functions::NodeInternal,
        Style::Sync,
        Lookup::Theirs,
    ),
    (
        INTERNAL_AGAIN,
        Functions::NodeInternal,
        Style::Sync,
        Lookup::Theirs,
    ),
    (WALK, Functions::Node, Style::Sync, Lookup::Walk),
    (MAP, Functions::Node, Style::Sync, Lookup::Map),
    (
        "read-package-up",
        Functions::ReadPackageUp,
        Style::Sync,
        Lookup::Theirs,
    ),
    (
        "pkg-types",
        Functions::PkgTypes,
        Style::Sync,
        Lookup::Theirs,
    ),
    (
        "pkg-types, 256 at once",
        Functions::PkgTypes,
        Style::Parallel,
        Lookup::Theirs,
    ),
    (
        "oxc-resolver",
        Functions::OxcResolver,
        Style::Sync,
        Lookup::Theirs,
    ),
    (NEVER, Functions::Smallfry, Style::Sync, Lookup::Never),
    (
        NEVER_BATCH,
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::Never,
    ),
    (
        ON_CHANGE,
        Functions::Smallfry,
        Style::Sync,
        Lookup::OnChange,
    ),
    (
        ON_CHANGE_BATCH,
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::OnChange,
    ),
    (
        "smallfry After 1 s",
        Functions::Smallfry,
        Style::Sync,
        Lookup::After,
    ),
    (
        "smallfry After 1 s, batch",
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::After,
    ),
];

const IN_RUST: [RowOf; 8] = [
    (OXC, Functions::OxcResolver, Style::Sync, Lookup::Theirs),
    (
        OXC_ALONE,
        Functions::OxcResolver,
        Style::Sync,
        Lookup::TheirsAlone,
    ),
    (RUST_NEVER, Functions::Smallfry, Style::Sync, Lookup::Never),
    (
        RUST_NEVER_BATCH,
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::Never,
    ),
    (
        RUST_ON_CHANGE,
        Functions::Smallfry,
        Style::Sync,
        Lookup::OnChange,
    ),
    (
        RUST_ON_CHANGE_BATCH,
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::OnChange,
    ),
    (
        "Rust After 1 s",
        Functions::Smallfry,
        Style::Sync,
        Lookup::After,
    ),
    (
        "Rust After 1 s, batch",
        Functions::Smallfry,
        Style::BulkSync,
        Lookup::After,
    ),
];

const FLOOR_COLD: [RowOf; 1] = [(FLOOR, Functions::Floor, Style::Sync, Lookup::EachDirectory)];

const FLOOR_WARM: [RowOf; 2] = [
    (
        FLOOR_BATCH,
        Functions::Floor,
        Style::BulkSync,
        Lookup::EachDirectory,
    ),
    (FLOOR_EACH, Functions::Floor, Style::Sync, Lookup::EachFile),
];

fn lookup(row: &Row) -> Lookup {
    [&ON_NODE[..], &IN_RUST, &FLOOR_COLD, &FLOOR_WARM]
        .into_iter()
        .flatten()
        .find(|(name, ..)| *name == row.implementation)
        .map_or(Lookup::Theirs, |(.., lookup)| *lookup)
}

/// Directories beneath the package.json.
const DEEP: usize = 30;
/// At the bottom, and files in each.
const DEEP_DIRECTORIES: usize = 15;
const FILES_TOGETHER: usize = 20;
const WIDE: usize = 20_000;
/// In a directory above them.
const WIDE_TOGETHER: usize = 100;
/// In every so many directories of the wide tree is a package.json.
const WIDE_PACKAGES: usize = 50;
const EXTENSIONS: [&str; 3] = ["js", "mjs", "cjs"];
/// In each of the session's directories.
const FOLDER: &str = "package-scope";

/// What is asked about.
struct Prepared {
    place: Place,
    /// A line for each file, for the rows to read.
    list: PathBuf,
    /// Of which a drop of the kernel's cache is about.
    root: PathBuf,
    files: usize,
    directories: usize,
}

/// Measures until the budget is spent.
pub(crate) fn run(session: &mut Session) -> Result<Results, Failure> {
    leave_out(session);
    let cases = cases(session)?;
    let mut places = Vec::new();
    let mut results = Results {
        cases: Vec::new(),
        rounds: 0,
    };
    for mut case in cases {
        let rows = rows(session, case.cold);
        if rows.is_empty() {
            continue;
        }
        if !places.iter().any(|it: &Prepared| it.place == case.place) {
            let what = format!("package-scope: making ready {}", case.place.name());
            session.progress.show(0.0, &what);
            places.push(prepare(session, case.place)?);
        }
        let is_it = |it: &&Prepared| it.place == case.place;
        let Some(prepared) = places.iter().find(is_it) else {
            continue;
        };
        case.files = prepared.files;
        case.directories = prepared.directories;
        results.cases.push(CaseResult::new(case, rows));
    }
    let mut expected = HashMap::new();
    let turns = results.turns("package-scope", |_| 0);
    results.rounds = runs::measure(
        session,
        Scenario::PackageScope,
        &turns,
        |session, turn, round| {
            let (case, row) = results.place(turn);
            let place = results.cases[case].case.place;
            let prepared = places.iter().find(|it| it.place == place);
            prepared.map_or(Ok(()), |prepared| {
                let case = &mut results.cases[case];
                self::turn(session, case, prepared, row, &mut expected, round)
            })
        },
    )?;
    Ok(results)
}

/// Runs in a round.
pub(crate) fn turns(session: &Session) -> usize {
    let cases = cases(session).unwrap_or_default();
    cases
        .iter()
        .map(|case| rows(session, case.cold).len())
        .sum()
}

fn cases(session: &Session) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for place in [Place::Tree, Place::Deep, Place::Wide] {
        for cold in [true, false] {
            cases.push(Case {
                place,
                files: 0,
                directories: 0,
                cold,
            });
        }
    }
    many::named(session, "package-scope", cases)
}

fn rows(session: &Session, cold: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        for (name, functions, style, lookup) in ON_NODE {
            if is_there(node, functions, lookup) {
                rows.push(session.row(node, functions, name, style));
            }
        }
    }
    let bare: &[RowOf] = match (cfg!(unix), cold) {
        (false, _) => &[],
        (true, true) => &FLOOR_COLD,
        (true, false) => &FLOOR_WARM,
    };
    for (name, functions, style, _) in IN_RUST.iter().chain(bare) {
        if *functions != Functions::OxcResolver || PEERS_BUILT {
            rows.push(Session::native_row(*functions, name, *style));
        }
    }
    rows::chosen(session, rows)
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
    let Runtime::Node {
        engine: Engine::Node,
        version,
        ..
    } = &node.runtime
    else {
        return false;
    };
    let mut numbers = version.trim_start_matches('v').split('.');
    let mut number = || numbers.next().and_then(|it| it.parse::<u32>().ok());
    (number(), number()) >= (Some(major), Some(minor))
}

/// What is missing is missed aloud.
fn leave_out(session: &mut Session) {
    let mut reasons = Vec::new();
    if !PEERS_BUILT {
        reasons.push(format!(
            "rows {OXC} are left out: not in this build (make bench-all, or cargo build --features peers, has them)"
        ));
    }
    for node in &session.nodes {
        for (name, functions, _, lookup) in ON_NODE {
            let package = node.package.as_ref();
            let runtime = node.runtime.full_name();
            if is_there(node, functions, lookup) {
                continue;
            }
            reasons.push(match (functions, package) {
                (Functions::Smallfry, None) => continue,
                (Functions::Smallfry, Some(_)) => format!(
                    "rows of smallfry on {runtime} are left out of package-scope: this package looks no package.json up"
                ),
                (Functions::Node | Functions::NodeInternal, _) => {
                    format!("rows {name} on {runtime} are left out: it has none")
                }
                _ => format!(
                    "rows {name} are left out: it is not installed (make bench-peers installs it)"
                ),
            });
        }
    }
    for reason in reasons {
        session.leave_out(reason);
    }
}

/// One run of one row. What goes wrong in it stands in the results; a row that failed has no further turns in the case.
fn turn(
    session: &Session,
    result: &mut CaseResult<Case>,
    prepared: &Prepared,
    row: usize,
    expected: &mut HashMap<Place, u32>,
    round: Option<usize>,
) -> Result<(), Failure> {
    if result.outcomes[row].error.is_some() {
        return Ok(());
    }
    let of = &result.rows[row];
    let (warm_up_ms, measure_ms) = match session.plan.extent {
        Extent::Quick => (1, 2),
        Extent::Core | Extent::All => (100, 200),
    };
    let Case { place, cold, .. } = result.case;
    let request = Request::PackageScope(PackageScope {
        style: of.way.style,
        lookup: lookup(of),
        list: directories::unicode(&prepared.list)?,
        cold,
        warm_up_ms,
        measure_ms,
    });
    let mut not_cold = None;
    let answer = runs::run_prepared(session, of, &request, || {
        if cold && session.directories.profile().is_some() {
            // A mount remembers names for seconds, which the row before has asked for.
            let dropped = host::drop_cache(&prepared.root);
            let dropped = dropped.and_then(|()| session.directories.empty_device_cache());
            not_cold = dropped
                .err()
                .map(|error| format!("it could not be dropped: {error}"));
        }
        Ok(())
    })?;
    let times = answer.and_then(|reply| match reply {
        Reply::Many(times) => match times.answers {
            Some(answers) if *expected.entry(place).or_insert(answers) != answers => {
                Err("the answers differ from the other rows'".to_owned())
            }
            _ => Ok(times),
        },
        other => Err(format!("unexpected reply {other:?}")),
    });
    result.not_cold = result.not_cold.take().or(not_cold);
    result.outcomes[row].record(times, round);
    Ok(())
}

fn prepare(session: &Session, place: Place) -> Result<Prepared, Failure> {
    let is_slow = session.directories.profile().is_some();
    let beneath = session.directories.beneath(0).join(FOLDER);
    let shown = session.directories.on_disk(0).join(FOLDER);
    // Where the files are for the bench, and for the rows.
    let (here, there, files) = match place {
        Place::Tree => {
            let tree = tree(session)?;
            let mut files = sources(session, &tree)?;
            if files.is_empty() {
                return Err(Failure::said(format!(
                    "cannot ask about {}: it holds no .js, .mjs or .cjs files",
                    tree.display()
                )));
            }
            let wanted = session.files(files.len()).min(files.len());
            // All over it.
            let step = files.len().div_ceil(wanted.max(1));
            files = files.into_iter().step_by(step).collect();
            if is_slow {
                // By its own name: node_modules means something.
                let name = tree.file_name().unwrap_or("tree".as_ref());
                let copy = beneath.join("tree").join(name);
                copy_tree(session, &tree, &files, &copy)?;
                (copy, shown.join("tree").join(name), files)
            } else {
                (tree.clone(), tree, files)
            }
        }
        Place::Deep => {
            let here = beneath.join("deep");
            let files = make_deep(session, &here)?;
            (here, shown.join("deep"), files)
        }
        Place::Wide => {
            let here = beneath.join("wide");
            let files = make_wide(session, &here)?;
            (here, shown.join("wide"), files)
        }
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
    let name = format!("{}.list", place.name());
    fs::create_dir_all(&beneath).map_err(Failure::at("make directory", &beneath))?;
    let list = beneath.join(&name);
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
    /// Whether it has a package.json.
    seen: HashMap<PathBuf, bool>,
}

impl Levels {
    /// From `dir` on, which is in `here`, where rows see `there`. Also reads what there is, so that it is in the kernel's cache.
    fn of(&mut self, here: &Path, dir: &Path, there: &Path) -> usize {
        let mut count = 0;
        let shown = there.join(dir);
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

/// `--tree`, else the packages of `crates/cli/peers/package-scope`, else what `build` takes.
fn tree(session: &Session) -> Result<PathBuf, Failure> {
    let installed = node::peer_directory("package-scope/node_modules");
    match installed.filter(|_| session.arguments.tree.is_none()) {
        Some(tree) => Ok(tree),
        None => build::tree(session),
    }
}

/// Paths within the tree, with `/`, in order. Links are not followed.
fn sources(session: &Session, tree: &Path) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    let mut dirs = vec![String::new()];
    while let Some(dir) = dirs.pop() {
        session.interrupt.check()?;
        let path = tree.join(&dir);
        for entry in fs::read_dir(&path).map_err(Failure::at("read directory", &path))? {
            let entry = entry.map_err(Failure::at("read directory", &path))?;
            let kind = entry.file_type().map_err(Failure::at("look at", &path))?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.contains('\n')) else {
                continue;
            };
            let extension = Path::new(name).extension();
            if kind.is_dir() {
                dirs.push(format!("{dir}{name}/"));
            } else if kind.is_file()
                && extension.is_some_and(|it| EXTENSIONS.iter().any(|wanted| it == *wanted))
            {
                files.push(format!("{dir}{name}"));
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Files, and each package.json above one.
fn copy_tree(session: &Session, tree: &Path, files: &[String], to: &Path) -> Result<(), Failure> {
    let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
    for file in files {
        let file = Path::new(file);
        wanted.insert(file.to_owned());
        wanted.extend(file.ancestors().skip(1).map(|it| it.join("package.json")));
    }
    for file in wanted {
        session.interrupt.check()?;
        let from = tree.join(&file);
        if from.is_file() {
            let to = to.join(&file);
            make_above(&to)?;
            fs::copy(&from, &to).map_err(Failure::at("copy", &to))?;
        }
    }
    Ok(())
}

fn make_deep(session: &Session, root: &Path) -> Result<Vec<String>, Failure> {
    let directories = match session.plan.extent {
        Extent::Quick => 2,
        Extent::Core | Extent::All => DEEP_DIRECTORIES,
    };
    let above: Vec<String> = (1..DEEP).map(|level| format!("level-{level}/")).collect();
    let above = above.concat();
    let mut files = Vec::new();
    for directory in 0..directories {
        for file in 0..FILES_TOGETHER {
            files.push(format!("{above}leaf-{directory}/{file}.js"));
        }
    }
    make_package(&root.join("package.json"), "deep", "module")?;
    make_files(session, root, &files)?;
    Ok(files)
}

fn make_wide(session: &Session, root: &Path) -> Result<Vec<String>, Failure> {
    let directories = match session.plan.extent {
        Extent::Quick => session.files(120),
        Extent::Core | Extent::All => session.files(WIDE),
    };
    let mut files = Vec::new();
    make_package(&root.join("package.json"), "wide", "commonjs")?;
    for index in 0..directories {
        let (group, within) = (index / WIDE_TOGETHER, index % WIDE_TOGETHER);
        let dir = format!("group-{group}/part-{within}");
        if index % WIDE_PACKAGES == 0 {
            let package = root.join(&dir).join("package.json");
            make_package(&package, &format!("part-{index}"), "module")?;
        }
        files.push(format!("{dir}/index.js"));
    }
    make_files(session, root, &files)?;
    Ok(files)
}

fn make_package(path: &Path, name: &str, kind: &str) -> Result<(), Failure> {
    let text = format!(
        "{{\n  \"name\": \"{name}\",\n  \"version\": \"1.0.0\",\n  \"type\": \"{kind}\",\n  \"main\": \"./index.js\",\n  \"license\": \"MIT\"\n}}\n"
    );
    make_above(path)?;
    fs::write(path, text).map_err(Failure::at("write", path))
}

/// Empty ones: nobody reads them.
fn make_files(session: &Session, root: &Path, files: &[String]) -> Result<(), Failure> {
    for file in files {
        session.interrupt.check()?;
        let path = root.join(file);
        make_above(&path)?;
        fs::write(&path, "").map_err(Failure::at("write", &path))?;
    }
    Ok(())
}

fn make_above(path: &Path) -> Result<(), Failure> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir).map_err(Failure::at("make directory", dir))
}
