use crate::common::node_is_here;
use crate::support::{
    IN_RUST, PACKAGE, Place, SCRIPTS, assert_did, assert_fails_saying, cases_of, is_empty,
    measured, row_named,
};

/// The scenario does not run unasked, for lack of time in a minute.
#[test]
fn read_many_runs_when_named_and_reads_every_file_in_every_row() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["read-many", "--runs", "1", "--files", "50", "--package"]);
    bench.arg(place.package());
    let parts = [
        "measures read-many",
        "read-many on the disk as it is",
        "all kept as Buffers",
        "all kept as strings",
        "whole processes that list the dir",
        "how late the event loop turns",
        "x Node sync",
        "of raw",
        "peak MiB",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "read_many");
    let kinds: Vec<_> = cases
        .iter()
        .map(|case| (case["case"]["kept"].as_str(), &case["case"]["watch"]))
        .collect();
    let expected = [
        (Some("buffer"), false),
        (Some("string"), false),
        (None, false),
        (Some("buffer"), true),
    ];
    assert_eq!(kinds.len(), expected.len());
    for (case, (kept, delay)) in cases.iter().zip(expected) {
        assert_eq!(case["case"]["kept"].as_str(), kept);
        let watch = if delay { "event-loop" } else { "nothing" };
        assert_eq!(case["case"]["watch"], watch);
        let names: Vec<&str> = if delay {
            SCRIPTS
                .into_iter()
                .filter(|name| !name.ends_with("sync"))
                .collect()
        } else {
            SCRIPTS.into_iter().chain(IN_RUST).collect()
        };
        for name in names {
            let row = row_named(case, name);
            assert_did(row, 50, 500_000);
            let runs = row["runs"].as_array().unwrap();
            assert_eq!(runs.len(), 1, "{name}");
            for run in runs {
                assert_eq!(run["gaps_us"].is_array(), delay, "{name}");
            }
        }
    }
    row_named(&cases[0], "raw system calls, kept");
}

/// A run that may not drop the cache, or whose file system has no other place, must not be labelled
/// cold.
#[test]
fn a_case_labelled_cold_has_been_looked_up_in_the_page_cache() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args([
        "read-many",
        "--runs",
        "1",
        "--files",
        "20",
        "--cells",
        "20x10kB discarded cold",
    ]);
    let json = measured(&place, &mut bench, &["cache "]);
    let case = &cases_of(&json, "read_many")[0];
    assert_eq!(case["case"]["cold"], true);
    assert!(case["rows"].as_array().unwrap().len() > 4);
    for row in case["rows"].as_array().unwrap() {
        assert_did(row, 20, 200_000);
        let cached = row["runs"][0]["cached"].as_f64();
        if case["not_cold"].is_null() {
            assert!(cached.unwrap() <= 0.02, "{row}");
        }
    }
}

/// A row that is fast because it reads something else must not be shown as fast.
#[test]
fn a_row_that_reads_the_wrong_bytes_is_shown_as_failed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of(&format!(
        "const fs = require('node:fs'); const wrong = Buffer.alloc(10_000, 'x'); \
         module.exports = {{ ...{PACKAGE}, readFileSync: (path, encoding) => (encoding ? wrong.toString() : wrong), \
         promises: {{ ...fs.promises, readFile: async () => '' }} }};"
    ));
    let mut bench = place.quick();
    bench
        .args([
            "read-many",
            "--runs",
            "1",
            "--rows",
            "smallfry",
            "--package",
        ])
        .arg(&dir);
    let parts = [
        "FAILED  300x10kB kept Buffer warm, smallfry sync: cannot run: read",
        "FAILED  300x10kB kept string warm, smallfry sync",
        "FAILED  300x10kB kept string warm, smallfry Promise.all",
        "FAILED  300x10kB discarded warm, smallfry Promise.all",
        "it read 0 bytes of 300 files instead of 3000000 bytes of 300",
    ];
    assert_fails_saying(&mut bench, &parts);
    assert!(is_empty(&place.disk()));
}

/// The rounds after the first ones count, and each reads all files.
#[test]
fn steady_cases_read_every_file_in_every_round() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["read-many", "--cells", "steady", "--runs", "1"]);
    bench.args(["--files", "50", "--package"]);
    bench.arg(place.package());
    let json = measured(&place, &mut bench, &["again and again", "x Promise.all"]);
    let cases = cases_of(&json, "read_many");
    assert_eq!(cases.len(), 2);
    for (case, kept) in cases.iter().zip(["buffer", "string"]) {
        assert_eq!(case["case"]["kept"], kept);
        assert_eq!(case["case"]["watch"], "steady");
        for name in SCRIPTS.iter().filter(|name| !name.ends_with("sync")) {
            assert_did(row_named(case, name), 50, 500_000);
        }
    }
}
