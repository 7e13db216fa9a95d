#[cfg(target_os = "linux")]
use crate::common::can_mount;
use crate::common::node_is_here;
#[cfg(target_os = "linux")]
use crate::support::is_mounted_below;
use crate::support::{
    LOOKS_UP, Place, assert_fails_saying, cases_of, is_empty, measured, row_named,
};
use serde_json::Value;

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
    bench.args(["package-scope", "--runs", "1", "--package"]);
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
        assert!(all.len() >= 14 && all.iter().all(|it| *it == all[0]));
        for name in [
            "JavaScript, walking",
            "JavaScript, a Map",
            "smallfry Never",
            "smallfry OnChange, batch",
            "smallfry in Rust, Never, batch",
            "smallfry in Rust, OnChange",
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
    bench.args(["--rows", "smallfry in Rust"]);
    let parts = ["package-scope on the slow disk nfs"];
    let json = measured(&place, &mut bench, &parts);
    let cases = cases_of(&json, "package_scope");
    assert_eq!(cases.len(), 6);
    for case in cases {
        for name in [
            "smallfry in Rust, Never",
            "smallfry in Rust, OnChange, batch",
        ] {
            assert_eq!(row_named(case, name)["error"], Value::Null);
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}
