//! `calls`: the functions of node:fs/promises that programs call for each path, and some with
//! callbacks.
//!
//! A case is a function, called 1,000 times one after the other or 10,000 times at once. The files
//! are in 100 directories, and the calls go from one directory to the next. Files that are read or
//! written whole have 10 kB.
//!
//! smallfry does those natively that pay: one awaited call is no slower, and many at once are 1.2x
//! as fast. The others are node:fs's own in both rows.

mod report;

use super::prelude::*;

const NODE: &str = "node:fs";
const SMALLFRY: &str = "smallfry";

const ROWS: [RowOf; 2] = [
    (NODE, Functions::Node, Style::Parallel),
    (SMALLFRY, Functions::Smallfry, Style::Parallel),
];

/// The functions, by their names in `driver.js`, and whether native code does them.
const CALLS: [(&str, bool); 28] = [
    ("access", true),
    ("stat", true),
    ("stat, bigint", true),
    ("stat, missing", true),
    ("lstat", true),
    ("readdir", true),
    ("readdir, types", true),
    ("readlink", true),
    ("chmod", true),
    ("utimes", true),
    ("mkdir, parents", true),
    ("mkdir, there", true),
    ("realpath, callback", true),
    ("readFile", true),
    ("readFile, utf8", true),
    ("readFile, missing", true),
    ("readFile, callback", true),
    ("writeFile", true),
    ("mkdir", false),
    ("mkdir, callback", false),
    ("realpath", false),
    ("rmdir", false),
    ("unlink", false),
    ("rename", false),
    ("copyFile", false),
    ("symlink", false),
    ("link", false),
    ("mkdtemp", false),
];

#[derive(Serialize, Display)]
#[display("{call}, {}", if *at_once { "at once" } else { "one by one" })]
pub(crate) struct Case {
    call: &'static str,
    is_native: bool,
    at_once: bool,
    count: usize,
}

#[derive(Serialize)]
struct Request {
    call: &'static str,
    at_once: bool,
    directory: String,
    count: usize,
}

pub(crate) struct Calls {
    outputs: Vec<Output>,
}

impl Scenario for Calls {
    const FACTS: Facts = Facts {
        seconds: 240.0,
        turn_seconds: 0.4,
        fewer_files: false,
        driver: include_str!("driver.js"),
        question: Some(Question::of(
            "which calls gain?",
            &[(
                "Node",
                "node --require smallfry/register, which replaces those that gain",
            )],
        )),
        help: "stat, readFile, mkdir and other calls for paths, one by one and at once",
        ..Facts::of("calls")
    };
    type Case = Case;

    fn cases(session: &Session) -> Vec<Case> {
        let calls = CALLS.iter().flat_map(|&(call, is_native)| {
            [(false, 1_000), (true, 10_000)].map(|(at_once, count)| Case {
                call,
                is_native,
                at_once,
                count: session.files(count),
            })
        });
        calls.collect()
    }

    fn rows(session: &Session, _: &Case) -> Vec<Row> {
        rows::on_node(session, &ROWS)
    }

    fn prepare(session: &mut Session, _: &mut Vec<Case>) -> Result<Self, Failure> {
        let outputs = Output::make(session, "calls", 0)?;
        Ok(Self { outputs })
    }

    fn turn(&mut self, turn: &mut Turn<Self>) -> Result<Times, Fault> {
        let output = &self.outputs[0];
        let Case {
            call,
            at_once,
            count,
            ..
        } = *turn.case;
        turn.ask(&Request {
            call,
            at_once,
            directory: unicode(output.seen(false))?,
            count,
        })
    }

    fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
        report::show(page, session, results);
    }
}
