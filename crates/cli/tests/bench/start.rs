use crate::common::node_is_here;
use crate::support::{Place, assert_did, cases_of, measured, row_named};

#[test]
fn start_tells_what_loading_smallfry_adds_to_a_process() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.args(["start", "--runs", "1", "--package"]);
    let package = place.package();
    for name in ["register.js", "index.js"] {
        std::fs::write(package.join("dist").join(name), "").unwrap();
    }
    bench.arg(package);
    let json = measured(
        &place,
        &mut bench,
        &["more than its baseline", "ms more than"],
    );
    let cases = cases_of(&json, "start");
    for name in ["empty --require", "smallfry/register", "import smallfry"] {
        assert_did(row_named(&cases[0], name), 1, 0);
    }
}
