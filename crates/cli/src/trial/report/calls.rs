//! Where the time on small files went.

use super::sentence::{plural, say};
use crate::output::text;
use crate::trial::counts::{Counts, Part};
use crate::trial::system_calls::Summary;
use std::fmt::Write as _;

/// About how many times as fast as node:fs smallfry's functions are at best.
const AT_BEST: f64 = 8.0;

/// The maximum number of processes that are named.
const MAX_NAMES: usize = 6;

/// Prints the counts of the program's own processes.
pub(super) fn counted(out: &mut String, counts: &Counts) {
    let versions: Vec<_> = counts
        .versions()
        .into_iter()
        .filter(|version| !version.is_empty())
        .collect();
    let heading = format!(
        "Time spent on small files, counted in the warm-up run with smallfry: calls of node:fs in {} ({}), {}, Node {}",
        plural(counts.processes(), "process"),
        names(counts),
        plural(counts.threads() as usize, "thread"),
        versions.join(", ")
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &heading, text::width()));
    let parts = counts.parts();
    let headings = [
        "",
        "calls",
        "failed",
        "by smallfry",
        "bytes",
        "sync",
        "async, each",
    ];
    let mut table = text::table(&headings);
    for (name, part) in &parts {
        let Part {
            calls,
            failed,
            native,
            bytes,
            sync_ns,
            async_calls,
            async_ns,
            ..
        } = *part;
        table.add_row([
            (*name).to_owned(),
            number(calls),
            number(failed),
            number(native),
            if bytes > 0 {
                text::bytes(bytes)
            } else {
                "-".to_owned()
            },
            time(sync_ns),
            time(async_ns / async_calls.max(1)),
        ]);
    }
    text::put(out, &table);
}

fn number(count: u64) -> String {
    if count == 0 {
        "-".to_owned()
    } else {
        text::thousands(count as i64)
    }
}

fn time(ns: u64) -> String {
    if ns == 0 {
        "-".to_owned()
    } else {
        text::duration(ns as f64)
    }
}

fn names(counts: &Counts) -> String {
    let mut each: Vec<(&str, usize)> = Vec::new();
    for name in counts.names() {
        match each.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => each.push((name, 1)),
        }
    }
    let shown = each
        .iter()
        .take(MAX_NAMES)
        .map(|(name, times)| match times {
            1 => (*name).to_owned(),
            times => format!("{times}x {name}"),
        });
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if each.len() > MAX_NAMES {
        shown.push_str(", ...");
    }
    shown
}

pub(super) fn uncounted(out: &mut String, reason: &str) {
    let _ = writeln!(
        out,
        "\nThe time spent on small files is not known: {reason}."
    );
}

/// Returns a warning of a gain that the functions replaced by smallfry cannot have brought. One
/// interval in twenty misses the truth.
pub(super) fn doubtful(saved_ns: f64, parts: &[(&str, Part)]) -> Option<String> {
    let own = |(_, part): &(_, Part)| part.native_sync_ns + part.native_async_ns;
    let own = parts.iter().map(own).sum::<u64>() as f64;
    (saved_ns > own * (AT_BEST - 1.0)).then(|| {
        format!(
            "DOUBTFUL: smallfry's functions took {} of a run, too little to have saved {}. The gain is probably chance; --runs 20 tells.",
            text::duration(own),
            text::duration(saved_ns)
        )
    })
}

/// Explains what the table leaves open.
pub(super) fn say_all(out: &mut String, counts: &Counts) {
    let parts = counts.parts();
    let sum = |get: fn(&Part) -> u64| parts.iter().map(|(_, part)| get(part)).sum::<u64>();
    let (calls, native) = (sum(|part| part.calls), sum(|part| part.native));
    let sync = sum(|part| part.sync_ns);
    let of_run = format!(
        "sync calls took {} of the {} of that run{}",
        text::duration(sync as f64),
        text::duration(counts.wall_ns() as f64),
        if counts.threads() > 1 {
            ", all threads together"
        } else {
            ""
        }
    );
    let calls = plural(calls as usize, "call");
    let sentence = if native == 0 {
        format!("smallfry replaces none of the {calls} counted; {of_run}.")
    } else {
        let own = text::duration(sum(|part| part.native_sync_ns) as f64);
        format!(
            "smallfry did {} of the {calls} counted; {of_run}, {own} of it in functions that smallfry replaces.",
            number(native)
        )
    };
    say(out, '-', &sentence);
    for warning in warnings(counts) {
        say(out, '!', &warning);
    }
    children_without(out, counts);
    say(
        out,
        '-',
        "not counted: files that Node's own loaders look up, functions taken from node:fs before smallfry was loaded, programs other than Node.",
    );
}

/// Returns what keeps smallfry from calls, or calls from being counted.
pub(super) fn warnings(counts: &Counts) -> Vec<String> {
    let mut said = Vec::new();
    let left_alone: Vec<_> = counts.left_alone().into_iter().collect();
    if !left_alone.is_empty() {
        said.push(format!(
            "other code had replaced {} before smallfry was loaded; smallfry leaves them alone.",
            left_alone.join(", ")
        ));
    }
    let unknown = counts.unknown();
    if unknown > 0 {
        said.push(format!(
            "{} had not exited when the command ended: the calls are not counted. A process that stays (a daemon) may serve both sides.",
            plural(unknown, "process")
        ));
    }
    said
}

/// Explains that only npm and similar programs loaded smallfry.
pub(super) fn only_launchers(out: &mut String, counts: &Counts) {
    let sentence = format!(
        "only {} loaded smallfry; the programs that it started did not. Either they are not Node.js, or NODE_OPTIONS does not reach them.",
        names(counts)
    );
    say(out, '!', &sentence);
    children_without(out, counts);
    say(
        out,
        '-',
        "try the script's own command without npm, or let the script add to $NODE_OPTIONS instead of replacing it.",
    );
}

/// Warns of processes started with other options, which ran without smallfry on both sides.
fn children_without(out: &mut String, counts: &Counts) {
    let commands: Vec<_> = counts.children_without().into_iter().collect();
    if commands.is_empty() {
        return;
    }
    let shown: Vec<_> = commands
        .iter()
        .take(MAX_NAMES)
        .map(|command| format!("`{command}`"))
        .collect();
    let sentence = format!(
        "started with a NODE_OPTIONS without smallfry, so not loading it: {}{}.",
        shown.join(", "),
        if commands.len() > MAX_NAMES {
            ", ..."
        } else {
            ""
        }
    );
    say(out, '!', &sentence);
}

/// Prints what strace counted of any other program.
pub(super) fn system_calls(out: &mut String, calls: &Result<Summary, String>) {
    let summary = match calls {
        Ok(summary) => summary,
        Err(reason) => {
            let _ = writeln!(
                out,
                "The time that it spends on files is not known: {reason}."
            );
            return;
        }
    };
    let _ = writeln!(
        out,
        "\nTime spent on files, as processor time in the kernel, from one run under strace (which slows it down)"
    );
    let mut table = text::table(&["", "calls", "failed", "time", "mostly"]);
    for row in &summary.rows {
        table.add_row([
            row.part.to_owned(),
            number(row.calls),
            number(row.errors),
            time((row.seconds * 1e9) as u64),
            row.mostly.clone(),
        ]);
    }
    text::put(out, &table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_beyond_what_smallfry_did_is_doubted() {
        let part = Part {
            native_sync_ns: 20_000_000,
            native_async_ns: 10_000_000,
            ..Part::default()
        };
        let parts = [("read whole", part), ("look up", Part::default())];
        for (saved_ns, doubted) in [(200e6, false), (220e6, true)] {
            let mut said = String::new();
            said.extend(doubtful(saved_ns, &parts));
            assert_eq!(said.contains("DOUBTFUL"), doubted, "{said}");
        }
    }
}
