use crate::common::can_mount;
use crate::support::{
    Place, assert_did, cases_of, children_of, is_empty, is_mounted_below, measured, row_named,
};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_slow_disk_is_mounted_named_and_gone_at_the_end() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench
        .env("PATH", "")
        .args(["read-many", "build", "write-many"]);
    bench.args(["--disk", "none", "--runs", "1", "--files", "20"]);
    let parts = [
        "behave like the slow disk none",
        "read-many on the slow disk none (simulated)",
        "write-many on the slow disk none (simulated)",
        "build on the slow disk none (simulated)",
    ];
    let json = measured(&place, &mut bench, &parts);
    assert_eq!(json["disk"], "none");
    assert!(!is_mounted_below(place.root.path()));
}

/// Part of a row's time on a slow disk is the mount's: without it beside them figures would be
/// read as the disk's.
#[test]
fn a_table_on_a_slow_disk_has_the_cost_of_the_mount_alone() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let mut bench = place.quick();
    bench.env("PATH", "").args(["read-many", "--runs", "1"]);
    bench.args(["--disk", "slow-flush", "--files", "20"]);
    bench.args(["--rows", "mount alone,Rust std"]);
    let json = measured(&place, &mut bench, &["raw system calls, mount alone"]);
    for case in cases_of(&json, "read_many") {
        // Without Node there is no event loop.
        if case["case"]["watch"] == "nothing" {
            assert_did(
                row_named(case, "raw system calls, mount alone"),
                20,
                200_000,
            );
        }
    }
    assert!(!is_mounted_below(place.root.path()));
}

/// Ten thousand files on a network's disk take half an hour, which no plan of 150 s says.
#[test]
fn a_slow_disk_has_fewer_files_unless_their_number_is_given_and_says_so() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let bench = |more: &[&str]| {
        let mut bench = place.bench();
        bench.env("PATH", "").arg("--dir").arg(place.disk());
        bench.args(["write-many", "--runs", "1", "--cells", "string new"]);
        bench.args(["--rows", "Rust std"]);
        bench.args(["--disk", "none"]).args(more);
        bench
    };
    let says = "a tenth of the usual number, since the disk is slow; --files N names another";
    let json = measured(&place, &mut bench(&[]), &[says]);
    assert_eq!(cases_of(&json, "write_many")[0]["case"]["files"], 600);
    let json = measured(&place, &mut bench(&["--files", "20"]), &[]);
    assert_eq!(cases_of(&json, "write_many")[0]["case"]["files"], 20);
}

#[test]
fn a_slow_disk_is_gone_when_the_bench_is_stopped() {
    if !can_mount() {
        return;
    }
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = Place::new();
        let mut child = place
            .bench()
            .args(["read-many", "--seconds", "60", "--files", "200"])
            .args(["--disk", "hdd", "--dir"])
            .arg(place.disk())
            .env("PATH", "")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // The two mounts are children, a row another.
        while children_of(child.id()).len() < 3 {
            assert!(Instant::now() < deadline, "it starts no rows");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_mounted_below(place.root.path()), "{signal}");
        let number = child.id().to_string();
        Command::new("/bin/kill")
            .args(["-s", signal, &number])
            .status()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(!is_mounted_below(place.root.path()), "{signal}");
        assert!(is_empty(&place.disk()), "{signal}");
    }
}
