use crate::common::node_is_here;
use crate::support::{Place, assert_says, is_empty};

#[test]
fn both_tables_of_the_reference_are_printed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let mut bench = place.bench();
    bench
        .args([
            "write-string",
            "--details",
            "--runs",
            "2",
            "--no-smallfry",
            "--dir",
        ])
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
