//! The process of a row in Rust: obeys requests from standard input until it ends.

use super::runtime::native::failed;
use super::runtime::protocol::{Hello, Launch, Reply};
use super::scenarios::{ALL, read_many::discard};
use serde_json::{Map, Value};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Runs the `work` given, or obeys requests.
pub(crate) fn serve(launch: &str, work: Option<&str>) -> ExitCode {
    let done = match work {
        Some(work) => discard::run(launch, work),
        None => obey(launch),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("smallfry driver: Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn obey(launch: &str) -> io::Result<()> {
    let launch: Launch = serde_json::from_str(launch)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    send(&Reply::Hello(Hello {
        version,
        load_ns: 0,
    }))?;
    for line in io::stdin().lock().lines() {
        let request: Map<String, Value> = serde_json::from_str(&line?)?;
        for (name, request) in request {
            let mut scenarios = ALL.iter();
            let answer = match scenarios.find(|scenario| scenario.facts.name == name) {
                Some(scenario) => (scenario.serve)(&launch, request),
                None => Err(failed("run", name)(io::Error::from(
                    io::ErrorKind::NotFound,
                ))),
            };
            send(&answer.map_or_else(Reply::Failure, Reply::Many))?;
        }
    }
    Ok(())
}

fn send(reply: &Reply) -> io::Result<()> {
    let line = serde_json::to_string(reply)?;
    writeln!(io::stdout(), "{line}")
}
