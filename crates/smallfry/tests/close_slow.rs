//! Files that are slow to close, or fail to close, on a simulated disk that is really mounted; and
//! pending closes when the process ends or forks. A fake would not show whether a path can still be
//! found, whether a descriptor stays open, or what a child inherits.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::unix::{child_directory, output_of_child};
use smallfry::bulk::Writer;
use smallfry::close::{Backend, Closed, Closer, FastCloseable, Policy};
use smallfry::{Error, Operation};
use smallfry_slowfs::{Mount, Options, Profile};

/// A simulated disk, for one test at a time, since the closer belongs to the process.
struct Disk {
    // Before the directory, which cannot be removed beneath it.
    mount: Mount,
    _root: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Disk {
    /// Returns `None`, after a line that says so, where nothing can be mounted.
    fn new(test: &str, profile: Profile, faults: &[&str]) -> Option<Self> {
        static TURN: Mutex<()> = Mutex::new(());
        // SAFETY: a plain system call.
        if unsafe { libc::geteuid() } != 0 || !Path::new("/dev/fuse").exists() {
            common::skip(test, "it needs root and /dev/fuse");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let root = tempfile::tempdir().unwrap();
        let [real, shown] = ["real", "shown"].map(|name| root.path().join(name));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&shown).unwrap();
        let mut options = Options::new(profile);
        options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Some(Self {
            mount: Mount::new(&real, Some(&shown), &options).unwrap(),
            _root: root,
            _turn: turn,
        })
    }

    fn path(&self, name: impl fmt::Display) -> PathBuf {
        self.mount.path().join(name.to_string())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Otherwise the mount is busy.
        Closer::global().drain();
        Closer::global().set_policy(Policy::Auto);
    }
}

/// Runs an ignored test of this file in a process of its own, on this disk.
fn child(test: &str, disk: &Disk) -> String {
    output_of_child(test, disk.mount.path(), &[] as &[&str])
}

/// The number of files of that disk that are open in this process, which also serves it.
fn open_files(disk: &Disk) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = links.filter_map(|link| fs::read_link(link.path()).ok());
    paths
        .filter(|path| path.starts_with(disk.mount.path()))
        .count()
}

fn create(path: &Path) -> File {
    let mut file = File::create(path).unwrap();
    file.write_all(b"text").unwrap();
    file
}

#[test]
fn auto_finds_out_that_closing_is_slow() {
    let Some(disk) = Disk::new("auto", Profile::windows_close(), &[]) else {
        return;
    };
    let close = |number: usize| {
        let path = disk.path(number);
        Closer::global().close(create(&path), &path).unwrap()
    };
    let closed: Vec<Closed> = (0..60).map(close).collect();
    assert_eq!(closed[59], Closed::Later);
    assert!(Closer::global().drain().is_empty());
    for number in 0..60 {
        assert_eq!(fs::read(disk.path(number)).unwrap(), b"text");
    }
}

#[test]
fn fast_closes_of_read_files_hide_no_slow_closes_of_written_ones() {
    let Some(disk) = Disk::new("mixed", Profile::windows_close(), &[]) else {
        return;
    };
    let mut last = Closed::Now;
    for number in 0..60 {
        let path = disk.path(number);
        last = Closer::global().close(create(&path), &path).unwrap();
        for _ in 0..4 {
            // Some calls say that they read, and some files have to be asked.
            smallfry::close::fs::read(&path).unwrap();
            drop(File::open(&path).unwrap().fast_close());
        }
    }
    assert_eq!(last, Closed::Later);
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn pending_files_leave_descriptors_for_others() {
    let Some(disk) = Disk::new("room", Profile::none(), &[]) else {
        return;
    };
    child("use_up_descriptors", &disk);
}

#[test]
#[ignore = "run by pending_files_leave_descriptors_for_others"]
fn use_up_descriptors() {
    let limit = libc::rlimit {
        rlim_cur: 128,
        rlim_max: 128,
    };
    // SAFETY: a plain system call.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(set, 0);
    let closer = Closer::global();
    closer.set_policy(Policy::Always);
    // No thread closes in the background.
    closer.set_backend(Backend::Custom(Arc::new(std::mem::forget)));
    let mut held = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    held.truncate(held.len() - 8);
    for number in 0..60 {
        let path = child_directory().join(number.to_string());
        smallfry::close::fs::write(&path, "text").unwrap();
        assert_eq!(smallfry::close::fs::read(&path).unwrap(), b"text");
        let copy = path.with_extension("copy");
        assert_eq!(smallfry::close::fs::copy(&path, &copy).unwrap(), 4);
    }
    assert!(closer.drain().is_empty());
}

#[test]
fn files_dropped_after_the_end_are_closed_in_place() {
    let Some(disk) = Disk::new("late", Profile::windows_close(), &[]) else {
        return;
    };
    let said = child("drop_at_the_very_end", &disk);
    assert!(said.contains("late: Later, 0 pending"), "{said}");
}

#[test]
#[ignore = "run by files_dropped_after_the_end_are_closed_in_place"]
fn drop_at_the_very_end() {
    extern "C" fn last() {
        let path = child_directory().join("late");
        let closed = Closer::global().close(create(&path), &path).unwrap();
        println!("late: {closed:?}, {} pending", Closer::global().pending());
    }
    // Handlers run in reverse order, so this one after the closer's.
    // SAFETY: a function that lives as long as the process.
    unsafe { libc::atexit(last) };
    Closer::global().set_policy(Policy::Always);
    drop(create(&child_directory().join("early")).fast_close());
    std::process::exit(0);
}

#[test]
fn a_renamed_file_is_closed() {
    let Some(disk) = Disk::new("rename", Profile::windows_close(), &[]) else {
        return;
    };
    Closer::global().set_policy(Policy::Always);
    let [from, to] = ["new", "target"].map(|name| disk.path(name));
    for number in 0..40 {
        drop(create(&disk.path(number)).fast_close());
    }
    smallfry::close::fs::write(&from, "text").unwrap();
    smallfry::fs::rename(&from, &to).unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut open = open.filter_map(|link| fs::read_link(link.path()).ok());
    assert!(!open.any(|path| path == to));
    assert_eq!(fs::read(&to).unwrap(), b"text");
}

#[test]
fn every_error_has_its_path() {
    let count: usize =
        std::env::var("SMALLFRY_TEST_CLOSES").map_or(1000, |count| count.parse().unwrap());
    for policy in [Policy::Always, Policy::Auto, Policy::Never] {
        let Some(disk) = Disk::new("errors", Profile::none(), &["close:every97:EIO"]) else {
            return;
        };
        Closer::global().set_policy(policy);
        for number in 0..count {
            // The closer is not told the path.
            drop(create(&disk.path(number)).fast_close());
        }
        let errors = Closer::global().drain();
        assert_eq!(errors.len(), count / 97, "{policy:?}");
        let paths: HashSet<&Path> = errors.iter().map(|error| error.path().unwrap()).collect();
        assert_eq!(paths.len(), errors.len(), "{policy:?}");
        for error in &errors {
            assert_eq!(error.operation(), Operation::Close);
            assert_eq!(error.raw_os_error(), Some(libc::EIO));
            assert!(
                error.path().unwrap().starts_with(disk.mount.path()),
                "{error}"
            );
        }
        assert_eq!(open_files(&disk), 0);
    }
}

#[test]
fn a_batch_has_the_errors_of_its_own_files() {
    let Some(disk) = Disk::new("batch", Profile::none(), &["close:every7:EDQUOT"]) else {
        return;
    };
    Closer::global().set_policy(Policy::Always);
    let report = Writer::new().write((0..100).map(|number| (disk.path(number), "text")));
    let failed: Vec<(usize, &Error)> = report.errors().collect();
    assert_eq!(failed.len(), 100 / 7);
    for (index, error) in failed {
        assert_eq!(error.operation(), Operation::Close);
        assert_eq!(error.path(), Some(&*disk.path(index)));
        assert_eq!(error.raw_os_error(), Some(libc::EDQUOT));
    }
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn few_files_are_open_at_once() {
    let Some(disk) = Disk::new("few", Profile::windows_close(), &[]) else {
        return;
    };
    Closer::global().set_policy(Policy::Always);
    // Counting is slow, so not each time. A limit that did not hold would be passed for long.
    let (count, step) = match std::env::var_os("SMALLFRY_TEST_ALL") {
        Some(_) => (1000, 1),
        None => (700, 8),
    };
    let mut max = 0;
    for number in 0..count {
        drop(create(&disk.path(number)).fast_close());
        if number % step == 0 {
            max = max.max(open_files(&disk));
        }
    }
    assert!(max <= 386, "{max}");
    assert!(Closer::global().drain().is_empty());
    assert_eq!(open_files(&disk), 0);
}

#[test]
fn threads_come_late_and_go_early() {
    let Some(disk) = Disk::new("threads", Profile::windows_close(), &[]) else {
        return;
    };
    child("count_threads", &disk);
}

#[test]
#[ignore = "run by threads_come_late_and_go_early"]
fn count_threads() {
    let threads = || {
        let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        names
            .filter(|name| name.starts_with("smallfry close"))
            .count()
    };
    let closer = Closer::global();
    let leave = |name: usize| drop(create(&child_directory().join(name.to_string())).fast_close());
    closer.set_policy(Policy::Never);
    (0..10).for_each(leave);
    assert_eq!(threads(), 0);
    closer.set_policy(Policy::Always);
    (0..300).for_each(leave);
    assert!((1..=32).contains(&threads()), "{}", threads());
    assert!(closer.drain().is_empty());
    // They wait a second for more.
    for _ in 0..200 {
        if threads() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} threads are left", threads());
}

#[test]
fn the_end_of_the_process_waits_for_pending_files() {
    let Some(disk) = Disk::new("exit", Profile::windows_close(), &["close:every5:EIO"]) else {
        return;
    };
    let said = child("leave_files_to_the_end", &disk);
    let told = said.matches("Input/output error").count();
    assert_eq!(told, 100 / 5, "{said}");
}

#[test]
#[ignore = "run by the_end_of_the_process_waits_for_pending_files"]
fn leave_files_to_the_end() {
    let closer = Closer::global();
    closer.set_policy(Policy::Always);
    closer.set_sink(|error| println!("{error}"));
    for number in 0..100 {
        drop(create(&child_directory().join(number.to_string())).fast_close());
    }
    assert!(closer.pending() > 0);
    std::process::exit(0);
}

#[test]
fn a_forked_process_closes_its_own_files() {
    let Some(disk) = Disk::new("fork", Profile::windows_close(), &[]) else {
        return;
    };
    child("copy_the_process", &disk);
    assert_eq!(
        fs::read_dir(disk.mount.path()).unwrap().count(),
        4 * 200 + 40
    );
}

#[test]
#[ignore = "run by a_forked_process_closes_its_own_files"]
fn copy_the_process() {
    let closer = Closer::global();
    closer.set_policy(Policy::Always);
    let leave = |name: String| drop(create(&child_directory().join(name)).fast_close());
    // Forks again and again, while other threads hand over files and close them.
    let mut children = Vec::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || (0..200).for_each(|number| leave(format!("{thread} {number}"))));
        }
        for copy in 0..20 {
            // SAFETY: the child does what is tested, and ends without returning from here.
            match unsafe { libc::fork() } {
                0 => {
                    leave(format!("copy {copy} a"));
                    leave(format!("copy {copy} b"));
                    let errors = closer.drain();
                    let is_well = errors.is_empty() && closer.pending() == 0;
                    // Runs the handlers that are registered for the end. SAFETY: a plain call,
                    // which does not return.
                    unsafe { libc::exit(i32::from(!is_well)) };
                }
                child => children.push(child),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    for child in children {
        let mut status = 0;
        // SAFETY: waits for a child of this process.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
    assert!(closer.drain().is_empty());
}

/// Appends a line to a file when it is dropped.
struct Line(PathBuf);

impl FastCloseable for Line {}

impl Drop for Line {
    fn drop(&mut self) {
        let mut file = File::options().append(true).open(&self.0).unwrap();
        writeln!(file, "dropped").unwrap();
    }
}

#[test]
fn a_forked_process_drops_no_value_a_second_time() {
    let directory = tempfile::tempdir().unwrap();
    output_of_child("copy_values", directory.path(), &[] as &[&str]);
    let lines = fs::read_to_string(directory.path().join("lines")).unwrap();
    assert_eq!(lines, "dropped\n".repeat(3));
}

#[test]
#[ignore = "run by a_forked_process_drops_no_value_a_second_time"]
fn copy_values() {
    let path = child_directory().join("lines");
    File::create(&path).unwrap();
    let closer = Closer::global();
    // Jobs that nobody runs, so that the values still wait during the `fork`.
    let jobs = Mutex::default();
    closer.set_backend(Backend::Custom(Arc::new(move |job| {
        let mut jobs: MutexGuard<'_, Vec<_>> = jobs.lock().unwrap();
        jobs.push(job);
    })));
    (0..3).for_each(|_| drop(Line(path.clone()).fast_close()));
    assert_eq!(closer.pending(), 3);
    // SAFETY: the child does what is tested, and ends without returning from here.
    match unsafe { libc::fork() } {
        0 => {
            let is_well = closer.drain().is_empty() && closer.pending() == 0;
            // Runs the handlers that are registered for the end. SAFETY: a plain call, which does
            // not return.
            unsafe { libc::exit(i32::from(!is_well)) };
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for a child of this process.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }
    assert!(closer.drain().is_empty());
}
