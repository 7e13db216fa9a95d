//! Rows under Node.js, Bun and Deno: finds the npm packages, and makes the command that runs the
//! drivers.

use super::peer::PeerError;
use super::protocol::{ASK_DURABILITY, Functions, Launch, Reply};
use super::{Kind, Runtime, in_source_tree, script_arguments};
use crate::failure::{Attempt, Failure};
use crate::process::interrupt::Interrupt;
use std::path::{Path, PathBuf};

/// Joins `driver.js`, the drivers of the scenarios, and the call that starts them, to one script:
/// there is nothing to unpack, and nothing stays behind.
pub(crate) fn script<'a>(drivers: impl Iterator<Item = &'a str>) -> String {
    let parts = [include_str!("driver.js")].into_iter().chain(drivers);
    let parts = parts.chain(["main(JSON.parse(process.argv.at(-1)));\n"]);
    parts.collect()
}

/// Starts the binary once and asks for its version.
pub(crate) fn probe(
    kind: Kind,
    binary: &Path,
    script: &str,
    interrupt: &Interrupt,
) -> Result<Runtime, Failure> {
    let (name, version_starts) = match kind {
        Kind::Bun => ("Bun", "Bun "),
        Kind::Deno => ("Deno", "Deno "),
        _ => ("Node.js", "v"),
    };
    let mut runtime = Runtime::new(kind, binary.to_owned(), script_arguments(kind, script));
    let greeted = runtime.greet(Functions::Node, interrupt)?;
    let (binary, version) = (binary.display(), &runtime.name);
    let what = match greeted {
        Ok(()) if version.starts_with(version_starts) => return Ok(runtime),
        Ok(()) => format!("{binary} is not {name}: {version}"),
        Err(error) => format!("{binary} does not work as {name}: {error}"),
    };
    Err(Failure::Said(what))
}

/// The npm package of smallfry, which loads.
pub(crate) struct Package {
    pub(crate) directory: PathBuf,
    pub(crate) load_ns: u64,
    /// True if it can write durably.
    pub(crate) durable: bool,
}

/// Loads the package once, or says why it does not load.
pub(crate) fn load(runtime: &Runtime, package: &Path, interrupt: &Interrupt) -> Attempt<Package> {
    let launch = Launch {
        package: Some(package.display().to_string()),
        ..Launch::of(Functions::Smallfry)
    };
    let mut peer = runtime.start(&launch, None, interrupt)?;
    let loaded = peer.hello().and_then(|hello| {
        let durable = peer.ask(ASK_DURABILITY, &serde_json::json!({}))?;
        Ok(Package {
            directory: package.to_owned(),
            load_ns: hello.load_ns,
            durable: matches!(durable, Reply::Durability(true)),
        })
    });
    drop(peer);
    interrupt.check()?;
    Ok(loaded.map_err(|error| match error {
        PeerError::Failed(failure) => failure.message,
        PeerError::Lost(message) => message,
    }))
}

/// Returns the npm package: the one that the user names, else the one of the source tree.
pub(crate) fn find_package(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        let (opened, named) = (named.canonicalize(), named.display());
        return opened
            .map_err(|error| format!("cannot open the smallfry npm package {named}: {error}"));
    }
    in_source_tree("bindings/node/package.json")
        .and_then(|file| Some(file.parent()?.to_owned()))
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
    in_source_tree(&format!("crates/cli/peers/{name}"))
}

/// Returns true if the package has look-ups of package.json files: its own package.json names their
/// file.
pub(crate) fn looks_packages_up(package: &Path) -> bool {
    std::fs::read(package.join("package.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .is_some_and(|fields| fields["exports"]["./package-json"].is_string())
}
