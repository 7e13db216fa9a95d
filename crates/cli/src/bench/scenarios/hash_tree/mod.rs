//! `hash-tree`: all files of a tree hashed, with a warm cache.
//!
//! Commands are whole processes. Rows under Node and in Rust are timed in their processes, which
//! are fresh for each run: loading smallfry's core counts. Rows in the JVM are compiled first. Each
//! row writes its output into a file: a line for each file, or the digest of the tree. The output
//! is compared with that of `std::fs` on one thread.

mod hashing;
mod native;
mod raw;

use super::prelude::*;
use super::shared::rows;
use super::shared::tree_jobs::{self, Case, Samples, on_path};
use crate::process::child::this_program;
use std::collections::hash_map::Entry;

/// A function that makes digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Function {
    Sha256,
    Blake3,
}

/// The output of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Prints {
    /// The digest and path of each file, in any order.
    Lines,
    /// The digest of the tree, and perhaps its path.
    Digest,
}

/// A row that is a command line.
struct Tool {
    row: &'static str,
    programs: &'static [&'static str],
    /// The script for sh. `$0` is this program, `$1` the tree, `$2` the output.
    script: &'static str,
    function: Function,
    prints: Prints,
}

const SHA256SUM: Tool = Tool {
    row: "sha256sum",
    programs: &["sh", "find", "xargs", "sha256sum"],
    script: r#"find "$1" -type f -print0 | xargs -0 -P2 -n 64 sha256sum > "$2""#,
    function: Function::Sha256,
    prints: Prints::Lines,
};

const TOOLS: [Tool; 4] = [
    SHA256SUM,
    Tool {
        row: "b3sum",
        programs: &["sh", "find", "xargs", "b3sum"],
        script: r#"find "$1" -type f -print0 | xargs -0 -P2 -n 64 b3sum > "$2""#,
        function: Function::Blake3,
        prints: Prints::Lines,
    },
    Tool {
        row: "smallfry hash, sha256",
        programs: &["sh"],
        script: r#""$0" hash --algorithm sha256 "$1" > "$2""#,
        function: Function::Sha256,
        prints: Prints::Digest,
    },
    Tool {
        row: "smallfry hash, blake3",
        programs: &["sh"],
        script: r#""$0" hash "$1" > "$2""#,
        function: Function::Blake3,
        prints: Prints::Digest,
    },
];

/// A row in a process that the bench asks.
type Asked = (&'static str, Functions, Function, Prints);

const ON_NODE: [Asked; 4] = {
    use Function::{Blake3, Sha256};
    use Functions::{Node, Smallfry};
    [
        ("Node crypto, sha256", Node, Sha256, Prints::Lines),
        (
            "smallfry hashFiles, sha256",
            Smallfry,
            Sha256,
            Prints::Lines,
        ),
        (
            "smallfry hashTree, sha256",
            Smallfry,
            Sha256,
            Prints::Digest,
        ),
        (
            "smallfry hashTree, blake3",
            Smallfry,
            Blake3,
            Prints::Digest,
        ),
    ]
};

const IN_JVM: [Asked; 4] = {
    use Function::{Blake3, Sha256};
    use Functions::{JavaFiles, Smallfry};
    [
        (
            "Java MessageDigest, sha256",
            JavaFiles,
            Sha256,
            Prints::Lines,
        ),
        (
            "smallfry hashFiles in the JVM, sha256",
            Smallfry,
            Sha256,
            Prints::Lines,
        ),
        (
            "smallfry in the JVM, sha256",
            Smallfry,
            Sha256,
            Prints::Digest,
        ),
        (
            "smallfry in the JVM, blake3",
            Smallfry,
            Blake3,
            Prints::Digest,
        ),
    ]
};

const IN_RUST: [Asked; 4] = {
    use Function::{Blake3, Sha256};
    use Functions::{Smallfry, Std};
    [
        ("Rust std, sha256", Std, Sha256, Prints::Digest),
        ("Rust std, blake3", Std, Blake3, Prints::Digest),
        ("smallfry in Rust, sha256", Smallfry, Sha256, Prints::Digest),
        ("smallfry in Rust, blake3", Smallfry, Blake3, Prints::Digest),
    ]
};

/// The rows in raw system calls. Those on all cores have the same beginning.
const RAW: [(&str, Function); 2] = [
    ("raw system calls, sha256", Function::Sha256),
    ("raw system calls, blake3", Function::Blake3),
];

#[derive(Serialize, Deserialize)]
struct Request {
    threads: Threads,
    function: Function,
    prints: Prints,
    tree: String,
    output: String,
}

pub(crate) struct HashTree {
    samples: Samples,
    /// The outputs of each case, once they are needed.
    expected: HashMap<(usize, &'static str), Vec<String>>,
}

impl Scenario for HashTree {
    const FACTS: Facts = Facts {
        has_jvm_rows: true,
        ..tree_jobs::facts(
            "hash-tree",
            "A tree hashed: sha256sum, b3sum, node:crypto, the JDK and smallfry",
            Question::of(
                "which way hashes a tree?",
                &[
                    ("the command", "smallfry hash TREE"),
                    ("Node", "hashFiles and hashTree of the package smallfry"),
                    ("Rust", "smallfry::hash::Hasher"),
                    ("JDK", "Smallfry.hashTree"),
                ],
            ),
            include_str!("driver.js"),
        )
    };
    type Case = Case;
    const SERVE: Serve = |launch, request| native::run(launch.functions, &parse(request)?);
    const REPORT: Option<Report<Case>> = Some(tree_jobs::report("a tree hashed"));

    fn cases(session: &Session) -> Vec<Case> {
        Case::all(session)
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        let mut rows = Vec::new();
        for Tool { row, programs, .. } in &TOOLS {
            match programs.iter().find(|program| on_path(program).is_none()) {
                Some(program) => {
                    session.leave_out(format!("the row {row} is left out: no {program} on PATH"));
                }
                None => rows.push(Row::command(row, on_path("sh"))),
            }
        }
        let row_of = |&(name, functions, ..): &Asked| (name, functions, Style::Sync);
        let asked = [ON_NODE, IN_JVM, IN_RUST].map(|rows| rows.each_ref().map(row_of));
        let asked = asked.each_ref().map(<[_; _]>::as_slice);
        rows.extend(rows::all(session, asked, rows::find_for_trees));
        rows.extend(RAW.iter().flat_map(|(name, _)| rows::raw(session, name)));
        rows
    }

    fn prepare(session: &mut Session, cases: &mut Vec<Case>) -> Result<Self, Failure> {
        Ok(Self {
            samples: Samples::make(session, Self::FACTS.name, cases)?,
            expected: HashMap::new(),
        })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let case = turn.place.0;
        let tree = self.samples.tree(case).to_owned();
        let output = self.samples.new_path(turn.count);
        let row = &*turn.row.implementation;
        let tool = TOOLS.iter().find(|tool| tool.row == row);
        let mut asked = [ON_NODE, IN_JVM, IN_RUST].into_iter().flatten();
        let asked = asked.find(|it| it.0 == row);
        let raw = RAW.iter().find(|(name, _)| row.starts_with(name));
        let asked = asked.map(|(_, _, function, prints)| (function, prints));
        let asked = asked.or(raw.map(|&(_, function)| (function, Prints::Lines)));
        let (done, function, prints) = match (tool, asked) {
            (Some(tool), _) => (
                run_script(turn, tool.script, &tree, &output),
                tool.function,
                tool.prints,
            ),
            (None, Some((function, prints))) => {
                let request = Request {
                    threads: turn.row.way.threads,
                    function,
                    prints,
                    tree: unicode(&tree)?,
                    output: unicode(&output)?,
                };
                (turn.ask(&request), function, prints)
            }
            (None, None) => return Err(format!("there is no row {row}").into()),
        };
        let checked = done.and_then(|times| {
            self.check(case, &tree, &output, (function, prints))?;
            Ok(times)
        });
        tree_jobs::remove(&output)?;
        checked
    }
}

impl HashTree {
    /// Compares an output with the expected one.
    fn check(
        &mut self,
        case: usize,
        tree: &Path,
        output: &Path,
        (function, prints): (Function, Prints),
    ) -> Result<(), Fault> {
        let key = match (function, prints) {
            (Function::Sha256, Prints::Lines) => "sha256, lines",
            (Function::Sha256, Prints::Digest) => "sha256, digest",
            (Function::Blake3, Prints::Lines) => "blake3, lines",
            (Function::Blake3, Prints::Digest) => "blake3, digest",
        };
        let text = fs::read_to_string(output);
        let text = text.map_err(|error| format!("cannot read the output: {error}"))?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if prints == Prints::Digest {
            for line in &mut lines {
                line.truncate(line.find(' ').unwrap_or(line.len()));
            }
        }
        lines.sort_unstable();
        let expected = match self.expected.entry((case, key)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let made = match prints {
                    Prints::Lines => native::lines(function, tree),
                    Prints::Digest => native::tree_digest(function, tree).map(|it| vec![it]),
                };
                let made = made.map_err(|error| format!("cannot hash the tree: {error}"))?;
                entry.insert(made)
            }
        };
        if lines == *expected {
            Ok(())
        } else {
            Err("the digests are not those of the tree".to_owned().into())
        }
    }
}

fn run_script(
    turn: &Turn<HashTree>,
    script: &str,
    tree: &Path,
    output: &Path,
) -> Result<Times, Fault> {
    let arguments = [
        "-c".to_owned(),
        script.to_owned(),
        unicode(&this_program()?)?,
        unicode(tree)?,
        unicode(output)?,
    ];
    let usage = turn.row.run_with(&arguments, &turn.session.interrupt)??;
    Ok(Times::of(0, 0, usage))
}
