//! A table per case, then sentences.

use super::super::prelude::*;
use super::{
    ATOMIC, ATOMIC_ALL, BULK, BULK_JVM, BULK_SYNC, Case, EACH, EACH_AA, GIT, JVM_EACH, MOUNT_ALONE,
    NODE_EACH, RUST, SYNCFS_THEN_FSYNC, SYNCFS_UNKNOWN, promises_less,
};
use crate::bench::host::Syncfs;
use crate::bench::report::page::verdict;
use crate::bench::runtime::Kind;
use crate::bench::runtime::strace::Flushes;

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.title(&format!(
        "fsync-many on {}: files of ASCII that must all survive a crash of the system, contents and \
         names; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        table(page, session, result);
    }
    page.failures(results);
    page.note(if results.cases.iter().any(CaseResult::was_watched) {
        "Flushes: fsync, fdatasync and syncfs that strace has seen in a run that was not timed. In \
             turn: how many of them had to be waited for one after the other; being watched slows \
             threads, which can make these more."
    } else {
        "Flushes: not counted, for which strace is needed."
    });
    for (name, note) in NOTES {
        if results.cases.iter().any(|case| case.has_row(name)) {
            page.note(note);
        }
    }
    for result in &results.cases {
        page.about(format!("fsync-many, {}", result.case));
        sentences(page, session, result, results.rounds);
    }
}

/// Notes on rows, where there are such rows.
const NOTES: [(&str, &str); 4] = [
    (
        GIT,
        "git's way: the device takes each file's pages, then one other file is flushed, which empties \
         the device's cache. Nothing promises that names and sizes are there after it.",
    ),
    (
        SYNCFS_THEN_FSYNC,
        "syncfs, then fsync: ext4 without a journal empties the device's cache before it writes the \
         last blocks, so a directory is flushed after each syncfs.",
    ),
    (
        SYNCFS_UNKNOWN,
        "syncfs: on this kind of file system nothing promises that it waits for the disk.",
    ),
    (
        ATOMIC,
        "write-file-atomic flushes each file and no directory: after a crash a name may be missing, or \
         be that of the old contents. It replaces new files as well.",
    ),
];

fn table(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
    let view = View::of(session, result);
    let how = if result.case.replaced {
        "each by a new file that takes its name"
    } else {
        "none is there yet"
    };
    let place = match result.case.directories {
        1 => "one directory".to_owned(),
        many => format!("{many} directories"),
    };
    let disk = session.disk_words();
    page.heading(&format!("{}: in {place}; {how}; {disk}", result.case));
    let lines = view.labels().map(|(row, label)| {
        let of = &result.rows[row];
        let baseline = baseline(&view, of).filter(|baseline| *baseline != row);
        let flushes = result.outcomes[row].flushes;
        let count = |of: fn(Flushes) -> usize| {
            let count = flushes.map(|flushes| of(flushes) as f64);
            or_dash(count, |count| thousands(count as i64))
        };
        let [user, sys, _] = view.usage_cells(row);
        let promise = if promises_less(of) { "WEAKER" } else { "all" };
        vec![
            label.to_owned(),
            promise.to_owned(),
            view.median_cell(row),
            text::ratio(baseline.and_then(|baseline| view.ratio(baseline, row))),
            count(|flushes| flushes.all()),
            count(|flushes| flushes.in_turn),
            user,
            sys,
        ]
    });
    page.table(
        "ms, medians|promise|wall|x one by one (95 %)|flushes|in turn|user|sys",
        2,
        lines,
    );
}

/// Finds the row that goes one by one in the row's own runtime.
fn baseline(view: &View, row: &Row) -> Option<usize> {
    let name = match row.runtime.kind {
        Kind::Node | Kind::Bun | Kind::Deno => NODE_EACH,
        Kind::Jvm => JVM_EACH,
        Kind::Native | Kind::Norad => EACH,
    };
    view.find(row.runtime.name(), name)
}

fn sentences(page: &mut Page, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = View::of(session, result);
    view.noise(page, "Rust", [EACH, EACH_AA], "one by one", rounds);
    ours(page, &view, "Rust", EACH, &[RUST]);
    best_way(page, &view);
    lone_syncfs(page, session, result);
    for node in &session.nodes {
        let name = node.runtime.name();
        ours(page, &view, name, NODE_EACH, &[BULK_SYNC, BULK]);
        let words = format!("on {name}, beside what promises less");
        let pairs = [(ATOMIC, BULK_SYNC), (ATOMIC_ALL, BULK)];
        view.costs(page, name, &words, &pairs);
    }
    if let Some(jvm) = &session.jvm {
        ours(page, &view, jvm.name(), JVM_EACH, &[BULK_JVM]);
    }
}

/// Compares smallfry with one by one, and says how often each waits.
fn ours(page: &mut Page, view: &View, runtime: &str, each: &str, names: &[&str]) {
    let waits = |row: usize| match view.outcomes[row].flushes {
        None => String::new(),
        Some(flushes) if flushes.in_turn == 1 => ", 1 flush".to_owned(),
        Some(flushes) => format!(", {} flushes in turn", thousands(flushes.in_turn as i64)),
    };
    let Some(each) = view.find(runtime, each) else {
        return;
    };
    let Some(takes) = view.median(each) else {
        return;
    };
    let ours = names.iter().filter_map(|name| {
        let row = view.find(runtime, name)?;
        let takes = text::duration(view.median(row)?);
        let beside = view.ratio(each, row);
        let beside = beside.map_or_else(String::new, |ratio| format!(", {}", verdict(ratio)));
        Some(format!("{name} {takes}{}{beside}", waits(row)))
    });
    let ours: Vec<String> = ours.collect();
    if !ours.is_empty() {
        let (takes, waits, ours) = (text::duration(takes), waits(each), ours.join("; "));
        page.say(format!("{runtime}, one by one {takes}{waits}; {ours}."));
    }
}

/// Compares smallfry with the fastest of the ways in raw system calls that keep the same promise.
fn best_way(page: &mut Page, view: &View) {
    let Some(own) = view.find("Rust", RUST) else {
        return;
    };
    let best = view.fastest(|index, row| {
        let is_delayed = row.implementation != MOUNT_ALONE;
        let is_native = row.runtime.kind == Kind::Native;
        is_native && index != own && is_delayed && !promises_less(row)
    });
    let Some((best, takes)) = best else { return };
    if let Some(ratio) = view.ratio(best, own) {
        page.say(format!(
            "the fastest way in raw system calls that promises as much is {}, {}; beside it {RUST}: {}.",
            view.rows[best].label,
            text::duration(takes),
            verdict(ratio)
        ));
    }
}

/// Warns of a lone syncfs where it is a barrier only with a flush after it.
fn lone_syncfs(page: &mut Page, session: &Session, result: &CaseResult<Case>) {
    let is_slow = session.directories.profile().is_some();
    if is_slow || session.host.file_system.syncfs() != Syncfs::BarrierWithFsync {
        return;
    }
    let is_alone = |flushes: Flushes| {
        flushes.syncfs > 0 && flushes.fsync + flushes.fsync_directory < flushes.syncfs
    };
    for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
        if outcome.flushes.is_some_and(is_alone) {
            page.warn(format!(
                "{} called syncfs and flushed nothing after it, which this file system needs: what it \
                 promises it does NOT keep.",
                row.label
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallfry_is_compared_with_the_fastest_way_that_promises_as_much() {
        let case = Case {
            files: 1,
            bytes_per_file: 1,
            directories: 1,
            replaced: false,
        };
        let row = |name| Row::native(Functions::Raw, name, Style::Sync);
        let rows = [RUST, EACH, "concurrent fsyncs", GIT, MOUNT_ALONE].map(row);
        let result = CaseResult::of_millis(case, rows.to_vec(), &[1, 9, 3, 1, 1]);
        let mut page = Page::default();
        best_way(
            &mut page,
            &View::by(1, &result, |run, _| Some(run.usage.wall_ns as f64)),
        );
        let said = page
            .finish()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let expected = "the fastest way in raw system calls that promises as much is concurrent \
                        fsyncs, 3.00 ms; beside it smallfry in Rust: 3.00x as fast (3.00-3.00).";
        assert!(said.contains(expected), "{said}");
    }
}
