//! `smallfry bench` as a user runs it. What it measures is not looked at, only how it behaves: that it says what it does,
//! that its file is what its documentation says, and above all that whatever happens nothing is left behind. A bench
//! that litters the disk it measures, or leaves processes running on it, falsifies every later one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{assert_one_line, node_is_here};
#[cfg(target_os = "linux")]
use common::{can_mount, is_running, skip_unless};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// A directory to measure in and a small source tree, both gone with it.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("disk")).unwrap();
        let tree = root.path().join("tree");
        std::fs::create_dir_all(tree.join("inner/deep")).unwrap();
        std::fs::write(tree.join("package.json"), r#"{"type":"module"}"#).unwrap();
        std::fs::write(tree.join("inner/package.json"), r#"{"type":"commonjs"}"#).unwrap();
        for index in 0..20 {
            std::fs::write(
                tree.join(format!("inner/deep/{index}.js")),
                "line\r\nна́звание €\r\n",
            )
            .unwrap();
        }
        // Not UTF-8: every runtime has to put U+FFFD in the same places.
        std::fs::write(
            tree.join("inner/broken.js"),
            b"a\xff\xe2\x82 \xf0\x9f b\r\n",
        )
        .unwrap();
        Self { root }
    }

    fn disk(&self) -> PathBuf {
        self.root.path().join("disk")
    }

    fn bench(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command
            .arg("bench")
            .arg("--tree")
            .arg(self.root.path().join("tree"));
        command
            .env_remove("CI")
            .env_remove("SMALLFRY_NODE_PACKAGE")
            .stdin(Stdio::null());
        command
    }

    fn quick(&self) -> Command {
        let mut command = self.bench();
        command.arg("--quick").arg("--dir").arg(self.disk());
        command
    }

    /// A package with the functions of node:fs, and bulk ones made of them: what the bench needs, without building it.
    fn package(&self) -> PathBuf {
        self.package_of(&format!("module.exports = {PACKAGE};"))
    }

    fn package_of(&self, script: &str) -> PathBuf {
        let dir = self.root.path().join("package");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(
            dir.join("package.json"),
            r#"{"name":"smallfry","main":"index.js"}"#,
        )
        .unwrap();
        std::fs::write(dir.join("index.js"), script).unwrap();
        dir
    }

    /// An executable that runs `script` under sh.
    #[cfg(unix)]
    fn program(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.root.path().join("fake-node");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

const PACKAGE: &str = "{
    ...require('node:fs'),
    readFilesSync(paths, options) { return paths.map((path) => this.readFileSync(path, options)); },
    readFiles(paths, options) { return Promise.all(paths.map((path) => this.promises.readFile(path, options))); },
    writeFilesSync(entries) { for (const [path, data] of entries) this.writeFileSync(path, data); },
    writeFiles(entries) { return Promise.all(entries.map(([path, data]) => this.promises.writeFile(path, data))); },
}";

/// The same with the option `durability`, in the plainest way.
const DURABLE: &str = "
    const fs = require('node:fs');
    const { dirname } = require('node:path');
    const flush = (path, call) => {
        const fd = fs.openSync(path, 'r');
        call(fd);
        fs.closeSync(fd);
    };
    const writeFileSync = (path, data, options) => {
        const { durability, replace } = Object(options);
        if (durability === undefined) return fs.writeFileSync(path, data, options);
        if (!['none', 'data', 'full'].includes(durability)) throw new TypeError('no such durability');
        const temporary = replace ? `${path}.test` : path;
        fs.writeFileSync(temporary, data);
        if (durability === 'data') flush(temporary, fs.fdatasyncSync);
        if (durability === 'full') flush(temporary, fs.fsyncSync);
        if (replace) fs.renameSync(temporary, path);
        if (durability === 'full') flush(dirname(path), fs.fsyncSync);
    };
    const writeFilesSync = (entries, options) => {
        for (const [path, data] of entries) writeFileSync(path, data, options);
    };
    const promises = { ...fs.promises, writeFile: async (...all) =>
        (typeof all[0] === 'string' ? writeFileSync(...all) : fs.promises.writeFile(...all)) };
";

/// A package that writes durably.
fn durable() -> String {
    format!(
        "{DURABLE} module.exports = {{ ...{PACKAGE}, writeFileSync, writeFilesSync, promises, \
         writeFiles: async (...all) => writeFilesSync(...all) }};"
    )
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().next().is_none()
}

/// It succeeds, and says all `parts`.
fn assert_says(bench: &mut Command, parts: &[&str]) {
    assert_ends_saying(bench, true, parts);
}

/// It measures what it can, says all `parts`, and does not succeed.
fn assert_fails_saying(bench: &mut Command, parts: &[&str]) {
    assert_ends_saying(bench, false, parts);
}

fn assert_ends_saying(bench: &mut Command, success: bool, parts: &[&str]) {
    let output = bench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), success, "{said}{complaints}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
}

/// Of a scenario or case in the JSON file.
fn row_named<'a>(within: &'a Value, name: &str) -> &'a Value {
    let rows = within["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["implementation"] == name)
        .unwrap_or_else(|| panic!("no row {name}"))
}

/// Of a run of `build`. Functions that write whole files close in them, and have no phase for that.
fn assert_phases(run: &Value, tells_closing_apart: bool) {
    let phases = run["phases"].as_array().unwrap();
    let names: Vec<_> = phases
        .iter()
        .map(|phase| phase[0].as_str().unwrap())
        .collect();
    let mut expected = vec![
        "walk",
        "type",
        "read",
        "transform",
        "write",
        "close",
        "publish",
    ];
    expected.retain(|name| tells_closing_apart || *name != "close");
    assert_eq!(names, expected);
}

#[test]
fn a_quick_run_writes_its_samples_and_leaves_nothing() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let file = place.root.path().join("results.json");
    let mut bench = place.quick();
    bench.arg("--package").arg(place.package());
    bench.arg("--json").arg(&file);
    assert_says(
        &mut bench,
        &["measures build, write-string", "In words", "Next: "],
    );
    assert!(is_empty(&place.disk()));

    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["schema"], "smallfry-bench/1");
    assert_eq!(json["disk"], "real");
    assert_eq!(json["build"]["files"], 23);
    for name in [
        "Node sync",
        "Node sync again",
        "Node Promise.all",
        "smallfry sync",
        "smallfry bulk sync",
        "smallfry bulk",
        "Rust std",
        "smallfry in Rust",
        "smallfry bulk in Rust",
    ] {
        let row = row_named(&json["build"], name);
        assert_eq!(row["error"], Value::Null, "{name}");
        let runs = row["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        for run in runs {
            assert_phases(run, ["Rust std", "smallfry in Rust"].contains(&name));
        }
    }
    let cells = json["write_string"]["cells"].as_array().unwrap();
    assert!(!cells.is_empty());
    for cell in cells {
        for name in [
            "node:fs",
            "node:fs again",
            "before",
            "smallfry",
            "std",
            "smallfry Rust",
        ] {
            let row = row_named(cell, name);
            assert_eq!(row["error"], Value::Null, "{name}");
            for batch in row["batches"].as_array().unwrap() {
                let samples = batch["samples"]["ns"].as_array().unwrap();
                assert!(!samples.is_empty() && samples.iter().all(|ns| ns.as_u64().is_some()));
            }
        }
    }
}

/// The samples of a run, and that it left nothing.
fn measured(place: &Place, bench: &mut Command, parts: &[&str]) -> Value {
    let file = place.root.path().join("results.json");
    assert_says(bench.arg("--json").arg(&file), parts);
    assert!(is_empty(&place.disk()));
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

fn cases_of<'a>(json: &'a Value, scenario: &str) -> &'a [Value] {
    json[scenario]["cases"].as_array().unwrap()
}

/// It did all its work in every round.
fn assert_did(row: &Value, files: u64, bytes: u64) {
    let name = &row["implementation"];
    assert_eq!(row["error"], Value::Null, "{name}");
    for run in row["runs"].as_array().unwrap() {
        assert_eq!(run["files"], files, "{name}");
        assert_eq!(run["bytes"], bytes, "{name}");
        assert!(run["usage"]["wall_ns"].as_u64().unwrap() > 0, "{name}");
    }
}

const SCRIPTS: [&str; 8] = [
    "Node sync",
    "Node callback",
    "Node Promise.all",
    "Node Promise.all again",
    "smallfry sync",
    "smallfry Promise.all",
    "smallfry bulk sync",
    "smallfry bulk",
];

const IN_RUST: [&str; 6] = [
    "Rust std",
    "smallfry in Rust",
    "smallfry bulk in Rust",
    "bulk Rust, calling thread",
    "bulk Rust, 4 threads",
    "floor",
];

/// It is not among the scenarios that run unasked: they have a minute.
#[test]
fn read_many_runs_when_named_and_reads_every_file_in_every_row() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["read-many", "--runs", "2", "--files", "50", "--package"]);
    bench.arg(place.package());
    let parts = [
        "measures read-many",
        "read-many on the disk as it is",
        "all kept as Buffers",
        "all kept as strings",
        "whole processes that list the dir",
        "how late the event loop turns",
        "x Node sync",
        "of floor",
        "peak MiB",
        "Auto in Rust takes",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "read_many");
    let kinds: Vec<_> = cases
        .iter()
        .map(|case| (case["case"]["kept"].as_str(), &case["case"]["delay"]))
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
        assert_eq!(case["case"]["delay"], delay);
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
            assert_eq!(runs.len(), 2, "{name}");
            for run in runs {
                assert_eq!(run["gaps_us"].is_array(), delay, "{name}");
            }
        }
    }
    row_named(&cases[0], "floor, kept");
}

#[test]
fn rows_can_be_chosen() {
    let place = Place::new();
    let bench = |rows: &str| {
        let mut bench = place.quick();
        bench.env("PATH", "");
        bench.args([
            "write-many",
            "--runs",
            "1",
            "--cells",
            "string new",
            "--rows",
            rows,
        ]);
        bench
    };
    let json = measured(&place, &mut bench("bulk in Rust,Rust std"), &[]);
    let case = &cases_of(&json, "write_many")[0];
    assert_eq!(case["rows"].as_array().unwrap().len(), 2, "{case}");
    let output = bench("no such row").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no row has \"no such row\" in its name"),
        "{said}"
    );
}

/// Where closing is slow smallfry's functions return before it is done, and publishing must not pay for what is left.
#[test]
fn a_file_of_a_build_that_is_closed_late_and_in_vain_fails_its_row() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of(&format!(
        "const closes = async () => [Object.assign(new Error('over quota'), {{ syscall: 'close', path: 'late.js' }})]; \
         module.exports = {{ ...{PACKAGE}, drainCloses: closes }};"
    ));
    let mut bench = place.quick();
    bench.args(["build", "--runs", "1", "--package"]).arg(&dir);
    assert_fails_saying(&mut bench, &["cannot close late.js: over quota"]);
    assert!(is_empty(&place.disk()));
}

/// A row that was not built is missed aloud.
#[test]
fn rows_of_heavy_libraries_are_there_or_named() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args(["write-many", "--runs", "1", "--cells", "string new"]);
    let json = measured(&place, &mut bench, &["Rust rayon"]);
    if cfg!(feature = "peers") {
        for name in ["Rust rayon", "Rust tokio"] {
            assert_did(
                row_named(&cases_of(&json, "write_many")[0], name),
                200,
                200_000,
            );
        }
    } else {
        assert!(
            json["skipped"]
                .to_string()
                .contains("Rust tokio are left out")
        );
    }
}

/// Whoever may not empty the cache, or whose file system has no other place, must not be told that it was cold.
#[test]
fn what_is_labelled_cold_was_looked_at() {
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

#[test]
fn write_many_writes_every_file_in_every_row() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args([
        "write-many",
        "--runs",
        "2",
        "--files",
        "40",
        "--size",
        "123",
    ]);
    bench.arg("--package").arg(place.package());
    let parts = [
        "write-many on the disk as it is",
        "40x123B string new",
        "40x123B string overwritten",
        "Auto in Rust takes",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "write_many");
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!(case["case"]["data"], "string");
        for name in SCRIPTS.into_iter().chain(IN_RUST) {
            assert_did(row_named(case, name), 40, 40 * 123);
        }
    }
}

/// Of a row's run that was watched: `[fdatasync, fsync, fsync of directories, syncfs, sync_file_range]`.
#[cfg(target_os = "linux")]
fn flushes(row: &Value) -> [u64; 5] {
    [
        "fdatasync",
        "fsync",
        "fsync_directory",
        "syncfs",
        "sync_file_range",
    ]
    .map(|call| row["flushes"][call].as_u64().unwrap())
}

#[cfg(target_os = "linux")]
fn strace_is_here() -> bool {
    let here = Command::new("strace").arg("-V").output().is_ok();
    skip_unless(here, "strace is not installed");
    here
}

/// A row that flushes less than its name says would be shown as fast.
#[cfg(target_os = "linux")]
#[test]
fn sync_has_rows_that_flush_what_they_say() {
    if !node_is_here() || !strace_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["sync", "--runs", "2", "--package"]);
    bench.arg(place.package_of(&durable()));
    let parts = [
        "measures sync",
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
    let cases = cases_of(&json, "sync");
    assert_eq!(cases.len(), 1);
    for (name, [fdatasync, fsync, dir]) in [
        ("Rust std, fsync", [0, 10, 0]),
        ("Rust std, unsynced", [0, 0, 0]),
        ("floor, fdatasync", [10, 0, 0]),
        ("floor, fsync", [0, 10, 0]),
        ("floor, fsync and directory", [0, 10, 10]),
        ("floor, replaced", [0, 10, 10]),
        ("floor, unsynced", [0, 0, 0]),
        ("floor, replaced unsynced", [0, 0, 0]),
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
        "sync",
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
    assert_eq!(flushes(&cases_of(&json, "sync")[0]["rows"][0]), [0; 5]);
}

#[cfg(target_os = "linux")]
#[test]
fn sync_many_writes_every_file_in_every_row_and_counts_flushes() {
    if !node_is_here() || !strace_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args([
        "sync-many",
        "--runs",
        "2",
        "--files",
        "210",
        "--size",
        "123",
    ]);
    bench.arg("--package").arg(place.package_of(&durable()));
    let parts = [
        "measures sync-many",
        "x one by one",
        "in 2 directories",
        "promises as much",
        "WEAKER",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "sync_many");
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

/// What is missing is named: options that a package does not take yet, a peer, strace.
#[test]
fn sync_says_what_it_cannot_measure() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args(["sync", "--runs", "1", "--rows", "Rust"]);
    let mut parts = vec!["flushes are not counted: "];
    if cfg!(target_os = "linux") {
        parts.push("strace is not installed");
    }
    let json = measured(&place, &mut bench, &parts);
    let row = row_named(&cases_of(&json, "sync")[0], "Rust std, fsync");
    assert_did(row, 10, 5_000);
    assert_eq!(row["flushes"], Value::Null);

    if !node_is_here() {
        return;
    }
    let mut bench = place.quick();
    bench.args(["sync-many", "--runs", "1", "--files", "3", "--package"]);
    bench.arg(place.package());
    let parts = ["this package takes no option `durability`"];
    let json = measured(&place, &mut bench, &parts);
    for case in cases_of(&json, "sync_many") {
        let rows = case["rows"].as_array().unwrap();
        assert!(
            rows.iter()
                .all(|row| row["implementation"] != "smallfry writeFiles")
        );
    }
}

/// `syncfs` of a simulated disk tells nobody to flush anything.
#[cfg(target_os = "linux")]
#[test]
fn sync_many_on_a_slow_disk_does_not_trust_syncfs() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["sync-many", "--runs", "1"]);
    bench.args(["--disk", "slow-flush", "--files", "4"]);
    let json = measured(&place, &mut bench, &["syncfs, NOT known to flush here"]);
    for case in cases_of(&json, "sync_many") {
        for name in ["fsync and directory flush each", "smallfry in Rust"] {
            assert_did(row_named(case, name), 4, 4_000);
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}

/// The last phase of a build asks for the strongest promise there is.
#[cfg(target_os = "linux")]
#[test]
fn a_build_is_published_by_packages_that_can_write_durably() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let noisy = durable().replace(
        "if (durability === undefined)",
        "if (replace === true && durability !== 'full') throw new Error('not durable'); \
         if (String(path).includes('published') && !replace) throw new Error('not replaced'); \
         if (durability === undefined)",
    );
    let mut bench = place.quick();
    bench.args(["build", "--runs", "2", "--package"]);
    bench.arg(place.package_of(&noisy));
    let json = measured(&place, &mut bench, &["publishing durably"]);
    for name in ["smallfry sync", "smallfry bulk", "smallfry Promise.all"] {
        assert_eq!(row_named(&json["build"], name)["error"], Value::Null);
    }
}

/// Both halves of the check: what is new has to be there, and what is overwritten has to change.
#[test]
fn a_row_that_writes_nothing_is_shown_as_failed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of(&format!(
        "module.exports = {{ ...{PACKAGE}, writeFilesSync() {{}} }};"
    ));
    let mut bench = place.quick();
    bench.args(["write-many", "--runs", "1", "--files", "5", "--package"]);
    bench.arg(&dir);
    let parts = [
        "FAILED  5x1kB string new, smallfry bulk sync: it has not written",
        "FAILED  5x1kB string overwritten, smallfry bulk sync: it wrote something else",
    ];
    assert_fails_saying(&mut bench, &parts);
    assert!(is_empty(&place.disk()));
}

/// The kernel tells the memory of a process only here.
#[cfg(target_os = "linux")]
#[test]
fn scale_tells_the_cost_of_a_file_and_memory() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["scale", "--runs", "1", "--package"]);
    bench.arg(place.package());
    let json = measured(
        &place,
        &mut bench,
        &["µs a file", "MiB beside", "within 20 %"],
    );
    let cases = cases_of(&json, "scale");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let files = case["case"]["files"].as_u64().unwrap();
        for name in [
            "smallfry bulk",
            "smallfry bulk in Rust",
            "bulk Rust, nothing kept",
        ] {
            let row = row_named(case, name);
            assert_did(row, files, files * 1_000);
            let memory = &row["runs"][0]["memory_kib"];
            assert!(
                memory["peak"].as_u64() >= memory["before"].as_u64(),
                "{name}"
            );
        }
    }
}

const CLOSERS: [&str; 6] = [
    "std",
    "std again",
    "close_already's design",
    "smallfry Auto",
    "smallfry Always",
    "smallfry Never",
];

/// Of a build with heavy libraries.
const ON_OTHERS_THREADS: [&str; 6] = [
    "close_already's design, unbounded threads",
    "smallfry Auto, rayon",
    "smallfry Always, blocking",
    "smallfry Always, smol",
    "smallfry Auto, async-std",
    "smallfry Always, tokio",
];

#[test]
fn close_writes_a_font_with_every_way_of_closing() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args(["close", "--files", "30", "--cells", "30 write"]);
    let parts = [
        "measures close",
        "close on the disk as it is",
        "30 write: one thread writes all",
        "x close_already's",
        "beside plain close: std ",
        "std against itself",
    ];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "close");
    let timed = &cases[0];
    assert_eq!(timed["case"]["watched"], false);
    for name in CLOSERS {
        let row = row_named(timed, name);
        assert!(!row["closing"].is_null(), "{row}");
        // The first thirty of the font's glyphs.
        assert_did(row, 30, 37_463);
        assert!(row["runs"][0]["peaks"].is_null());
    }
    if cfg!(feature = "peers") {
        for name in ON_OTHERS_THREADS {
            assert_did(row_named(timed, name), 30, 37_463);
        }
    } else {
        let missed = json["skipped"].to_string();
        assert!(missed.contains("unbounded threads, and"), "{missed}");
    }
}

/// The kernel tells of another process what it has open only here.
#[cfg(target_os = "linux")]
#[test]
fn the_most_handles_and_threads_of_each_way_of_closing_are_counted() {
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "");
    bench.args(["close", "--runs", "1", "--cells", "write watched"]);
    let parts = ["handles at most", "threads at most", "held open at once"];
    let json = measured(&place, &mut bench, &parts);
    let case = &cases_of(&json, "close")[0];
    for name in CLOSERS {
        let peaks = &row_named(case, name)["runs"][0]["peaks"];
        assert!(peaks["resident_kib"].as_u64() > Some(0), "{name}");
        let threads = peaks["threads"].as_u64().unwrap();
        if let "std" | "smallfry Never" = name {
            assert_eq!(threads, 1, "{name}");
        }
        assert!(peaks["handles"].as_u64() <= Some(60), "{name}");
    }
}

/// Through a mount whose every close of a written file takes a while. What is read is not what is measured: it is no slower.
#[cfg(target_os = "linux")]
#[test]
fn fonts_are_written_to_a_slow_disk_too() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["close", "--runs", "1"]);
    bench.args(["--disk", "windows-close,close=1ms,close-spread=0ms"]);
    bench.args(["--files", "20"]);
    let json = measured(&place, &mut bench, &["(simulated)", "std, mount alone"]);
    let case = &cases_of(&json, "close")[0];
    for name in CLOSERS.into_iter().chain(["std, mount alone"]) {
        assert_eq!(row_named(case, name)["error"], Value::Null, "{name}");
    }
    assert!(!is_mounted_below(place.root.path()));
}

/// The programs that use norad are built apart: their cases are there, and whole, or missed aloud.
#[test]
fn norad_loads_and_saves_the_font_or_is_named() {
    let place = Place::new();
    let bench = || {
        let mut bench = place.quick();
        bench.env("PATH", "");
        bench.args(["close", "--runs", "1", "--files", "25"]);
        bench
    };
    let json = measured(&place, &mut bench(), &[]);
    let this = Path::new(env!("CARGO_BIN_EXE_smallfry"));
    for (work, program) in [
        ("norad", "smallfry-bench-norad"),
        ("norad-rayon", "smallfry-bench-norad-rayon"),
    ] {
        let cases = cases_of(&json, "close");
        let case = cases.iter().find(|case| case["case"]["work"] == work);
        if this.with_file_name(program).exists() {
            for name in CLOSERS {
                let row = row_named(case.unwrap(), name);
                assert_eq!(row["error"], Value::Null, "{name}");
                let run = &row["runs"][0];
                assert_eq!(run["files"], 25);
                assert!(run["load_ns"].as_u64() < run["usage"]["wall_ns"].as_u64());
            }
        } else {
            assert!(case.is_none());
            assert!(json["skipped"].to_string().contains("library norad"));
        }
    }
}

#[cfg(target_os = "linux")]
fn is_mounted_below(dir: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.contains(dir.to_str().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_slow_disk_is_mounted_named_and_gone_at_the_end() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench
        .env("PATH", "")
        .args(["read-many", "build", "write-many"]);
    bench.args(["--disk", "none", "--runs", "1", "--files", "20"]);
    let parts = [
        "behave like the slow disk none",
        "read-many on the slow disk none (simulated)",
        "write-many on the slow disk none (simulated)",
        "build on the slow disk none (simulated)",
    ];
    let json = measured(&place, &mut bench, &parts);
    assert_eq!(json["disk"], "none");
    assert!(!is_mounted_below(place.root.path()));
}

/// Of what a row takes on a slow disk, part is the mount's: without it beside them figures would be read as the disk's.
#[cfg(target_os = "linux")]
#[test]
fn a_table_on_a_slow_disk_has_the_cost_of_the_mount_alone() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["read-many", "--runs", "1"]);
    bench.args(["--disk", "slow-flush", "--files", "20"]);
    let json = measured(&place, &mut bench, &["floor, mount alone"]);
    for case in cases_of(&json, "read_many") {
        // Without Node nobody's event loop can be late.
        if case["case"]["delay"] == false {
            assert_did(row_named(case, "floor, mount alone"), 20, 200_000);
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}

/// Ten thousand files on a network's disk take half an hour, which no plan of 150 s says.
#[cfg(target_os = "linux")]
#[test]
fn a_slow_disk_has_fewer_files_unless_their_number_is_given_and_says_so() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let bench = |more: &[&str]| {
        let mut bench = place.bench();
        bench.env("PATH", "").arg("--dir").arg(place.disk());
        bench.args(["write-many", "--runs", "1", "--cells", "string new"]);
        bench.args(["--disk", "none"]).args(more);
        bench
    };
    let says = "a tenth of the usual number, since the disk is slow; --files N names another";
    let json = measured(&place, &mut bench(&[]), &[says]);
    assert_eq!(cases_of(&json, "write_many")[0]["case"]["files"], 1_000);
    let json = measured(&place, &mut bench(&["--files", "20"]), &[]);
    assert_eq!(cases_of(&json, "write_many")[0]["case"]["files"], 20);
}

#[cfg(target_os = "linux")]
#[test]
fn a_slow_disk_is_gone_when_the_bench_is_stopped() {
    if !can_mount() {
        return;
    }
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        let mut child = place
            .bench()
            .args(["read-many", "--seconds", "60", "--files", "200"])
            .args(["--disk", "hdd", "--dir"])
            .arg(place.disk())
            .env("PATH", "")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        // The two mounts are children, a row another.
        while children_of(child.id()).len() < 3 {
            assert!(Instant::now() < patience, "it starts no rows");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_mounted_below(place.root.path()), "{signal}");
        let number = child.id().to_string();
        Command::new("/bin/kill")
            .args(["-s", signal, &number])
            .status()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(!is_mounted_below(place.root.path()), "{signal}");
        assert!(is_empty(&place.disk()), "{signal}");
    }
}

/// What is fast because it reads something else must not be shown as fast.
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
        .args(["read-many", "--runs", "1", "--package"])
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

#[test]
fn both_tables_of_the_reference_are_printed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.bench();
    bench
        .args(["write-string", "--runs", "2", "--no-smallfry", "--dir"])
        .arg(place.disk());
    let parts = [
        "confidence",
        "improvement",
        "accuracy (*)",
        "(***)",
        "time (avg)",
        "(min … max)",
        "p995",
        "P99.9",
        "Iterations",
    ];
    assert_says(&mut bench, &parts);
    assert!(is_empty(&place.disk()));
}

#[test]
fn without_node_the_rows_of_rust_run_and_the_others_are_missed_aloud() {
    let place = Place::new();
    let output = place.quick().env("PATH", "").output().unwrap();
    assert!(output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        complaint.contains("no node on PATH") && complaint.lines().count() == 1,
        "{complaint}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("smallfry in Rust"));

    let output = place
        .quick()
        .env("PATH", "")
        .env("CI", "true")
        .output()
        .unwrap();
    assert_one_line(&output, &["no node on PATH"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn a_package_that_does_not_load_is_one_clear_line() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of("throw new Error('made for another machine')");
    let output = place.quick().arg("--package").arg(&dir).output().unwrap();
    assert!(output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        complaint.contains("made for another machine") && complaint.lines().count() == 1,
        "{complaint}"
    );
}

#[test]
fn a_row_that_fails_is_shown_as_failed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of(
        "const fs = require('node:fs'); \
         module.exports = { ...fs, promises: fs.promises, readFileSync: () => 'wrong', \
         writeFileSync(path) { if (String(path).includes('file')) throw new Error('refused'); return fs.writeFileSync(...arguments); } };",
    );
    let mut bench = place.quick();
    bench.arg("--package").arg(&dir);
    assert_fails_saying(&mut bench, &["the output differs", "FAILED", "refused"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn bad_arguments_are_refused() {
    let place = Place::new();
    for arguments in [
        &["--runs", "0"][..],
        &["--seconds", "soon"],
        &["no-such-scenario"],
        &["--quick", "--all"],
        &["--nope"],
        &["read-many", "--files", "0"],
        &["read-many", "--size", "0"],
    ] {
        let output = place.bench().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let output = place
        .quick()
        .args(["--no-smallfry", "--cells", "no such words"])
        .output()
        .unwrap();
    assert_one_line(&output, &["no such words"]);
    let output = place
        .quick()
        .env("PATH", "")
        .args(["--disk", "floppy"])
        .output()
        .unwrap();
    assert_one_line(&output, &["floppy", "--disk real"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn unfit_directories_are_one_line() {
    let place = Place::new();
    let file = place.root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for dir in [file.clone(), place.root.path().join("missing")] {
        let output = place
            .bench()
            .arg("--quick")
            .arg("--dir")
            .arg(&dir)
            .output()
            .unwrap();
        assert_one_line(&output, &[dir.to_str().unwrap()]);
    }
    let tree = file.to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_smallfry"))
        .args(["bench", "--quick", "--tree", tree, "--dir"])
        .arg(place.disk())
        .env_remove("CI")
        .env("PATH", "")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && complaint.contains(tree),
        "{complaint}"
    );
    let output = place
        .quick()
        .arg("--json")
        .arg(place.root.path().join("missing/results.json"))
        .output()
        .unwrap();
    assert_one_line(&output, &["missing/results.json"]);
    assert!(is_empty(&place.disk()));
}

#[cfg(unix)]
#[test]
fn what_is_not_node_is_one_line() {
    let place = Place::new();
    for script in [
        "exit 0",
        "echo 'Segmentation fault' >&2; exit 139",
        "echo hello; cat",
        "kill -9 $$",
    ] {
        let fake = place.program(script);
        let output = place.quick().arg("--node").arg(&fake).output().unwrap();
        assert_one_line(&output, &["fake-node", "does not work as Node.js"]);
    }
    let missing = place.root.path().join("no-node");
    let output = place.quick().arg("--node").arg(&missing).output().unwrap();
    assert_one_line(&output, &["no-node", "cannot run"]);
    let output = place
        .quick()
        .args(["--no-smallfry", "--bun"])
        .arg(&missing)
        .output()
        .unwrap();
    assert_one_line(&output, &["no-node", "cannot run"]);
    assert!(is_empty(&place.disk()));
}

/// Both ways of filling up: while the bench prepares, and in the middle of a row.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line() {
    let place = Place::new();
    let disk = place.disk();
    for (size, arguments) in [
        ("size=300k", &["build"][..]),
        ("size=600k", &["write-string", "--cells", "1048576 disk fd"]),
    ] {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(&disk)
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        skip_unless(mounted, "a tmpfs cannot be mounted here");
        if !mounted {
            return;
        }
        let tree = place.root.path().join("tree");
        std::fs::write(tree.join("large.js"), "x".repeat(400 << 10)).unwrap();
        let output = place
            .quick()
            .args(arguments)
            .env("PATH", "")
            .output()
            .unwrap();
        let empty = is_empty(&disk);
        Command::new("umount").arg(&disk).status().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && complaint.contains("No space left"),
            "{complaint}"
        );
        assert!(complaint.contains("disk/"), "no path: {complaint}");
        assert!(empty);
    }
}

/// Children are told apart from everybody else's by the path of the fake node they were started from, or by this directory.
#[cfg(target_os = "linux")]
#[test]
fn every_way_of_stopping_leaves_no_files_and_no_processes() {
    for signal in ["INT", "TERM", "HUP"] {
        let place = Place::new();
        let results = place.root.path().join("results.json");
        let mut child = place
            .bench()
            .args(["--seconds", "60", "--no-smallfry", "--json"])
            .arg(&results)
            .arg("--dir")
            .arg(place.disk())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        while children_of(child.id()).is_empty() {
            assert!(Instant::now() < patience, "it starts no rows");
            std::thread::sleep(Duration::from_millis(5));
        }
        let rows = children_of(child.id());
        Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{signal}");
        assert!(is_empty(&place.disk()), "{signal}");
        let names: Vec<_> = std::fs::read_dir(place.root.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 2, "{signal}: {names:?}");
        for row in rows {
            assert!(!is_running(row), "{signal}: a row is still there");
        }
    }
}

#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
        .unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Look-ups of package.json files in the plainest way, beside the functions of a package.
const LOOKS_UP: &str = "
    const fs = require('node:fs');
    const { basename, dirname, join } = require('node:path');
    const formats = ['unknown', 'commonjs', 'module', 'json'];
    const typeOf = (dir) => {
        if (dirname(dir) === dir || basename(dir) === 'node_modules') return 'none';
        const file = join(dir, 'package.json');
        return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).type : typeOf(dirname(dir));
    };
    const nearestType = (path) => typeOf(dirname(path));
    const moduleFormat = (path) => {
        if (path.endsWith('.json')) return 'json';
        return nearestType(path) === 'module' ? 'module' : 'commonjs';
    };
    const moduleFormats = (paths) => Uint8Array.from(paths, (path) => formats.indexOf(moduleFormat(path)));
    const all = { formats, clear() {}, nearestType, moduleFormat, moduleFormats };
    module.exports = { ...all, revalidating: () => all };
";

impl Place {
    /// A package that looks package.json files up.
    fn package_that_looks_up(&self, script: &str) -> PathBuf {
        let dir = self.package();
        std::fs::write(
            dir.join("package.json"),
            r#"{"name":"smallfry","main":"index.js","exports":{".":"./index.js","./package-json":"./look-up.js"}}"#,
        )
        .unwrap();
        std::fs::write(dir.join("look-up.js"), script).unwrap();
        dir
    }
}

#[test]
fn package_scope_asks_every_row_the_same_and_compares_the_answers() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    // Files of a kind of their own.
    let tree = place.root.path().join("tree");
    std::fs::write(tree.join("inner/deep/own.mjs"), "").unwrap();
    std::fs::write(tree.join("top.cjs"), "").unwrap();
    let mut bench = place.quick();
    bench.args(["package-scope", "--runs", "2", "--package"]);
    bench.arg(place.package_that_looks_up(LOOKS_UP));
    let parts = ["measures package-scope", "x INTERNAL", "look into"];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "package_scope");
    let names: Vec<_> = cases
        .iter()
        .map(|case| {
            (
                case["case"]["place"].as_str(),
                case["case"]["cold"].as_bool(),
            )
        })
        .collect();
    let places = ["tree", "deep", "wide"];
    let expected = places.map(|place| [(Some(place), Some(true)), (Some(place), Some(false))]);
    assert_eq!(names, expected.as_flattened());
    // In the tree: its top, inner and inner/deep.
    for (case, files, directories) in [(0, 23, 3), (2, 40, 32), (4, 120, 123)] {
        assert_eq!(cases[case]["case"]["files"], files);
        assert_eq!(cases[case]["case"]["directories"], directories);
    }
    for case in cases {
        let files = case["case"]["files"].as_u64().unwrap();
        let is_cold = case["case"]["cold"].as_bool().unwrap();
        let mut all = Vec::new();
        for row in case["rows"].as_array().unwrap() {
            let name = row["implementation"].as_str().unwrap();
            assert_eq!(row["error"], Value::Null, "{name}");
            for run in row["runs"].as_array().unwrap() {
                let asked = run["files"].as_u64().unwrap();
                assert!(asked > 0 && asked % files == 0, "{name}");
                assert!(!is_cold || asked == files, "{name}");
                all.extend(run["answers"].as_u64());
            }
        }
        assert!(all.len() >= 2 * 14 && all.iter().all(|it| *it == all[0]));
        for name in [
            "JavaScript, walking",
            "JavaScript, a Map",
            "smallfry Never",
            "smallfry OnChange, batch",
            "Rust Never, batch",
            "Rust OnChange",
        ] {
            row_named(case, name);
        }
    }
}

#[test]
fn package_scope_finds_a_wrong_answer() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let lies = LOOKS_UP.replace("=== 'module' ?", "!== 'module' ?");
    let mut bench = place.quick();
    bench.args(["package-scope", "--runs", "1", "--cells", "tree warm"]);
    bench
        .arg("--package")
        .arg(place.package_that_looks_up(&lies));
    assert_fails_saying(&mut bench, &["the answers differ from the other rows'"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn package_scope_goes_without_packages_that_look_nothing_up() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args([
        "package-scope",
        "--runs",
        "1",
        "--cells",
        "deep",
        "--package",
    ]);
    bench.arg(place.package());
    let parts = ["this package looks no package.json up"];
    let json = measured(&place, &mut bench, &parts);
    for case in cases_of(&json, "package_scope") {
        let rows = case["rows"].as_array().unwrap();
        assert!(
            rows.iter()
                .all(|row| row["implementation"] != "smallfry Never")
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn package_scope_copies_its_files_to_a_slow_disk() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["package-scope", "--runs", "1"]);
    bench.args(["--disk", "nfs", "--files", "5"]);
    let parts = ["package-scope on the slow disk nfs"];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "package_scope");
    assert_eq!(cases.len(), 6);
    for case in cases {
        for name in ["Rust Never", "Rust OnChange, batch"] {
            assert_eq!(row_named(case, name)["error"], Value::Null);
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}

/// Bulk rows of a build ask in one call what the others find out by reading.
#[test]
fn a_build_asks_for_types_in_one_call_and_compares_what_comes_of_them() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["build", "--runs", "1", "--package"]);
    bench.arg(place.package_that_looks_up(LOOKS_UP));
    let json = measured(&place, &mut bench, &["measures build"]);
    for row in json["build"]["rows"].as_array().unwrap() {
        assert_eq!(row["error"], Value::Null);
    }
    let lies = LOOKS_UP.replace("indexOf(moduleFormat(path))", "indexOf('module')");
    let mut bench = place.quick();
    bench.args(["build", "--runs", "1", "--package"]);
    bench.arg(place.package_that_looks_up(&lies));
    assert_fails_saying(&mut bench, &["the output differs from the other rows'"]);
}
