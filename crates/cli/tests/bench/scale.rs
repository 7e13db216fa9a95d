use crate::common::node_is_here;
use crate::support::{Place, assert_did, cases_of, measured, row_named};

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
