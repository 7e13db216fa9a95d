//! A process timed from its start to its end, as `time` does.

use super::protocol::Usage;
use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum time of a row on a disk worth measuring.
const PATIENCE: Duration = Duration::from_secs(300);

/// Returns what the process used, or why it failed.
pub(super) fn run(
    mut command: Command,
    interrupt: &Interrupt,
) -> Result<Result<Usage, String>, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| Failure::said(format!("cannot run {program}: {error}")))?;
    let errors = child.stderr.take();
    let child = interrupt.register(child)?;
    let end = child.wait_long(PATIENCE);
    let wall = started.elapsed();
    interrupt.check()?;
    let Some(end) = end else {
        let seconds = PATIENCE.as_secs();
        return Ok(Err(format!("{program} has not ended for {seconds} s")));
    };
    if !end.status.success() {
        let mut said = Vec::new();
        if let Some(errors) = errors {
            // A complaint that cannot be read adds nothing.
            let _ = errors.take(64 << 10).read_to_end(&mut said);
        }
        let complaint = super::peer::complaint(&String::from_utf8_lossy(&said));
        return Ok(Err(format!("{program} failed ({}){complaint}", end.status)));
    }
    Ok(Ok(Usage {
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        ..end.usage
    }))
}
