//! A table per case, then sentences.

use super::super::prelude::*;
use super::case::{
    ATOMIC, Case, EACH, EACH_MOUNT_ALONE, GIT, JVM_EACH, NODE_EACH, RUST, SYNCFS_THEN_FSYNC,
    SYNCFS_UNKNOWN, promises_less,
};
use crate::bench::runtime::strace::Flushes;
use crate::host::Syncfs;

pub(super) const REPORT: Report<Case> = Report {
    what: "files of ASCII that must all survive a crash of the system, contents and names",
    time: WALL,
    heading: |_, result| {
        let how = if result.case.replaced {
            "each by a new file that takes its name"
        } else {
            "none is there yet"
        };
        match result.case.shape.directories {
            1 => format!("in one directory; {how}"),
            many => format!("in {many} directories; {how}"),
        }
    },
    table,
    notes: |results| {
        let mut cases = results.cases.iter();
        let rows = results.cases.iter().flat_map(|case| &case.rows);
        let has_row = |name: &str| rows.clone().any(|row| row.implementation == name);
        let mut notes = vec![if cases.any(CaseResult::was_watched) {
            "Flushes: fsync, fdatasync and syncfs that strace has seen in a run that was not timed. \
             In turn: how many of them had to be waited for one after the other; being watched slows \
             threads, which can make these more."
        } else {
            "Flushes: not counted, for which strace is needed."
        }];
        let there = NOTES.iter().filter(|(name, _)| has_row(name));
        notes.extend(there.map(|(_, note)| note));
        notes
    },
    sentences: |page, session, result, view| {
        let mut view = *view;
        view.remark = |row| match row.flushes {
            None => String::new(),
            Some(flushes) if flushes.in_turn == 1 => ", 1 flush".to_owned(),
            Some(flushes) => format!(", {} flushes in turn", thousands(flushes.in_turn as i64)),
        };
        view.noise(page);
        view.compare(page, place, &COMPARED);
        best_way(page, &view);
        lone_syncfs(page, session, result);
    },
};

const COMPARED: [&str; 7] = [
    "fsync and directory flush each|smallfry in Rust",
    "Node fsync and directory flush each|smallfry writeFilesSync|smallfry writeFiles",
    "Node concurrent fsyncs|smallfry writeFilesSync|smallfry writeFiles",
    "write-file-atomic sync, NO directory flush|smallfry writeFilesSync",
    "write-file-atomic Promise.all, NO directory flush|smallfry writeFiles",
    "Java force and directory flush each|smallfry writeAll in the JVM",
    "Java concurrent forces|smallfry writeAll in the JVM",
];

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

fn table(page: &mut Page, result: &CaseResult<Case>, view: &View) {
    let headings = "ms, medians|<promise|wall|x one by one (95 %)|flushes|in turn|user|sys";
    view.table(page, headings, |row| {
        let of = &result.rows[row];
        let count = |of: fn(Flushes) -> usize| {
            let count = result.outcomes[row]
                .flushes
                .map(|flushes| of(flushes) as f64);
            or_dash(count, |count| thousands(count as i64))
        };
        let one_by_one = match of.runtime.kind {
            Kind::Node | Kind::Bun | Kind::Deno => NODE_EACH,
            Kind::Jvm => JVM_EACH,
            _ => EACH,
        };
        let [user, sys, _] = view.usage_cells(row);
        vec![
            if promises_less(of) { "WEAKER" } else { "all" }.to_owned(),
            view.median_cell(row),
            view.ratio_cell(row, one_by_one),
            count(|flushes| flushes.all()),
            count(|flushes| flushes.in_turn),
            user,
            sys,
        ]
    });
}

/// Compares smallfry with the fastest of the ways in raw system calls that keep the same promise.
fn best_way(page: &mut Page, view: &View) {
    let Some(own) = view.find("Rust", RUST) else {
        return;
    };
    let best = view.fastest(|index, row| {
        let is_delayed = row.implementation != EACH_MOUNT_ALONE;
        let is_native = row.runtime.kind == Kind::Native;
        is_native && index != own && is_delayed && !promises_less(row)
    });
    let Some((best, takes)) = best else { return };
    if let Some(ratio) = view.ratio(best, own) {
        page.say(format!(
            "the fastest way in raw system calls that promises as much is {}, {}; beside it {RUST}: {}.",
            view.rows[best].label,
            text::duration(takes),
            verdict(ratio, view.noise_of("Rust"))
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
        let row = |name| Row::native(Functions::Raw, name, Style::Sync);
        let rows = [RUST, EACH, "concurrent fsyncs", GIT, EACH_MOUNT_ALONE].map(row);
        let result = CaseResult::of_millis("case", rows.to_vec(), &[1, 9, 3, 1, 1]);
        let mut page = Page::default();
        best_way(&mut page, &View::by(&result, WALL));
        let said = page
            .finish(true)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let expected = "the fastest way in raw system calls that promises as much is concurrent \
                        fsyncs, 3.00 ms; beside it smallfry in Rust: 3.00x as fast (3.00-3.00).";
        assert!(said.contains(expected), "{said}");
    }
}
