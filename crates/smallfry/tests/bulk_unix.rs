//! Batches under the hard conditions of Unix: special files, no descriptors, no threads, no memory,
//! no room on the disk, and an input/output error at every operation in turn. A bug in this code
//! shows only there: an entry without a result, a descriptor that stays open, or a batch that
//! hangs.
//!
//! Tests that affect the whole process run in a child process.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, iter};

use common::unix::{
    SmallDisk, can_trace, child_directory, is_child, limit, make_fifo, run_child, strace,
};
use common::{Directory, assert_error, skip};
use smallfry::bulk::{Control, Files, Reader, Strategy, Writer};
use smallfry::{Error, Operation};

/// A command that runs the child as it is.
const DIRECTLY: [&str; 0] = [];

fn threads(count: usize) -> Strategy {
    Strategy::Threads(count.try_into().unwrap())
}

fn strategies() -> [Strategy; 4] {
    [
        Strategy::Auto,
        Strategy::CallingThread,
        threads(2),
        threads(8),
    ]
}

fn reader(strategy: Strategy) -> Reader {
    let mut reader = Reader::new();
    reader.strategy(strategy);
    reader
}

fn writer(strategy: Strategy) -> Writer {
    let mut writer = Writer::new();
    writer.strategy(strategy);
    writer
}

fn files(strategy: Strategy) -> Files {
    let mut files = Files::new();
    files.strategy(strategy);
    files
}

/// Takes every descriptor that there is.
fn take_all_descriptors() -> Vec<File> {
    iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

#[test]
fn special_files_work_as_with_std() {
    let dir = Directory::new();
    let (plain, fifo, circle, link) = (
        dir.path("plain"),
        dir.path("fifo"),
        dir.path("circle"),
        dir.path("link"),
    );
    fs::write(&plain, "plain").unwrap();
    make_fifo(&fifo);
    symlink(&circle, &circle).unwrap();
    symlink(&plain, &link).unwrap();
    let long = vec![b'x'; 200_000];
    let mut paths = vec![plain.clone(), fifo.clone(), circle, link, dir.path("")];
    if cfg!(target_os = "linux") {
        paths.extend(
            ["/proc/version", "/proc/filesystems", "/proc/self/cmdline"].map(PathBuf::from),
        );
        paths.extend(
            ["/sys/kernel/mm/transparent_hugepage/enabled", "/dev/null"].map(PathBuf::from),
        );
    }
    for strategy in strategies() {
        let results: Vec<_> = thread::scope(|scope| {
            scope.spawn(|| fs::write(&fifo, &long).unwrap());
            reader(strategy)
                .read(&paths)
                .map(|(_, result)| result)
                .collect()
        });
        assert_eq!(results.len(), paths.len());
        for (path, result) in paths.iter().zip(results) {
            let expected = match path {
                path if *path == fifo => Ok(long.clone()),
                path => fs::read(path),
            };
            match (result, expected) {
                (Ok(found), Ok(expected)) => assert!(*found == *expected, "{}", path.display()),
                (Err(found), Err(expected)) => {
                    assert_eq!(found.raw_os_error(), expected.raw_os_error());
                }
                (found, _) => panic!("{}: {found:?}", path.display()),
            }
        }

        // Comparing neither waits for the other end of the pipe nor takes anything from it.
        let received = thread::scope(|scope| {
            let received = scope.spawn(|| fs::read(&fifo).unwrap());
            let entries = [(&plain, &b"plain"[..]), (&fifo, &long), (&plain, b"plain")];
            let report = writer(strategy).only_if_changed(true).write(entries);
            assert_eq!((report.unchanged(), report.written()), (2, 1));
            received.join().unwrap()
        });
        assert!(received == long);
    }
}

/// Runs `act` in a thread without root's right to ignore permissions.
#[cfg(target_os = "linux")]
fn as_other_user<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let act = || {
            // SAFETY: has no preconditions; it affects this thread and the threads that it starts
            // only.
            unsafe { libc::setfsuid(65534) };
            act()
        };
        scope.spawn(act).join().unwrap()
    })
}

#[cfg(not(target_os = "linux"))]
fn as_other_user<T>(act: impl FnOnce() -> T) -> T {
    act()
}

#[test]
fn missing_permissions_are_errors_of_their_entries() {
    let dir = Directory::new();
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let (secret, open) = (dir.path("secret"), dir.path("open"));
    for (path, mode) in [(&secret, 0o000), (&open, 0o444)] {
        fs::write(path, "contents").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o555)).unwrap();
    as_other_user(|| {
        let denied = |error: &Error, operation, path: &Path| {
            assert_error(error, operation, Some(path), ErrorKind::PermissionDenied);
        };
        for strategy in strategies() {
            let paths = iter::repeat_n([&open, &secret], 100).flatten();
            let results: Vec<_> = reader(strategy)
                .read(paths)
                .map(|(_, result)| result)
                .collect();
            for pair in results.chunks(2) {
                assert_eq!(**pair[0].as_ref().unwrap(), *b"contents");
                denied(pair[1].as_ref().unwrap_err(), Operation::Open, &secret);
            }
            assert_eq!(results.len(), 200);

            // A file that cannot be compared is written, and that fails as well.
            let mut writer = writer(strategy);
            writer.create_parents(true).only_if_changed(true);
            let new = dir.path("new/file");
            let report = writer.write([(&open, "contents"), (&secret, "contents"), (&new, "x")]);
            assert_eq!(report.unchanged(), 1);
            denied(
                report.results()[1].as_ref().unwrap_err(),
                Operation::Open,
                &secret,
            );
            denied(
                report.results()[2].as_ref().unwrap_err(),
                Operation::Mkdir,
                new.parent().unwrap(),
            );
            denied(
                files(strategy).remove([&open])[0].as_ref().unwrap_err(),
                Operation::Unlink,
                &open,
            );
        }
    });
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_full_disk_is_an_error_of_its_entries() {
    let dir = Directory::new();
    let mountpoint = dir.path("disk");
    let disk = match SmallDisk::mount(&mountpoint, "size=64k") {
        Ok(disk) => disk,
        Err(reason) => return skip("a_full_disk_is_an_error_of_its_entries", &reason),
    };
    for strategy in strategies() {
        let path = |i: usize| disk.path().join(i.to_string());
        let entries = (0..200).map(|i| (path(i), vec![b'x'; 4096]));
        let report = writer(strategy).write(entries);
        assert_eq!(report.results().len(), 200);
        // Each entry either has its block or has failed and says so.
        for (index, result) in report.results().iter().enumerate() {
            match result {
                Ok(_) => assert_eq!(fs::read(path(index)).unwrap().len(), 4096),
                Err(error) => assert_eq!(
                    (error.path(), error.kind()),
                    (Some(&*path(index)), ErrorKind::StorageFull)
                ),
            }
        }
        assert!((1..=16).contains(&report.written()));
        let there = (0..200)
            .map(path)
            .filter(|path| path.exists())
            .collect::<Vec<_>>();
        assert!(files(strategy).remove(there).iter().all(Result::is_ok));
    }
}

#[test]
fn batches_work_with_few_descriptors() {
    let dir = Directory::new();
    run_child("child_with_few_descriptors", &dir, &DIRECTLY);
}

/// The peak memory of this process in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap())
}

#[test]
#[ignore = "a child"]
fn child_with_few_descriptors() {
    if !is_child() {
        return;
    }
    limit(libc::RLIMIT_NOFILE, 64);
    let count = env::var("SMALLFRY_TEST_FILES").map_or(5000, |count| count.parse().unwrap());
    let dir = child_directory();
    let path = |i: usize| dir.join(format!("{}/{i}", i % 1000));
    let all = || (0..count).map(path);
    let copy = |path: PathBuf| path.with_extension("copy");
    let everything_went_well = |mut results: Vec<Result<(), Error>>| {
        assert_eq!(results.len(), count);
        results.retain(Result::is_err);
        assert!(results.is_empty(), "{results:?}");
    };
    for strategy in [Strategy::Auto, threads(64)] {
        let contents = |i: usize| format!("{i:1000}");
        let report = writer(strategy)
            .create_parents(true)
            .write((0..count).map(|i| (path(i), contents(i))));
        assert_eq!(report.written(), count);
        drop(report);

        let before = peak_memory();
        let mut seen = 0;
        for (index, result) in reader(strategy).read(all()) {
            assert_eq!(*result.unwrap(), *contents(index).as_bytes());
            seen += 1;
        }
        assert_eq!(seen, count);
        if let Some((before, after)) = before.zip(peak_memory()) {
            let grown = (after - before) >> 20;
            assert!(grown <= 64, "{grown} MiB beside what the caller has");
        }

        let files = files(strategy);
        assert_eq!(
            files
                .stat(all())
                .iter()
                .filter(|found| found.is_ok())
                .count(),
            count
        );
        let copied = files.copy(all().map(|path| (path.clone(), copy(path))));
        everything_went_well(copied.into_iter().map(|copied| copied.map(drop)).collect());
        everything_went_well(files.remove(all().map(copy)));
        everything_went_well(files.remove(all()));
    }
}

#[test]
fn batches_wait_for_descriptors_and_give_up_once() {
    let dir = Directory::new();
    fs::write(dir.path("a"), "contents").unwrap();
    run_child("child_without_descriptors", &dir, &DIRECTLY);
}

#[test]
#[ignore = "a child"]
fn child_without_descriptors() {
    if !is_child() {
        return;
    }
    limit(libc::RLIMIT_NOFILE, 64);
    let dir = child_directory();
    let path = dir.join("a");
    let paths = || iter::repeat_n(&path, 50);
    // Another thread has all descriptors, and returns them some time later.
    let meanwhile = |act: &dyn Fn()| {
        let taken = take_all_descriptors();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                drop(taken);
            });
            act();
        });
    };
    for strategy in strategies() {
        meanwhile(&|| {
            for (_, result) in reader(strategy).read(paths()) {
                assert_eq!(*result.unwrap(), *b"contents");
            }
        });
        meanwhile(&|| {
            let entries = (0..50).map(|i| (dir.join(format!("new/{i}")), "x"));
            let report = writer(strategy).create_parents(true).write(entries);
            assert_eq!(report.written(), 50);
        });
        let mut beneath = writer(strategy);
        beneath.create_parents(true).within(&dir).unwrap();
        meanwhile(&|| {
            let entries = (0..50).map(|i| (format!("beneath/{i}"), "x"));
            assert_eq!(beneath.write(entries).written(), 50);
        });
        meanwhile(&|| {
            let pairs = (0..50).map(|i| (&path, dir.join(format!("copy {i}"))));
            assert!(files(strategy).copy(pairs).iter().all(Result::is_ok));
        });
    }
    // No thread returns them: an error after the maximum wait, and not for each file anew.
    let taken = take_all_descriptors();
    let results = reader(threads(2)).read(iter::repeat_n(&path, 5000));
    for (_, result) in results {
        assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EMFILE));
    }
    drop(taken);
}

/// The numbers of descriptors and threads of this process.
fn open_and_running() -> [usize; 2] {
    ["/proc/self/fd", "/proc/self/task"].map(|dir| fs::read_dir(dir).unwrap().count())
}

/// Waits until there are as many as before, since a finished thread exists for a moment longer.
#[track_caller]
fn assert_as_before(before: [usize; 2]) {
    let began = Instant::now();
    while open_and_running() != before {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{:?}, not {before:?}",
            open_and_running()
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn unfinished_batches_leave_no_descriptors_or_threads() {
    if !cfg!(target_os = "linux") {
        return skip(
            "unfinished_batches_leave_no_descriptors_or_threads",
            "no /proc",
        );
    }
    let dir = Directory::new();
    for i in 0..200 {
        fs::write(dir.path(&i.to_string()), "contents").unwrap();
    }
    run_child("child_that_leaves_things_halfway", &dir, &DIRECTLY);
}

#[test]
#[ignore = "a child"]
fn child_that_leaves_things_halfway() {
    if !is_child() {
        return;
    }
    std::panic::set_hook(Box::new(|_| ()));
    let dir = child_directory();
    let path = |i: usize| dir.join((i % 300).to_string());
    let before = open_and_running();
    for strategy in strategies() {
        for _ in 0..20 {
            for consumed in [0, 1, 50, 1000] {
                let mut results = reader(strategy).read((0..1000).map(path));
                let kept: Vec<_> = results.by_ref().take(consumed).collect();
                drop(results);
                assert_eq!(kept.len(), consumed);
            }
            let breaking = (0..1000).map(|i| {
                assert!(i < 500, "as asked");
                path(i)
            });
            let panics = || reader(strategy).read(breaking).for_each(drop);
            catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
            let control = Control::new();
            for (index, _) in reader(strategy).control(&control).read((0..1000).map(path)) {
                if index == 100 {
                    control.cancel();
                }
            }
            writer(strategy)
                .fail_fast(true)
                .write((0..1000).map(|i| (dir.join(format!("no/{i}")), "x")));
            writer(strategy).write((0..50).map(|_| ("/dev/full", "x")));
            drop(files(strategy).copy((0..50).map(|i| (path(i), "/dev/full"))));
        }
        assert_as_before(before);
    }
}

#[test]
fn empty_files_take_little_memory() {
    if peak_memory().is_none() {
        return skip("empty_files_take_little_memory", "no /proc");
    }
    let dir = Directory::new();
    fs::write(dir.path("empty"), "").unwrap();
    run_child("child_that_keeps_empty_files", &dir, &DIRECTLY);
}

#[test]
#[ignore = "a child"]
fn child_that_keeps_empty_files() {
    if !is_child() {
        return;
    }
    let empty = child_directory().join("empty");
    let before = peak_memory().unwrap();
    let kept: Vec<_> = reader(threads(2))
        .read(iter::repeat_n(&empty, 50_000))
        .collect();
    assert_eq!(kept.len(), 50_000);
    let grown = (peak_memory().unwrap() - before) >> 20;
    assert!(grown <= 64, "{grown} MiB for empty files");
}

#[test]
fn a_lack_of_memory_is_an_error() {
    let dir = Directory::new();
    File::create(dir.path("sparse"))
        .unwrap()
        .set_len(10 << 30)
        .unwrap();
    run_child("child_without_memory", &dir, &DIRECTLY);
}

#[test]
#[ignore = "a child"]
fn child_without_memory() {
    if !is_child() {
        return;
    }
    limit(libc::RLIMIT_AS, 4 << 30);
    let path = child_directory().join("sparse");
    for strategy in strategies() {
        let mut reader = reader(strategy);
        reader.max_file_size(u64::MAX).max_in_flight(u64::MAX);
        for (_, result) in reader.read([&path; 20]) {
            assert_error(
                &result.unwrap_err(),
                Operation::Read,
                Some(&path),
                ErrorKind::OutOfMemory,
            );
        }
    }
}

#[test]
fn the_deepest_directories_are_made() {
    let dir = Directory::new();
    let mut deep = dir.path("");
    while deep.as_os_str().len() < 4050 {
        deep.push("d");
    }
    // Threads have small stacks.
    for strategy in [threads(2), threads(8)] {
        let entries = (0..20).map(|i| (deep.join(i.to_string()), "x"));
        let report = writer(strategy).create_parents(true).write(entries.clone());
        assert_eq!(report.written(), 20, "{:?}", report.errors().next());
        assert!(
            files(strategy)
                .remove(entries.map(|(path, _)| path))
                .iter()
                .all(Result::is_ok)
        );
        for directory in deep.ancestors().take_while(|path| *path != dir.path("")) {
            if fs::remove_dir(directory).is_err() {
                break;
            }
        }
    }
}

#[test]
fn each_directory_is_made_once() {
    if !can_trace("each_directory_is_made_once") {
        return;
    }
    let dir = Directory::new();
    run_child(
        "child_that_makes_directories",
        &dir,
        &strace(&dir, ["-e", "trace=?mkdir,mkdirat"]),
    );
    let log = fs::read_to_string(dir.path("log")).unwrap();
    let mut made = HashMap::<_, usize>::new();
    // A call may be shown in two parts, with calls of other threads in between. The path is in the
    // first part.
    let mut at = HashMap::new();
    for line in log.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        if let Some(path) = call.split('"').nth(1) {
            at.insert(thread, path);
        }
        assert!(!line.contains("EEXIST"), "{line}");
        if line.ends_with("= 0") {
            *made.entry(at[thread]).or_default() += 1;
        }
    }
    // For each of four strategies the directory itself, 10 in it, and 5 in each of these.
    assert_eq!(made.len(), strategies().len() * (1 + 10 + 50));
    assert!(made.values().all(|times| *times == 1));
}

#[test]
#[ignore = "a child"]
fn child_that_makes_directories() {
    if !is_child() {
        return;
    }
    for (number, strategy) in strategies().into_iter().enumerate() {
        let path = |i| child_directory().join(format!("{number}/{}/{}/{i}", i % 10, i / 10 % 5));
        let entries = (0..1000).map(|i| (path(i), "x"));
        let report = writer(strategy).create_parents(true).write(entries);
        assert_eq!(report.written(), 1000);
    }
}

#[test]
fn batches_work_without_threads() {
    if !can_trace("batches_work_without_threads") {
        return;
    }
    let dir = Directory::new();
    let inject = [
        "-e",
        "trace=clone,clone3",
        "-e",
        "inject=clone,clone3:error=EAGAIN:when=1+",
    ];
    run_child("child_without_threads", &dir, &strace(&dir, inject));
}

#[test]
#[ignore = "a child"]
fn child_without_threads() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let path = |i: usize| dir.join(i.to_string());
    for strategy in strategies() {
        let report = writer(strategy).write((0..500).map(|i| (path(i), i.to_string())));
        assert_eq!(report.written(), 500);
        let mut reader = reader(strategy);
        let mut expected = 0;
        for (index, contents) in reader.max_in_flight(10).read((0..500).map(path)) {
            assert_eq!(index, expected);
            assert_eq!(*contents.unwrap(), *index.to_string().as_bytes());
            expected += 1;
        }
        assert_eq!(expected, 500);
        assert_eq!(files(strategy).stat((0..500).map(path)).len(), 500);
    }
}

#[test]
fn copies_are_private_from_the_start_and_report_errors_of_close() {
    if !can_trace("copies_are_private_from_the_start_and_report_errors_of_close") {
        return;
    }
    let dir = Directory::new();
    fs::write(dir.path("secret"), "secret").unwrap();
    fs::set_permissions(dir.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    let to = dir.path("copy");
    let options = [
        "-e",
        "trace=openat,?openat2,close",
        "-e",
        "inject=close:error=EIO:when=1+",
        "-P",
        to.to_str().unwrap(),
    ];
    run_child("child_that_copies", &dir, &strace(&dir, options));
    let log = fs::read_to_string(dir.path("log")).unwrap();
    let created: Vec<_> = log
        .lines()
        .filter(|line| line.contains("O_CREAT"))
        .collect();
    assert!(
        !created.is_empty() && created.iter().all(|line| line.contains("0600")),
        "{log}"
    );
}

#[test]
#[ignore = "a child"]
fn child_that_copies() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let (from, to) = (dir.join("secret"), dir.join("copy"));
    let check = |error: &Error| {
        assert_eq!(
            (error.operation(), error.raw_os_error()),
            (Operation::Copy, Some(libc::EIO))
        );
        assert_eq!(fs::read(&to).unwrap(), b"secret");
        assert_eq!(
            fs::metadata(&to).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::remove_file(&to).unwrap();
    };
    check(&smallfry::fs::copy(&from, &to).unwrap_err());
    for strategy in strategies() {
        check(
            files(strategy).copy([(&from, &to)])[0]
                .as_ref()
                .unwrap_err(),
        );
        let beneath = files(strategy)
            .within(&dir)
            .unwrap()
            .copy([("secret", "copy")]);
        check(beneath[0].as_ref().unwrap_err());
    }
}

/// The number of files in batches that get injected errors.
const INJECTED: usize = 12;

#[test]
fn an_error_of_every_operation_reaches_its_entry() {
    if !can_trace("an_error_of_every_operation_reaches_its_entry") {
        return;
    }
    // By the names that C libraries use for them, on this machine or another.
    let operations = [
        ("open", "openat"),
        ("fstat", "fstat,?newfstatat,?statx"),
        ("read", "read"),
        ("write", "write"),
        ("close", "close"),
        ("mkdir", "?mkdir,mkdirat"),
        ("unlink", "?unlink,unlinkat"),
        ("copy", "copy_file_range,sendfile,fchmod"),
    ];
    // Each thread counts for itself. Each of these is a process under strace.
    let all: &[&str] = &["1", "3", "1+", "2", "7", "2+2"];
    let everything = env::var_os("SMALLFRY_TEST_ALL").is_some();
    let whens = if everything { all } else { &all[..3] };
    thread::scope(|scope| {
        for (operation, calls) in operations {
            scope.spawn(move || {
                for when in whens {
                    inject_errors(operation, calls, when);
                }
            });
        }
    });
}

/// Runs the batches in a child in which these calls fail.
fn inject_errors(operation: &str, calls: &str, when: &str) {
    let dir = Directory::new();
    let paths: Vec<_> = injected_paths(&dir.path(""))
        .iter()
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    let trace = format!("trace={calls}");
    let inject = format!("inject={calls}:error=EIO:when={when}");
    // Only calls about these paths, so that errors reach the batch and not the rest of the process.
    let only = paths.iter().flat_map(|path| ["-P", path]);
    let options = ["-e", &trace, "-e", &inject].into_iter().chain(only);
    fs::write(dir.path("operation"), operation).unwrap();
    for index in 0..INJECTED {
        fs::write(dir.path(&format!("there{index}")), contents(index)).unwrap();
    }
    run_child("child_with_errors", &dir, &strace(&dir, options));
    let log = fs::read_to_string(dir.path("log")).unwrap();
    assert!(
        when != "1+" || log.contains("(INJECTED)"),
        "{operation}: nothing injected\n{log}"
    );
}

/// The contents of a file of the batches.
fn contents(index: usize) -> String {
    index.to_string().repeat(1000)
}

/// The paths of the batches: existing files, written files, copies, and missing directories.
fn injected_paths(dir: &Path) -> Vec<PathBuf> {
    let each = |kind: &'static str| (0..INJECTED).map(move |i| dir.join(format!("{kind}{i}")));
    let directories = (0..strategies().len()).map(|i| dir.join(format!("new{i}")));
    each("there")
        .chain(each("written"))
        .chain(each("copy"))
        .chain(directories)
        .collect()
}

#[test]
#[ignore = "a child"]
fn child_with_errors() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let operation = fs::read_to_string(dir.join("operation")).unwrap();
    let each = |kind: &'static str| {
        let dir = &dir;
        (0..INJECTED).map(move |i| dir.join(format!("{kind}{i}")))
    };
    let before = open_and_running();
    for (number, strategy) in strategies().into_iter().enumerate() {
        for in_flight in [0, 10_000, 1 << 20] {
            let mut reader = reader(strategy);
            let results = reader.max_in_flight(in_flight).read(each("there"));
            let results: Vec<_> = results.collect();
            for (place, (index, result)) in results.iter().enumerate() {
                assert_eq!(place, *index);
                assert!(
                    result
                        .as_ref()
                        .is_ok_and(|found| **found == *contents(place).as_bytes())
                        || result.is_err()
                );
            }
            check(
                results.into_iter().map(|(_, result)| result).collect(),
                &["open", "fstat", "read"],
            );

            let mut writer = writer(strategy);
            writer
                .only_if_changed(in_flight == 0)
                .max_in_flight(in_flight);
            let report = writer.write(each("written").zip((0..INJECTED).map(contents)));
            check(report.into_results(), &["open", "write", "close"]);
        }

        let copied = files(strategy).copy(each("there").zip(each("copy")));
        check(copied, &["copy"]);
        check(files(strategy).stat(each("copy")), &["stat"]);
        check(files(strategy).remove(each("copy")), &["unlink"]);
        let entries = (0..INJECTED).map(|i| (dir.join(format!("new{number}/{i}")), "x"));
        let report = writer(strategy).create_parents(true).write(entries);
        check(report.into_results(), &["mkdir", "open"]);
    }
    // strace makes a close fail without trying it, so descriptors stay open.
    if operation != "close" {
        assert_as_before(before);
    }
}

/// Checks that every entry has a result, and that every error is the injected one, at one of these
/// operations.
#[track_caller]
fn check<T>(results: Vec<Result<T, Error>>, operations: &[&str]) {
    assert_eq!(results.len(), INJECTED);
    for error in results.into_iter().filter_map(Result::err) {
        let missing = error.kind() == ErrorKind::NotFound;
        assert!(
            missing || error.raw_os_error() == Some(libc::EIO),
            "{error}"
        );
        assert!(operations.contains(&error.operation().name()), "{error}");
        assert!(error.path().is_some());
    }
}
