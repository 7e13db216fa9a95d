//! Rows in the JVM: one driver in Kotlin, built apart from this command (`crates/cli/peers/jvm`),
//! for Java, Kotlin, okio and smallfry's Maven artifact.

use super::node::{find_on_path, peer_directory};
use super::protocol::{Functions, Launch};
use super::{Runtime, clean};
use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A heap of fixed size whose pages are there, with a young generation for all that a run keeps:
/// making pages, or moving what is kept, would be timed in some row.
pub(crate) const FLAGS: [&str; 5] = [
    "-Xms1g",
    "-Xmx1g",
    "-Xmn768m",
    "-XX:+AlwaysPreTouch",
    "--enable-native-access=ALL-UNNAMED",
];

/// A JVM and its class path.
#[derive(Clone, Debug)]
pub(crate) struct Jvm {
    pub(crate) binary: PathBuf,
    class_path: OsString,
    /// A short name for tables: `JDK 17`.
    pub(crate) version: String,
}

impl Jvm {
    pub(super) fn command(&self, launch: &Launch) -> Result<Command, Failure> {
        let mut command = clean(&self.binary);
        command
            .env_remove("JAVA_TOOL_OPTIONS")
            .args(FLAGS)
            .arg("-cp")
            .arg(&self.class_path)
            .arg("dev.smallfry.bench.MainKt")
            .arg(super::json(launch)?);
        Ok(command)
    }
}

/// Returns the driver that was built, on the given JVM or the one that a shell would run; or why
/// there is none.
pub(crate) fn find(
    named: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<Result<Runtime, String>, Failure> {
    let Some(driver) = peer_directory("jvm/driver/target/driver.jar") else {
        return Ok(Err("not built (make bench-peers builds them)".to_owned()));
    };
    let Some(binary) = named.map(Path::to_owned).or_else(|| find_on_path("java")) else {
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
    let launch = Launch::of(Functions::JavaFiles);
    let hello = of(String::new()).start(&launch, interrupt)?.hello();
    interrupt.check()?;
    Ok(match hello {
        Ok(hello) => Ok(of(hello.version)),
        Err(error) => Err(format!("{} does not work: {error}", binary.display())),
    })
}
