//! The process of a row in Rust: obeys requests from standard input until it ends.

use super::runtime::protocol::{ASK_DURABILITY, Hello, Launch, PeerFailure, Reply};
use super::scenarios::{self, read_many::discard};
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
            send(&answer(&launch, &name, request).unwrap_or_else(Reply::Failure))?;
        }
    }
    Ok(())
}

fn answer(launch: &Launch, name: &str, request: Value) -> Result<Reply, PeerFailure> {
    if name == ASK_DURABILITY {
        return Ok(Reply::Durability(true));
    }
    match scenarios::find(name) {
        Some(scenario) => scenario.serve(launch, request).map(Reply::Many),
        None => Err(PeerFailure {
            operation: "run".to_owned(),
            path: None,
            code: None,
            message: format!("there is no scenario {name}"),
        }),
    }
}

fn send(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}
