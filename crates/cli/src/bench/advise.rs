//! `smallfry advise`: the questions of several scenarios, asked of one directory within a minute,
//! and answered in ten lines.

use super::arguments::Arguments as Bench;
use super::report::page::Page;
use super::runtime::node;
use super::scenarios::{self, Entry};
use super::schedule::Budget;
use super::session::Session;
use crate::export::document::{Comparison, Row};
use crate::failure::{self, Failure};
use crate::output::screen::Screen;
use crate::output::text;
use crate::process::interrupt::Interrupt;
use crate::stats::claim::{Claim, ENOUGH_ROUNDS, Noise};
use clap::{Args, Parser};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
#[command(after_help = "\
Small files are made in a fresh directory below DIR, and removed at the end.

Examples:
  smallfry advise /srv/data
  smallfry advise --node ~/.nvm/versions/node/v24.1.0/bin/node .")]
pub(crate) struct Arguments {
    /// Directory on the disk to ask about
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// Node.js binary [default: node on PATH]
    #[arg(long, value_name = "PATH")]
    node: Vec<PathBuf>,

    /// Directory of the npm package smallfry [default: the one built with this command]
    #[arg(long, value_name = "DIR", env = "SMALLFRY_NODE_PACKAGE")]
    package: Option<PathBuf>,
}

/// The lines that answer: a word, and what to know.
type Lines = Vec<(&'static str, String)>;

/// What a scenario is asked.
struct Question {
    scenario: &'static str,
    cells: &'static str,
    rows: &'static [&'static str],
    /// Few where files are removed: ext4 makes new ones slowly for a while after that.
    files: u32,
    /// More rounds than are needed for a verdict run only within this time.
    seconds: u64,
    answer: fn(&[Comparison]) -> Lines,
}

const QUESTIONS: [Question; 8] = [
    Question {
        scenario: "read-many",
        cells: "kept Buffer warm",
        rows: &[
            "Node sync",
            "Node Promise.all",
            "smallfry Promise.all",
            "smallfry bulk",
            "Rust std",
            "smallfry bulk in Rust",
        ],
        files: 1_000,
        seconds: 7,
        answer: |found| {
            let many = ("Read", gains(found));
            vec![many, ("Blocking", blocking(found))]
        },
    },
    Question {
        scenario: "write-many",
        cells: "string new",
        rows: &[
            "Node Promise.all",
            "smallfry Promise.all",
            "smallfry bulk",
            "Rust std",
            "smallfry bulk in Rust",
        ],
        files: 1_000,
        seconds: 7,
        answer: |found| vec![("Write", gains(found))],
    },
    Question {
        scenario: "fsync",
        cells: "500 characters",
        rows: &["Rust std"],
        files: 50,
        seconds: 6,
        answer: |found| vec![("Flush", flush(found))],
    },
    Question {
        scenario: "fsync-many",
        cells: "new",
        rows: &[
            "fsync and directory flush each",
            "concurrent fsyncs",
            "smallfry in Rust",
            "Node concurrent fsyncs",
            "smallfry writeFiles",
        ],
        files: 100,
        seconds: 7,
        answer: |found| vec![("Durable", gains(found))],
    },
    Question {
        scenario: "close",
        cells: "write",
        rows: &["std", "smallfry Auto"],
        files: 1_000,
        seconds: 4,
        answer: |found| vec![("Close", gains(found))],
    },
    Question {
        scenario: "copy-tree",
        cells: "font",
        rows: &[
            "cp -r",
            "smallfry cp",
            "Node promises.cp",
            "smallfry promises.cp",
        ],
        files: 800,
        seconds: 7,
        answer: |found| vec![("Copy", gains(found))],
    },
    Question {
        scenario: "remove-tree",
        cells: "font",
        rows: &[
            "rm -rf",
            "smallfry rm",
            "Node promises.rm",
            "smallfry promises.rm",
        ],
        files: 400,
        seconds: 7,
        answer: |found| vec![("Remove", gains(found))],
    },
    Question {
        scenario: "start",
        cells: "",
        rows: &[],
        files: 1,
        seconds: 4,
        answer: |found| vec![("Load", load(found))],
    },
];

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let interrupt = Interrupt::default();
    let outcome = interrupt
        .listen()
        .and_then(|()| advise(arguments, &interrupt));
    failure::exit_code("advise", outcome)
}

/// Returns true if every row did its work.
fn advise(arguments: &Arguments, interrupt: &Interrupt) -> Result<bool, Failure> {
    #[derive(Parser)]
    struct Usual {
        #[command(flatten)]
        bench: Bench,
    }
    let started = Instant::now();
    let Usual { bench } =
        Usual::try_parse_from(["advise"]).map_err(|error| Failure::said(error.to_string()))?;
    let mut options = bench.options;
    options.dir.clone_from(&arguments.dir);
    options.node.clone_from(&arguments.node);
    options.package.clone_from(&arguments.package);
    let script = node::script(scenarios::drivers());
    let mut session = Session::open(&options, &script, false, interrupt)?;
    let (mut lines, mut failures, mut widest) = (Lines::new(), 0, None::<Noise>);
    for question in &QUESTIONS {
        let found = scenarios::ALL
            .iter()
            .find(|entry| entry.facts.name == question.scenario);
        let Some(entry) = found.filter(|_| can_run(question, &session)) else {
            continue;
        };
        let (failed, comparisons) = ask(&mut session, entry, question)?;
        failures += failed;
        for comparison in comparisons.iter().filter(|it| it.noise.is_some()) {
            let noise = comparison.decider();
            if widest.is_none_or(|widest| noise.reach() > widest.reach()) {
                widest = Some(noise);
            }
        }
        lines.extend((question.answer)(&comparisons));
    }
    session.progress.finish();
    let facts = [
        format!("smallfry advise - {}", options.dir.display()),
        session.host.file_system.kind.clone(),
        text::minutes(started.elapsed()),
    ];
    let node = session.nodes.first();
    let node = node.map(|node| node.runtime.full_name().replace(" v", " "));
    // Each line stands out from its own.
    let noise = widest.map(|noise| format!("noise {:.0} % at most", noise.percent()));
    let facts: Vec<String> = facts.into_iter().chain(node).chain(noise).collect();
    let mut screen = Screen::new(&facts);
    for (word, line) in lines {
        screen.fact(word, &line);
    }
    screen.fact(
        "More",
        "smallfry bench --list   smallfry try -- YOUR COMMAND",
    );
    super::terminal::print(&screen.finish());
    session.directories.remove()?;
    Ok(failures == 0)
}

/// Returns true if there is something to answer with.
fn can_run(question: &Question, session: &Session) -> bool {
    question.scenario != "start" || session.nodes.iter().any(|node| node.package.is_some())
}

/// Measures. Returns the number of rows that failed, and what was compared.
fn ask(
    session: &mut Session,
    entry: &Entry,
    question: &Question,
) -> Result<(usize, Vec<Comparison>), Failure> {
    session.options.cells = (!question.cells.is_empty()).then(|| question.cells.to_owned());
    session.options.rows = question.rows.iter().map(|&row| row.to_owned()).collect();
    session.options.files = Some(question.files);
    let time = Duration::from_secs(question.seconds);
    session.budget = Budget::RoundsWithin(2 * ENOUGH_ROUNDS, time);
    let measured = (entry.run)(session, &mut Page::default())?;
    Ok((measured.failures, measured.comparisons))
}

/// Names the fastest row of each comparison that certainly gains.
fn gains(comparisons: &[Comparison]) -> String {
    let mut said = Vec::new();
    let mut baselines = Vec::new();
    for comparison in comparisons {
        // A second case with the same rows tells little more.
        let baseline = comparison.baseline().map(|row| row.name.as_str());
        if baselines.contains(&baseline) {
            continue;
        }
        baselines.push(baseline);
        let rows = comparison.rows.iter().skip(1);
        let gains = rows.filter(|row| row.claim == Some(Claim::Gain));
        let best = gains.max_by(|a, b| speed(a).total_cmp(&speed(b)));
        if let (Some(best), Some(baseline)) = (best, comparison.baseline()) {
            let (name, ratio) = (&best.name, text::ratio(best.ratio));
            said.push(format!("{name} is {ratio} as fast as {}", baseline.name));
        }
    }
    if !said.is_empty() {
        return said.join("; ");
    }
    let names = comparisons.iter().filter_map(Comparison::baseline);
    let mut names: Vec<&str> = names.map(|row| row.name.as_str()).collect();
    names.dedup();
    format!("nothing is certainly faster than {}", names.join(" or "))
}

fn speed(row: &Row) -> f64 {
    row.ratio.map_or(0.0, |ratio| ratio.estimate)
}

fn find<'a>(comparisons: &'a [Comparison], name: &str) -> Option<&'a Row> {
    let mut rows = comparisons.iter().flat_map(|it| &it.rows);
    rows.find(|row| row.name == name)
}

/// Says whether Node's blocking calls or promises read faster.
fn blocking(comparisons: &[Comparison]) -> String {
    let Some(blocking) = find(comparisons, "Node sync") else {
        return "not known without Node".to_owned();
    };
    let ratio = text::ratio(blocking.ratio);
    match blocking.claim {
        Some(Claim::Gain) => format!("readFileSync is {ratio} as fast as Promise.all of readFile"),
        Some(Claim::Loss) => {
            format!("use promises: readFileSync is {ratio} as fast as Promise.all of readFile")
        }
        _ => "readFileSync and Promise.all of readFile take about as long".to_owned(),
    }
}

/// Says what a flush costs.
fn flush(comparisons: &[Comparison]) -> String {
    let rows = ["Rust std, fsync", "Rust std, unsynced"].map(|name| {
        let row = find(comparisons, name)?;
        row.median_ns
    });
    match rows {
        [Some(flushed), Some(unsynced)] => format!(
            "a write with fsync takes {}, without {}",
            text::duration(flushed),
            text::duration(unsynced)
        ),
        _ => "not known".to_owned(),
    }
}

/// Says what loading smallfry costs a process.
fn load(comparisons: &[Comparison]) -> String {
    let rows =
        ["empty --require", "smallfry/register"].map(|name| find(comparisons, name)?.median_ns);
    match rows {
        [Some(without), Some(with)] => format!(
            "--require smallfry/register adds {} to a start of {}",
            text::duration((with - without).max(0.0)),
            text::duration(without)
        ),
        _ => "not known".to_owned(),
    }
}
