use crate::common::node_is_here;
use crate::support::{
    IN_RUST, PACKAGE, Place, SCRIPTS, assert_did, assert_fails_saying, cases_of, is_empty,
    measured, row_named,
};

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
    let rows = case["rows"].as_array().unwrap().iter();
    let names: Vec<&str> = rows
        .filter_map(|row| row["implementation"].as_str())
        .collect();
    // The baseline runs twice, whatever is chosen.
    let chosen = ["Rust std", "Rust std A/A", "smallfry bulk in Rust"];
    assert_eq!(names, chosen);
    let output = bench("no such row").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no row has \"no such row\" in its name"),
        "{said}"
    );
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
        "1",
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
