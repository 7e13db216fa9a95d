use crate::common::node_is_here;
use crate::support::{Place, assert_did, cases_of, measured, row_named};
#[cfg(target_os = "linux")]
use crate::support::{durable, flushes, strace_is_here};
use serde_json::Value;

/// A row that flushes less than its name says would be shown as fast.
#[cfg(target_os = "linux")]
#[test]
fn fsync_has_rows_that_flush_what_they_say() {
    if !node_is_here() || !strace_is_here() {
        return;
    }
    let place = Place::in_memory();
    let mut bench = place.quick();
    bench.args(["fsync", "--runs", "1", "--package"]);
    bench.arg(place.package_of(&durable()));
    let parts = [
        "measures fsync",
        "fsync + fsync of directory",
        "x unsynced",
        "what surviving costs, Rust",
        "P99.9",
        "500, ms",
        "500, µs",
        "exact ms",
        "Iterations",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "fsync");
    assert_eq!(cases.len(), 1);
    for (name, [fdatasync, fsync, dir]) in [
        ("Rust std, fsync", [0, 10, 0]),
        ("Rust std, unsynced", [0, 0, 0]),
        ("raw system calls, fdatasync", [10, 0, 0]),
        ("raw system calls, fsync", [0, 10, 0]),
        ("raw system calls, fsync and directory", [0, 10, 10]),
        ("raw system calls, replaced", [0, 10, 10]),
        ("raw system calls, unsynced", [0, 0, 0]),
        ("raw system calls, replaced unsynced", [0, 0, 0]),
        ("smallfry in Rust, Data", [10, 0, 0]),
        ("smallfry in Rust, Full", [0, 10, 10]),
        ("smallfry in Rust, replaced", [0, 10, 10]),
        ("smallfry in Rust, replaced unsynced", [0, 0, 0]),
        ("Node open, write, fsync, close", [0, 10, 0]),
        ("Node writeFileSync, unsynced", [0, 0, 0]),
        ("smallfry data", [10, 0, 0]),
        ("smallfry full", [0, 10, 10]),
        ("smallfry replaced", [0, 10, 10]),
        ("smallfry unsynced", [0, 0, 0]),
    ] {
        let row = row_named(&cases[0], name);
        assert_did(row, 10, 5_000);
        assert_eq!(flushes(row), [fdatasync, fsync, dir, 0, 0], "{name}");
        for run in row["runs"].as_array().unwrap() {
            assert_eq!(run["samples_ns"].as_array().unwrap().len(), 10, "{name}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_row_that_flushes_nothing_is_found_out() {
    if !node_is_here() || !strace_is_here() {
        return;
    }
    let place = Place::new();
    let lies = durable().replace("fs.fsyncSync", "() => {}");
    let mut bench = place.quick();
    bench.args([
        "fsync",
        "--runs",
        "1",
        "--rows",
        "smallfry full",
        "--package",
    ]);
    bench.arg(place.package_of(&lies));
    let json = measured(
        &place,
        &mut bench,
        &["smallfry full was asked to flush every write and did NOT"],
    );
    let row = row_named(&cases_of(&json, "fsync")[0], "smallfry full");
    assert_eq!(flushes(row), [0; 5]);
}

/// The bench names everything missing: options that a package lacks, a peer, strace.
#[test]
fn fsync_says_what_it_cannot_measure() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args(["fsync", "--runs", "1", "--rows", "Rust"]);
    let mut parts = vec!["flushes are not counted: "];
    if cfg!(target_os = "linux") {
        parts.push("strace is not installed");
    }
    let json = measured(&place, &mut bench, &parts);
    let row = row_named(&cases_of(&json, "fsync")[0], "Rust std, fsync");
    assert_did(row, 10, 5_000);
    assert_eq!(row["flushes"], Value::Null);

    if !node_is_here() {
        return;
    }
    let mut bench = place.quick();
    bench.args(["fsync-many", "--runs", "1", "--files", "3", "--package"]);
    bench.arg(place.package());
    let parts = ["this package takes no option `durability`"];
    let json = measured(&place, &mut bench, &parts);
    for case in cases_of(&json, "fsync_many") {
        let rows = case["rows"].as_array().unwrap();
        assert!(
            rows.iter()
                .all(|row| row["implementation"] != "smallfry writeFiles")
        );
    }
}
