#[cfg(target_os = "linux")]
use crate::common::is_running;
use crate::common::{assert_one_line, node_is_here, skip_unless};
#[cfg(target_os = "linux")]
use crate::support::children_of;
use crate::support::{Place, assert_fails_saying, is_empty};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn without_node_the_rows_in_rust_run_and_the_others_are_named() {
    let place = Place::new();
    let output = place.quick().env("PATH", "").output().unwrap();
    assert!(output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        complaint.contains("no node on PATH") && complaint.lines().count() == 1,
        "{complaint}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("smallfry in Rust"));

    let output = place
        .quick()
        .env("PATH", "")
        .env("CI", "true")
        .output()
        .unwrap();
    assert_one_line(&output, &["no node on PATH"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn a_package_that_does_not_load_is_named_in_one_line() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of("throw new Error('made for another machine')");
    let mut bench = place.quick();
    bench.args([
        "write-string",
        "--runs",
        "1",
        "--cells",
        "12 ascii string null fd",
    ]);
    let output = bench.arg("--package").arg(&dir).output().unwrap();
    assert!(output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        complaint.contains("made for another machine") && complaint.lines().count() == 1,
        "{complaint}"
    );
}

#[test]
fn a_row_that_fails_is_shown_as_failed() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let dir = place.package_of(
        "const fs = require('node:fs'); \
         module.exports = { ...fs, promises: fs.promises, readFileSync: () => 'wrong', \
         writeFileSync(path) { if (String(path).includes('file')) throw new Error('refused'); return fs.writeFileSync(...arguments); } };",
    );
    let mut bench = place.quick();
    bench.args(["--runs", "1", "--package"]).arg(&dir);
    assert_fails_saying(&mut bench, &["the output differs", "FAILED", "refused"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn bad_arguments_are_refused() {
    let place = Place::new();
    for arguments in [
        &["--runs", "0"][..],
        &["--seconds", "soon"],
        &["no-such-scenario"],
        &["--quick", "--all"],
        &["--nope"],
        &["read-many", "--files", "0"],
        &["read-many", "--size", "0"],
    ] {
        let output = place.bench().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let output = place
        .quick()
        .args(["write-string", "--no-smallfry", "--cells", "no such words"])
        .output()
        .unwrap();
    assert_one_line(&output, &["no such words"]);
    let output = place
        .quick()
        .env("PATH", "")
        .args(["--disk", "floppy"])
        .output()
        .unwrap();
    assert_one_line(&output, &["floppy", "--disk real"]);
    assert!(is_empty(&place.disk()));
}

#[test]
fn unfit_directories_fail_in_one_line() {
    let place = Place::new();
    let file = place.root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for dir in [file.clone(), place.root.path().join("missing")] {
        let output = place
            .bench()
            .arg("--quick")
            .arg("--dir")
            .arg(&dir)
            .output()
            .unwrap();
        assert_one_line(&output, &[dir.to_str().unwrap()]);
    }
    let tree = file.to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_smallfry"))
        .args(["bench", "--quick", "--tree", tree, "--dir"])
        .arg(place.disk())
        .env_remove("CI")
        .env("PATH", "")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && complaint.contains(tree),
        "{complaint}"
    );
    let output = place
        .quick()
        .arg("--json")
        .arg(place.root.path().join("missing/results.json"))
        .output()
        .unwrap();
    assert_one_line(&output, &["missing/results.json"]);
    assert!(is_empty(&place.disk()));
}

#[cfg(unix)]
#[test]
fn a_binary_that_is_not_node_fails_in_one_line() {
    let place = Place::new();
    for script in [
        "exit 0",
        "echo 'Segmentation fault' >&2; exit 139",
        "echo hello; cat",
        "kill -9 $$",
    ] {
        let fake = place.program(script);
        let output = place.quick().arg("--node").arg(&fake).output().unwrap();
        assert_one_line(&output, &["fake-node", "does not work as Node.js"]);
    }
    let missing = place.root.path().join("no-node");
    let output = place.quick().arg("--node").arg(&missing).output().unwrap();
    assert_one_line(&output, &["no-node", "cannot run"]);
    let output = place
        .quick()
        .args(["--no-smallfry", "--bun"])
        .arg(&missing)
        .output()
        .unwrap();
    assert_one_line(&output, &["no-node", "cannot run"]);
    assert!(is_empty(&place.disk()));
}

/// A disk fills up while the bench prepares, or in the middle of a row.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_in_one_line() {
    let place = Place::new();
    let disk = place.disk();
    for (size, arguments) in [
        ("size=300k", &["build"][..]),
        ("size=600k", &["write-string", "--cells", "1048576 disk fd"]),
    ] {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(&disk)
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        skip_unless(mounted, "a tmpfs cannot be mounted here");
        if !mounted {
            return;
        }
        let tree = place.root.path().join("tree");
        std::fs::write(tree.join("large.js"), "x".repeat(400 << 10)).unwrap();
        let output = place
            .quick()
            .args(arguments)
            .env("PATH", "")
            .output()
            .unwrap();
        let empty = is_empty(&disk);
        Command::new("umount").arg(&disk).status().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && complaint.contains("No space left"),
            "{complaint}"
        );
        assert!(complaint.contains("disk/"), "no path: {complaint}");
        assert!(empty);
    }
}

/// Children are told apart from everybody else's by the path of the fake node they were started
/// from, or by this directory.
#[cfg(target_os = "linux")]
#[test]
fn every_way_of_stopping_leaves_no_files_and_no_processes() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = Place::new();
        let results = place.root.path().join("results.json");
        let mut child = place
            .bench()
            .args(["--seconds", "60", "--no-smallfry", "--json"])
            .arg(&results)
            .arg("--dir")
            .arg(place.disk())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while children_of(child.id()).is_empty() {
            assert!(Instant::now() < deadline, "it starts no rows");
            std::thread::sleep(Duration::from_millis(5));
        }
        let rows = children_of(child.id());
        Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{signal}");
        assert!(is_empty(&place.disk()), "{signal}");
        let names: Vec<_> = std::fs::read_dir(place.root.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 2, "{signal}: {names:?}");
        for row in rows {
            assert!(!is_running(row), "{signal}: a row is still there");
        }
    }
}

/// Without Node, so that it is soon done.
#[cfg(unix)]
#[test]
fn advise_answers_in_a_line_for_each_question_and_leaves_nothing() {
    let place = Place::in_memory();
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    command.arg("advise").arg(place.disk());
    let programs = place.root.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["cp", "rm"] {
        std::os::unix::fs::symlink(which::which(name).unwrap(), programs.join(name)).unwrap();
    }
    command.env_remove("CI").env("PATH", programs);
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let (_, screen) = printed.split_once('\n').unwrap();
    assert!(screen.lines().count() <= 25, "{screen}");
    for word in [
        "Read", "Blocking", "Write", "Flush", "Durable", "Close", "Copy", "Remove", "More",
    ] {
        assert!(
            screen.contains(&format!("\n  {word} ")),
            "{word}: {printed}"
        );
    }
    assert!(screen.contains("a write with fsync takes"), "{screen}");
    assert!(is_empty(&place.disk()));
}
