//! Power failures, simulated on a mount that records all operations. Every missing flush makes a
//! state possible in which acknowledged data are lost, but a real disk shows that state once in a
//! thousand crashes. The record gives any number of them. There are two models: one orders names as
//! a journal does, the other promises no more than POSIX.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::skip;
use common::unix::is_root;
use common::workload::{Workload, judge, prepare, run};
use smallfry::Durability::{Data, Full};
use smallfry_slowfs::crash::{ACKNOWLEDGEMENT, Crash, Kind, Log, Model};
use smallfry_slowfs::{Mount, Options, Profile};

/// Crashes for each model: `SMALLFRY_TEST_CRASHES`.
fn crashes() -> u64 {
    let count = std::env::var("SMALLFRY_TEST_CRASHES");
    count.map_or(300, |count| count.parse().unwrap())
}

/// Records programs with these levels.
fn record(test: &str, workload: Workload) -> Option<Log> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip(test, "it needs root and /dev/fuse");
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    let [real, shown] = ["real", "shown"].map(|name| root.path().join(name));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&shown).unwrap();
    prepare(&real);
    let mut options = Options::new(Profile::none());
    options.record = true;
    let mount = Mount::new(&real, Some(&shown), &options).unwrap();
    run(mount.path(), workload, |told| {
        // No file has such a name, and looking it up is recorded.
        let path = mount.path().join(format!("{ACKNOWLEDGEMENT}{told}"));
        assert!(fs::symlink_metadata(path).is_err());
    });
    mount.log()
}

/// Returns the promise that a crash breaks, as an error.
fn broken_by(log: &Log, crash: Crash) -> Result<(), String> {
    let survivors = log.crash(crash);
    let told = survivors.acknowledged();
    let told = told.iter().map(|told| told.to_str().unwrap());
    judge(told, |file| survivors.read(Path::new(file)).ok())
}

/// Crashes at points all over the log: at every point, if there are enough crashes.
fn all_crashes(log: &Log, model: Model, count: u64) -> impl Iterator<Item = Crash> {
    let points = log.len() as u64 + 1;
    (0..count).map(move |number| Crash {
        point: if count >= points {
            (number % points) as usize
        } else {
            (number * points / count) as usize
        },
        model,
        seed: number,
    })
}

#[test]
fn nothing_acknowledged_is_lost() {
    let workload = Workload {
        levels: &[Full, Data],
        rounds: 3,
    };
    let Some(log) = record("nothing_acknowledged_is_lost", workload) else {
        return;
    };
    for model in Model::ALL {
        let mut broken = 0;
        for crash in all_crashes(&log, model, crashes()) {
            if let Err(what) = broken_by(&log, crash) {
                broken += 1;
                println!("{crash}: {what}");
            }
        }
        let (crashes, length) = (crashes(), log.len());
        println!("{model}: {crashes} crashes over {length} operations, {broken} break a promise");
        assert_eq!(broken, 0);
    }
}

/// A kind of flush that is removed, and the promises that then break in each model.
struct Missing {
    name: &'static str,
    forgets: fn(&str, &Kind, bool) -> bool,
    model: Model,
    /// The first always breaks, the others perhaps.
    expected: &'static [&'static str],
}

#[test]
fn each_missing_flush_breaks_a_promise_of_its_own() {
    let cases = [
        Missing {
            name: "of a temporary",
            forgets: |name, kind, _| *kind == Kind::File && name.starts_with(['r', 'w']),
            model: Model::Ordered,
            expected: &["a replaced file is not whole"],
        },
        Missing {
            name: "of a new file",
            forgets: |name, kind, _| *kind == Kind::File && name.starts_with('n'),
            model: Model::Ordered,
            expected: &["a new file is not whole"],
        },
        Missing {
            name: "of a file in place",
            forgets: |name, kind, _| *kind == Kind::File && name.starts_with('p'),
            model: Model::Ordered,
            expected: &["a file does not hold what was written to it"],
        },
        Missing {
            name: "of a file that is written over",
            forgets: |name, kind, _| *kind == Kind::File && name.starts_with('o'),
            model: Model::Ordered,
            expected: &["a file does not hold what was written to it"],
        },
        Missing {
            name: "of a file that is added to",
            forgets: |name, kind, _| *kind == Kind::File && name.starts_with('a'),
            model: Model::Ordered,
            expected: &["an append is lost"],
        },
        Missing {
            name: "of a file that is added to, of the contents only",
            forgets: |name, kind, data_only| {
                *kind == Kind::File && name.starts_with('a') && data_only
            },
            model: Model::Weak,
            expected: &["an append is lost"],
        },
        Missing {
            name: "of all directories",
            forgets: |_, kind, _| *kind == Kind::Directory,
            model: Model::Weak,
            expected: &[
                "a file that was written in full is gone",
                "a replaced file has an older state",
                "a file that was added to as a whole is not whole, or older",
            ],
        },
        Missing {
            name: "of directories that were made",
            forgets: |name, kind, _| *kind == Kind::Directory && name == "x",
            model: Model::Weak,
            expected: &["a file that was written in full is gone"],
        },
        Missing {
            name: "of directories above those",
            forgets: |name, kind, _| *kind == Kind::Directory && name.starts_with("made"),
            model: Model::Weak,
            expected: &["a file that was written in full is gone"],
        },
        Missing {
            name: "of directories of replaced files",
            forgets: |name, kind, _| *kind == Kind::Directory && name.starts_with("batch"),
            model: Model::Weak,
            expected: &[
                // Directories were made there, too.
                "a file that was written in full is gone",
                "a replaced file has an older state",
            ],
        },
    ];
    let workload = Workload {
        levels: &[Full, Data],
        rounds: 2,
    };
    let Some(log) = record("each_flush_is_missed", workload) else {
        return;
    };
    for case in cases {
        let without = log.without_flushes(|name, kind, data_only| {
            (case.forgets)(&name.to_string_lossy(), kind, data_only)
        });
        let broken =
            all_crashes(&log, case.model, 150).filter_map(|crash| broken_by(&without, crash).err());
        // The broken promise, without the file.
        let found: BTreeSet<String> = broken
            .map(|what| what.split(':').next().unwrap().to_owned())
            .collect();
        let found: Vec<_> = found.iter().map(String::as_str).collect();
        let is_known = |what: &&str| case.expected.contains(what);
        assert!(
            found.contains(&case.expected[0]) && found.iter().all(is_known),
            "without the flush {}: {found:?}, not {:?}",
            case.name,
            case.expected
        );
    }
}
