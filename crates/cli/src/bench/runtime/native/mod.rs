//! Rows in Rust: this binary, started again as `smallfry driver`, so that they too have a process of their own.

mod build;
mod bulk;
mod close;
mod discard;
mod floor;
#[cfg(target_os = "linux")]
#[path = "flush/linux.rs"]
mod flush;
#[cfg(not(target_os = "linux"))]
#[path = "flush/other.rs"]
mod flush;
mod memory;
mod package_scope;
#[cfg(not(feature = "peers"))]
#[path = "no_peers.rs"]
mod peers;
#[cfg(feature = "peers")]
mod peers;
mod read_many;
mod share;
mod sync;
mod sync_many;
mod usage;
mod write_many;
mod write_string;

pub(crate) use peers::BUILT as PEERS_BUILT;

use super::protocol::{Discard, Hello, Launch, PeerFailure, Reply, Request};
use crate::bench::failure::Failure;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "driver";

pub(super) fn whole_command(launch: &Launch, work: &Discard) -> Result<Command, Failure> {
    let work = serde_json::to_string(work).map_err(|error| Failure::said(error.to_string()))?;
    let mut command = command(launch)?;
    command.arg(work);
    Ok(command)
}

pub(super) fn command(launch: &Launch) -> Result<Command, Failure> {
    let this = std::env::current_exe().map_err(|error| {
        Failure::said(format!("cannot find the smallfry binary itself: {error}"))
    })?;
    let launch = serde_json::to_string(launch).map_err(|error| Failure::said(error.to_string()))?;
    let mut command = super::clean(this);
    command.arg(SUBCOMMAND).arg(launch);
    Ok(command)
}

/// Does the `work` given, silently, or obeys requests from standard input until it ends.
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
        let done = match serde_json::from_str(&line?)? {
            Request::WriteString(request) => {
                write_string::run(launch.functions, &request).map(Reply::Samples)
            }
            Request::Build(request) => build::run(launch.functions, &request).map(Reply::Build),
            Request::ReadMany(request) => {
                read_many::run(launch.functions, &request).map(Reply::Many)
            }
            Request::WriteMany(request) => {
                write_many::run(launch.functions, &request).map(Reply::Many)
            }
            Request::Close(request) => close::run(&launch, &request).map(Reply::Many),
            Request::Sync(request) => sync::run(launch.functions, &request).map(Reply::Many),
            Request::SyncMany(request) => {
                sync_many::run(launch.functions, &request).map(Reply::Many)
            }
            Request::PackageScope(request) => {
                package_scope::run(launch.functions, &request).map(Reply::Many)
            }
            Request::AskDurability {} => Ok(Reply::Durability(true)),
        };
        send(&done.unwrap_or_else(Reply::Failure))?;
    }
    Ok(())
}

fn send(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

/// For `map_err`: what was tried, on what.
fn failed<E: Into<io::Error>>(
    operation: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> PeerFailure {
    move |error| {
        let error = error.into();
        PeerFailure {
            operation: operation.to_owned(),
            path: Some(path.display().to_string()),
            code: code(&error).map(str::to_owned),
            message: error.to_string(),
        }
    }
}

/// The errno's name, as far as [`PeerFailure::is_the_directory`] asks for it.
fn code(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull => return Some("ENOSPC"),
        io::ErrorKind::QuotaExceeded => return Some("EDQUOT"),
        io::ErrorKind::ReadOnlyFilesystem => return Some("EROFS"),
        io::ErrorKind::StaleNetworkFileHandle => return Some("ESTALE"),
        _ => {}
    }
    #[cfg(unix)]
    match error.raw_os_error() {
        Some(libc::EIO) => return Some("EIO"),
        Some(libc::ENODEV) => return Some("ENODEV"),
        _ => {}
    }
    None
}
