//! Rows in the JVM: one driver in Kotlin, built apart from this command (`crates/cli/peers/jvm`),
//! for Java, Kotlin, okio and smallfry's Maven artifact.

use super::node::peer_directory;
use super::protocol::Functions;
use super::{Kind, Runtime};
use crate::failure::{Attempt, Failure};
use crate::process::interrupt::Interrupt;
use std::ffi::OsString;
use std::path::Path;

/// A heap of fixed size whose pages are there, with a young generation for all that a run keeps:
/// making pages, or moving what is kept, would be timed in some row.
pub(crate) const FLAGS: [&str; 5] = [
    "-Xms1g",
    "-Xmx1g",
    "-Xmn768m",
    "-XX:+AlwaysPreTouch",
    "--enable-native-access=ALL-UNNAMED",
];

/// Returns the driver that was built, on the given JVM or the one that a shell would run; or why
/// there is none.
pub(crate) fn find(named: Option<&Path>, interrupt: &Interrupt) -> Attempt<Runtime> {
    let Some(driver) = peer_directory("jvm/driver/target/driver.jar") else {
        return Ok(Err("not built (make bench-peers builds them)".to_owned()));
    };
    let java = named.map_or_else(|| which::which("java"), |java| Ok(java.to_owned()));
    let Ok(binary) = java else {
        return Ok(Err("no java on PATH (--java PATH names one)".to_owned()));
    };
    let beside = driver.with_file_name("lib").join("*");
    let class_path = std::env::join_paths([driver, beside])
        .map_err(|error| Failure::said(format!("the class path of the JVM's rows: {error}")))?;
    let mut arguments: Vec<OsString> = FLAGS.map(Into::into).into();
    arguments.extend(["-cp".into(), class_path, "dev.smallfry.bench.MainKt".into()]);
    let shown = binary.display().to_string();
    let mut runtime = Runtime::new(Kind::Jvm, binary, arguments);
    let greeted = runtime.greet(Functions::JavaFiles, interrupt)?;
    Ok(greeted
        .map(|()| runtime)
        .map_err(|error| format!("{shown} does not work: {error}")))
}
