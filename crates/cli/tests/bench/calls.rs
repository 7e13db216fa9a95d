use crate::common::node_is_here;
use crate::support::{Place, assert_did, cases_of, measured, row_named};

#[test]
fn calls_measures_each_function_one_by_one_and_at_once() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["calls", "--runs", "1", "--files", "100", "--package"]);
    bench.arg(place.package());
    let json = measured(&place, &mut bench, &["one: node:fs", "Node's own"]);
    let cases = cases_of(&json, "calls");
    assert_eq!(cases.len(), 56);
    for case in cases {
        for name in ["node:fs", "smallfry"] {
            assert_did(row_named(case, name), 100, 0);
        }
    }
}
