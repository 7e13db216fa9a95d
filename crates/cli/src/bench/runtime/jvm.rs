//! Rows in the JVM: one driver in Kotlin, built apart from this command (`crates/cli/peers/jvm`), for what Java, Kotlin and okio have
//! and for smallfry's Maven artifact.

use super::node::peer_directory;
use super::protocol::{Functions, Launch};
use super::{Runtime, clean};
use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A heap whose size does not change and whose pages are there, and in it a young generation for all that a run keeps: making
/// pages, or moving what is kept, would be timed in whichever row it falls.
pub(crate) const FLAGS: [&str; 5] = [
    "-Xms1g",
    "-Xmx1g",
    "-Xmn768m",
    "-XX:+AlwaysPreTouch",
    "--enable-native-access=ALL-UNNAMED",
];

/// A JVM, and what it runs.
#[derive(Clone, Debug)]
pub(crate) struct Jvm {
    pub(crate) binary: PathBuf,
    class_path: OsString,
    /// Short, for tables: `JDK 17`.
    pub(crate) version: String,
}

impl Jvm {
    pub(super) fn command(&self, launch: &Launch) -> Result<Command, Failure> {
        let launch =
            serde_json::to_string(launch).map_err(|error| Failure::said(error.to_string()))?;
        let mut command = clean(&self.binary);
        command
            .env_remove("JAVA_TOOL_OPTIONS")
            .args(FLAGS)
            .arg("-cp")
            .arg(&self.class_path)
            .arg("dev.smallfry.bench.MainKt")
            .arg(launch);
        Ok(command)
    }
}

/// The driver that was built, on the given JVM or the one that a shell would run; or why there is none.
pub(crate) fn find(
    named: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<Result<Runtime, String>, Failure> {
    let Some(driver) = peer_directory("jvm/driver/target/driver.jar") else {
        return Ok(Err("not built (make bench-peers builds them)".to_owned()));
    };
    let Some(binary) = named.map(Path::to_owned).or_else(on_path) else {
        return Ok(Err("no java on PATH (--java PATH names one)".to_owned()));
    };
    let beside = driver.with_file_name("lib").join("*");
    let class_path = std::env::join_paths([driver, beside])
        .map_err(|error| Failure::said(format!("the class path of the JVM's rows: {error}")))?;
    let of = |version| {
        Runtime::Jvm(Jvm {
            binary: binary.clone(),
            class_path: class_path.clone(),
            version,
        })
    };
    let launch = Launch {
        functions: Functions::JavaFiles,
        package: None,
        warm_up: false,
        closing: None,
    };
    let hello = of(String::new()).start(&launch, interrupt)?.hello();
    interrupt.check()?;
    Ok(match hello {
        Ok(hello) => Ok(of(hello.version)),
        Err(error) => Err(format!("{} does not work: {error}", binary.display())),
    })
}

fn on_path() -> Option<PathBuf> {
    let name = format!("java{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(&name))
        .find(|java| java.is_file())
}
