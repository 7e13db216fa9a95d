//! Conditions that only Unix has and where code for small files goes wrong: special files, partial
//! and interrupted calls, full disks, descriptors that stay open.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::unix::{SmallDisk, make_fifo};
use common::{Directory, assert_error, skip};
use smallfry::{Operation, Outcome, WriteOptions};

#[test]
fn the_mode_applies_to_new_files_less_the_umask() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    let mut options = WriteOptions::new();
    assert_eq!(
        options.mode(0o600).write(&path, "x").unwrap(),
        Outcome::Written
    );
    assert_eq!(mode(), 0o600);
    assert_eq!(
        options.mode(0o755).write(&path, "x").unwrap(),
        Outcome::Written
    );
    assert_eq!(mode(), 0o600);

    fs::remove_file(&path).unwrap();
    fs::write(&path, "x").unwrap();
    let std_mode = mode();
    fs::remove_file(&path).unwrap();
    smallfry::fs::write(&path, "x").unwrap();
    assert_eq!(mode(), std_mode);
}

#[test]
fn symbolic_links_are_followed() {
    let directory = Directory::new();
    let (target, link) = (directory.path("target"), directory.path("link"));
    symlink(&target, &link).unwrap();
    let error = WriteOptions::new()
        .create_new(true)
        .write(&link, "x")
        .unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&link),
        ErrorKind::AlreadyExists,
    );
    smallfry::fs::write(&link, "through").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(smallfry::fs::read(&target).unwrap(), b"through");

    // The directory of the target is missing, not that of the link, so making directories does not
    // help.
    let dangling = directory.path("dangling");
    symlink(directory.path("no/target"), &dangling).unwrap();
    let error = WriteOptions::new()
        .create_parents(true)
        .write(&dangling, "x")
        .unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&dangling),
        ErrorKind::NotFound,
    );

    let circle = directory.path("circle");
    symlink(&circle, &circle).unwrap();
    let error = smallfry::fs::read(&circle).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
}

#[test]
fn paths_of_every_length_work() {
    let directory = Directory::new();
    // Around the maximum length of a path on the stack.
    let start = directory.path("").as_os_str().len();
    for length in (380..390).chain([1000]) {
        let mut path = directory.path("");
        let mut left = length - start;
        while left > 200 {
            path.push("d".repeat(99));
            left -= 100;
        }
        path.push("f".repeat(left));
        assert_eq!(path.as_os_str().len(), length);
        let outcome = WriteOptions::new()
            .create_parents(true)
            .write(&path, "x")
            .unwrap();
        assert_eq!(outcome, Outcome::Written);
        assert_eq!(smallfry::fs::read(&path).unwrap(), b"x");
    }

    for too_long in [
        directory.path(&"x".repeat(256)),
        directory.path(&"x/".repeat(3000)),
    ] {
        for error in [
            smallfry::fs::write(&too_long, "x").unwrap_err(),
            smallfry::fs::read(&too_long).unwrap_err(),
        ] {
            assert_eq!(error.raw_os_error(), Some(libc::ENAMETOOLONG));
            assert_eq!(error.path(), Some(&*too_long));
        }
    }
}

#[test]
fn reading_a_directory_is_eisdir() {
    let directory = Directory::new();
    let path = directory.path("");
    let error = smallfry::fs::read(&path).unwrap_err();
    assert_error(
        &error,
        Operation::Read,
        Some(&path),
        ErrorKind::IsADirectory,
    );
}

#[test]
fn writing_to_a_read_only_directory_is_an_error() {
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        // Permissions do not stop root. A read-only file system does.
        let directory = Directory::new();
        let mountpoint = directory.path("disk");
        match SmallDisk::mount(&mountpoint, "ro") {
            Ok(disk) => {
                let path = disk.path().join("a/b");
                let mut options = WriteOptions::new();
                let error = options.write(disk.path().join("a"), "x").unwrap_err();
                assert_error(
                    &error,
                    Operation::Open,
                    Some(&disk.path().join("a")),
                    ErrorKind::ReadOnlyFilesystem,
                );
                let error = options.create_parents(true).write(&path, "x").unwrap_err();
                assert_error(
                    &error,
                    Operation::Mkdir,
                    path.parent(),
                    ErrorKind::ReadOnlyFilesystem,
                );
            }
            Err(reason) => skip("writing_to_a_read_only_directory_is_an_error", &reason),
        }
        return;
    }
    let directory = Directory::new();
    let closed = directory.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    let error = smallfry::fs::write(closed.join("a"), "x").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&closed.join("a")),
        ErrorKind::PermissionDenied,
    );
    let mut options = WriteOptions::new();
    let error = options
        .create_parents(true)
        .write(closed.join("b/c"), "x")
        .unwrap_err();
    assert_error(
        &error,
        Operation::Mkdir,
        Some(&closed.join("b")),
        ErrorKind::PermissionDenied,
    );
}

#[test]
fn proc_files_are_read_whole_although_they_report_other_sizes() {
    if !cfg!(target_os = "linux") {
        return skip(
            "proc_files_are_read_whole_although_they_report_other_sizes",
            "no /proc",
        );
    }
    for path in [
        "/proc/version",
        "/proc/self/cmdline",
        "/proc/self/environ",
        "/proc/kallsyms",
    ] {
        if !Path::new(path).exists() {
            println!("skipped {path}: not here");
            continue;
        }
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        let contents = smallfry::fs::read(path).unwrap();
        assert_eq!(contents, fs::read(path).unwrap(), "{path}");
        assert!(!contents.is_empty(), "{path}");
    }
    // These files report 4096 bytes and hold fewer.
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    if Path::new(path).exists() {
        assert_eq!(smallfry::fs::read(path).unwrap(), fs::read(path).unwrap());
    }
    // Files in /proc look empty, and are not.
    let outcome = WriteOptions::new()
        .only_if_changed(true)
        .write("/dev/null", "")
        .unwrap();
    assert_eq!(outcome, Outcome::Written);
}

#[test]
fn descriptors_are_used_from_their_position_and_stay_open() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    smallfry::fs::write_to(&file, "0123456789").unwrap();
    file.seek(SeekFrom::Start(4)).unwrap();
    assert_eq!(
        WriteOptions::new().write_to(&file, "ab").unwrap(),
        Outcome::Written
    );
    assert_eq!(file.stream_position().unwrap(), 6);
    assert_eq!(smallfry::fs::read_from(&file).unwrap(), b"6789");
    assert_eq!(smallfry::fs::read_from(&file).unwrap(), b"");
    file.seek(SeekFrom::Start(1)).unwrap();
    assert_eq!(smallfry::fs::read_from(&file).unwrap(), b"123ab6789");
    file.seek(SeekFrom::Start(100)).unwrap();
    assert_eq!(smallfry::fs::read_from(&file).unwrap(), b"");
    smallfry::fs::write_to(&file, "").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"0123ab6789");

    let reader = File::open(&path).unwrap();
    let error = smallfry::fs::write_to(&reader, "x").unwrap_err();
    assert_eq!((error.operation(), error.path()), (Operation::Write, None));
    assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    let writer = File::options().write(true).open(&path).unwrap();
    let error = smallfry::fs::read_from(&writer).unwrap_err();
    assert_eq!((error.operation(), error.path()), (Operation::Read, None));
    assert_eq!(error.raw_os_error(), Some(libc::EBADF));
}

#[test]
fn pipes_are_read_and_written_in_parts() {
    let (mut reader, writer) = io::pipe().unwrap();
    let contents: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    let received = thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            // A little first, so that the write is taken in odd parts; the rest through smallfry.
            let mut received = vec![0; 777];
            thread::sleep(Duration::from_millis(20));
            reader.read_exact(&mut received).unwrap();
            received.extend(smallfry::fs::read_from(&reader).unwrap());
            received
        });
        smallfry::fs::write_to(&writer, &contents).unwrap();
        drop(writer);
        receiver.join().unwrap()
    });
    assert!(received == contents);
}

#[test]
fn a_closed_pipe_is_an_error() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let error = smallfry::fs::write_to(&writer, "x").unwrap_err();
    assert_error(&error, Operation::Write, None, ErrorKind::BrokenPipe);
}

#[test]
fn a_full_nonblocking_pipe_is_an_error() {
    let (_reader, writer) = io::pipe().unwrap();
    // SAFETY: the descriptor is open, and the flags are those of the writing end of a pipe.
    unsafe {
        libc::fcntl(
            writer.as_raw_fd(),
            libc::F_SETFL,
            libc::O_WRONLY | libc::O_NONBLOCK,
        )
    };
    let error = smallfry::fs::write_to(&writer, vec![0; 1 << 20]).unwrap_err();
    assert_error(&error, Operation::Write, None, ErrorKind::WouldBlock);
}

#[test]
fn a_named_pipe_works_by_path() {
    let directory = Directory::new();
    let path = directory.path("fifo");
    make_fifo(&path);
    let contents = vec![b'x'; 200_000];
    let received = thread::scope(|scope| {
        let reader = scope.spawn(|| smallfry::fs::read(&path).unwrap());
        // Comparing must neither wait for a writer nor take anything from the pipe.
        let outcome = WriteOptions::new()
            .only_if_changed(true)
            .write(&path, &contents)
            .unwrap();
        assert_eq!(outcome, Outcome::Written);
        reader.join().unwrap()
    });
    assert!(received == contents);
}

#[test]
fn a_full_device_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return skip("a_full_device_is_an_error", "no /dev/full");
    }
    let path = Path::new("/dev/full");
    for error in [
        smallfry::fs::write(path, "x").unwrap_err(),
        smallfry::fs::append(path, "x").unwrap_err(),
        WriteOptions::new()
            .only_if_changed(true)
            .write(path, "x")
            .unwrap_err(),
    ] {
        assert_error(&error, Operation::Write, Some(path), ErrorKind::StorageFull);
    }
    smallfry::fs::write(path, "").unwrap();
}

#[test]
fn a_disk_that_fills_up_is_an_error() {
    let directory = Directory::new();
    let mountpoint = directory.path("disk");
    let disk = match SmallDisk::mount(&mountpoint, "size=64k") {
        Ok(disk) => disk,
        Err(reason) => return skip("a_disk_that_fills_up_is_an_error", &reason),
    };
    let path = disk.path().join("a");
    // The system takes the part that fits without an error, and reports the rest at the next call.
    let error = smallfry::fs::write(&path, vec![0; 1 << 20]).unwrap_err();
    assert_error(
        &error,
        Operation::Write,
        Some(&path),
        ErrorKind::StorageFull,
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 64 << 10);
    // A file that was partly overwritten must not be taken for whole.
    let error = WriteOptions::new()
        .overwrite(true)
        .write(&path, vec![1; 128 << 10])
        .unwrap_err();
    assert_error(
        &error,
        Operation::Write,
        Some(&path),
        ErrorKind::StorageFull,
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    fs::remove_file(&path).unwrap();
    smallfry::fs::write(&path, vec![0; 32 << 10]).unwrap();
}

/// Counts signals. Calling the handler is what interrupts a system call.
static SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_signal(_: libc::c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// Signals without `SA_RESTART`: each system call that waits fails with EINTR, again and again.
#[test]
fn signals_do_not_break_reads_and_writes() {
    // SAFETY: the structure is valid when zeroed; the handler only touches an atomic, which a
    // handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        assert_eq!(
            libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()),
            0
        );
    }
    let directory = Directory::new();
    let path = directory.path("fifo");
    make_fifo(&path);
    let contents: Vec<u8> = (0..4_000_000_u32).map(|i| (i % 251) as u8).collect();

    // As a number: some C libraries have a pointer, which a thread must not send.
    let announce = |sender: mpsc::Sender<usize>| {
        // SAFETY: has no preconditions.
        sender
            .send(unsafe { libc::pthread_self() } as usize)
            .unwrap();
    };
    thread::scope(|scope| {
        let (sender, targets) = mpsc::channel();
        // Opening waits for the other end, writing for room, and reading for bytes, all under
        // signals.
        let sender_of_writer = sender.clone();
        let (path, contents) = (&path, &contents);
        let writer = scope.spawn(move || {
            announce(sender_of_writer);
            smallfry::fs::write(path, contents)
        });
        let reader = scope.spawn(move || {
            announce(sender);
            // Meanwhile the writer waits for the other end.
            while SIGNALS.load(Ordering::Relaxed) <= 100 {
                thread::sleep(Duration::from_millis(1));
            }
            smallfry::fs::read(path)
        });
        let targets: Vec<_> = targets.iter().collect();
        assert_eq!(targets.len(), 2);
        while !writer.is_finished() || !reader.is_finished() {
            for &target in &targets {
                // SAFETY: neither thread has been joined, so both identifiers are still valid.
                unsafe { libc::pthread_kill(target as libc::pthread_t, libc::SIGUSR1) };
            }
            thread::sleep(Duration::from_micros(100));
        }
        writer.join().unwrap().unwrap();
        assert!(reader.join().unwrap().unwrap() == *contents);
    });
    assert!(SIGNALS.load(Ordering::Relaxed) > 100);
}

/// The system calls of a child, by name, between the two markers that it opens.
fn traced_calls(work: &str) -> Option<Vec<String>> {
    let directory = Directory::new();
    let log = directory.path("log");
    let output = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=open,openat,creat,read,write,close,fstat,newfstatat,statx,lseek,ftruncate,mkdir",
        ])
        .arg("-o")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "traced_child",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("SMALLFRY_TRACED", work)
        .env("SMALLFRY_TRACED_DIRECTORY", directory.path(""))
        .output()
        .ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let log = fs::read_to_string(log).unwrap();
    let calls: Vec<_> = log
        .lines()
        .skip_while(|line| !line.contains("/marker/start"))
        .skip(1)
        .take_while(|line| !line.contains("/marker/end"))
        .filter_map(|line| line.split_once(' ')?.1.trim_start().split_once('('))
        .map(|(name, _)| {
            name.replace("openat", "open")
                .replace("newfstatat", "fstat")
        })
        .collect();
    Some(calls)
}

#[test]
#[ignore = "the child that is traced"]
fn traced_child() {
    let Some(work) = std::env::var_os("SMALLFRY_TRACED") else {
        return;
    };
    let directory = std::env::var_os("SMALLFRY_TRACED_DIRECTORY").unwrap();
    let path = Path::new(&directory).join("a");
    fs::write(&path, "text").unwrap();
    let mut buffer = Vec::with_capacity(100);
    let mark = |name: &str| assert!(File::open(format!("/marker/{name}")).is_err());
    let overwrite = |text| {
        let mut options = WriteOptions::new();
        assert_eq!(
            options.overwrite(true).write(&path, text).unwrap(),
            Outcome::Written
        );
    };
    mark("start");
    match work.to_str().unwrap() {
        "write" => smallfry::fs::write(&path, "text").unwrap(),
        "write nothing" => smallfry::fs::write(&path, "").unwrap(),
        "append" => smallfry::fs::append(&path, "text").unwrap(),
        "write over" => overwrite("next"),
        "write over what is longer" => overwrite("new"),
        "create parents" => {
            let outcome = WriteOptions::new()
                .create_parents(true)
                .write(&path, "text")
                .unwrap();
            assert_eq!(outcome, Outcome::Written);
        }
        "make parents" => {
            let path = Path::new(&directory).join("1/2/3/a");
            let outcome = WriteOptions::new()
                .create_parents(true)
                .write(&path, "text")
                .unwrap();
            assert_eq!(outcome, Outcome::Written);
        }
        "unchanged" => {
            let outcome = WriteOptions::new()
                .only_if_changed(true)
                .write(&path, "text")
                .unwrap();
            assert_eq!(outcome, Outcome::Unchanged);
        }
        "read" => assert_eq!(smallfry::fs::read(&path).unwrap(), b"text"),
        "read into" => assert_eq!(smallfry::fs::read_into(&path, &mut buffer).unwrap(), 4),
        work => panic!("no work {work}"),
    }
    mark("end");
}

#[test]
fn operations_make_the_fewest_system_calls() {
    if !cfg!(target_os = "linux") {
        return skip(
            "operations_make_the_fewest_system_calls",
            "strace is for Linux",
        );
    }
    for (work, expected) in [
        ("write", &["open", "write", "close"][..]),
        ("write nothing", &["open", "close"]),
        ("append", &["open", "write", "close"]),
        ("write over", &["open", "fstat", "write", "close"]),
        (
            "write over what is longer",
            &["open", "fstat", "ftruncate", "write", "close"],
        ),
        ("create parents", &["open", "write", "close"]),
        (
            "make parents",
            // Up until one can be made, and down again: each is made once.
            &[
                "open", "mkdir", "mkdir", "mkdir", "mkdir", "mkdir", "open", "write", "close",
            ],
        ),
        ("unchanged", &["open", "fstat", "read", "close"]),
        ("read", &["open", "fstat", "read", "close"]),
        ("read into", &["open", "fstat", "read", "close"]),
    ] {
        match traced_calls(work) {
            Some(calls) => assert_eq!(calls, expected, "{work}"),
            // A missing strace says nothing about this crate, so even CI need not have it.
            None => return println!("skipped operations_make_the_fewest_system_calls: no strace"),
        }
    }
}
