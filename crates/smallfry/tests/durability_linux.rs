//! Failures while a file is flushed or replaced, on real file systems. Each step that can fail is
//! made to. The old contents must be whole, the error must name its operation and path, and nothing
//! may be left behind.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::unix::{
    SmallDisk, can_trace, child_directory, is_child, is_root, make_fifo, run_child, strace,
};
use common::{Directory, assert_error, names, skip};
use smallfry::Operation::{Fchmod, Fchown, Fdatasync, Fsetxattr, Fsync, Rename};
use smallfry::bulk::{Strategy, Writer};
use smallfry::{Durability, Error, Operation, Outcome, WriteOptions};
use smallfry_slowfs::{Mount, Options, Profile};

/// Options for full durability and replacement.
fn replacing() -> WriteOptions {
    let mut options = WriteOptions::new();
    options.durability(Durability::Full).replace(true);
    options
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Runs a command that must succeed.
fn run(command: &str, arguments: &[&str]) -> bool {
    let status = Command::new(command).args(arguments).status();
    status.is_ok_and(|status| status.success())
}

fn has_setpriv() -> bool {
    Command::new("setpriv").arg("--version").output().is_ok()
}

#[test]
fn attributes_of_a_replaced_file_are_kept() {
    let dir = Directory::new();
    let path = dir.path("a");
    for mode in [0o644, 0o600, 0o751, 0o444, 0o4711, 0o222] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        replacing().write(&path, "new").unwrap();
        assert_eq!(mode_of(&path), mode, "{mode:o}");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
    // As for a new file.
    let (new, plain) = (dir.path("new"), dir.path("plain"));
    for (path, mode) in [(&new, 0o666), (&plain, 0o666)] {
        let mut options = replacing();
        options
            .replace(path == &new)
            .mode(mode)
            .write(path, "x")
            .unwrap();
    }
    assert_eq!(mode_of(&new), mode_of(&plain));
    assert_eq!(names(&dir.path("")), ["a", "new", "plain"]);
}

#[test]
fn owner_attributes_and_access_are_kept() {
    if !is_root() {
        return skip("owner_attributes_and_access_are_kept", "it needs root");
    }
    let dir = Directory::new();
    let path = dir.path("a");
    let file = path.to_str().unwrap();
    fs::write(&path, "old").unwrap();
    std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    set_attribute(&path, c"user.origin", b"somewhere");
    set_attribute(&path, c"user.long", &[7; 3000]);
    let has_acl = run("setfacl", &["-m", "u:99:rwx", file]);
    let acl = get_attribute(&path, c"system.posix_acl_access");
    assert_eq!(acl.is_some(), has_acl);
    fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
    let acl = get_attribute(&path, c"system.posix_acl_access");
    replacing().write(&path, "new").unwrap();
    let status = fs::metadata(&path).unwrap();
    assert_eq!((status.uid(), status.gid()), (1234, 4321));
    assert_eq!(mode_of(&path), 0o6755);
    assert_eq!(get_attribute(&path, c"user.origin").unwrap(), b"somewhere");
    assert_eq!(get_attribute(&path, c"user.long").unwrap(), [7; 3000]);
    assert_eq!(get_attribute(&path, c"system.posix_acl_access"), acl);
}

#[test]
fn a_default_acl_is_not_given_to_a_file_without_one() {
    let dir = Directory::new();
    let path = dir.path("a");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    // Version 2; the owner, a user, the group, the mask, others.
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, access, id) in [
        (1_u16, 7_u16, !0_u32),
        (2, 7, 99),
        (4, 7, !0),
        (16, 7, !0),
        (32, 7, !0),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(access.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    set_attribute(&dir.path(""), c"system.posix_acl_default", &list);
    let new = dir.path("new");
    fs::write(&new, "").unwrap();
    assert!(get_attribute(&new, c"system.posix_acl_access").is_some());
    replacing().write(&path, "new").unwrap();
    assert_eq!(get_attribute(&path, c"system.posix_acl_access"), None);
    assert_eq!(mode_of(&path), 0o600);
}

fn set_attribute(path: &Path, name: &std::ffi::CStr, value: &[u8]) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: NUL-terminated strings and a slice, all of which outlive the call.
    let result = unsafe {
        let value = (value.as_ptr().cast(), value.len());
        libc::setxattr(path.as_ptr(), name.as_ptr(), value.0, value.1, 0)
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

fn get_attribute(path: &Path, name: &std::ffi::CStr) -> Option<Vec<u8>> {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let mut value = vec![0; 4096];
    // SAFETY: NUL-terminated strings, and a buffer borrowed for writing as long as is told.
    let length = unsafe {
        libc::getxattr(
            path.as_ptr(),
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    value.truncate(usize::try_from(length).ok()?);
    Some(value)
}

#[test]
fn links_stay_and_their_targets_are_replaced() {
    let dir = Directory::new();
    fs::create_dir_all(dir.path("x/y")).unwrap();
    fs::write(dir.path("x/y/target"), "old").unwrap();
    symlink("../x/./y/target", dir.path("x/one")).unwrap();
    symlink(dir.path("x/one"), dir.path("two")).unwrap();
    replacing().write(dir.path("two"), "new").unwrap();
    assert_eq!(fs::read(dir.path("x/y/target")).unwrap(), b"new");
    for link in ["two", "x/one"] {
        assert!(fs::symlink_metadata(dir.path(link)).unwrap().is_symlink());
    }
    // Also beneath a directory, which they must not leave.
    let mut writer = Writer::new();
    writer.within(dir.path("x")).unwrap();
    writer.durability(Durability::Full).replace(true);
    let report = writer.write([("one", "1"), ("y/target", "2")]);
    assert!(report.results()[0].is_err());
    assert_eq!(report.written(), 1);
    symlink("y/target", dir.path("x/inside")).unwrap();
    assert_eq!(writer.write([("inside", "3")]).written(), 1);
    assert_eq!(fs::read(dir.path("x/y/target")).unwrap(), b"3");
    assert_eq!(names(&dir.path("x/y")), ["target"]);
}

#[test]
fn other_hard_links_keep_the_old_contents() {
    let dir = Directory::new();
    let (path, other) = (dir.path("a"), dir.path("b"));
    fs::write(&path, "old").unwrap();
    fs::hard_link(&path, &other).unwrap();
    let reader = File::open(&path).unwrap();
    replacing().write(&path, "new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read(&other).unwrap(), b"old");
    assert_eq!(std::io::read_to_string(reader).unwrap(), "old");
    assert_eq!(fs::metadata(&other).unwrap().nlink(), 1);
}

#[test]
fn inotify_reports_the_end_of_the_old_file_and_the_new_name() {
    let dir = Directory::new();
    let path = dir.path("a");
    fs::write(&path, "old").unwrap();
    // SAFETY: plain system calls on NUL-terminated strings, and a buffer borrowed for writing as
    // long as is told.
    let masks = unsafe {
        let watch = libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC);
        for (path, mask) in [
            (
                &path,
                libc::IN_ATTRIB | libc::IN_DELETE_SELF | libc::IN_MODIFY,
            ),
            (&dir.path(""), libc::IN_MOVED_TO),
        ] {
            let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            assert!(libc::inotify_add_watch(watch, path.as_ptr(), mask) > 0);
        }
        replacing().write(&path, "new").unwrap();
        let mut events = [0_u32; 1024];
        let length = libc::read(watch, events.as_mut_ptr().cast(), size_of_val(&events));
        libc::close(watch);
        let mut masks = Vec::new();
        let mut at = 0;
        while at < usize::try_from(length).unwrap() / 4 {
            masks.push(events[at + 1]);
            at += 4 + events[at + 3] as usize / 4;
        }
        masks
    };
    for expected in [libc::IN_DELETE_SELF, libc::IN_MOVED_TO] {
        assert!(masks.contains(&expected), "{masks:x?}");
    }
    assert!(!masks.contains(&libc::IN_MODIFY), "{masks:x?}");
}

#[test]
fn special_files_are_not_replaced() {
    let dir = Directory::new();
    let [nowhere, round, pipe] = ["nowhere", "round", "pipe"].map(|name| dir.path(name));
    symlink("missing", &nowhere).unwrap();
    symlink("round", &round).unwrap();
    make_fifo(&pipe);
    let before = names(&dir.path(""));
    let loops = std::io::Error::from_raw_os_error(libc::ELOOP);
    for (path, operation, kind) in [
        (&nowhere, Operation::Readlink, ErrorKind::NotFound),
        (&round, Operation::Readlink, loops.kind()),
        (&pipe, Operation::Open, ErrorKind::InvalidInput),
        (
            &PathBuf::from("/dev/null"),
            Operation::Open,
            ErrorKind::InvalidInput,
        ),
    ] {
        let one = replacing().write(path, "new").unwrap_err();
        assert_error(&one, operation, Some(path), kind);
        let mut writer = Writer::new();
        writer.durability(Durability::Full).replace(true);
        let report = writer.write([(path, "new")]);
        let many = report.errors().next().unwrap().1;
        assert_error(many, operation, Some(path), kind);
    }
    // A pipe cannot be flushed. That is an error, not a promise.
    let mut options = WriteOptions::new();
    let error = options.durability(Durability::Data).write("/dev/null", "x");
    assert_eq!(error.unwrap_err().operation(), Fdatasync);
    assert_eq!(names(&dir.path("")), before);
}

/// A fault: a system call by name, the number of the call, and the error.
struct Injection {
    /// The work of [`child`].
    work: &'static str,
    call: &'static str,
    when: u32,
    error: &'static str,
    /// The reported operation, and whether the error is about the file or its directory.
    operation: Operation,
    is_of_file: bool,
    /// The contents of the file afterwards.
    holds: &'static str,
}

#[test]
fn every_failing_step_is_an_error_and_keeps_the_old_contents() {
    if !can_trace("every_step_that_fails") {
        return;
    }
    let case = |work, call, when, error, operation, is_of_file, holds| Injection {
        work,
        call,
        when,
        error,
        operation,
        is_of_file,
        holds,
    };

    let mut cases = vec![
        case("plain data", "fdatasync", 1, "EIO", Fdatasync, true, "new"),
        case("plain full", "fsync", 1, "EIO", Fsync, true, "new"),
        case("plain full", "fsync", 2, "EIO", Fsync, false, "new"),
        case("replace none", "rename", 1, "ENOSPC", Rename, true, "old"),
        case("replace data", "fsync", 1, "EIO", Fsync, true, "old"),
        case("replace full", "fsync", 1, "ENOSPC", Fsync, true, "old"),
        case("replace full", "fsync", 2, "EIO", Fsync, false, "new"),
        case("replace full", "rename", 1, "EXDEV", Rename, true, "old"),
        case("replace full", "rename", 1, "EBUSY", Rename, true, "old"),
        case("replace full", "fchmod", 1, "EPERM", Fchmod, true, "old"),
        case(
            "replace full",
            "llistxattr",
            1,
            "EIO",
            Fsetxattr,
            true,
            "old",
        ),
        // Where nothing was learnt from the directory.
        case(
            "replace data",
            "flistxattr",
            1,
            "EIO",
            Fsetxattr,
            true,
            "old",
        ),
        case("append full", "fsync", 1, "EIO", Fsync, true, "old"),
    ];
    if is_root() {
        // The owner is not the user who writes.
        cases.push(case(
            "owned full",
            "fchown",
            1,
            "EPERM",
            Fchown,
            true,
            "old",
        ));
    }
    for batch in [false, true] {
        for case in &cases {
            check(case, batch);
        }
    }
}

fn check(case: &Injection, batch: bool) {
    let dir = Directory::new();
    fs::create_dir(dir.path("data")).unwrap();
    let path = dir.path("data/a");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    if case.work.starts_with("owned") {
        std::os::unix::fs::chown(&path, Some(1234), None).unwrap();
    }
    let number = if batch { "batch" } else { "one" };
    fs::write(dir.path("work"), format!("{} {number}", case.work)).unwrap();
    let calls = format!("trace={}", case.call);
    let inject = format!(
        "inject={}:error={}:when={}",
        case.call, case.error, case.when
    );
    run_child("child", &dir, &strace(&dir, ["-e", &calls, "-e", &inject]));
    let told = fs::read_to_string(dir.path("told")).unwrap();
    let directory = dir.path("data");
    let of = if case.is_of_file { &path } else { &directory };
    let what = format!(
        "{} {} {} batch {batch}: {told}",
        case.work, case.call, case.when
    );
    let expected = format!("{} ", case.operation.name());
    assert!(told.starts_with(&expected), "{what}");
    // A rename is from the temporary file to the file.
    let path_told = told.contains(&format!("{}: ", of.display()));
    assert!(path_told, "{what}");
    assert_eq!(fs::read_to_string(&path).unwrap(), case.holds, "{what}");
    assert_eq!(names(&directory), ["a"], "{what}");
}

#[test]
#[ignore = "a child"]
fn child() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let work = fs::read_to_string(dir.join("work")).unwrap();
    let has = |word: &str| work.split(' ').any(|it| it == word);
    let mut options = WriteOptions::new();
    options
        .durability(match () {
            () if has("full") => Durability::Full,
            () if has("data") => Durability::Data,
            () => Durability::None,
        })
        .replace(!has("plain"))
        .append(has("append"));
    let path = dir.join("data/a");
    let result = if has("batch") && !has("append") {
        let mut writer = Writer::new();
        writer.durability(match () {
            () if has("full") => Durability::Full,
            () if has("data") => Durability::Data,
            () => Durability::None,
        });
        writer.replace(!has("plain"));
        writer.write([(&path, "new")]).into_result()
    } else {
        options.write(&path, "new").map(drop)
    };
    let told = result.map_or_else(|error| error.to_string(), |()| "nothing failed".into());
    fs::write(dir.join("told"), told).unwrap();
    assert_eq!(temporary_files_open(), 0);
}

/// However the path is given, and however the file is written.
#[test]
fn a_failed_flush_above_a_new_directory_is_an_error() {
    if !can_trace("the_flush_above") {
        return;
    }
    for work in ["plain", "plain relative", "replace", "replace relative"] {
        let dir = Directory::new();
        fs::create_dir(dir.path("data")).unwrap();
        fs::write(dir.path("work"), work).unwrap();
        let root = fs::canonicalize(dir.path("data")).unwrap();
        let above = root.join("x");
        let traced = strace(
            &dir,
            [
                "-P",
                above.to_str().unwrap(),
                "-e",
                "trace=fsync",
                "-e",
                "inject=fsync:error=EIO",
            ],
        );
        run_child("child_with_new_directories", &dir, &traced);
        let told = fs::read_to_string(dir.path("told")).unwrap();
        assert!(told.starts_with("fsync "), "{work}: {told}");
        assert!(told.contains("x: "), "{work}: {told}");
    }
}

#[test]
#[ignore = "a child"]
fn child_with_new_directories() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let work = fs::read_to_string(dir.join("work")).unwrap();
    let data = fs::canonicalize(dir.join("data")).unwrap();
    std::env::set_current_dir(&data).unwrap();
    let start = if work.ends_with("relative") {
        PathBuf::new()
    } else {
        data
    };
    let mut options = WriteOptions::new();
    options
        .durability(Durability::Full)
        .replace(work.starts_with("replace"))
        .create_parents(true);
    let result = options.write(start.join("x/y/a"), "new");
    let told = result.map_or_else(|error| error.to_string(), |_| "nothing failed".into());
    fs::write(dir.join("told"), told).unwrap();
}

/// The number of temporary files that are open in this process.
fn temporary_files_open() -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = links.filter_map(|link| fs::read_link(link.path()).ok());
    paths
        .filter(|path| path.to_string_lossy().contains("/data/"))
        .count()
}

/// A simulated disk on which calls fail.
struct Faulty {
    mount: Mount,
    _root: tempfile::TempDir,
}

fn can_be_faulty() -> bool {
    is_root() && Path::new("/dev/fuse").exists()
}

impl Faulty {
    fn new(test: &str, faults: &[&str]) -> Option<Self> {
        if !can_be_faulty() {
            skip(test, "it needs root and /dev/fuse");
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        let [real, shown] = ["real", "shown"].map(|name| root.path().join(name));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&shown).unwrap();
        fs::write(real.join("a"), "old").unwrap();
        let mut options = Options::new(Profile::none());
        options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Some(Self {
            mount: Mount::new(&real, Some(&shown), &options).unwrap(),
            _root: root,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.mount.path().join(name)
    }
}

#[test]
fn errors_at_close_and_at_flush_are_reported() {
    for (fault, operation, holds) in [
        ("close:1:ENOSPC", Operation::Close, "old"),
        ("fsync:1:ENOSPC", Fsync, "old"),
        ("write:1:EDQUOT", Operation::Write, "old"),
        ("rename:1:ENOSPC", Rename, "old"),
        ("fsyncdir:1:EIO", Fsync, "new"),
    ] {
        for batch in [false, true] {
            // A process that another test starts meanwhile closes its copy of the file first, and
            // then gets the error.
            let failed = (0..10).find_map(|_| {
                let disk = Faulty::new("what_a_server_says", &[fault])?;
                let error = write_one_or_batch(&disk.path("a"), batch).err()?;
                Some((disk, error))
            });
            let Some((disk, error)) = failed else {
                assert!(!can_be_faulty(), "{fault}: no write has failed");
                return;
            };
            let path = disk.path("a");
            assert_eq!(error.operation(), operation, "{fault}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), holds, "{fault}");
            assert_eq!(names(&disk.path("")), ["a"], "{fault}");
            // The fault is over by then.
            write_one_or_batch(&path, batch).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        }
    }
}

fn write_one_or_batch(path: &Path, batch: bool) -> Result<(), Error> {
    if batch {
        let mut writer = Writer::new();
        writer.durability(Durability::Full).replace(true);
        return writer.write([(path, "new")]).into_result();
    }
    replacing().write(path, "new").map(drop)
}

#[test]
fn a_failed_flush_is_an_error_of_its_file_alone() {
    let Some(disk) = Faulty::new("one_flush_that_fails", &["fsync:20:EIO"]) else {
        return;
    };
    let mut writer = Writer::new();
    writer.durability(Durability::Data);
    let report = writer.write((0..100).map(|index| (disk.path(&index.to_string()), "text")));
    assert_eq!((report.written(), report.errors().count()), (99, 1));
    let error = report.errors().next().unwrap();
    assert_error(
        error.1,
        Fdatasync,
        Some(&disk.path(&error.0.to_string())),
        error.1.kind(),
    );
    assert_eq!(error.1.raw_os_error(), Some(libc::EIO));
}

#[test]
fn a_failed_barrier_is_an_error_of_every_file() {
    if !can_trace("a_failed_barrier") {
        return;
    }
    // With `1` the first call of each thread fails, and later ones succeed: no retry may hide that.
    for (replace, when) in [(false, "1"), (true, "1"), (true, "1+")] {
        let dir = Directory::new();
        fs::create_dir(dir.path("data")).unwrap();
        fs::write(dir.path("work"), if replace { "replace" } else { "" }).unwrap();
        for index in 0..500 {
            fs::write(dir.path(&format!("data/{index}")), "old").unwrap();
        }
        assert!(run("sync", &[]));
        let inject = format!("inject=syncfs:error=EIO:when={when}");
        let options = ["-e", "trace=syncfs,fsync", "-e", &inject];
        run_child("child_batch", &dir, &strace(&dir, options));
        let log = fs::read_to_string(dir.path("log")).unwrap();
        // Some of the files, too, while other programs have much to write.
        let is_by_file = log.matches(" fsync(").count() > 100;
        if is_by_file || !log.contains("INJECTED") {
            println!("skipped a_failed_barrier: files are flushed one by one here");
            return;
        }
        let told = fs::read_to_string(dir.path("told")).unwrap();
        assert_eq!(told, "500 syncfs");
        assert_eq!(names(&dir.path("data")).len(), 500);
        // With `1` the files of a second barrier may have been replaced before their directory's
        // flush failed in another thread.
        if when == "1+" {
            for index in 0..500 {
                let path = dir.path(&format!("data/{index}"));
                assert_eq!(fs::read(path).unwrap(), b"old");
            }
        }
    }
}

#[test]
#[ignore = "a child"]
fn child_batch() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let mut writer = Writer::new();
    writer.durability(Durability::Full);
    writer.replace(fs::read_to_string(dir.join("work")).unwrap() == "replace");
    let entries = (0..500).map(|index| (dir.join(format!("data/{index}")), "new"));
    let report = writer.write(entries);
    let mut operations: Vec<_> = report
        .errors()
        .map(|(_, it)| it.operation().name())
        .collect();
    let count = operations.len();
    operations.dedup();
    fs::write(
        dir.join("told"),
        format!("{count} {}", operations.join(" ")),
    )
    .unwrap();
}

#[test]
fn a_full_disk_keeps_the_old_contents() {
    let dir = Directory::new();
    let path = dir.path("disk");
    let disk = match SmallDisk::mount(&path, "size=64k") {
        Ok(disk) => disk,
        Err(reason) => return skip("a_full_disk_keeps_the_old_contents", &reason),
    };
    let file = disk.path().join("a");
    fs::write(&file, "old").unwrap();
    for level in [Durability::None, Durability::Data, Durability::Full] {
        let mut options = WriteOptions::new();
        options.durability(level).replace(true);
        let error = options.write(&file, "x".repeat(100_000)).unwrap_err();
        assert_error(
            &error,
            Operation::Write,
            Some(&file),
            ErrorKind::StorageFull,
        );
        let mut writer = Writer::new();
        writer.durability(level).replace(true);
        let entries = (0..10).map(|_| (&file, "x".repeat(100_000)));
        assert_eq!(writer.write(entries).errors().count(), 10);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(names(disk.path()), ["a"]);
    }
}

#[test]
fn a_mount_point_is_not_replaced() {
    let dir = Directory::new();
    let path = dir.path("disk");
    let disk = match SmallDisk::mount(&path, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => return skip("a_mount_point_is_not_replaced", &reason),
    };
    let [from, busy] = ["from", "busy"].map(|name| disk.path().join(name));
    for path in [&from, &busy] {
        fs::write(path, "old").unwrap();
    }
    assert!(run(
        "mount",
        &["--bind", from.to_str().unwrap(), busy.to_str().unwrap()]
    ));
    let refused = replacing().write(&busy, "new").unwrap_err();
    let after = fs::read(&busy).unwrap();
    let written = replacing().in_place_if_busy(true).write(&busy, "in place");
    let mut writer = Writer::new();
    writer.durability(Durability::Full).replace(true);
    writer.in_place_if_busy(true);
    let many = writer.write([(&busy, "2")]);
    assert!(run("umount", &[busy.to_str().unwrap()]));
    assert_eq!(refused.operation(), Rename);
    assert_eq!(refused.destination(), Some(&*busy));
    assert_eq!(refused.kind(), ErrorKind::ResourceBusy);
    assert_eq!(after, b"old");
    assert_eq!(written.unwrap(), Outcome::Written);
    assert_eq!(many.written(), 1);
    assert_eq!(fs::read(&from).unwrap(), b"2");
    assert_eq!(names(disk.path()), ["busy", "from"]);
}

#[test]
fn a_read_only_disk_is_an_error() {
    let dir = Directory::new();
    let path = dir.path("disk");
    let disk = match SmallDisk::mount(&path, "size=1m") {
        Ok(disk) => disk,
        Err(reason) => return skip("a_read_only_disk_is_an_error", &reason),
    };
    let file = disk.path().join("a");
    fs::write(&file, "old").unwrap();
    assert!(run("mount", &["-o", "remount,ro", path.to_str().unwrap()]));
    let error = replacing().write(&file, "new").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&file),
        ErrorKind::ReadOnlyFilesystem,
    );
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

/// Runs one of the children below as a user other than root.
fn as_nobody(test: &str, dir: &Directory) -> bool {
    if !is_root() {
        skip(test, "it needs root, to become another user");
        return false;
    }
    if !has_setpriv() {
        skip(test, "no setpriv");
        return false;
    }
    let under = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    // The binary of the tests must be within reach of that user.
    let binary = std::env::current_exe().unwrap();
    let can = Command::new(under[0])
        .args(&under[1..])
        .args(["test", "-x"])
        .arg(&binary)
        .status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped {test}: others may not run {}", binary.display());
        return false;
    }
    run_child("child_as_nobody", dir, &under);
    true
}

#[test]
fn missing_permissions_are_errors() {
    let dir = Directory::new();
    let data = dir.path("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o777)).unwrap();
    let root = data.join("of-root");
    fs::write(&root, "old").unwrap();
    // It may be entered and written, but not opened to be flushed.
    let closed = data.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("there"), "old").unwrap();
    fs::set_permissions(closed.join("there"), Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o733)).unwrap();
    let kept = data.join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("a"), "old").unwrap();
    if as_nobody("missing_permissions_are_errors", &dir) {
        assert_eq!(fs::read(&root).unwrap(), b"old");
        assert_eq!(names(&data), ["closed", "kept", "of-root"]);
        assert_eq!(names(&closed), ["there"]);
        assert_eq!(fs::read(closed.join("there")).unwrap(), b"old");
        assert_eq!(names(&kept), ["a"]);
    }
}

#[test]
#[ignore = "a child"]
fn child_as_nobody() {
    if !is_child() {
        return;
    }
    let data = child_directory().join("data");
    let root = data.join("of-root");
    let error = replacing().write(&root, "new").unwrap_err();
    assert_error(&error, Fchown, Some(&root), ErrorKind::PermissionDenied);
    let closed = data.join("closed");
    for replace in [false, true] {
        for name in ["a", "there"] {
            let mut options = replacing();
            let error = options.replace(replace).write(closed.join(name), "new");
            let error = error.unwrap_err();
            assert_error(
                &error,
                Operation::Open,
                Some(&closed),
                ErrorKind::PermissionDenied,
            );
        }
    }
    let kept = data.join("kept/a");
    let error = replacing().write(&kept, "new").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&kept),
        ErrorKind::PermissionDenied,
    );
}

/// Bytes that may be unavailable.
struct Text(Option<&'static str>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.expect("while it is written").as_bytes()
    }
}

#[test]
fn a_panic_leaves_no_temporary_file() {
    let dir = Directory::new();
    let (first, second) = (dir.path("a"), dir.path("b"));
    for path in [&first, &second] {
        fs::write(path, "old").unwrap();
    }
    let mut writer = Writer::new();
    writer.durability(Durability::Full).replace(true);
    let entries = [(&first, Text(Some("new"))), (&second, Text(None))];
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.write(entries)));
    assert!(result.is_err());
    assert_eq!(names(&dir.path("")), ["a", "b"]);
    assert_eq!(fs::read(&first).unwrap(), b"old");
}

#[test]
fn waiting_files_leave_descriptors_for_new_ones() {
    let dir = Directory::new();
    fs::create_dir(dir.path("data")).unwrap();
    run_child("child_short_of_descriptors", &dir, &[] as &[&str]);
}

#[test]
#[ignore = "a child"]
fn child_short_of_descriptors() {
    if !is_child() {
        return;
    }
    let path = |index: usize| child_directory().join(format!("data/{index}"));
    let others: Vec<_> = (0..40).map(|_| File::open("/dev/null").unwrap()).collect();
    let limit = libc::rlimit {
        rlim_cur: others.len() as u64 + 16,
        rlim_max: 1024,
    };
    // SAFETY: a plain system call; the structure outlives it.
    let done = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(done, 0);
    for replace in [false, true] {
        for level in [Durability::Data, Durability::Full] {
            let mut writer = Writer::new();
            writer.durability(level).replace(replace);
            let report = writer.write((0..300).map(|index| (path(index), "text")));
            assert_eq!(report.written(), 300, "{:?}", report.errors().next());
        }
    }
    assert_eq!(names(&child_directory().join("data")).len(), 300);
    drop(others);
}

/// Bytes that are asked for while the temporary file exists. At that moment the process changes its
/// directory.
struct Moving(PathBuf);

impl AsRef<[u8]> for Moving {
    fn as_ref(&self) -> &[u8] {
        std::env::set_current_dir(&self.0).unwrap();
        b"new"
    }
}

#[test]
fn a_relative_path_is_resolved_once() {
    let dir = Directory::new();
    run_child("child_that_moves", &dir, &[] as &[&str]);
}

#[test]
#[ignore = "a child"]
fn child_that_moves() {
    if !is_child() {
        return;
    }
    let dir = child_directory();
    let (here, there) = (dir.join("here"), dir.join("there"));
    for dir in [&here, &there] {
        fs::create_dir(dir).unwrap();
    }
    let mut writer = Writer::new();
    writer.durability(Durability::Full).replace(true);
    // On several threads the third entry could move the process before the second is opened.
    writer.strategy(Strategy::CallingThread);
    for name in ["a", "b"] {
        std::env::set_current_dir(&here).unwrap();
        fs::write(name, "old").unwrap();
    }
    // The second entry moves the process while the first waits for the barrier.
    let entries = [("a", Moving(here.clone())), ("b", Moving(here.clone()))];
    let entries = entries.into_iter().chain([("", Moving(there.clone()))]);
    let report = writer.write(entries);
    assert_eq!(report.written(), 2, "{:?}", report.errors().next());
    assert_eq!(names(&here), ["a", "b"]);
    assert_eq!(names(&there), [""; 0]);
    assert_eq!(fs::read(here.join("a")).unwrap(), b"new");
}
