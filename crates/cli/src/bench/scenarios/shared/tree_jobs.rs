//! The samples and rows of the scenarios that copy, mirror, remove or hash whole trees.

use super::font;
use super::prelude::*;
use super::rows::{self, RAW, RowOf};
use super::trees::{self, Held, walk};
use smallfry::tree::{Copier, Method, Remover};
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_file as symlink;

/// The tree of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sample {
    /// A `node_modules`, or the tree of `--tree`.
    #[display("tree")]
    Tree,
    /// The same in each of ten packages, as in a large repository.
    #[display("workspace")]
    Workspace,
    /// The font that this command carries: 3,359 files of a kB in one directory, and 8 others.
    #[display("font")]
    Font,
    /// One directory of files of 1 kB.
    #[display("flat")]
    Flat,
    /// One directory of files of 10 MB.
    #[display("large")]
    Large,
}

/// The number of packages in a workspace: 30,000 files, if each has the usual 3,000.
const PACKAGES: usize = 10;

/// A tree, and what a run does with it.
#[derive(Clone, Copy, Serialize, Display)]
#[display("{sample}")]
pub(crate) struct Case {
    sample: Sample,
    files: usize,
    bytes: usize,
}

impl Case {
    pub(crate) fn all(session: &Session) -> Vec<Self> {
        let large = session.extent.pick(2, 100);
        let glyphs = session.extent.pick(60, font::GLYPHS);
        let flat = session.extent.pick(200, 10_000);
        let cases = [
            (Sample::Tree, 0, 0),
            (Sample::Workspace, 0, 0),
            (Sample::Font, session.files(glyphs).min(font::GLYPHS), 0),
            (Sample::Flat, session.files(flat), session.bytes(1_000)),
            (Sample::Large, large, 10_000_000),
        ];
        let of = |(sample, files, bytes)| Self {
            sample,
            files,
            bytes: files * bytes,
        };
        let options = &session.options;
        let wanted = |case: &Self| match case.sample {
            _ if options.cells.is_some() => true,
            // A quick look has no time for a tree that the user has not named.
            Sample::Tree => session.extent != Extent::Quick || options.tree.is_some(),
            Sample::Workspace => session.extent == Extent::All,
            _ => true,
        };
        cases.into_iter().map(of).filter(wanted).collect()
    }

    pub(crate) const fn sample(&self) -> Sample {
        self.sample
    }

    fn heading(&self) -> String {
        format!(
            "{} files, {:.0} MB",
            thousands(self.files as i64),
            self.bytes as f64 / 1e6
        )
    }
}

impl AsRef<Self> for Case {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The trees of all cases, and a directory for the work on them.
pub(crate) struct Samples {
    trees: Vec<PathBuf>,
    held: Vec<Held>,
    work: PathBuf,
}

impl Samples {
    /// Makes them in a directory of that name.
    pub(crate) fn make(session: &Session, name: &str, cases: &mut [Case]) -> Result<Self, Failure> {
        let root = session.directories.beneath(0).join(name);
        let on_disk = session.directories.on_disk(0).join(name);
        fs::create_dir(&root).map_err(Failure::at("make directory", &root))?;
        let mut made = Self {
            trees: Vec::new(),
            held: Vec::new(),
            work: on_disk.join("work"),
        };
        for case in cases {
            session
                .progress
                .show(0.0, &format!("making {}", case.sample));
            let tree = root.join(case.sample.to_string());
            match case.sample {
                Sample::Tree => copy(&trees::tree(session)?, &tree)?,
                Sample::Workspace => {
                    for package in 0..PACKAGES {
                        session.interrupt.check()?;
                        let of = tree.join(format!("packages/{package}/node_modules"));
                        trees::make_above(&of)?;
                        copy(&trees::tree(session)?, &of)?;
                    }
                }
                Sample::Font => font::unpack(&tree, case.files)
                    .map(drop)
                    .map_err(Failure::at("unpack", &tree))?,
                Sample::Flat | Sample::Large => {
                    let bytes = case.bytes / case.files.max(1);
                    for index in 0..case.files {
                        let path = tree.join(format!("{index:06}"));
                        session.interrupt.check()?;
                        trees::make_above(&path)?;
                        let contents = contents_of(index, bytes);
                        fs::write(&path, contents).map_err(Failure::at("write", &path))?;
                    }
                }
            }
            let files = walk(&tree, |_| true).map_err(Failure::at("read directory", &tree))?;
            let held = Held::by(&tree, &files, true).map_err(Failure::at("read", &tree))?;
            (case.files, case.bytes) = (files.len(), held.bytes);
            made.held.push(held);
            made.trees.push(on_disk.join(case.sample.to_string()));
        }
        fs::create_dir(&made.work).map_err(Failure::at("make directory", &made.work))?;
        Ok(made)
    }

    /// Makes the trees of all cases, each once. Returns them, and which tree each case is of.
    pub(crate) fn of<C: AsRef<Case> + AsMut<Case>>(
        session: &Session,
        name: &str,
        cases: &mut [C],
    ) -> Result<(Self, Vec<usize>), Failure> {
        let mut trees: Vec<Case> = Vec::new();
        let mut of = Vec::new();
        for case in &*cases {
            let case = case.as_ref();
            let known = trees.iter().position(|tree| tree.sample == case.sample);
            of.push(known.unwrap_or_else(|| {
                trees.push(*case);
                trees.len() - 1
            }));
        }
        let samples = Self::make(session, name, &mut trees)?;
        for (case, &tree) in cases.iter_mut().zip(&of) {
            *case.as_mut() = trees[tree];
        }
        Ok((samples, of))
    }

    /// Returns the tree of a case.
    pub(crate) fn tree(&self, case: usize) -> &Path {
        &self.trees[case]
    }

    /// Returns a path at which nothing is.
    pub(crate) fn new_path(&self, count: usize) -> PathBuf {
        self.path(&count.to_string())
    }

    /// Returns the path of that name in the directory for work.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Compares a copy with the tree, and removes it.
    pub(crate) fn check(&self, case: usize, copy: &Path, careful: bool) -> Result<(), Fault> {
        let compared = self.compare(case, copy, careful);
        remove(copy)?;
        compared
    }

    /// Compares a copy with the tree, the contents too if `careful`.
    pub(crate) fn compare(&self, case: usize, copy: &Path, careful: bool) -> Result<(), Fault> {
        let held = walk(copy, |_| true).and_then(|files| Held::by(copy, &files, careful));
        let held = held.map_err(|error| format!("cannot check the copy: {error}"));
        if held?.equals(self.held[case]) {
            Ok(())
        } else {
            Err("the copy is not like the tree".to_owned().into())
        }
    }

    /// Makes a copy that a row is to remove.
    pub(crate) fn copy(&self, case: usize, to: &Path) -> Result<(), Failure> {
        copy(&self.trees[case], to)?;
        super::outputs::flush(&self.work)
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let copied = Copier::new().method(Method::Copy).copy(from, to);
    copied.map(drop).map_err(Failure::at("copy", from))
}

/// Removes what a row has left.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    let removed = Remover::new().missing_ok(true).remove(path);
    removed.map(drop).map_err(Failure::at("remove", path))
}

/// Removes a directory, as the row of these functions in Rust does.
pub(crate) fn remove_by(functions: Functions, path: &Path) -> Result<(), PeerFailure> {
    let removed = match functions {
        Functions::Std => fs::remove_dir_all(path),
        _ => Remover::new()
            .remove(path)
            .map(drop)
            .map_err(io::Error::other),
    };
    removed.map_err(failed("remove", path))
}

/// Copies a directory, as the row of these functions in Rust does.
pub(crate) fn copy_by(functions: Functions, from: &Path, to: &Path) -> Result<(), PeerFailure> {
    let copied = match functions {
        Functions::Std => copy_by_std(from, to),
        _ => Copier::new()
            .copy(from, to)
            .map(drop)
            .map_err(io::Error::other),
    };
    copied.map_err(failed("copy", from))
}

/// Copies a directory as a program does that has only `std::fs`.
fn copy_by_std(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_by_std(&source, &copied)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &copied)?;
        } else {
            fs::copy(&source, &copied)?;
        }
    }
    Ok(())
}

/// A command of a system or of others: its row, program, and arguments before the paths.
pub(crate) type Command = (&'static str, &'static str, &'static [&'static str]);

/// Returns the rows of commands that are there, of this one, under Node, in the JVM, and in Rust.
pub(crate) fn rows(
    session: &Session,
    commands: &[Command],
    own: &str,
    [on_node, in_jvm, in_rust]: [&[RowOf]; 3],
) -> Vec<Row> {
    let mut found: Vec<Row> = Vec::new();
    for (row, program, _) in commands {
        match on_path(program) {
            Some(binary) => found.push(Row::command(row, Some(binary))),
            None => session.leave_out(format!("the row {row} is left out: no {program} on PATH")),
        }
    }
    found.push(Row::command(own, None));
    found.extend(rows::all(
        session,
        [on_node, in_jvm, in_rust],
        rows::find_for_trees,
    ));
    found
}

/// Returns the file of a program that is on PATH.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|directory| directory.join(program));
    places.find(|place| place.is_file())
}

/// Runs the command of a row on these paths. `own` are the arguments of this program.
pub(crate) fn run_command<S: Scenario>(
    turn: &Turn<S>,
    commands: &[Command],
    own: &[&str],
    paths: &[&Path],
) -> Result<Times, Fault> {
    let command = commands.iter().find(|it| it.0 == turn.row.implementation);
    let before = command.map_or(own, |it| it.2).iter();
    let before = before.map(|&argument| Ok(argument.to_owned()));
    let arguments: Vec<String> = before
        .chain(paths.iter().map(|path| unicode(path)))
        .collect::<Result<_, Failure>>()?;
    let usage = turn.row.run_with(&arguments, &turn.session.interrupt)??;
    Ok(Times::of(0, 0, usage))
}

/// The facts of a scenario of that name.
pub(crate) const fn facts(
    name: &'static str,
    help: &'static str,
    question: Question,
    driver: &'static str,
) -> Facts {
    Facts {
        seconds: 120.0,
        turn_seconds: 1.0,
        fewer_files: false,
        by_case: true,
        driver,
        help,
        question: Some(question),
        ..Facts::of(name)
    }
}

/// The report of a scenario that measures `what` and whose cases have a tree each.
pub(crate) const fn report<C: AsRef<Case>>(what: &'static str) -> Report<C> {
    Report {
        what,
        time: WALL,
        heading: |_, result| result.case.as_ref().heading(),
        table: |page, _, view| table(page, view),
        notes: |_| {
            vec![
                "Processes of commands count whole; rows under Node, in the JVM and in Rust without their start.",
            ]
        },
        sentences: |page, _, _, view| {
            view.noise(page);
            // Others are compared only where smallfry is.
            let has_own = |line: &&&str| {
                let mut names = line.split('|').filter(|name| name.starts_with("smallfry"));
                names.any(|name| view.rows.iter().any(|row| row.implementation == name))
            };
            let lines: Vec<&str> = COMPARED.iter().filter(has_own).copied().collect();
            view.compare(page, place, &lines);
            let raw = view.labels().filter(|(_, label)| label.starts_with(RAW));
            let raw: Vec<String> = raw
                .map(|(_, raw)| {
                    let mut functions = [", sha256", ", blake3"].into_iter();
                    let function = functions.find(|it| raw.contains(it)).unwrap_or_default();
                    format!("{raw}|smallfry in Rust{function}")
                })
                .collect();
            view.compare(page, place, &raw);
        },
    }
}

/// The sentences about all these scenarios.
const COMPARED: [&str; 29] = [
    "GNU tar|smallfry pack|bsdtar",
    "bsdtar|smallfry pack",
    "GNU tar|smallfry unpack|bsdtar",
    "unzip|smallfry unpack|bsdtar",
    "npm tar|smallfry in Node",
    "extract-zip|smallfry in Node",
    "yauzl|smallfry in Node",
    "Java ZipInputStream|smallfry in the JVM",
    "Java ZipOutputStream|smallfry in the JVM",
    "Rust tar, zip|smallfry in Rust",
    "cp -r|smallfry cp|cpz|fcp",
    "rsync|smallfry mirror|smallfry mirrorTree",
    "rm -rf|smallfry rm|rmz",
    "Node promises.cp|smallfry promises.cp|smallfry copyTree",
    "Node promises.cp, filter|smallfry promises.cp, filter",
    "Node cpSync|smallfry cpSync",
    "fs-extra copy|smallfry promises.cp|smallfry copyTree",
    "Node promises.rm|smallfry promises.rm|smallfry removeTree",
    "Node rmSync|smallfry rmSync",
    "fs-extra remove|smallfry promises.rm|smallfry removeTree",
    "Java Files.walkFileTree|smallfry in the JVM",
    "Rust std, one thread|smallfry in Rust",
    "Rust std|smallfry in Rust",
    "sha256sum|smallfry hash, sha256",
    "b3sum|smallfry hash, blake3",
    "Node crypto, sha256|smallfry hashFiles, sha256|smallfry hashTree, sha256",
    "Rust std, sha256|smallfry in Rust, sha256",
    "Rust std, blake3|smallfry in Rust, blake3",
    "Java MessageDigest, sha256|smallfry hashFiles in the JVM, sha256|smallfry in the JVM, sha256",
];

/// Shows medians, how many times as fast as the first row each other row is, and how many times as
/// fast as the row of Node that does the same.
fn table(page: &mut Page, view: &View) {
    let baseline = view.rows.first().map_or("", |row| &row.implementation);
    let headings = format!("medians, ms|wall|x {baseline}|x node:fs|user|sys|peak MiB");
    view.table(page, &headings, |row| {
        let of = &view.rows[row];
        let theirs = of.implementation.replacen("smallfry", "Node", 1);
        let theirs = view.find(of.runtime.name(), &theirs);
        let ratio = |other: Option<usize>| {
            let other = other.filter(|other| *other != row);
            text::ratio(other.and_then(|other| view.ratio(other, row)))
        };
        let [user, sys, peak] = view.usage_cells(row);
        vec![
            view.median_cell(row),
            ratio(Some(0)),
            ratio(theirs),
            user,
            sys,
            peak,
        ]
    });
}
