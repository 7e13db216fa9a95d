//! Rows under Node.js, Bun and Deno: finds the binary and the npm package, and makes the command
//! that runs the drivers.

use super::peer::PeerError;
use super::protocol::{ASK_DURABILITY, Functions, Launch, Reply};
use super::{Engine, Runtime, clean};
use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Joins `driver.js`, the drivers of the scenarios, and the call that starts them, to one script:
/// there is nothing to unpack, and nothing stays behind.
pub(crate) fn script<'a>(drivers: impl Iterator<Item = &'a str>) -> Arc<str> {
    let parts = [include_str!("driver.js")].into_iter().chain(drivers);
    let parts = parts.chain(["main(JSON.parse(process.argv.at(-1)));\n"]);
    parts.collect::<String>().into()
}

pub(super) fn command(
    engine: Engine,
    binary: &Path,
    script: &str,
    launch: &Launch,
) -> Result<Command, Failure> {
    let flags: &[&str] = match launch.functions {
        Functions::NodeInternal => &["--expose-internals", "--no-warnings"],
        _ => &[],
    };
    Ok(eval(engine, binary, flags, script, &super::json(launch)?))
}

pub(super) fn eval(
    engine: Engine,
    binary: &Path,
    flags: &[&str],
    script: &str,
    argument: &str,
) -> Command {
    let mut command = clean(binary);
    command.args(flags);
    match engine {
        Engine::Node => command.args(["--input-type=commonjs", "--eval", script, "--", argument]),
        Engine::Bun => command.args(["--eval", script, "--", argument]),
        Engine::Deno => command.args(["eval", "--ext=cjs", script, argument]),
    };
    command
}

/// Returns the `node` that a shell would run.
pub(crate) fn on_path() -> Option<PathBuf> {
    find_on_path("node")
}

pub(super) fn find_on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(&name))
        .find(|program| program.is_file())
}

/// Starts the binary once and asks for its version.
pub(crate) fn probe(
    engine: Engine,
    binary: &Path,
    script: &Arc<str>,
    interrupt: &Interrupt,
) -> Result<Runtime, Failure> {
    let (name, version_starts) = match engine {
        Engine::Node => ("Node.js", "v"),
        Engine::Bun => ("Bun", "Bun "),
        Engine::Deno => ("Deno", "Deno "),
    };
    let of = |version| Runtime::Node {
        engine,
        binary: binary.to_owned(),
        version,
        script: Arc::clone(script),
    };
    let launch = Launch::of(Functions::Node);
    let hello = of(String::new()).start(&launch, interrupt)?.hello();
    interrupt.check()?;
    match hello {
        Ok(hello) if hello.version.starts_with(version_starts) => Ok(of(hello.version)),
        Ok(hello) => {
            let (binary, version) = (binary.display(), hello.version);
            Err(Failure::said(format!("{binary} is not {name}: {version}")))
        }
        Err(error) => {
            let binary = binary.display();
            let what = format!("{binary} does not work as {name}: {error}");
            Err(Failure::said(what))
        }
    }
}

/// Loads the package once. Returns how long that takes and whether the package can write durably,
/// or why it does not load.
pub(crate) fn load(
    runtime: &Runtime,
    package: &Path,
    interrupt: &Interrupt,
) -> Result<Result<(u64, bool), String>, Failure> {
    let launch = Launch {
        package: Some(package.display().to_string()),
        ..Launch::of(Functions::Smallfry)
    };
    let mut peer = runtime.start(&launch, interrupt)?;
    let loaded = peer.hello().and_then(|hello| {
        let durable = peer.ask(ASK_DURABILITY, &serde_json::json!({}))?;
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

/// Returns the npm package: the one that the user names, else the one beside the binary, else the
/// one in the source tree.
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

/// Returns the directory of the npm package that has these functions, if it is installed; see
/// `crates/cli/peers/npm`.
pub(crate) fn npm_peer(functions: Functions) -> Option<PathBuf> {
    let directory = format!("npm/node_modules/{}", functions.npm_peer()?);
    peer_directory(&directory).filter(|directory| directory.join("package.json").is_file())
}

/// Returns a directory of `crates/cli/peers`, if it is there.
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

/// Returns true if the package has look-ups of package.json files: its own package.json names their
/// file.
pub(crate) fn looks_packages_up(package: &Path) -> bool {
    std::fs::read(package.join("package.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .is_some_and(|fields| fields["exports"]["./package-json"].is_string())
}
