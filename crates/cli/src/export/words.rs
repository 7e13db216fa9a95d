//! Words that several formats share.

use super::document::{Comparison, Document};
use crate::output::text;
use crate::stats::claim::Claim;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn claim(claim: Claim) -> &'static str {
    match claim {
        Claim::Gain => "gain",
        Claim::Loss => "LOSS",
        Claim::NoDifference => "no difference",
        Claim::WithinNoise => "within the noise",
        Claim::TooFewRounds => "unsure: too few rounds",
    }
}

/// Says what the baseline against itself shows.
pub(super) fn noise(comparison: &Comparison) -> String {
    let noise = comparison.decider();
    let rounds = comparison.rounds;
    match noise.itself {
        Some(itself) => format!(
            "{rounds} rounds. Noise: the baseline against itself {}; nothing under {:.0} % is claimed.",
            text::ratio(Some(itself)),
            noise.percent()
        ),
        None => format!("{rounds} rounds. The baseline was not run twice."),
    }
}

/// Returns the facts about the machine that figures depend on.
pub(super) fn host(document: &Document) -> Vec<String> {
    let (host, disk) = (&document.host, &document.host.file_system);
    let rotates = |it: bool| ["not rotational", "rotational"][usize::from(it)].to_owned();
    let of_memory = host.memory_limit_bytes.or(host.memory_bytes);
    let facts = [
        host.cpu.clone(),
        Some(format!("{} cores", host.cores)),
        of_memory.map(text::bytes),
        Some(host.system.clone()),
        host.kernel
            .as_ref()
            .map(|kernel| format!("kernel {kernel}")),
        host.container
            .as_ref()
            .map(|kind| format!("container: {kind}")),
        (document.disk != "real").then(|| format!("slow disk {} (simulated)", document.disk)),
        Some(disk.kind.clone()),
        disk.device.clone(),
        disk.rotational.map(rotates),
        disk.options.clone(),
        disk.free_bytes
            .map(|free| format!("{} free", text::bytes(free))),
        Some(format!("smallfry {}", document.version)),
        Some(document.day()),
    ];
    let facts = facts.into_iter().flatten();
    facts.chain(flushes(document)).collect()
}

/// Names the system calls that flushed, for each runtime.
fn flushes(document: &Document) -> Vec<String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for comparison in &document.comparisons {
        let calls = comparison.rows.iter().flat_map(|row| &row.flushed_by);
        let of = found.entry(&comparison.runtime).or_default();
        of.extend(calls.map(String::as_str));
    }
    let shown = |(runtime, calls): (&str, BTreeSet<&str>)| {
        let calls: Vec<&str> = calls.into_iter().collect();
        format!("{runtime} flushes by {}", calls.join(", "))
    };
    let called = found.into_iter().filter(|(_, calls)| !calls.is_empty());
    called.map(shown).collect()
}
