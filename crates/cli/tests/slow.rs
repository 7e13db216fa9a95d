//! `smallfry slow` as a user or a script runs it. However it ends, it must unmount. A mount that
//! stays behind fails every program that touches it, and the bench starts and ends many.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::can_mount;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const SMALLFRY: &str = env!("CARGO_BIN_EXE_smallfry");

/// A slow directory, and the command that serves it.
struct Slow {
    child: Child,
    output: BufReader<ChildStdout>,
    first_line: String,
    root: tempfile::TempDir,
}

impl Slow {
    /// Returns `None`, after a line that says so, where nothing can be mounted. With CI=true that
    /// is an error.
    fn start(arguments: &[&str]) -> Option<Self> {
        if !can_mount() {
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "text").unwrap();
        let child = Command::new(SMALLFRY)
            .arg("slow")
            .args(arguments)
            .arg(root.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Some(Self::ready(child, root))
    }

    fn ready(mut child: Child, root: tempfile::TempDir) -> Self {
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first_line = String::new();
        output.read_line(&mut first_line).unwrap();
        assert!(first_line.starts_with("mounted at "), "{first_line}");
        Self {
            child,
            output,
            first_line,
            root,
        }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits until it ends by itself, and returns the rest of its output.
    fn end(&mut self) -> String {
        assert!(self.child.wait().unwrap().success());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        said
    }

    /// Does the same where a file was open before. A process that another test starts at that
    /// moment may have a copy of it.
    #[track_caller]
    fn end_unmounted(&mut self) {
        let said = self.end();
        assert!(said.starts_with("unmounted"), "{said}");
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        // Either it has ended, or a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(process: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

fn is_mounted(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let point = path.to_str().unwrap();
    table
        .lines()
        .any(|line| line.split(' ').nth(4) == Some(point))
}

#[track_caller]
fn until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(SMALLFRY)
        .arg("slow")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn it_prints_what_is_mounted_and_unmounts_on_each_signal() {
    for name in ["INT", "TERM", "HUP"] {
        let Some(mut slow) = Slow::start(&["slow-flush", "--set", "flush=1ms", "--set", "seed=7"])
        else {
            return;
        };
        assert!(
            slow.first_line.contains("slow-flush,seed=7,"),
            "{}",
            slow.first_line
        );
        assert!(slow.first_line.contains("flush=1ms"), "{}", slow.first_line);
        assert!(slow.first_line.contains("umount"), "{}", slow.first_line);
        assert!(is_mounted(slow.path()));
        let file = File::create(slow.path().join("new")).unwrap();
        file.sync_all().unwrap();
        drop(file);
        slow.signal(name);
        slow.end_unmounted();
        assert!(!is_mounted(slow.path()));
        assert!(slow.path().join("new").exists());
    }
}

#[test]
fn open_files_do_not_prevent_the_unmount_and_are_reported() {
    let Some(mut slow) = Slow::start(&["none"]) else {
        return;
    };
    let open = File::open(slow.path().join("file")).unwrap();
    slow.signal("TERM");
    assert!(slow.end().contains("files were open"));
    assert!(!is_mounted(slow.path()));
    drop(open);
}

#[test]
fn it_ends_when_another_program_unmounts() {
    let Some(mut slow) = Slow::start(&["none"]) else {
        return;
    };
    assert!(
        Command::new("umount")
            .arg(slow.path())
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(slow.end(), "already unmounted by another program\n");
}

#[test]
fn the_guard_unmounts_when_it_is_killed() {
    let Some(slow) = Slow::start(&["hdd"]) else {
        return;
    };
    slow.signal("KILL");
    until("the guard to unmount", || !is_mounted(slow.path()));
    assert_eq!(
        fs::read_to_string(slow.path().join("file")).unwrap(),
        "text"
    );
}

#[test]
fn it_ends_when_its_parent_dies() {
    if !can_mount() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    // The shell stays the parent, since another command follows.
    let shell = Command::new("sh")
        .args(["-c", "\"$0\" slow none \"$1\"; :"])
        .arg(SMALLFRY)
        .arg(root.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut slow = Slow::ready(shell, root);
    assert!(is_mounted(slow.path()));
    slow.signal("KILL");
    until("it to unmount", || !is_mounted(slow.path()));
    // The output ends when the command has ended; the guard does not hold it open.
    let mut said = String::new();
    slow.output.read_to_string(&mut said).unwrap();
    assert_eq!(said, "unmounted\n");
}

#[test]
fn a_parent_that_died_early_is_noticed() {
    // Process 1 is not the parent of a test, and stands for a parent that has ended.
    let Some(mut slow) = Slow::start(&["none", "--parent", "1"]) else {
        return;
    };
    assert_eq!(slow.end(), "unmounted\n");
    assert!(!is_mounted(slow.path()));
}

/// Mounts a second one over the directory of another.
fn cover(slow: &Slow) -> Slow {
    let child = Command::new(SMALLFRY)
        .args(["slow", "none"])
        .arg(slow.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    Slow::ready(child, tempfile::tempdir().unwrap())
}

#[test]
fn a_covered_mount_serves_until_it_can_be_unmounted() {
    let Some(mut lower) = Slow::start(&["none"]) else {
        return;
    };
    let mut upper = cover(&lower);
    lower.signal("INT");
    let mut said = String::new();
    lower.output.read_line(&mut said).unwrap();
    assert!(said.contains("another mount covers this one"), "{said}");
    assert_eq!(
        fs::read_to_string(lower.path().join("file")).unwrap(),
        "text"
    );
    upper.signal("INT");
    upper.end_unmounted();
    lower.end_unmounted();
    assert!(!is_mounted(lower.path()));
}

#[test]
fn the_guard_unmounts_a_covered_mount_later() {
    let Some(mut lower) = Slow::start(&["none"]) else {
        return;
    };
    let mut upper = cover(&lower);
    lower.signal("KILL");
    lower.child.wait().unwrap();
    upper.signal("INT");
    upper.end();
    until("the guard to unmount", || !is_mounted(lower.path()));
}

#[test]
fn it_can_mount_elsewhere_and_nested() {
    if !can_mount() {
        return;
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let at = elsewhere.path().join("with blank");
    fs::create_dir(&at).unwrap();
    let Some(mut outer) = Slow::start(&["none", "--at", at.to_str().unwrap()]) else {
        return;
    };
    assert_eq!(fs::read_to_string(at.join("file")).unwrap(), "text");
    assert!(!is_mounted(outer.path()));
    let mut again = Command::new(SMALLFRY);
    again
        .args(["slow", "nfs"])
        .arg(&at)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut inner = Slow::ready(again.spawn().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(fs::read_to_string(at.join("file")).unwrap(), "text");
    inner.signal("TERM");
    inner.end();
    // Only its own mount was unmounted.
    assert_eq!(fs::read_to_string(at.join("file")).unwrap(), "text");
    outer.signal("TERM");
    outer.end();
    assert_eq!(fs::read_dir(&at).unwrap().count(), 0);
}

#[test]
fn options_set_faults_and_a_full_disk() {
    let Some(mut slow) = Slow::start(&[
        "none",
        "--fail",
        "mkdir:1:EIO",
        "--full-after",
        "1kB",
        "--then",
        "1ms:slow-flush,flush=2ms",
    ]) else {
        return;
    };
    assert!(
        slow.first_line
            .contains("fails mkdir:1:EIO; full after 1kB")
    );
    assert!(
        slow.first_line.contains("after 1ms slow-flush,"),
        "{}",
        slow.first_line
    );
    let made = [1, 2].map(|name: i32| fs::create_dir(slow.path().join(name.to_string())).is_ok());
    assert_eq!(made, [false, true]);
    let full = fs::write(slow.path().join("big"), [0; 1001]).unwrap_err();
    assert_eq!(full.raw_os_error(), Some(28));
    slow.signal("INT");
    slow.end();
}

/// Replaces `file`, and forgets to flush the directory.
fn replace(slow: &Slow) {
    let mut new = File::create(slow.path().join("new")).unwrap();
    new.write_all(b"newer").unwrap();
    new.sync_all().unwrap();
    drop(new);
    fs::rename(slow.path().join("new"), slow.path().join("file")).unwrap();
    assert!(!slow.path().join(".smallfry-ack-saved").exists());
}

impl Slow {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Ends it, and returns its line about the crash, once the survivors are mounted.
    fn crash(&mut self) -> String {
        self.signal("INT");
        let said = self.line();
        assert!(said.starts_with("unmounted"), "{said}");
        let told = self.line();
        let mounted = self.line();
        let wanted = format!("mounted at {}: what the crash left.", self.path().display());
        assert!(mounted.starts_with(&wanted), "{mounted}");
        told
    }
}

#[test]
fn a_crash_mounts_its_survivors_and_the_directory_keeps_everything() {
    let mut found = BTreeSet::new();
    for seed in 0..60 {
        let seed = seed.to_string();
        let crash = ["--crash", "random", "--model", "weak", "--seed", &seed];
        let Some(mut slow) = Slow::start(&crash) else {
            return;
        };
        let wanted = "records. Ctrl-C or `umount ";
        assert!(slow.first_line.contains(wanted), "{}", slow.first_line);
        assert!(
            slow.first_line.contains("crashes it"),
            "{}",
            slow.first_line
        );
        replace(&slow);
        let told = slow.crash();
        assert!(
            told.contains(&format!(" --model weak --seed {seed}\n")),
            "{told}"
        );
        let text = fs::read_to_string(slow.path().join("file")).unwrap();
        found.insert((told.contains("acknowledged: saved."), text));
        fs::write(slow.path().join("file"), "repaired").unwrap();
        slow.signal("INT");
        slow.end_unmounted();
        assert!(!is_mounted(slow.path()));
        let kept = fs::read_to_string(slow.path().join("file")).unwrap();
        assert_eq!(kept, "newer");
        if found.contains(&(true, "text".to_owned())) && found.contains(&(true, "newer".to_owned()))
        {
            return;
        }
    }
    panic!("nothing that was acknowledged was ever lost, or everything: {found:?}");
}

#[test]
fn a_crash_can_be_repeated_into_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    for again in ["1", "2"] {
        let left = directory.path().join("new").join(again);
        let crash = [
            "--crash",
            "99",
            "--seed",
            "1",
            "--model",
            "ordered",
            "--survivors",
        ];
        let Some(mut slow) = Slow::start(&[&crash[..], &[left.to_str().unwrap()]].concat()) else {
            return;
        };
        replace(&slow);
        let file = File::open(slow.path()).unwrap();
        file.sync_all().unwrap();
        drop(file);
        slow.signal("TERM");
        let said = slow.end();
        let told = said.lines().nth(1).unwrap();
        // create, write, fsync, rename, acknowledge, fsync
        assert!(
            told.starts_with("crashed after 6 of 6 operations, the last being: fsync ."),
            "{said}"
        );
        assert!(
            told.ends_with("acknowledged: saved. To repeat: --crash 6 --model ordered --seed 1"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 2, "{said}");
        assert_eq!(fs::read_to_string(left.join("file")).unwrap(), "newer");
        assert!(!left.join("new").exists());
    }
}

#[test]
fn an_unmount_by_another_program_is_a_crash_and_a_dead_parent_is_not() {
    let Some(mut slow) = Slow::start(&["--crash", "0", "none"]) else {
        return;
    };
    replace(&slow);
    let umount = Command::new("umount").arg(slow.path()).status();
    assert!(umount.unwrap().success());
    assert_eq!(slow.line(), "already unmounted by another program\n");
    let told = slow.line();
    assert!(
        told.starts_with("crashed after 0 of 5 operations; acknowledged: nothing."),
        "{told}"
    );
    assert!(slow.line().starts_with("mounted at "));
    assert_eq!(
        fs::read_to_string(slow.path().join("file")).unwrap(),
        "text"
    );
    slow.signal("HUP");
    slow.end_unmounted();
    let mut slow = Slow::start(&["--crash", "random", "--parent", "1"]).unwrap();
    assert_eq!(slow.end(), "unmounted\n");
}

#[test]
fn profiles_and_parameters_are_listed() {
    let (success, said) = run(&["--list"]);
    assert!(success);
    for wanted in [
        "hdd",
        "windows-close",
        "nfs",
        "slow-flush",
        "none",
        "round-trip",
        "8.5ms",
    ] {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn wrong_arguments_are_reported_before_mounting() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path().to_str().unwrap();
    let missing: PathBuf = directory.path().join("missing");
    let inside: PathBuf = directory.path().join("inside");
    fs::create_dir(&inside).unwrap();
    for (arguments, told) in [
        (vec!["floppy", here], "unknown profile"),
        (
            vec!["hdd", "--set", "speed=1", here],
            "unknown parameter speed",
        ),
        (vec!["hdd", "--set", "seek=1", here], "a time such as 8.5ms"),
        (
            vec!["hdd", "--fail", "write:1:ENOSYS", here],
            "the errors are",
        ),
        (vec!["hdd", "--then", "1s", here], "TIME:PROFILE"),
        (vec!["hdd"], "DIR"),
        (vec!["hdd", missing.to_str().unwrap()], "cannot open"),
        (
            vec!["hdd", "--at", inside.to_str().unwrap(), here],
            "is inside",
        ),
        (vec!["--crash", "random"], "required arguments"),
        (vec!["--crash", "soon", here], "expected random"),
        (
            vec!["--crash", "random", "--model", "strong", here],
            "ordered and weak",
        ),
        (
            vec!["--crash", "random", "--seed", "x", here],
            "invalid digit",
        ),
        (vec!["none", "--seed", "1", here], "--crash"),
        (vec!["none", "--model", "weak", here], "--crash"),
        (vec!["none", "--survivors", here, here], "--crash"),
        (
            vec!["--crash", "random", "--survivors", here, here],
            "is not empty",
        ),
        (vec!["--crash", "random", "floppy", here], "unknown profile"),
    ] {
        let (success, said) = run(&arguments);
        assert!(!success && said.contains(told), "{arguments:?}: {said}");
    }
    assert!(!is_mounted(directory.path()));
}
