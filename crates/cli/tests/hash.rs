//! `smallfry hash` as a user of sha256sum runs it: lines, escapes, checks, exit status, Ctrl-C.
//!
//! A check that says OK for a changed file is worse than none. So each kind of difference is tried.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{assert_one_line, skip_unless};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

const ABC: &str = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";

/// A directory with a file `a` and a tree `from`.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.path("from/sub")).unwrap();
        for name in ["a", "from/a.js", "from/sub/a.map"] {
            fs::write(place.path(name), "abc").unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command
            .arg("hash")
            .args(arguments)
            .current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line.split(' ')).output().unwrap()
    }

    /// Returns what a command prints that must succeed and say nothing else.
    #[track_caller]
    fn prints(&self, line: &str) -> String {
        let output = self.run(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the digest that stands at the beginning of the only line.
    #[track_caller]
    fn digest(&self, line: &str) -> String {
        let printed = self.prints(line);
        assert_eq!(printed.lines().count(), 1, "{printed}");
        printed.split(' ').next().unwrap().to_owned()
    }
}

/// Returns what another command prints in the directory; `None` if it is not there.
fn others(place: &Place, program: &str, arguments: &[&OsStr]) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place.0.path());
    let output = command.output().ok();
    skip_unless(output.is_some(), program);
    output
}

#[test]
fn hash_prints_lines_in_the_order_of_paths() {
    let place = Place::new();
    fs::write(place.path("b"), "").unwrap();
    assert_eq!(place.prints("a"), format!("{ABC}  a\n"));
    let lines = place.prints("b from a from/a.js");
    let names: Vec<_> = lines.lines().map(|line| &line[66..]).collect();
    assert_eq!(names, ["b", "from", "a", "from/a.js"]);
    for (algorithm, digits) in [("blake3", 64), ("sha256", 64), ("sha1", 40), ("git", 40)] {
        for path in ["a", "from"] {
            let digest = place.digest(&format!("--algorithm {algorithm} {path}"));
            assert_eq!(digest.len(), digits);
        }
    }
    assert_eq!(
        place.digest("-a git a"),
        "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f"
    );
}

#[test]
fn hash_prints_what_sha256sum_prints_and_each_checks_the_other() {
    let place = Place::new();
    let names: Vec<_> = [
        &b"a"[..],
        b"new\nline",
        b"back\\slash",
        b"cr\r",
        b" two  ",
        b"\xff",
    ]
    .map(OsStr::from_bytes)
    .into();
    let names = if cfg!(target_os = "macos") {
        &names[..5]
    } else {
        &names
    };
    for name in names {
        fs::write(place.0.path().join(name), name.as_bytes()).unwrap();
    }
    let line = [OsStr::new("--algorithm"), OsStr::new("sha256")];
    let ours = place.command(line.iter().chain(names)).output().unwrap();
    let Some(theirs) = others(&place, "sha256sum", names) else {
        return;
    };
    assert_eq!(
        ours.stdout.escape_ascii().to_string(),
        theirs.stdout.escape_ascii().to_string()
    );
    fs::write(place.path("SUMS"), &ours.stdout).unwrap();
    let check = ["-c", "SUMS"].map(OsStr::new);
    let theirs = others(&place, "sha256sum", &check).unwrap();
    let ours = place.command(line.iter().chain(&check)).output().unwrap();
    assert!(ours.status.success() && theirs.status.success());
    // Versions of sha256sum differ in which of these names they escape here.
    let verdicts = |output: &Output| {
        let lines = output.stdout.escape_ascii().to_string();
        let lines = lines.split("\\n").map(str::to_owned);
        lines
            .filter(|it| !it.contains("back") && !it.contains("cr"))
            .collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&ours), verdicts(&theirs));
    assert_eq!(
        ours.stdout.split(|&byte| byte == b'\n').count(),
        names.len() + 1
    );
}

#[test]
fn the_digest_of_a_directory_changes_with_what_is_in_it() {
    let place = Place::new();
    let before = place.digest("from");
    assert_eq!(place.digest("from/"), before);
    assert_eq!(place.digest("from/."), before);
    symlink("from", place.path("link")).unwrap();
    assert_eq!(place.digest("link"), before);
    assert_ne!(place.digest("--tree link"), before);
    assert_ne!(place.digest("--tree a"), ABC);
    assert_eq!(place.digest("--tree from"), before);
    let excluded = place.digest("--exclude *.map from");
    assert_ne!(excluded, before);
    let path = place.path("from/sub/a.map");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let executable = place.digest("from");
    assert_ne!(executable, before);
    fs::remove_file(path).unwrap();
    assert_eq!(place.digest("from"), excluded);
    fs::remove_dir(place.path("from/sub")).unwrap();
    assert_ne!(place.digest("from"), excluded);
}

#[test]
fn hash_says_what_it_could_not_read() {
    let place = Place::new();
    let output = place.run("none a");
    assert_one_line(&output, &["smallfry hash: open none: No such file"]);
    assert_eq!(output.stdout, format!("{ABC}  a\n").as_bytes());
    assert_one_line(&place.run("--exclude [ from"), &["--exclude ["]);
    let made = Command::new("mkfifo").arg(place.path("from/pipe")).status();
    assert!(made.unwrap().success());
    let output = place.run("from");
    assert_one_line(&output, &["smallfry hash: open from/pipe: pipes"]);
    assert!(output.stdout.is_empty());
}

#[test]
fn check_tells_each_difference() {
    let place = Place::new();
    fs::write(place.path("gone"), "").unwrap();
    fs::write(place.path("SUMS"), place.prints("a gone from from/a.js")).unwrap();
    assert_eq!(
        place.prints("-c SUMS"),
        "a: OK\ngone: OK\nfrom: OK\nfrom/a.js: OK\n"
    );
    assert_eq!(place.prints("--check --quiet SUMS"), "");
    fs::write(place.path("from/a.js"), "abd").unwrap();
    fs::remove_file(place.path("gone")).unwrap();
    for (flags, unchanged) in [("-c", "a: OK\n"), ("-cq", "")] {
        let output = place.run(&format!("{flags} SUMS"));
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{unchanged}gone: FAILED open or read\nfrom: FAILED\nfrom/a.js: FAILED\n")
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("open gone: No such file"), "{said}");
        assert!(said.contains("SUMS: 2 files do not match"), "{said}");
        assert!(said.contains("SUMS: 1 file could not be read"), "{said}");
    }
}

#[test]
fn check_refuses_a_list_without_digests() {
    let place = Place::new();
    for contents in [String::new(), "abc  a\n".into(), format!("{ABC}\n")] {
        fs::write(place.path("SUMS"), contents).unwrap();
        assert_one_line(&place.run("-c SUMS"), &["SUMS: no line has a digest"]);
    }
    fs::write(place.path("SUMS"), format!("{ABC}  a\n")).unwrap();
    assert_one_line(&place.run("-a sha1 -c SUMS"), &["no line has a digest"]);
    assert_one_line(&place.run("-c none"), &["open none: No such file"]);
    // A line of another kind is passed over, but not in silence.
    fs::write(place.path("SUMS"), format!("# a comment\n{ABC}  a\nabc\n")).unwrap();
    let output = place.run("-c SUMS");
    assert!(output.status.success());
    assert_eq!(output.stdout, b"a: OK\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 line has another format"), "{said}");
}

#[test]
fn a_dash_is_standard_input() {
    let place = Place::new();
    let piped = |arguments: &[&str], input: &str| {
        let mut child = place
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(input.as_bytes()).unwrap();
        drop(pipe);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert_eq!(piped(&["-"], "abc"), format!("{ABC}  -\n"));
    assert_eq!(piped(&["-c", "-"], &format!("{ABC}  a\n")), "a: OK\n");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_news() {
    let place = Place::new();
    let mut child = place
        .command(["-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // Only now there is something to print.
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(1), Vec::new()));
}

#[test]
fn json_is_one_object() {
    let place = Place::new();
    let object = |line: &str| -> Value { serde_json::from_slice(&place.run(line).stdout).unwrap() };
    let answer = object("--json a from none");
    assert_eq!(answer["schema"], "smallfry-hash/1");
    assert_eq!(answer["algorithm"], "blake3");
    let digests = answer["digests"].as_array().unwrap();
    assert_eq!(digests.len(), 2);
    assert_eq!(
        (&digests[0]["kind"], &digests[0]["digest"]),
        (&"file".into(), &ABC.into())
    );
    assert_eq!(
        (&digests[1]["kind"], &digests[1]["path"]),
        (&"tree".into(), &"from".into())
    );
    assert_eq!(
        [&answer["files"], &answer["directories"], &answer["bytes"]],
        [&Value::from(3), &Value::from(2), &Value::from(9)]
    );
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    fs::write(place.path("SUMS"), format!("{ABC}  a\n{ABC}  from\n")).unwrap();
    let digests = &object("--json -c SUMS")["digests"];
    assert_eq!(
        (&digests[0]["matches"], &digests[1]["matches"]),
        (&true.into(), &false.into())
    );
}

/// Names on Linux are any bytes.
#[cfg(target_os = "linux")]
#[test]
fn json_has_the_bytes_of_a_name_that_is_not_utf8() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"a\xff");
    fs::rename(place.path("a"), place.path(".").join(name)).unwrap();
    let output = place.command(["--json".as_ref(), name]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let digest = &answer["digests"][0];
    assert_eq!(digest["path"], "a\u{fffd}");
    assert_eq!(digest["path_bytes"], serde_json::json!([b'a', 0xff]));
    assert_eq!(digest["digest"], ABC);

    let sums = place.command([name]).output().unwrap().stdout;
    fs::write(place.path("SUMS"), sums).unwrap();
    let answer: Value = serde_json::from_slice(&place.run("--json -c SUMS").stdout).unwrap();
    let digest = &answer["digests"][0];
    assert_eq!(digest["path_bytes"], serde_json::json!([b'a', 0xff]));
    assert_eq!(digest["matches"], true);
}

#[test]
fn ctrl_c_ends_a_large_file_and_a_pipe_that_nobody_writes() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    for path in ["/dev/zero", "pipe"] {
        let mut child = place.command([path]).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(300));
        let interrupt = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(interrupt.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{path}");
    }
}

#[test]
fn cache_reads_only_what_has_changed() {
    let place = Place::new();
    // Digests of younger files are not kept.
    thread::sleep(Duration::from_millis(2100));
    let bytes = |line: &str| {
        let json: Value = serde_json::from_str(&place.prints(line)).unwrap();
        json["bytes"].as_u64().unwrap()
    };
    let plain = place.prints("from a");
    assert_eq!(bytes("--json --cache digests from a"), 9);
    assert_eq!(bytes("--json --cache digests from a"), 0);
    assert_eq!(place.prints("--cache digests from a"), plain);
    fs::write(place.path("from/a.js"), "abd").unwrap();
    assert_eq!(bytes("--json --cache digests from a"), 3);
    let changed = place.prints("from a");
    assert_ne!(changed, plain);
    let together: Vec<_> = (0..4)
        .map(|_| {
            let mut command = place.command(["--cache", "digests", "from", "a"]);
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in together {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), changed);
    }
    let whole = fs::read(place.path("digests")).unwrap();
    fs::write(place.path("digests"), &whole[..whole.len() - 1]).unwrap();
    let output = place.run("--cache digests from a");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), changed);
    let warning = "smallfry hash: warning: digests: the cache is damaged and is made anew\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), warning);
    assert_one_line(&place.run("--cache a from"), &["a: the file is no cache"]);
    assert_eq!(fs::read(place.path("a")).unwrap(), b"abc");
    let output = place.run("--cache digests --check a");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn help_fits_a_screen() {
    let place = Place::new();
    let help = place.prints("-h");
    assert!(help.lines().count() <= 48, "{help}");
    assert!(help.contains("Examples:"));
}
