#[cfg(target_os = "linux")]
use crate::common::can_mount;
#[cfg(target_os = "linux")]
use crate::support::is_mounted_below;
use crate::support::{CLOSERS, Place, assert_did, cases_of, measured, row_named};
use serde_json::Value;
use std::path::Path;

/// The rows of a build with heavy libraries.
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
fn the_maximum_of_handles_and_threads_is_counted_for_each_way_of_closing() {
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

/// Through a mount whose every close of a written file takes a while. What is read is not what is
/// measured: it is no slower.
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
