//! The flushes of a write, in their order, as strace sees them. One flush too few loses data, and
//! no other test would notice. One too many costs milliseconds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use common::unix::{can_trace, child_directory, is_child, run_child, strace};
use common::{Directory, skip};
use smallfry::bulk::Writer;
use smallfry::{Durability, Outcome, WriteOptions};

/// The directory where the child works, in that of the test.
const DATA: &str = "data";

/// Runs some work in a child and returns its flushes and renames: `fsync a`, `rename a`. A
/// temporary file is called by its target's name and `temporary`.
fn flushes(work: &str) -> Vec<String> {
    let (log, data) = trace(work, &[]);
    log.lines()
        .filter_map(|line| flush_in(line, &data))
        .collect()
}

/// Runs some work in a child under strace, with more options. Returns strace's log and the
/// directory of the files.
fn trace(work: &str, options: &[&str]) -> (String, String) {
    let dir = Directory::new();
    fs::create_dir(dir.path(DATA)).unwrap();
    fs::write(dir.path("work"), work).unwrap();
    prepare(work, &dir.path(DATA));
    // Not sync_file_range, which promises nothing.
    let calls = "trace=fsync,fdatasync,syncfs,rename,renameat,renameat2,sync";
    let options = ["-y", "-e", calls]
        .into_iter()
        .chain(options.iter().copied());
    run_child("child", &dir, &strace(&dir, options));
    let log = fs::read_to_string(dir.path("log")).unwrap();
    let data = fs::canonicalize(dir.path(DATA)).unwrap();
    (log, data.to_str().unwrap().to_owned())
}

/// Parses a line of strace about something in that directory: `1234 fsync(3</directory/a>) = 0`.
fn flush_in(line: &str, data: &str) -> Option<String> {
    let call = line.split_once(' ')?.1.trim_start();
    let (name, arguments) = call.split_once('(')?;
    let paths: Vec<_> = arguments
        .split(['<', '>', '"'])
        .filter_map(|part| part.strip_prefix(data))
        .map(without_digits)
        .collect();
    let name = if name.starts_with("rename") {
        "rename"
    } else {
        name
    };
    match name {
        "syncfs" => Some(name.into()),
        "rename" => Some(format!("{name} {}", paths.last()?)),
        _ => Some(format!("{name} {}", paths.first()?)),
    }
}

/// Shortens `.a.0123456789abcdef.smallfry` to `a temporary`.
fn without_digits(path: &str) -> String {
    let path = path.trim_start_matches('/');
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let temporary = name
        .strip_suffix(".smallfry")
        .and_then(|name| name.strip_prefix('.')?.rsplit_once('.'));
    let name = match temporary {
        Some((target, _)) => format!("{target} temporary"),
        None => name.to_owned(),
    };
    match (directory, name.as_str()) {
        ("", "") => ".".into(),
        ("", _) => name,
        _ => format!("{directory}/{name}"),
    }
}

/// Makes the files that exist before the child begins.
fn prepare(work: &str, data: &Path) {
    let there = |name: &str| fs::write(data.join(name), "old").unwrap();
    for name in ["a", "b", "c"] {
        if !work.contains("new") {
            there(name);
        }
    }
    if work.contains("link") {
        fs::create_dir(data.join("x")).unwrap();
        there("x/target");
        symlink("x/target", data.join("link")).unwrap();
    }
    if work.contains("dirs") {
        for number in 0..5 {
            fs::create_dir(data.join(directory_name(number))).unwrap();
        }
    }
    // The child must not wait for what the tests have written so far.
    assert!(Command::new("sync").status().unwrap().success());
}

/// One of five directories. The name of a file ends in a digit.
fn directory_name(number: usize) -> &'static str {
    ["v", "w", "x", "y", "z"][number % 5]
}

#[test]
#[ignore = "a child"]
fn child() {
    if !is_child() {
        return;
    }
    let work = fs::read_to_string(child_directory().join("work")).unwrap();
    let data = child_directory().join(DATA);
    let has = |word: &str| work.split(' ').any(|it| it == word);
    let level = match () {
        () if has("data") => Durability::Data,
        () if has("full") => Durability::Full,
        () => Durability::None,
    };
    let mut options = WriteOptions::new();
    options
        .durability(level)
        .replace(has("replace"))
        .append(has("append"))
        .only_if_changed(has("changed"))
        .create_parents(has("parents"));
    let mut writer = Writer::new();
    writer.durability(level).replace(has("replace"));
    writer.create_parents(has("parents"));
    let write = |names: Vec<String>| {
        let entries = names.iter().map(|name| (data.join(name), "text"));
        let report = writer.write(entries);
        assert_eq!(
            report.written(),
            names.len(),
            "{:?}",
            report.errors().next()
        );
    };
    match work.split(' ').next().unwrap() {
        "one" if has("link") => assert_eq!(
            options.write(data.join("link"), "text").unwrap(),
            Outcome::Written
        ),
        "one" if has("parents") => {
            options.write(data.join("x/y/a"), "text").unwrap();
        }
        "one" if has("changed") => assert_eq!(
            options.write(data.join("a"), "old").unwrap(),
            Outcome::Unchanged
        ),
        "one" => {
            options.write(data.join("a"), "text").unwrap();
        }
        "three" => write(["a", "b", "c"].map(str::to_owned).into()),
        "thousand" if has("dirs") => {
            write(
                (0..1000)
                    .map(|i| format!("{}/{i}", directory_name(i)))
                    .collect(),
            );
        }
        "thousand" if has("parents") => {
            write(
                (0..1000)
                    .map(|i| format!("x/{}/{i}", directory_name(i)))
                    .collect(),
            );
        }
        "thousand" => write((0..1000).map(|i| i.to_string()).collect()),
        work => panic!("no work {work}"),
    }
}

#[test]
fn single_writes_flush_exactly_what_their_level_needs() {
    if !can_trace("one_file") {
        return;
    }
    for (work, expected) in [
        ("one", &[][..]),
        ("one data", &["fdatasync a"]),
        ("one new data", &["fdatasync a"]),
        ("one full", &["fsync a", "fsync ."]),
        ("one new full", &["fsync a", "fsync ."]),
        ("one append full", &["fsync a", "fsync ."]),
        ("one changed data", &["fdatasync a"]),
        ("one changed full", &["fsync a", "fsync ."]),
        ("one replace", &["rename a"]),
        // Not fdatasync, since the temporary file was given permissions.
        ("one replace data", &["fsync a temporary", "rename a"]),
        (
            "one replace full",
            &["fsync a temporary", "rename a", "fsync ."],
        ),
        (
            "one replace append full",
            &["fsync a temporary", "rename a", "fsync ."],
        ),
        (
            "one link replace full",
            &["fsync x/target temporary", "rename x/target", "fsync x"],
        ),
        // In place, too, the name is at the target of the link.
        ("one link full", &["fsync x/target", "fsync x"]),
        ("one new parents data", &["fdatasync x/y/a"]),
    ] {
        assert_eq!(flushes(work), expected, "{work}");
    }
    // The flushes above may come in any order.
    let mut found = flushes("one new parents replace full");
    assert_eq!(
        found[..3],
        ["fsync x/y/a temporary", "rename x/y/a", "fsync x/y"]
    );
    found[3..].sort();
    assert_eq!(found[3..], ["fsync .", "fsync x"]);
}

#[test]
fn a_few_files_are_flushed_one_by_one_and_their_directory_once() {
    if !can_trace("a_few_files") {
        return;
    }
    for (work, each) in [
        ("three data", &["fdatasync"][..]),
        ("three new full", &["fsync"]),
        ("three replace full", &["fsync temporary", "rename"]),
    ] {
        let mut found = flushes(work);
        if work.contains("full") {
            assert_eq!(found.pop().as_deref(), Some("fsync ."), "{work}");
        }
        for file in ["a", "b", "c"] {
            let of_file: Vec<_> = found
                .iter()
                .filter(|flush| flush.split(' ').nth(1) == Some(file))
                .map(|flush| flush.replacen(&format!(" {file}"), "", 1))
                .collect();
            assert_eq!(of_file, each, "{work}");
        }
        assert_eq!(found.len(), 3 * each.len(), "{work}");
    }
}

#[test]
fn slow_flushes_of_a_few_files_begin_before_the_first_ends() {
    if !can_trace("slow_flushes") {
        return;
    }
    for work in ["three data replace", "three new full", "three replace full"] {
        let (log, data) = trace(work, &["-e", "inject=fsync:delay_enter=300000"]);
        // strace writes a call on one line if nothing happens until it ends. Else its end has a
        // line of its own, without a path.
        let is_end = |line: &str| line.contains("resumed") || line.contains(" = ");
        let first_end = log.lines().position(is_end).unwrap();
        let begun = log.lines().take(first_end + 1);
        let mut begun: Vec<_> = begun.filter_map(|line| flush_in(line, &data)).collect();
        begun.sort();
        let suffix = if work.contains("replace") {
            " temporary"
        } else {
            ""
        };
        assert_eq!(
            begun,
            ["a", "b", "c"].map(|it| format!("fsync {it}{suffix}")),
            "{work}"
        );
    }
}

/// Returns true if the temporary directory is on a file system that is flushed as a whole.
fn is_flushed_whole() -> bool {
    let dir = Directory::new();
    let output = Command::new("stat")
        .args(["-f", "-c", "%T"])
        .arg(dir.path(""))
        .output();
    let kind = String::from_utf8(output.unwrap().stdout).unwrap();
    matches!(kind.trim(), "ext2/ext3" | "xfs" | "btrfs")
}

#[test]
fn a_thousand_files_have_a_few_flushes() {
    if !can_trace("a_thousand_files") {
        return;
    }
    if !is_flushed_whole() {
        let reason = "the temporary dir is not on ext4, XFS or Btrfs";
        return println!("skipped a_thousand_files: {reason}");
    }
    // The second call flushes the disk's own cache, by the descriptor of the first file.
    let whole: &[&str] = &["syncfs", "fsync"];
    for (work, directories, is_replaced) in [
        ("thousand new data", 0, false),
        ("thousand new full", 0, false),
        ("thousand replace data", 0, true),
        ("thousand replace full", 1, true),
        ("thousand dirs replace full", 5, true),
        ("thousand parents full", 0, false),
    ] {
        // Other programs may have too much to be written. Then files are rightly flushed one by
        // one.
        let Some(found) = (0..5)
            .map(|_| without_name(flushes(work)))
            .find(|found| !has_single(found))
        else {
            println!("skipped {work}: others have much to write");
            continue;
        };
        let (renames, rest): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|flush| flush.starts_with("rename"));
        assert_eq!(renames.len(), if is_replaced { 1000 } else { 0 }, "{work}");
        let expected = match directories {
            0 => whole.to_vec(),
            1 => [whole, &["fsync ."]].concat(),
            _ => [whole, whole].concat(),
        };
        assert_eq!(rest, expected, "{work}");
    }
}

/// Shortens the flush after `syncfs` to `fsync`.
fn without_name(mut flushes: Vec<String>) -> Vec<String> {
    for index in 1..flushes.len() {
        if flushes[index - 1] == "syncfs" {
            flushes[index] = flushes[index].split(' ').next().unwrap().into();
        }
    }
    flushes
}

/// Returns true if a file, or its temporary file, is flushed by itself.
fn has_single(flushes: &[String]) -> bool {
    flushes.iter().any(|flush| {
        let path = flush.split_once("sync ").map(|(_, path)| path);
        path.is_some_and(|path| {
            let file = path.trim_end_matches(" temporary");
            file.ends_with(|last: char| last.is_ascii_digit())
        })
    })
}

#[test]
fn renames_come_after_the_flush_of_their_file() {
    if !can_trace("renames_come_after") || !is_flushed_whole() {
        return skip_quietly();
    }
    let found = flushes("thousand replace full");
    // If other programs have much to write, the first files are flushed and named alone.
    if has_single(&found) {
        return;
    }
    if let Some(flush) = found.iter().position(|flush| flush == "syncfs") {
        let first = found.iter().position(|flush| flush.starts_with("rename"));
        assert!(first > Some(flush));
        assert_eq!(found.last().unwrap(), "fsync .");
    }
}

fn skip_quietly() {
    if is_flushed_whole() {
        skip("renames_come_after", "no strace");
    } else {
        println!("skipped: the temporary dir is not on ext4, XFS or Btrfs");
    }
}
