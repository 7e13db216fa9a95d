//! `smallfry cp`, `mirror`, `rm`, `pack` and `unpack` as a user runs them: flags, messages, exit
//! status, Ctrl-C.
//!
//! The user of `rm` trusts it with the files beside the tree. The user of `cp` trusts it with the
//! files that exist already.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::assert_one_line;
use common::place::{Place, list};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ALL: [&str; 3] = ["a.js", "sub", "sub/a.map"];

#[test]
fn cp_copies_to_a_new_name_or_into_a_directory() {
    let place = Place::new();
    place.done("cp from new");
    assert_eq!(list(&place.path("new")), ALL);
    fs::create_dir(place.path("there")).unwrap();
    place.done("cp -rf from from/a.js there");
    assert_eq!(
        list(&place.path("there")),
        ["a.js", "from", "from/a.js", "from/sub", "from/sub/a.map"]
    );
    place.done("cp -T from there");
    assert_eq!(list(&place.path("there")).len(), 7);
    fs::create_dir(place.path("contents")).unwrap();
    place.done("cp from/. contents");
    assert_eq!(list(&place.path("contents")), ALL);
    place.done("cp from/a.js file.js");
    assert_eq!(fs::read(place.path("file.js")).unwrap(), b"new");
    // A link is copied as a link, and `link/` is the directory to which it leads.
    symlink("from", place.path("link")).unwrap();
    place.done("cp link contents");
    assert_eq!(
        fs::read_link(place.path("contents/link")).unwrap(),
        Path::new("from")
    );
    place.done("cp link/ there");
    assert_eq!(list(&place.path("there/link")), ALL);
}

#[test]
fn cp_leaves_out_and_keeps_what_it_is_told_to() {
    let place = Place::new();
    place.done("cp --exclude *.map from new");
    assert_eq!(list(&place.path("new")), ["a.js", "sub"]);
    fs::write(place.path("new/a.js"), "old").unwrap();
    place.done("cp -n -T from new");
    assert_eq!(list(&place.path("new")), ALL);
    assert_eq!(fs::read(place.path("new/a.js")).unwrap(), b"old");
    place.done("cp -T -p from new");
    let time = |root: &str| {
        fs::metadata(place.path(root).join("a.js"))
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(
        (fs::read(place.path("new/a.js")).unwrap(), time("new")),
        (b"new".to_vec(), time("from"))
    );
}

#[test]
fn cp_preserves_follows_and_links_as_it_is_told_to() {
    let place = Place::new();
    symlink("a.js", place.path("from/link")).unwrap();
    let modified = |path: &str| fs::metadata(place.path(path)).unwrap().modified().unwrap();
    let number = |path: &str| fs::symlink_metadata(place.path(path)).unwrap().ino();
    for (index, flag) in ["-p", "-a", "--preserve", "--preserve=all,links", "-pd"]
        .iter()
        .enumerate()
    {
        place.done(&format!("cp {flag} from to{index}"));
        for path in ["", "/sub", "/sub/a.map"] {
            let (from, to) = (format!("from{path}"), format!("to{index}{path}"));
            assert_eq!(modified(&to), modified(&from), "{flag}");
        }
        assert!(place.path(&format!("to{index}/link")).is_symlink());
    }
    place.done("cp -L --preserve=mode from followed");
    assert!(!place.path("followed/link").is_symlink());
    assert_eq!(fs::read(place.path("followed/link")).unwrap(), b"new");
    assert_ne!(modified("followed/a.js"), modified("from/a.js"));
    place.done("cp -l from linked");
    assert_eq!(number("linked/link"), number("from/link"));
    place.done("cp -alL from linked-files");
    assert_eq!(number("linked-files/link"), number("from/a.js"));
    symlink("gone", place.path("from/dangling")).unwrap();
    let output = place.run("cp -L from partly");
    assert_eq!(output.status.code(), Some(1));
    let expected = "copy from/dangling to partly/dangling: the link leads to nothing";
    assert_one_line(&output, &[expected]);
    assert_eq!(list(&place.path("partly")).len(), 4);
    // As cp itself, and not 2.
    let output = place.run("cp --preserve=nothing from to");
    assert_eq!(output.status.code(), Some(1));
    let help = place.run("cp --help").stdout;
    assert!(String::from_utf8(help).unwrap().lines().count() <= 48);
}

#[cfg(target_os = "linux")]
#[test]
fn cp_keeps_the_owners_for_root_alone() {
    let place = Place::new();
    fs::create_dir(place.path("own")).unwrap();
    if !give_to_nobody(&[place.path(""), place.path("own")]) {
        return;
    }
    std::os::unix::fs::chown(place.path("from/a.js"), Some(1234), Some(4321)).unwrap();
    let owner = |path: &str| {
        let status = fs::metadata(place.path(path)).unwrap();
        (status.uid(), status.gid())
    };
    for flag in ["-p", "-a", "--preserve=ownership"] {
        place.done(&format!("cp {flag} from to"));
        assert_eq!(owner("to/a.js"), (1234, 4321));
        fs::remove_dir_all(place.path("to")).unwrap();
        let output = run_as_nobody(&place, &format!("cp {flag} from own/to"));
        assert!(output.status.success(), "{output:?}");
        assert_eq!(owner("own/to/a.js").0, 65534);
        fs::remove_dir_all(place.path("own/to")).unwrap();
    }
    place.done("cp from to");
    assert_ne!(owner("to/a.js"), (1234, 4321));
}

#[test]
fn cp_says_what_it_could_not_copy() {
    let place = Place::new();
    assert_one_line(
        &place.run("cp none new"),
        &["smallfry cp: copy none to new: No such file"],
    );
    assert_one_line(
        &place.run("cp from from/sub"),
        &["cannot be copied into itself"],
    );
    assert_one_line(
        &place.run("cp from from/a.js none"),
        &["several sources", "none"],
    );
    assert_one_line(&place.run("cp --exclude [ from new"), &["--exclude ["]);
    for missing in ["none/", "from/sub/a.map/"] {
        let output = place.run(&format!("cp from/a.js {missing}"));
        assert_one_line(&output, &[missing, "is no directory"]);
    }
    // Neither of two files of one name is lost.
    fs::create_dir_all(place.path("other/sub")).unwrap();
    fs::write(place.path("other/a.js"), "other").unwrap();
    fs::create_dir(place.path("both")).unwrap();
    let output = place.run("cp from/a.js other/a.js from/sub other/sub both");
    let words = ["other/a.js would replace both/a.js, the copy of from/a.js"];
    assert_one_line(&output, &words);
    assert_eq!(fs::read(place.path("both/a.js")).unwrap(), b"new");
    assert_eq!(list(&place.path("both")).len(), 3);
    fs::create_dir(place.path("there")).unwrap();
    fs::create_dir(place.path("there/a.js")).unwrap();
    // The rest is copied.
    let output = place.run("cp -T from there");
    assert_one_line(&output, &["copy from/a.js to there/a.js: is a directory"]);
    assert_eq!(list(&place.path("there")), ALL);

    let output = place.run("cp --json -T from there");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["files"], 1);
    assert_eq!(answer["bytes"], 3);
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(output.status.code(), Some(1));
}

/// The printed lines, sorted.
fn lines(output: &Output) -> Vec<String> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn cp_and_rm_print_each_entry() {
    let place = Place::new();
    assert_eq!(
        lines(&place.run("cp -v from new")),
        [
            "'from' -> 'new'",
            "'from/a.js' -> 'new/a.js'",
            "'from/sub' -> 'new/sub'",
            "'from/sub/a.map' -> 'new/sub/a.map'"
        ]
    );
    assert_eq!(
        lines(&place.run("cp -v from/a.js new")),
        ["'from/a.js' -> 'new/a.js'"]
    );
    assert!(lines(&place.run("cp -v -n -T from new")).is_empty());
    assert_eq!(
        lines(&place.run("rm -v new/a.js new")),
        [
            "removed 'new/a.js'",
            "removed 'new/sub/a.map'",
            "removed directory 'new'",
            "removed directory 'new/sub'"
        ]
    );
}

#[test]
fn mirror_makes_a_directory_the_same() {
    let place = Place::new();
    place.done("mirror from to");
    assert_eq!(list(&place.path("to")), ALL);
    let modified = |path: &str| fs::metadata(place.path(path)).unwrap().modified().unwrap();
    for name in ["", "/a.js", "/sub"] {
        assert_eq!(
            modified(&format!("from{name}")),
            modified(&format!("to{name}"))
        );
    }
    fs::write(place.path("to/old.js"), "").unwrap();
    fs::write(place.path("to/old.map"), "").unwrap();
    fs::write(place.path("from/a.js"), "newer").unwrap();
    place.done("mirror from to");
    assert_eq!(list(&place.path("to")).len(), 5);
    let excluding = "--delete --exclude *.map from to";
    let expected = ["delete 'old.js'"];
    assert_eq!(
        lines(&place.run(&format!("mirror -n {excluding}"))),
        expected
    );
    assert_eq!(list(&place.path("to")).len(), 5);
    assert_eq!(
        lines(&place.run(&format!("mirror -v {excluding}"))),
        expected
    );
    place.done("mirror -a --delete from to");
    assert_eq!(list(&place.path("to")), ALL);
    assert_eq!(fs::read(place.path("to/a.js")).unwrap(), b"newer");

    // The same size and time, as a crash might leave it.
    fs::write(place.path("to/a.js"), "torn?").unwrap();
    let file = fs::File::open(place.path("to/a.js")).unwrap();
    file.set_modified(modified("from/a.js")).unwrap();
    place.done("mirror from to");
    assert_eq!(fs::read(place.path("to/a.js")).unwrap(), b"torn?");
    let json = |line: &str| -> Value { serde_json::from_slice(&place.run(line).stdout).unwrap() };
    let change = serde_json::json!([{ "change": "update", "path": "a.js" }]);
    assert_eq!(json("mirror --json -n -c from to")["changes"], change);
    let done = json("mirror --json -c from to");
    assert_eq!(
        (
            &done["files"],
            &done["unchanged"],
            &done["deleted"],
            &done["bytes"]
        ),
        (&1.into(), &3.into(), &0.into(), &5.into())
    );
    assert_eq!(fs::read(place.path("to/a.js")).unwrap(), b"newer");
}

/// Names on Linux are any bytes.
#[cfg(target_os = "linux")]
#[test]
fn json_of_mirror_has_the_bytes_of_a_name_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    place.done("mirror from to");
    let name = std::ffi::OsStr::from_bytes(b"a\xff");
    fs::write(place.path("from").join(name), "x").unwrap();
    let output = place.run("mirror --json -n from to");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let changes = answer["changes"].as_array().unwrap();
    let created = changes.iter().find(|it| it["change"] == "create").unwrap();
    assert_eq!(created["path"], "a\u{fffd}");
    assert_eq!(created["path_bytes"], serde_json::json!([b'a', 0xff]));
}

/// Users of `rm` and `rsync` type them, and smallfry does so anyway.
#[test]
fn flags_of_other_programs_are_accepted_and_not_in_the_help() {
    let place = Place::new();
    place.done("mirror -rltpH from to");
    place.done("mirror --links --times --perms --hard-links from to");
    assert_eq!(list(&place.path("to")), ALL);
    place.done("rm -rf --one-file-system to");
    assert!(!place.path("to").exists());
    let output = place.run("rm --one-file-system --mounts from");
    assert_eq!(output.status.code(), Some(1));
    for (command, flags) in [
        ("rm", &["one-file-system"][..]),
        (
            "mirror",
            &["--links", "--times", "--perms", "--hard-links", "-H"],
        ),
    ] {
        let help = place.run(&format!("{command} --help")).stdout;
        let help = String::from_utf8(help).unwrap();
        assert!(!flags.iter().any(|flag| help.contains(flag)), "{help}");
    }
}

#[test]
fn mirror_says_what_it_could_not_do() {
    let place = Place::new();
    place.done("mirror from to");
    assert_one_line(
        &place.run("mirror --delete none to"),
        &["smallfry mirror: readdir none: No such file"],
    );
    assert_one_line(
        &place.run("mirror from from/sub"),
        &["cannot be mirrored into itself"],
    );
    assert_one_line(
        &place.run("mirror --delete from/sub from"),
        &["cannot be mirrored into itself"],
    );
    assert_one_line(&place.run("mirror from no/to"), &["mkdir no/to: "]);
    fs::remove_file(place.path("to/a.js")).unwrap();
    fs::create_dir(place.path("to/a.js")).unwrap();
    assert_one_line(
        &place.run("mirror from to"),
        &["copy from/a.js to to/a.js: is a directory"],
    );
    assert_eq!(list(&place.path("to")), ALL);
    place.done("mirror --delete from to");
    assert_eq!(fs::read(place.path("to/a.js")).unwrap(), b"new");
}

#[test]
fn a_killed_mirror_leaves_whole_old_or_new_files_and_another_run_ends_it() {
    const FILES: usize = 300;
    let place = Place::new();
    let text = |version: u8| vec![version; 100_000 + usize::from(version)];
    let write = |version: u8| {
        for index in usize::from(version)..FILES {
            fs::write(place.path("from").join(index.to_string()), text(version)).unwrap();
        }
    };
    write(1);
    place.done("mirror --delete from to");
    let mut interrupted = 0;
    for version in 2..12 {
        write(version);
        fs::remove_file(place.path("from").join(version.to_string())).unwrap();
        let mut child = place.command("mirror --delete from to").spawn().unwrap();
        thread::sleep(Duration::from_micros(u64::from(version) * 2_000));
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
        for index in usize::from(version)..FILES {
            let path = place.path("to").join(index.to_string());
            if let Ok(bytes) = fs::read(&path) {
                assert!(bytes == text(bytes[0]), "{}", path.display());
                assert!([version, version - 1].contains(&bytes[0]));
            }
        }
        place.done("mirror --delete from to");
        assert_eq!(list(&place.path("to")), list(&place.path("from")));
        for index in 0..FILES {
            let read = |root: &str| fs::read(place.path(root).join(index.to_string())).ok();
            assert!(read("to") == read("from"));
        }
    }
    assert!(interrupted > 0);
}

#[test]
fn rm_removes_trees_files_and_links() {
    let place = Place::new();
    symlink("from", place.path("link")).unwrap();
    place.done("rm link");
    assert_eq!(list(&place.path("from")), ALL);
    place.done("cp from copy");
    place.done("rm -rf from/a.js copy none");
    assert_eq!(
        list(&place.path("")),
        ["from", "from/sub", "from/sub/a.map"]
    );
    let answer: Value = serde_json::from_slice(&place.run("rm --json from").stdout).unwrap();
    assert_eq!(
        (&answer["files"], &answer["directories"]),
        (&Value::from(1), &Value::from(2))
    );
    assert!(!place.path("from").exists());
}

#[test]
fn rm_refuses_what_cannot_be_meant() {
    let place = Place::new();
    assert_one_line(
        &place.run("rm none"),
        &["smallfry rm: unlink none: No such file"],
    );
    for path in [".", "..", "/", "from/..", "from/."] {
        let output = place.run(&format!("rm -rf {path}"));
        assert_one_line(
            &output,
            &[&format!("smallfry rm: rmdir {path}: "), "refused"],
        );
    }
    assert_eq!(list(&place.path("from")), ALL);
    // As rm(1) does.
    place.done("rm -f");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    for line in [
        "cp -v from new",
        "cp --json from newer",
        "mirror -n from mirror",
        "rm -v new",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(line).stdout(full).output().unwrap();
        assert_one_line(&output, &["write standard output: No space left"]);
    }
    // A reader that has gone away is no error.
    let mut child = place.command("cp -v from last");
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn messages_have_no_control_characters_of_names() {
    let place = Place::new();
    let name = "x\ny\x1b[1m";
    let output = place.command("rm").arg(name).output().unwrap();
    assert_one_line(&output, &["x\\ny\\u{1b}[1m"]);
}

#[test]
fn unpack_ends_at_the_second_signal_while_it_waits_for_a_pipe() {
    let place = Place::new();
    ends_by_signals(&place, "unpack pipe");
}

#[test]
fn pack_stops_while_nobody_reads_its_pipe() {
    let place = Place::new();
    ends_by_signals(&place, "pack --format tar pipe from");
}

/// Makes a pipe, and sends signals to a command that waits for it.
fn ends_by_signals(place: &Place, line: &str) {
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    let mut child = place.command(line).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60));
        // It may not listen yet.
        let pid = child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        thread::sleep(Duration::from_millis(100));
    }
    assert!(!child.wait().unwrap().success());
}

#[test]
fn pack_keeps_the_permissions_of_an_archive_and_the_archive_if_nothing_is_packed() {
    let place = Place::new();
    place.done("pack a.tar from");
    let archive = place.path("a.tar");
    fs::set_permissions(&archive, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(place.path("from/more"), "more").unwrap();
    place.done("pack a.tar from");
    assert_eq!(fs::metadata(&archive).unwrap().mode() & 0o777, 0o600);
    let before = fs::read(&archive).unwrap();
    assert_one_line(&place.run("pack a.tar none"), &["none: No such file"]);
    assert!(fs::read(&archive).unwrap() == before);
    assert_eq!(
        list(&place.path(""))
            .iter()
            .filter(|name| name.starts_with('.'))
            .count(),
        0
    );
}

#[test]
fn a_stopped_cp_leaves_whole_files() {
    let place = Place::new();
    let contents = vec![b'x'; 200_000];
    for index in 0..1000 {
        fs::write(place.path("from").join(index.to_string()), &contents).unwrap();
    }
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // A fast machine may be done before the signal comes.
        for attempt in 0.. {
            let name = format!("copy{signal}{attempt}");
            let mut child = place
                .command(&format!("cp from {name}"))
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            while !place.path(&name).join("sub").exists()
                && fs::read_dir(place.path(&name)).map_or(0, Iterator::count) < 3
            {
                thread::sleep(Duration::from_millis(1));
            }
            Command::new("kill")
                .args(["-s", signal, &child.id().to_string()])
                .status()
                .unwrap();
            let status = child.wait().unwrap();
            for entry in fs::read_dir(place.path(&name)).unwrap() {
                let status = entry.unwrap().metadata().unwrap();
                assert!(status.is_dir() || [3, 200_000].contains(&status.len()));
            }
            place.done(&format!("rm {name}"));
            if status.code() == Some(code) {
                break;
            }
            assert!(status.success() && attempt < 20, "{signal}: {status}");
        }
    }
}

/// Runs the command as a user who may not do everything.
#[cfg(target_os = "linux")]
fn run_as_nobody(place: &Place, line: &str) -> Output {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--clear-groups", "--"]);
    command.arg(env!("CARGO_BIN_EXE_smallfry"));
    command.args(line.split(' ')).current_dir(place.path(""));
    command.output().unwrap()
}

/// Gives paths to that user, and returns true if it can run the command on them.
#[cfg(target_os = "linux")]
fn give_to_nobody(paths: &[PathBuf]) -> bool {
    let give = |path| std::os::unix::fs::chown(path, Some(65534), None);
    let can_run = paths.iter().all(|path| give(path).is_ok())
        && Command::new("setpriv")
            .args(["--reuid", "65534", "--clear-groups", "--"])
            .args([env!("CARGO_BIN_EXE_smallfry"), "--version"])
            .output()
            .is_ok_and(|output| output.status.success());
    common::skip_unless(can_run, "another user cannot run the command");
    can_run
}

#[cfg(target_os = "linux")]
#[test]
fn mirror_writes_to_its_own_directories_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::hard_link(place.path("from/a.js"), place.path("from/sub/other.js")).unwrap();
    let paths = ["", "from", "from/sub", "from/a.js", "from/sub/a.map"];
    if !give_to_nobody(&paths.map(|path| place.path(path))) {
        return;
    }
    let set_mode = |name: &str, mode| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for round in 0..3 {
        set_mode("from/sub", 0o755);
        let new = place.path("from/sub").join(round.to_string());
        fs::write(&new, "new").unwrap();
        assert!(give_to_nobody(&[new]));
        set_mode("from/sub", 0o555);
        if round == 2 {
            fs::remove_file(place.path("from/sub/0")).unwrap();
        }
        let output = run_as_nobody(&place, "mirror --delete from to");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(list(&place.path("to")), list(&place.path("from")));
        let mode = fs::metadata(place.path("to/sub")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o555);
    }
    let closed = place.path("from/sub");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    assert_one_line(
        &run_as_nobody(&place, "mirror --delete from to"),
        &["readdir from/sub: Permission denied"],
    );
    assert_eq!(list(&place.path("to")), list(&place.path("from")));
}

#[cfg(target_os = "linux")]
#[test]
fn rm_removes_an_empty_directory_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    for name in ["closed", "open/closed", "full/closed"] {
        fs::create_dir_all(place.path(name)).unwrap();
    }
    fs::write(place.path("full/closed/file"), "stays").unwrap();
    let mut paths = vec![place.0.path().to_owned()];
    paths.extend(["open", "full", "closed", "open/closed", "full/closed"].map(|it| place.path(it)));
    if !give_to_nobody(&paths) {
        return;
    }
    for name in ["closed", "open/closed", "full/closed"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let output = run_as_nobody(&place, "rm closed open");
    assert!(output.status.success(), "{output:?}");
    assert!(!place.path("closed").exists() && !place.path("open").exists());
    assert_one_line(
        &run_as_nobody(&place, "rm full"),
        &["full/closed", "Permission denied"],
    );
    assert!(place.path("full/closed/file").exists());
}

/// Packs `from` into an archive.
fn pack(place: &Place, archive: &str, options: &[&str]) {
    let tar = Command::new("tar")
        .args(options)
        .args(["-cf", archive, "from"])
        .current_dir(place.path(""))
        .status();
    assert!(tar.unwrap().success());
}

#[test]
fn unpack_unpacks_into_a_directory() {
    let place = Place::new();
    pack(&place, "from.tgz", &["-z"]);
    place.done("unpack -C new/dir from.tgz");
    assert_eq!(list(&place.path("new/dir/from")), ALL);
    place.done("unpack -C stripped --strip-components 1 --exclude sub from.tgz");
    assert_eq!(list(&place.path("stripped")), ["a.js"]);
    fs::write(place.path("stripped/a.js"), "old").unwrap();
    place.done("unpack -k -C stripped --strip-components 1 from.tgz");
    assert_eq!(fs::read(place.path("stripped/a.js")).unwrap(), b"old");
    place.done("unpack -C stripped --strip-components=1 from.tgz");
    assert_eq!(fs::read(place.path("stripped/a.js")).unwrap(), b"new");

    let mut piped = place.command("unpack -C piped -");
    let archive = fs::File::open(place.path("from.tgz")).unwrap();
    assert!(piped.stdin(archive).status().unwrap().success());
    assert_eq!(list(&place.path("piped/from")), ALL);
    fs::remove_dir_all(place.path("piped")).unwrap();

    let zip = place.command("pack --format zip - from").output().unwrap();
    for archive in ["-", "/dev/stdin"] {
        let mut piped = place.command(&format!("unpack -C piped {archive}"));
        let mut piped = piped.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = piped.stdin.take().unwrap();
        input.write_all(&zip.stdout).unwrap();
        drop(input);
        assert!(piped.wait().unwrap().success());
        // Nothing but the tree is left.
        assert_eq!(list(&place.path("piped")).len(), 1 + ALL.len());
        assert_eq!(list(&place.path("piped/from")), ALL);
        fs::remove_dir_all(place.path("piped")).unwrap();
    }
}

#[test]
fn unpack_lists_files_and_counts_them() {
    let place = Place::new();
    pack(&place, "from.tar", &[]);
    let output = place.run("unpack -v -C new from.tar");
    let mut listed: Vec<_> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, ["'from/a.js'", "'from/sub/a.map'"]);
    let output = place.run("unpack --json -C new from.tar");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["files"], 2);
    assert_eq!(summary["bytes"], 6);
    assert_eq!(summary["errors"], serde_json::json!([]));
}

#[test]
fn unpack_stops_at_limits() {
    let place = Place::new();
    fs::write(place.path("from/zeros"), vec![0; 4 << 20]).unwrap();
    place.done("pack --level 9 a.tgz from");
    for (limit, reason) in [
        ("--max-entries 2", "more than 2 entries"),
        ("--max-bytes 100", "more than 100 bytes"),
        ("--max-ratio 20", "more than 20 times as large"),
    ] {
        let output = place.run(&format!("unpack {limit} -C to a.tgz"));
        assert_eq!(output.status.code(), Some(1), "{limit}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(reason), "{said}");
    }
    place.done("unpack --max-entries 10 --max-bytes 5000000 --max-ratio 2000 -C to a.tgz");
}

#[test]
fn unpack_reports_what_it_cannot_unpack() {
    let place = Place::new();
    for (line, reason) in [
        ("unpack missing.tar", "open missing.tar: "),
        (
            "unpack from/a.js",
            "read from/a.js: neither a tar nor a zip",
        ),
        ("unpack --exclude [ from/a.js", "--exclude [: "),
    ] {
        assert_one_line(&place.run(line), &["smallfry unpack: ", reason]);
    }
    let mut piped = place.command("unpack -C piped -");
    let none = fs::File::open(place.path("from/a.js")).unwrap();
    assert_one_line(
        &piped.stdin(none).output().unwrap(),
        &["smallfry unpack: read standard input: neither a tar nor"],
    );
    // The rest of a truncated archive is there.
    pack(&place, "from.tar", &[]);
    let mut archive = fs::read(place.path("from.tar")).unwrap();
    archive.truncate(2048);
    fs::write(place.path("cut.tar"), archive).unwrap();
    let output = place.run("unpack -C cut cut.tar");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("smallfry unpack: read cut.tar: "));
    assert_eq!(
        lines[1..],
        ["smallfry unpack: 1 files and 2 directories were unpacked"]
    );
    // The list of a zip is at its end.
    place.done("pack whole.zip from");
    let mut archive = fs::read(place.path("whole.zip")).unwrap();
    archive.truncate(archive.len() - 30);
    fs::write(place.path("cut.zip"), archive).unwrap();
    assert_one_line(
        &place.run("unpack -C cut cut.zip"),
        &["read cut.zip: the zip is damaged or cut off: "],
    );
}

#[test]
fn pack_packs_paths_under_their_names() {
    let place = Place::new();
    for archive in ["a.tar", "a.tar.gz", "a.tgz", "a.tar.zst", "a.zip"] {
        place.done(&format!("pack {archive} from"));
        place.done(&format!("unpack -C to {archive}"));
        assert_eq!(list(&place.path("to/from")), ALL, "{archive}");
        fs::remove_dir_all(place.path("to")).unwrap();
    }
    place.done("pack --exclude *.map -C from a.tar .");
    place.done("unpack -C to a.tar");
    assert_eq!(list(&place.path("to")), ["a.js", "sub"]);

    let output = place.run("pack --format tar.gz - from/a.js");
    fs::write(place.path("piped"), output.stdout).unwrap();
    place.done("unpack -C to piped");
    assert_eq!(fs::read(place.path("to/from/a.js")).unwrap(), b"new");
}

#[test]
fn pack_prints_entries_in_the_order_of_the_archive() {
    let place = Place::new();
    let output = place.run("pack -v a.zip from");
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = ALL.map(|name| format!("'from/{name}'"));
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [&["'from'".to_owned()], &expected[..]].concat()
    );
}

/// `xargs` puts the sources last.
#[test]
fn sources_are_copied_into_the_directory_that_t_names() {
    let place = Place::new();
    for name in ["one", "two"] {
        fs::write(place.path(name), name).unwrap();
    }
    fs::create_dir(place.path("to")).unwrap();
    place.done("cp -t to one two");
    for name in ["one", "two"] {
        assert_eq!(
            fs::read_to_string(place.path("to").join(name)).unwrap(),
            name
        );
    }
    for (words, reason) in [
        ("cp -t one two", "one is no directory"),
        ("cp one", "a DEST is missing after one"),
        ("cp -t to -T one", "cannot be used with"),
    ] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(reason),
            "{words}"
        );
    }
}

#[test]
fn each_help_fits_a_screen() {
    for command in ["cp", "mirror", "rm", "unpack", "pack", "hash"] {
        let place = Place::new();
        let output = place.run(&format!("{command} --help"));
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.lines().count() <= 45, "{command}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{command}"
        );
    }
}

#[test]
fn pack_reports_what_it_cannot_pack() {
    let place = Place::new();
    for paths in ["from from", "from from/a.js"] {
        let output = place.run(&format!("pack twice.zip {paths}"));
        assert_one_line(&output, &["would be in the archive twice"]);
    }
    place.done("pack whole.tar.zst from");
    let bytes = fs::read(place.path("whole.tar.zst")).unwrap();
    fs::write(place.path("cut.tar.zst"), &bytes[..bytes.len() - 9]).unwrap();
    let output = place.run("unpack -C cut cut.tar.zst");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the zstd data is cut off"), "{said}");
    for (line, reason) in [
        ("pack archive from", "the name archive tells no format"),
        (
            "pack from a.tgz",
            "did you mean `smallfry pack a.tgz from`?",
        ),
        (
            "pack from other a.tgz",
            "did you mean `smallfry pack a.tgz from other`?",
        ),
        ("pack a.tar ..", "`..` can be no name"),
        ("pack a.tar missing", "readdir missing: "),
        ("pack no/a.tar from", "write no/a.tar: "),
        (
            "pack --json --format tar - from",
            "--json or -v, and an archive",
        ),
    ] {
        assert_one_line(&place.run(line), &["smallfry pack: ", reason]);
    }
}

/// A reader may see an archive as soon as it has its name, and a command may be killed at any time.
#[test]
fn pack_that_is_killed_or_stopped_leaves_the_name_as_it_was() {
    for old in [None, Some("old")] {
        for (signal, left) in [("KILL", 1), ("INT", 0)] {
            let place = Place::new();
            // Its hole is packed as zeros, so that there is no end to wait for.
            let endless = fs::File::create(place.path("from/endless")).unwrap();
            endless.set_len(1 << 40).unwrap();
            fs::create_dir(place.path("out")).unwrap();
            if let Some(old) = old {
                fs::write(place.path("out/a.tgz"), old).unwrap();
            }
            let mut child = place
                .command("pack --reproducible out/a.tgz from")
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let hidden = || {
                let names = list(&place.path("out"));
                names.iter().filter(|name| name.starts_with('.')).count()
            };
            while hidden() == 0 {
                assert_eq!(
                    child.try_wait().unwrap(),
                    None,
                    "no temporary file was made"
                );
                thread::sleep(Duration::from_millis(1));
            }
            Command::new("kill")
                .args(["-s", signal, &child.id().to_string()])
                .status()
                .unwrap();
            child.wait().unwrap();
            assert_eq!(
                fs::read_to_string(place.path("out/a.tgz")).ok().as_deref(),
                old
            );
            assert_eq!(hidden(), left, "{signal}");
        }
    }
}

/// The user may be root, whom nothing keeps from replacing `/dev/stdout` or a device.
#[test]
fn pack_writes_to_pipes_and_through_links() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    symlink("pipe", place.path("to-pipe")).unwrap();
    for name in ["pipe", "to-pipe"] {
        let path = place.path("pipe");
        let reader = thread::spawn(move || fs::read(path).unwrap());
        place.done(&format!("pack --format tar {name} from"));
        fs::write(place.path("read.tar"), reader.join().unwrap()).unwrap();
        place.done("unpack -C to read.tar");
        assert_eq!(list(&place.path("to/from")), ALL, "{name}");
        fs::remove_dir_all(place.path("to")).unwrap();
    }
    let kind = fs::symlink_metadata(place.path("to-pipe")).unwrap();
    assert!(kind.is_symlink());

    // As `/dev/stdout` is a link to the file that a shell has opened.
    symlink("real.tar", place.path("link.tar")).unwrap();
    for _ in 0..2 {
        place.done("pack link.tar from");
        let kind = fs::symlink_metadata(place.path("link.tar")).unwrap();
        assert!(kind.is_symlink());
        place.done("unpack -C to real.tar");
        assert_eq!(list(&place.path("to/from")), ALL);
    }
}
