//! The process of a row of the bench's scenario `close`: obeys requests, each a JSON line on
//! standard input, to load a font with norad and to save it. It speaks as the bench's `protocol.rs`
//! says; a field added there is added here.

use nix::sys::resource::UsageWho;
use nix::sys::time::{TimeVal, TimeValLike};
use norad::Font;
use serde::{Deserialize, Serialize};
use smallfry_bench_closing::Way;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

#[derive(Deserialize)]
struct Launch {
    closing: Way,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    Close { font: String, target: String },
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    Hello { version: &'static str, load_ns: u64 },
    Many(Times),
    Failure(Failure),
}

#[derive(Serialize)]
struct Times {
    files: usize,
    bytes: usize,
    usage: Usage,
    load_ns: u64,
}

#[derive(Serialize)]
struct Usage {
    wall_ns: u64,
    user_ns: u64,
    sys_ns: u64,
    peak_kib: u64,
}

#[derive(Serialize)]
struct Failure {
    operation: &'static str,
    path: String,
    code: Option<&'static str>,
    message: String,
}

/// Until standard input ends. The last argument names the way of closing.
#[must_use]
pub fn serve() -> ExitCode {
    match obey() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("smallfry-bench-norad: Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn obey() -> io::Result<()> {
    let launch = std::env::args().next_back().unwrap_or_default();
    let Launch { closing } = serde_json::from_str(&launch)?;
    send(&Reply::Hello {
        version: env!("CARGO_PKG_VERSION"),
        load_ns: 0,
    })?;
    for line in io::stdin().lock().lines() {
        let Request::Close { font, target } = serde_json::from_str(&line?)?;
        let done = load_and_save(closing, &font, &target);
        send(&done.map_or_else(Reply::Failure, Reply::Many))?;
    }
    Ok(())
}

/// Timed from making what closing needs to the last close.
fn load_and_save(closing: Way, font: &str, target: &str) -> Result<Times, Failure> {
    let before = used().map_err(failed("measure", font))?;
    let started = Instant::now();
    close_already::choose(closing).map_err(failed("prepare to close the files of", target))?;
    let loading = Instant::now();
    let loaded = Font::load(font).map_err(failed("load", font))?;
    let load_ns = nanoseconds(loading);
    loaded.save(target).map_err(failed("save", target))?;
    close_already::wait().map_err(failed("close the files of", target))?;
    let wall_ns = nanoseconds(started);
    let after = used().map_err(failed("measure", font))?;
    Ok(Times {
        files: loaded.glyph_count(),
        // The bench looks at what was written.
        bytes: 0,
        usage: Usage {
            wall_ns,
            user_ns: after.user_ns - before.user_ns,
            sys_ns: after.sys_ns - before.sys_ns,
            ..after
        },
        load_ns,
    })
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// By this process, so far.
fn used() -> io::Result<Usage> {
    let usage = nix::sys::resource::getrusage(UsageWho::RUSAGE_SELF)?;
    let ns = |time: TimeVal| u64::try_from(time.num_nanoseconds()).unwrap_or(0);
    Ok(Usage {
        wall_ns: 0,
        user_ns: ns(usage.user_time()),
        sys_ns: ns(usage.system_time()),
        peak_kib: u64::try_from(usage.max_rss()).unwrap_or(0),
    })
}

fn failed<E: Error + 'static>(operation: &'static str, path: &str) -> impl FnOnce(E) -> Failure {
    move |error| Failure {
        operation,
        path: path.to_owned(),
        code: is_full(&error).then_some("ENOSPC"),
        message: with_causes(&error),
    }
}

/// Then no row can write there, and the bench stops.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let is_full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
    error.downcast_ref().is_some_and(is_full) || error.source().is_some_and(self::is_full)
}

/// norad's errors name what failed, and the reason only as their source.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    message
}

fn send(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}
