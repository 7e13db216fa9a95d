use crate::support::{Place, cases_of, measured};
use serde_json::Value;

#[test]
fn without_java_rows_in_the_jvm_are_named() {
    let place = Place::new();
    let mut bench = place.quick();
    bench
        .env("PATH", "")
        .args(["write-many", "--runs", "1", "--files", "5"]);
    let parts = ["rows in the JVM are left out: "];
    measured(&place, bench.args(["--rows", "Rust std"]), &parts);
}

/// The JVM compiles for seconds before each run.
#[test]
fn rows_in_the_jvm_do_their_work() {
    if std::env::var_os("SMALLFRY_SOAK").is_none() {
        eprintln!("skipped: rows in the JVM take minutes, which `make soak` allows");
        return;
    }
    let place = Place::new();
    let everywhere = [
        "read-many",
        "write-many",
        "fsync",
        "fsync-many",
        "copy-tree",
        "remove-tree",
    ];
    let of_unix: &[&str] = if cfg!(unix) {
        &["unpack", "pack", "hash-tree"]
    } else {
        &[]
    };
    for scenario in everywhere.iter().chain(of_unix) {
        let mut bench = place.quick();
        bench.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        bench.args([*scenario, "--runs", "1", "--files", "5"]);
        let rows =
            "Java Files,Java Zip,Java MessageDigest,smallfry in the JVM,in the JVM,Rust std,syncfs";
        let json = measured(&place, bench.args(["--rows", rows]), &[]);
        let is_jvm = |row: &&Value| row["runtime"].as_str().unwrap().starts_with("JDK");
        let cases = cases_of(&json, &scenario.replace('-', "_"));
        let rows = cases
            .iter()
            .flat_map(|case| case["rows"].as_array().unwrap());
        let rows: Vec<&Value> = rows.filter(is_jvm).collect();
        let is_named = json["skipped"].to_string().contains("rows in the JVM");
        assert_eq!(is_named, rows.is_empty(), "{json}");
        let must_run = std::env::var_os("CI").is_some();
        assert!(!(must_run && rows.is_empty()), "{scenario} has no rows");
        for row in rows {
            assert_eq!(row["error"], Value::Null, "{row}");
        }
    }
}
