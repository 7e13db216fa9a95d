#[cfg(target_os = "linux")]
use crate::common::can_mount;
use crate::common::node_is_here;
use crate::support::{Place, assert_did, cases_of, durable, measured, row_named};
#[cfg(target_os = "linux")]
use crate::support::{flushes, is_mounted_below, strace_is_here};
use serde_json::Value;

#[cfg(target_os = "linux")]
#[test]
fn fsync_many_writes_every_file_in_every_row_and_counts_flushes() {
    if !node_is_here() || !strace_is_here() {
        return;
    }
    let place = Place::in_memory();
    let mut bench = place.quick();
    bench.args([
        "fsync-many",
        "--runs",
        "1",
        "--files",
        "210",
        "--size",
        "123",
    ]);
    bench.arg("--package").arg(place.package_of(&durable()));
    let parts = [
        "measures fsync-many",
        "x one by one",
        "in 2 directories",
        "WEAKER",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "fsync_many");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let replaced = case["case"]["replaced"].as_bool().unwrap();
        for (name, expected) in [
            ("fsync and directory flush each", [0, 210, 210, 0, 0]),
            ("concurrent fsyncs", [0, 210, 2, 0, 0]),
            ("writeout, then fsync", [0, 210, 2, 0, 210]),
            ("git's way, WEAKER promise", [0, 1, 0, 0, 210]),
            ("Node fsync and directory flush each", [0, 210, 210, 0, 0]),
            ("smallfry writeFilesSync", [0, 210, 210, 0, 0]),
            ("smallfry writeFiles", [0, 210, 210, 0, 0]),
        ] {
            let row = row_named(case, name);
            assert_did(row, 210, 210 * 123);
            assert_eq!(flushes(row), expected, "{name}");
        }
        let each = row_named(case, "fsync and directory flush each");
        assert_eq!(each["flushes"]["in_turn"], 420);
        let rows = case["rows"].as_array().unwrap();
        let is_syncfs = |row: &&Value| {
            let name = row["implementation"].as_str().unwrap();
            name.starts_with("syncfs")
        };
        let syncfs = rows.iter().find(is_syncfs).unwrap();
        assert_did(syncfs, 210, 210 * 123);
        assert_eq!(flushes(syncfs)[3], if replaced { 2 } else { 1 });
        let ours = row_named(case, "smallfry in Rust");
        assert_did(ours, 210, 210 * 123);
        assert!(flushes(ours)[..4].iter().sum::<u64>() > 0);
    }
}

/// `syncfs` of a simulated disk flushes nothing.
#[cfg(target_os = "linux")]
#[test]
fn fsync_many_on_a_slow_disk_does_not_trust_syncfs() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["fsync-many", "--runs", "1"]);
    bench.args(["--disk", "slow-flush", "--files", "4"]);
    let json = measured(&place, &mut bench, &["syncfs, NOT known to flush here"]);
    for case in cases_of(&json, "fsync_many") {
        for name in ["fsync and directory flush each", "smallfry in Rust"] {
            assert_did(row_named(case, name), 4, 4_000);
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}
