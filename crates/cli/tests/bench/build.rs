use crate::common::node_is_here;
use crate::support::{
    LOOKS_UP, PACKAGE, Place, assert_fails_saying, assert_says, durable, is_empty, measured,
    row_named,
};
use serde_json::Value;

/// Asserts the phases of a run. Functions that write whole files close in them, and have no phase
/// for that.
fn assert_phases(run: &Value, tells_closing_apart: bool) {
    let phases = run["phases"].as_array().unwrap();
    let names: Vec<_> = phases
        .iter()
        .map(|phase| phase[0].as_str().unwrap())
        .collect();
    let mut expected = vec![
        "clean",
        "walk",
        "type",
        "read",
        "transform",
        "write",
        "close",
        "assets",
        "publish",
    ];
    expected.retain(|name| tells_closing_apart || *name != "close");
    assert_eq!(names, expected);
}

/// In a pipe it has no bars and no colour.
#[test]
fn the_first_screen_has_the_answer_in_25_lines() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.brief();
    bench.arg("build").arg("--package").arg(place.package());
    let output = bench.output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let screen = printed.split_once("smallfry bench - build - ").unwrap().1;
    assert!(screen.lines().count() <= 25, "{printed}");
    assert!(
        printed.lines().all(|line| line.chars().count() <= 100),
        "{printed}"
    );
    let parts = [
        "Promise.all",
        "smallfry drop-in",
        "Blocking calls",
        "std::fs",
        "unsure",
        "Where",
        "Noise",
        "Adopt",
        "--details",
    ];
    for part in parts {
        assert!(screen.contains(part), "{part:?} is not in {printed}");
    }
    for part in ["In words", "\u{1b}", "##"] {
        assert!(!printed.contains(part), "{part:?} is in {printed}");
    }
}

#[test]
fn a_failed_row_is_on_the_first_screen() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let broken = PACKAGE.replace("readFiles", "readNoFiles");
    let package = place.package_of(&format!("module.exports = {broken};"));
    let mut bench = place.brief();
    bench.arg("build").arg("--package").arg(package);
    let output = bench.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains("FAILED"), "{printed}");
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
    assert_eq!(json["schema"], "smallfry-bench/2");
    assert_eq!(json["disk"], "real");
    assert_eq!(json["build"]["files"], 23);
    for name in [
        "Node sync",
        "Node sync A/A",
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
            "node:fs A/A",
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

/// Where closing is slow smallfry's functions return before it is done, and publishing must not pay
/// for what is left.
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
