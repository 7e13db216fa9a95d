//! Rows under Node.js, and under Bun and Deno with its modules: finding the binary and the npm package, and the command that runs the scripts of `driver/`.

use super::peer::PeerError;
use super::protocol::{Discard, Functions, Launch, Reply, Request};
use super::{Engine, Runtime, clean};
use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One script: nothing to unpack, so nothing to leave behind.
const DRIVER: &str = concat!(
    include_str!("driver/write-string.js"),
    include_str!("driver/build.js"),
    include_str!("driver/read-many.js"),
    include_str!("driver/write-many.js"),
    include_str!("driver/sync.js"),
    include_str!("driver/sync-many.js"),
    include_str!("driver/package-scope.js"),
    include_str!("driver/main.js")
);

/// As short as what it stands for: its compilation is timed too.
const DISCARD: &str = include_str!("driver/discard.js");

pub(super) fn command(engine: Engine, binary: &Path, launch: &Launch) -> Command {
    // Plain data: serialising it cannot fail.
    let argument = serde_json::to_string(launch).unwrap_or_default();
    let flags: &[&str] = match launch.functions {
        Functions::NodeInternal => &["--expose-internals", "--no-warnings"],
        _ => &[],
    };
    eval(engine, binary, flags, DRIVER, &argument)
}

pub(super) fn whole_command(
    engine: Engine,
    binary: &Path,
    launch: &Launch,
    work: &Discard,
) -> Command {
    let argument = serde_json::json!({ "launch": launch, "work": work }).to_string();
    eval(engine, binary, &[], DISCARD, &argument)
}

fn eval(engine: Engine, binary: &Path, flags: &[&str], script: &str, argument: &str) -> Command {
    let mut command = clean(binary);
    command.args(flags);
    match engine {
        Engine::Node => command.args(["--input-type=commonjs", "--eval", script, "--", argument]),
        Engine::Bun => command.args(["--eval", script, "--", argument]),
        Engine::Deno => command.args(["eval", "--ext=cjs", script, argument]),
    };
    command
}

/// The `node` that a shell would run.
pub(crate) fn on_path() -> Option<PathBuf> {
    let name = if cfg!(windows) { "node.exe" } else { "node" };
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find(|node| node.is_file())
}

/// Starts it once and asks for its version.
pub(crate) fn probe(
    engine: Engine,
    binary: &Path,
    interrupt: &Interrupt,
) -> Result<Runtime, Failure> {
    let launch = Launch {
        functions: Functions::Node,
        package: None,
        warm_up: false,
        closing: None,
    };
    let (name, version_starts) = match engine {
        Engine::Node => ("Node.js", "v"),
        Engine::Bun => ("Bun", "Bun "),
        Engine::Deno => ("Deno", "Deno "),
    };
    let of = |version| Runtime::Node {
        engine,
        binary: binary.to_owned(),
        version,
    };
    let hello = of(String::new()).start(&launch, interrupt)?.hello();
    interrupt.check()?;
    match hello {
        Ok(hello) if hello.version.starts_with(version_starts) => Ok(of(hello.version)),
        Ok(hello) => Err(Failure::said(format!(
            "{} is not {name}: {}",
            binary.display(),
            hello.version
        ))),
        Err(error) => Err(Failure::said(format!(
            "{} does not work as {name}: {error}",
            binary.display()
        ))),
    }
}

/// Does the package load in this Node, how long does that take, and can it write durably? The reason when it does not load.
pub(crate) fn load(
    runtime: &Runtime,
    package: &Path,
    interrupt: &Interrupt,
) -> Result<Result<(u64, bool), String>, Failure> {
    let launch = Launch {
        functions: Functions::Smallfry,
        package: Some(package.display().to_string()),
        warm_up: false,
        closing: None,
    };
    let mut peer = runtime.start(&launch, interrupt)?;
    let loaded = peer.hello().and_then(|hello| {
        let durable = peer.ask(&Request::AskDurability {})?;
        Ok((hello.load_ns, matches!(durable, Reply::Durability(true))))
    });
    drop(peer);
    interrupt.check()?;
    Ok(match loaded {
        Ok(loaded) => Ok(loaded),
        Err(PeerError::Failed(failure)) => Err(failure.message),
        Err(lost @ PeerError::Lost(_)) => Err(lost.to_string()),
    })
}

/// The npm package: what the user names, else beside the binary, else the source tree it was built from.
pub(crate) fn find_package(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(directory) = named {
        return match std::fs::canonicalize(directory) {
            Ok(directory) => Ok(directory),
            Err(error) => Err(format!(
                "cannot open the smallfry npm package {}: {error}",
                directory.display()
            )),
        };
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join("../../bindings/node")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node");
    beside
        .into_iter()
        .chain([source])
        .filter_map(|directory| std::fs::canonicalize(directory).ok())
        .find(|directory| directory.join("package.json").is_file())
        .ok_or_else(|| {
            "the smallfry npm package is not there (make build makes it; --package names another)"
                .to_owned()
        })
}

/// The directory of the npm package whose functions these are, if it was installed; see `crates/cli/peers/npm`.
pub(crate) fn npm_peer(functions: Functions) -> Option<PathBuf> {
    let directory = format!("npm/node_modules/{}", functions.npm_peer()?);
    peer_directory(&directory).filter(|directory| directory.join("package.json").is_file())
}

/// A directory of `crates/cli/peers`, if it is there.
pub(crate) fn peer_directory(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join("../../crates/cli/peers").join(name)));
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers")
        .join(name);
    beside
        .into_iter()
        .chain([source])
        .find_map(|directory| std::fs::canonicalize(directory).ok())
}

/// Does the package look package.json files up, too? Then its own says where.
pub(crate) fn looks_packages_up(package: &Path) -> bool {
    std::fs::read(package.join("package.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .is_some_and(|fields| fields["exports"]["./package-json"].is_string())
}
