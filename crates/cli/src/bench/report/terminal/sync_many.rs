//! The scenario `sync-many`: a table per case, then sentences.

use super::many::{self, failures};
use super::runs::View;
use super::{Sentences, text, verdict};
use crate::bench::host::Syncfs;
use crate::bench::runtime::strace::Flushes;
use crate::bench::runtime::{Row, Runtime};
use crate::bench::scenario::many::CaseResult;
use crate::bench::scenario::sync_many::{
    ATOMIC, ATOMIC_ALL, BULK, BULK_JVM, BULK_SYNC, Case, EACH, EACH_AGAIN, GIT, JVM_EACH,
    MOUNT_ALONE, NODE_EACH, RUST, Results, SYNCFS_THEN_FSYNC, SYNCFS_UNKNOWN, promises_less,
};
use crate::bench::session::Session;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let title = format!(
        "sync-many on {}: files of ASCII that must all survive a crash of the system, contents and names; {} rounds, a fresh \
         process for every run",
        session.disk_words(),
        results.rounds
    );
    let _ = writeln!(out, "\n{}", text::wrap("", &title, text::width()));
    for result in &results.cases {
        table(out, session, result);
    }
    failures(out, &results.cases);
    for note in notes(results) {
        let _ = writeln!(out, "{}", text::wrap("  ", &note, text::width()));
    }
    for result in &results.cases {
        said.about(format!("sync-many, {}", result.case));
        sentences(said, session, result, results.rounds);
    }
}

fn table(out: &mut String, session: &Session, result: &CaseResult<Case>) {
    let view = many::view(session, result);
    let Case {
        directories,
        replaced,
        ..
    } = result.case;
    let how = if replaced {
        "each by a new file that takes its name"
    } else {
        "none is there yet"
    };
    let place = match directories {
        1 => "one directory".to_owned(),
        many => format!("{many} directories"),
    };
    let title = format!(
        "{}: in {place}; {how}; {}",
        result.case,
        session.disk_words()
    );
    let _ = writeln!(out, "\n{}", text::wrap("  ", &title, text::width()));
    let mut table = text::table(
        &[
            "ms, medians",
            "promise",
            "wall",
            "x one by one (95 %)",
            "flushes",
            "in turn",
            "user",
            "sys",
        ],
        2,
    );
    for (row, label) in view.labels() {
        let of = &result.rows[row];
        let baseline = baseline(&view, of).filter(|baseline| *baseline != row);
        let flushes = result.outcomes[row].flushes;
        let count = |of: fn(Flushes) -> usize| {
            flushes.map_or_else(
                || "-".to_owned(),
                |flushes| text::thousands(of(flushes) as i64),
            )
        };
        let [user, sys, _] = view.usage_cells(row, ());
        table.add_row([
            label.to_owned(),
            if promises_less(of) { "WEAKER" } else { "all" }.to_owned(),
            view.median_cell(row, ()),
            text::ratio(baseline.and_then(|baseline| view.ratio(baseline, row, ()))),
            count(|flushes| flushes.all()),
            count(|flushes| flushes.in_turn),
            user,
            sys,
        ]);
    }
    text::put(out, &table);
}

/// One by one, in the row's own runtime.
fn baseline(view: &View<CaseResult<Case>>, row: &Row) -> Option<usize> {
    let name = match row.runtime {
        Runtime::Node { .. } => NODE_EACH,
        Runtime::Jvm(_) => JVM_EACH,
        Runtime::Native | Runtime::Norad(_) => EACH,
    };
    view.find(row.runtime.name(), name)
}

fn notes(results: &Results) -> Vec<String> {
    let has = |name: &str| {
        let mut rows = results.cases.iter().flat_map(|case| &case.rows);
        rows.any(|row| row.implementation == name)
    };
    let watched = results
        .cases
        .iter()
        .any(|case| case.outcomes.iter().any(|row| row.flushes.is_some()));
    let mut notes = Vec::new();
    notes.push(if watched {
        "Flushes: fsync, fdatasync and syncfs that strace has seen in a run that was not timed. In turn: how many of them had to be \
         waited for one after the other; being watched slows threads, which can make these more."
            .to_owned()
    } else {
        "Flushes: not counted, for which strace is needed.".to_owned()
    });
    for (name, note) in [
        (
            GIT,
            "git's way: the device takes each file's pages, then one other file is flushed, which empties the device's cache. That \
             names and sizes are there after it nothing promises.",
        ),
        (
            SYNCFS_THEN_FSYNC,
            "syncfs, then fsync: ext4 without a journal empties the device's cache before it writes the last blocks, so a directory \
             is flushed after each syncfs.",
        ),
        (
            SYNCFS_UNKNOWN,
            "syncfs: on this kind of file system nobody promises that it waits for the disk.",
        ),
        (
            ATOMIC,
            "write-file-atomic flushes each file and no directory: after a crash a name may be missing, or be that of the old \
             contents. It replaces new files as well.",
        ),
    ] {
        if has(name) {
            notes.push(note.to_owned());
        }
    }
    notes
}

fn sentences(said: &mut Sentences, session: &Session, result: &CaseResult<Case>, rounds: usize) {
    let view = many::view(session, result);
    if let (Some(baseline), Some(again)) = (view.find("Rust", EACH), view.find("Rust", EACH_AGAIN))
    {
        said.noise("one by one", view.ratio(baseline, again, ()), rounds);
    }
    ours(said, &view, "Rust", EACH, &[RUST]);
    best_way(said, &view);
    lone_syncfs(said, session, result);
    for node in &session.nodes {
        let name = node.runtime.name();
        ours(said, &view, name, NODE_EACH, &[BULK_SYNC, BULK]);
        let words = format!("on {name}, beside what promises less");
        let pairs = [(ATOMIC, BULK_SYNC), (ATOMIC_ALL, BULK)];
        view.costs(said, name, &[((), &words)], &pairs);
    }
    if let Some(jvm) = &session.jvm {
        ours(said, &view, jvm.name(), JVM_EACH, &[BULK_JVM]);
    }
}

/// smallfry beside one by one, and how often each waits.
fn ours(
    said: &mut Sentences,
    view: &View<CaseResult<Case>>,
    runtime: &str,
    each: &str,
    names: &[&str],
) {
    let Some(each) = view.find(runtime, each) else {
        return;
    };
    let waits = |row: usize| {
        let count = view.results.outcomes[row]
            .flushes
            .map(|flushes| flushes.in_turn);
        match count {
            None => String::new(),
            Some(1) => ", 1 flush".to_owned(),
            Some(count) => format!(", {} flushes in turn", text::thousands(count as i64)),
        }
    };
    let Some(takes) = view.median(each, ()) else {
        return;
    };
    let ours: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let row = view.find(runtime, name)?;
            let takes = text::duration(view.median(row, ())?);
            let beside = view.ratio(each, row, ());
            let beside = beside.map_or_else(String::new, |ratio| format!(", {}", verdict(ratio)));
            Some(format!("{name} {takes}{}{beside}", waits(row)))
        })
        .collect();
    if !ours.is_empty() {
        said.say(format!(
            "{runtime}, one by one {}{}; {}.",
            text::duration(takes),
            waits(each),
            ours.join("; ")
        ));
    }
}

/// smallfry beside the fastest of the ways in bare system calls that keep the same promise.
fn best_way(said: &mut Sentences, view: &View<CaseResult<Case>>) {
    let Some(own) = view.find("Rust", RUST) else {
        return;
    };
    let is_way = |row: &usize| {
        let of = &view.results.rows[*row];
        let is_delayed = of.implementation != MOUNT_ALONE;
        matches!(of.runtime, Runtime::Native) && *row != own && is_delayed && !promises_less(of)
    };
    let best = (0..view.results.rows.len())
        .filter(is_way)
        .filter_map(|row| Some((row, view.median(row, ())?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, takes)) = best else { return };
    if let Some(ratio) = view.ratio(best, own, ()) {
        said.say(format!(
            "the fastest way in bare system calls that promises as much is {}, {}; beside it {RUST}: {}.",
            view.results.rows[best].label,
            text::duration(takes),
            verdict(ratio)
        ));
    }
}

/// Where `syncfs` is a barrier only with a flush after it.
fn lone_syncfs(said: &mut Sentences, session: &Session, result: &CaseResult<Case>) {
    if session.directories.profile().is_some()
        || session.host.file_system.syncfs() != Syncfs::BarrierWithFsync
    {
        return;
    }
    for (row, outcome) in result.rows.iter().zip(&result.outcomes) {
        let is_alone = |flushes: Flushes| {
            flushes.syncfs > 0 && flushes.fsync + flushes.fsync_directory < flushes.syncfs
        };
        if outcome.flushes.is_some_and(is_alone) {
            said.warn(format!(
                "{} called syncfs and flushed nothing after it, which this file system needs: what it promises it does NOT keep.",
                row.label
            ));
        }
    }
}
