//! `smallfry compare`: a result file against a later one, as continuous integration does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a result file in which the rows take so many milliseconds.
fn document(baseline: f64, ours: f64) -> Value {
    let samples = |millis: f64| -> Vec<f64> {
        let wobble = [0.99, 1.01, 1.0, 0.995, 1.005, 1.0, 1.002, 0.998];
        wobble
            .iter()
            .map(|by| (millis * by * 1e6).round())
            .collect()
    };
    let row = |name: &str, millis: f64| {
        json!({
            "name": name,
            "samples_ns": samples(millis),
            "median_ns": millis * 1e6,
            "ratio": null,
            "claim": null,
            "histogram": [{"ns": 1000, "count": 99}, {"ns": 9000, "count": 1}],
            "error": null,
        })
    };
    json!({
        "schema": "smallfry-bench/2",
        "version": "0.1.0",
        "finished": 1_700_000_000,
        "command_line": ["smallfry", "bench"],
        "host": {
            "system": "linux x86_64", "kernel": "6.1", "cpu": "A processor", "cores": 2,
            "memory_bytes": null, "memory_limit_bytes": null, "load_average": null,
            "transparent_huge_pages": null, "container": null,
            "file_system": {
                "directory": "/disk", "kind": "ext4", "device": "/dev/sda", "mount_point": "/",
                "options": "rw", "rotational": null, "journal": true, "free_bytes": 1,
            },
        },
        "disk": "real",
        "warnings": [],
        "comparisons": [{
            "scenario": "build", "case": "build", "runtime": "Node v24.1.0", "sample": "run",
            "rounds": 8, "noise": {"low": 0.99, "estimate": 1.0, "high": 1.01}, "cached": null,
            "rows": [row("Node Promise.all", baseline), row("smallfry bulk", ours)],
        }],
    })
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, document: &Value) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, document.to_string()).unwrap();
        path
    }
}

/// Returns the exit status, and what is printed, in one line.
fn compare(old: &Path, new: &Path, options: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    let output = command.arg("compare").args([old, new]).args(options);
    let output = output.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code().unwrap(), words)
}

#[test]
fn a_row_that_became_slower_fails_only_beyond_what_is_allowed() {
    let place = Place::new();
    let old = place.file("old.json", &document(100.0, 50.0));
    let new = place.file("new.json", &document(100.0, 60.0));
    let (status, said) = compare(&old, &new, &[]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("1 slower, 1 without"), "{said}");
    assert!(said.contains("0.83x"), "{said}");
    let (status, said) = compare(&old, &new, &["--max-regression", "5%"]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("FAILED"), "{said}");
    let (status, _) = compare(&old, &new, &["--max-regression", "30%"]);
    assert_eq!(status, 0);
    let (status, said) = compare(&new, &old, &["--max-regression", "5%", "--json"]);
    assert_eq!(status, 0, "{said}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["rows"][1]["claim"], "gain");
    assert_eq!(answer["rows"][1]["is_regression"], false);
}

#[test]
fn a_file_is_the_same_as_itself() {
    let place = Place::new();
    let file = place.file("a.json", &document(100.0, 50.0));
    let (status, said) = compare(&file, &file, &["--max-regression", "5%"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("0 faster, 0 slower, 2 without"), "{said}");
}

#[test]
fn another_machine_is_refused_by_name_unless_forced() {
    let place = Place::new();
    let old = place.file("old.json", &document(100.0, 50.0));
    let mut other = document(100.0, 50.0);
    other["host"]["cores"] = json!(8);
    other["host"]["file_system"]["kind"] = json!("xfs");
    let new = place.file("new.json", &other);
    let (status, said) = compare(&old, &new, &[]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("cores: 2 -> 8"), "{said}");
    assert!(said.contains("file system: ext4 -> xfs"), "{said}");
    let (status, said) = compare(&old, &new, &["--force"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("another machine: cores: 2 -> 8"), "{said}");
}

#[test]
fn files_of_a_directory_are_merged_by_adding_samples_and_histograms() {
    let place = Place::new();
    place.file("old/1.json", &document(100.0, 50.0));
    place.file("old/2.json", &document(100.0, 50.0));
    let old = place.0.path().join("old");
    let new = place.file("new.json", &document(100.0, 50.0));
    let (status, said) = compare(&old, &new, &["--details", "--json"]);
    assert_eq!(status, 0, "{said}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["rows"][0]["old_p99_ns"], 1000);
    assert_eq!(answer["rows"][0]["claim"], "no-difference");
}

#[test]
fn a_moved_baseline_and_missing_rows_are_told() {
    let place = Place::new();
    let old = place.file("old.json", &document(100.0, 50.0));
    let mut slower = document(200.0, 100.0);
    slower["comparisons"][0]["rows"][1]["name"] = json!("another row");
    let new = place.file("new.json", &slower);
    let (status, said) = compare(&old, &new, &[]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("the machine was not the same"), "{said}");
    assert!(said.contains("only in the old file"), "{said}");
    assert!(said.contains("another row"), "{said}");
}

#[test]
fn what_is_no_result_file_is_refused_in_one_line() {
    let place = Place::new();
    let good = place.file("good.json", &document(100.0, 50.0));
    let text = place.0.path().join("text.json");
    std::fs::write(&text, "no JSON").unwrap();
    let older = place.file("older.json", &json!({"schema": "smallfry-bench/2"}));
    let missing = place.0.path().join("missing.json");
    for bad in [&text, &older, &missing] {
        let (status, said) = compare(&good, bad, &[]);
        assert_eq!(status, 2, "{said}");
        assert!(said.starts_with("smallfry compare: cannot read"), "{said}");
    }
    let (status, said) = compare(&good, &good, &["--max-regression", "much"]);
    assert_eq!(status, 2, "{said}");
}

#[test]
fn a_result_file_becomes_a_page_tables_lines_and_a_picture() {
    let place = Place::new();
    let results = place.file("results.json", &document(100.0, 50.0));
    let path = |name: &str| place.0.path().join(name);
    let formats = ["--html", "--markdown", "--csv", "--svg", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    command.arg("report").arg(&results);
    for format in formats {
        command.arg(format).arg(path(&format[2..]));
    }
    assert!(command.output().unwrap().status.success());
    let [page, tables, lines, picture, copy] =
        formats.map(|format| std::fs::read_to_string(path(&format[2..])).unwrap());
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("smallfry bulk"));
    assert!(
        tables.contains("| Node Promise.all | 100 ms | baseline |"),
        "{tables}"
    );
    assert_eq!(lines.lines().count(), 1 + 16);
    assert!(picture.starts_with("<svg") && picture.contains("smallfry bulk"));
    let copy: Value = serde_json::from_str(&copy).unwrap();
    assert_eq!(copy["comparisons"], document(100.0, 50.0)["comparisons"]);
}

#[test]
fn a_report_of_nothing_is_refused_in_one_line() {
    let place = Place::new();
    let results = place.file("results.json", &document(100.0, 50.0));
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        let output = command.arg("report").arg(&results).args(more);
        let output = output.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&[]).contains("name a file to write"));
    assert!(run(&["--only", "nothing", "--svg", "x.svg"]).contains("no comparison has"));
    assert!(run(&["--svg", "/nowhere/x.svg"]).contains("cannot write /nowhere/x.svg"));
}
