//! The cost of loading smallfry: Node started in turn with and without it, to do nothing.

use super::subject::{Side, Subject};
use crate::failure::Failure;
use crate::process::interrupt::Interrupt;
use crate::stats::percentiles::median;
use serde::Serialize;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// More pairs find smaller differences; these take about a second.
const PAIRS: usize = 15;

/// Medians over pairs, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Start {
    pub(super) without_ns: f64,
    /// The time that a start takes more with smallfry.
    pub(super) more_ns: f64,
}

/// Measures with that Node. `None` if it does not start.
pub(super) fn measure(
    node: &Path,
    subject: &Subject,
    interrupt: &Interrupt,
) -> Result<Option<Start>, Failure> {
    let mut pairs = Vec::new();
    // The first pair is not counted: it reads what is in no cache yet.
    for _ in 0..=PAIRS {
        interrupt.check()?;
        let mut times = [0.0; 2];
        for side in Side::BOTH {
            let mut command = subject.node(node, side)?;
            command.stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let started = Instant::now();
            match command.status() {
                Ok(status) if status.success() => {}
                _ => return Ok(None),
            }
            times[side as usize] = started.elapsed().as_nanos() as f64;
        }
        pairs.push(times);
    }
    let counted = &pairs[1..];
    let without = median(counted.iter().map(|[without, _]| *without));
    let more = median(counted.iter().map(|[without, with]| with - without));
    Ok(without.zip(more).map(|(without_ns, more_ns)| Start {
        without_ns,
        more_ns,
    }))
}
