//! `start`: whole processes of Node that read and write no files, with smallfry loaded and without.
//!
//! | row | arguments |
//! |---|---|
//! | `Node alone` | `-e 0` |
//! | `empty --require` | `--require` of an empty file, and `-e 0` |
//! | `smallfry/register` | `--require smallfry/register`, and `-e 0` |
//! | `Node alone, a file` | an empty file |
//! | `smallfry/register, a file` | `--require smallfry/register`, and that file |
//! | `empty import` | a module that imports an empty `CommonJS` package |
//! | `import smallfry` | a module that imports smallfry |
//!
//! The time of a process is from before it is made to its end. What a row takes more than its
//! baseline is the median of the differences within each round, since a machine's speed drifts.

mod report;

use super::prelude::*;
use super::shared::trees::put;

const ALONE: &str = "Node alone";
const REQUIRED: &str = "empty --require";
const REGISTER: &str = "smallfry/register";
const FILE: &str = "Node alone, a file";
const REGISTER_FILE: &str = "smallfry/register, a file";
const IMPORTED: &str = "empty import";
const IMPORT: &str = "import smallfry";

const ROWS: [RowOf; 8] = {
    use Functions::{Node, Smallfry};
    [
        (ALONE, Node, Style::Sync),
        (REQUIRED, Node, Style::Sync),
        ("empty --require A/A", Node, Style::Sync),
        (REGISTER, Smallfry, Style::Sync),
        (FILE, Node, Style::Sync),
        (REGISTER_FILE, Smallfry, Style::Sync),
        (IMPORTED, Node, Style::Sync),
        (IMPORT, Smallfry, Style::Sync),
    ]
};

/// The only case: a program that does nothing.
#[derive(Serialize, Display)]
#[display("empty")]
pub(crate) struct Case {}

pub(crate) struct Start {
    /// The directory of the empty files.
    files: PathBuf,
}

impl Scenario for Start {
    const FACTS: Facts = Facts {
        seconds: 60.0,
        rounds: 100,
        counts_rounds: true,
        turn_seconds: 0.04,
        fewer_files: false,
        is_single: true,
        question: Some(Question {
            rows: &[REGISTER, IMPORT],
            ..Question::of("what does loading smallfry cost?", &[])
        }),
        help: "Starting Node: alone, with smallfry preloaded, and with smallfry imported",
        ..Facts::of("start")
    };
    type Case = Case;
    const REPORT: Option<Report<Case>> = Some(report::REPORT);

    fn cases(_: &Session) -> Vec<Case> {
        vec![Case {}]
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        rows::on_node(session, &ROWS)
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        let files = session.directories.beneath(0).join("start");
        put(session, &files.join("empty.cjs"), "")?;
        put(session, &files.join("package/package.json"), "{}")?;
        put(session, &files.join("package/index.js"), "")?;
        put(
            session,
            &files.join("empty.mjs"),
            "import './package/index.js';",
        )?;
        Ok(Self { files })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let package = turn.row.launch.package.as_deref().unwrap_or_default();
        let empty = unicode(&self.files.join("empty.cjs"))?;
        let register = format!("{package}/dist/register.js");
        let arguments: Vec<String> = match turn.row.implementation.as_str() {
            ALONE => vec!["-e".to_owned(), "0".to_owned()],
            REGISTER => ["--require", &register, "-e", "0"]
                .map(str::to_owned)
                .to_vec(),
            FILE => vec![empty],
            REGISTER_FILE => vec!["--require".to_owned(), register, empty],
            IMPORTED => vec![unicode(&self.files.join("empty.mjs"))?],
            IMPORT => vec![self.importing(turn.session, package)?],
            _ => ["--require", &empty, "-e", "0"].map(str::to_owned).to_vec(),
        };
        let usage = turn.row.run_with(&arguments, &turn.session.interrupt)??;
        Ok(Times::of(1, 0, usage))
    }
}

impl Start {
    /// Returns the module that imports the package in that directory.
    fn importing(&self, session: &Session, package: &str) -> Result<String, Failure> {
        let module = self.files.join("smallfry.mjs");
        // A file URL, so that Windows takes it too.
        let text = format!(
            "import {};",
            json!(format!("{package}/dist/index.js").replace('\\', "/"))
        );
        if !module.exists() {
            put(session, &module, &text)?;
        }
        unicode(&module)
    }
}
