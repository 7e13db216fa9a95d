//! A real mount, compared with the plain directory that it shows. A slow disk that differs from the
//! directory in anything else would make programs fail, or worse, pass, for reasons of its own.
//! Random operations are therefore done on both and compared. Further tests cover the corners that
//! pass-through file systems get wrong (names that change or vanish while a file is open, links,
//! owners, descriptors), and each fault. Times are tested in model.rs.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, can_mount};
use proptest::prelude::*;
use smallfry_slowfs::{Mount, Options, Profile, Unmounted};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

impl Place {
    fn new(options: &Options) -> Option<Self> {
        Self::mounted(options, |_| ())
    }

    fn plain() -> Option<Self> {
        Self::new(&Options::new(Profile::none()))
    }

    fn failing(faults: &[&str]) -> Option<Self> {
        let mut options = Options::new(Profile::none());
        options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::new(&options)
    }
}

fn code<T>(outcome: io::Result<T>) -> Option<i32> {
    outcome.err().map(|error| error.raw_os_error().unwrap())
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A change of a tree. There are few names, so that operations meet.
#[derive(Clone, Debug)]
enum Step {
    Mkdir(String),
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    WriteAt(String, u16, Vec<u8>),
    Truncate(String, u16),
    Read(String),
    Stat(String),
    List(String),
    Rename(String, String),
    Unlink(String),
    Rmdir(String),
    Symlink(String, String),
    Readlink(String),
    Link(String, String),
    Chmod(String, u32),
    Touch(String, i64),
    Copy(String, String),
}

fn any_path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[abc]", 1..4).prop_map(|parts| parts.join("/"))
}

fn any_data() -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), 0..20_000_usize).prop_map(|(byte, length)| vec![byte; length])
}

// Links lead only into the tree, or the test would change the machine's own files.
fn any_step() -> impl Strategy<Value = Step> {
    let path = any_path;
    let data = any_data;
    prop_oneof![
        4 => path().prop_map(Step::Mkdir),
        4 => (path(), data()).prop_map(|(path, data)| Step::Write(path, data)),
        1 => (path(), data()).prop_map(|(path, data)| Step::Append(path, data)),
        1 => (path(), any::<u16>(), data()).prop_map(|(path, at, data)| Step::WriteAt(path, at, data)),
        1 => (path(), any::<u16>()).prop_map(|(path, size)| Step::Truncate(path, size)),
        1 => path().prop_map(Step::Read),
        1 => path().prop_map(Step::Stat),
        1 => path().prop_map(Step::List),
        3 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => path().prop_map(Step::Unlink),
        1 => path().prop_map(Step::Rmdir),
        1 => (path(), path()).prop_map(|(target, path)| Step::Symlink(target, path)),
        1 => path().prop_map(Step::Readlink),
        1 => (path(), path()).prop_map(|(from, to)| Step::Link(from, to)),
        1 => (path(), 0..0o7777_u32).prop_map(|(path, mode)| Step::Chmod(path, mode)),
        1 => (path(), -5_000_000_000..9_000_000_000_i64)
            .prop_map(|(path, seconds)| Step::Touch(path, seconds)),
        1 => (path(), path()).prop_map(|(from, to)| Step::Copy(from, to)),
    ]
}

/// The result of a step for a program: its error number, or the bytes that it read.
fn take(root: &Path, step: &Step) -> Result<Vec<u8>, Option<i32>> {
    let at = |path: &str| root.join(path);
    let nothing = |()| Vec::new();
    let outcome = match step {
        Step::Mkdir(path) => fs::create_dir(at(path)).map(nothing),
        Step::Write(path, data) => fs::write(at(path), data).map(nothing),
        Step::Append(path, data) => OpenOptions::new()
            .append(true)
            .open(at(path))
            .and_then(|mut file| file.write_all(data))
            .map(nothing),
        Step::WriteAt(path, offset, data) => OpenOptions::new()
            .write(true)
            .open(at(path))
            .and_then(|file| file.write_all_at(data, (*offset).into()))
            .map(nothing),
        Step::Truncate(path, size) => OpenOptions::new()
            .write(true)
            .open(at(path))
            .and_then(|file| file.set_len((*size).into()))
            .map(nothing),
        Step::Read(path) => fs::read(at(path)),
        Step::Stat(path) => fs::metadata(at(path)).map(|stat| seen(&stat).into_bytes()),
        Step::List(path) => list(&at(path)),
        Step::Rename(from, to) => fs::rename(at(from), at(to)).map(nothing),
        Step::Unlink(path) => fs::remove_file(at(path)).map(nothing),
        Step::Rmdir(path) => fs::remove_dir(at(path)).map(nothing),
        Step::Symlink(target, path) => symlink(target, at(path)).map(nothing),
        Step::Readlink(path) => {
            fs::read_link(at(path)).map(|target| target.into_os_string().into_encoded_bytes())
        }
        Step::Link(from, to) => fs::hard_link(at(from), at(to)).map(nothing),
        Step::Chmod(path, mode) => {
            fs::set_permissions(at(path), fs::Permissions::from_mode(*mode)).map(nothing)
        }
        Step::Touch(path, seconds) => {
            File::open(at(path)).and_then(|file| file.set_modified(time(*seconds)).map(nothing))
        }
        Step::Copy(from, to) if from != to => {
            fs::copy(at(from), at(to)).map(|bytes| bytes.to_le_bytes().to_vec())
        }
        Step::Copy(..) => Ok(Vec::new()),
    };
    outcome.map_err(|error| error.raw_os_error())
}

fn time(seconds: i64) -> SystemTime {
    let away = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 {
        UNIX_EPOCH - away
    } else {
        UNIX_EPOCH + away
    }
}

/// Attributes that both trees must agree on.
fn seen(stat: &fs::Metadata) -> String {
    let size = if stat.is_dir() { 0 } else { stat.size() };
    let (mode, links, user) = (stat.mode(), stat.nlink(), stat.uid());
    format!("{mode:o} {links} {user} {size}")
}

fn list(directory: &Path) -> io::Result<Vec<u8>> {
    let names: io::Result<Vec<OsString>> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect();
    let mut names = names?;
    names.sort();
    Ok(names.join("/".as_ref()).into_encoded_bytes())
}

/// Everything below a directory.
fn tree(directory: &Path) -> BTreeMap<PathBuf, (String, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(directory.join(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let full = directory.join(&path);
            let stat = fs::symlink_metadata(&full).unwrap();
            let mut modified = stat.mtime();
            let content = if stat.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else if stat.is_symlink() {
                fs::read_link(&full)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&full).unwrap()
            };
            // Times that were not set on purpose differ.
            if SystemTime::now()
                .duration_since(time(modified))
                .is_ok_and(|ago| ago.as_secs() < 600)
            {
                modified = 0;
            }
            found.insert(path, (seen(&stat), modified, content));
        }
    }
    found
}

#[test]
fn random_operations_do_the_same_as_on_the_directory() {
    let Some(place) = Place::plain() else {
        return;
    };
    let twin = tempfile::tempdir().unwrap();
    let round = std::cell::Cell::new(0);
    proptest!(ProptestConfig::with_cases(cases()), |(steps in proptest::collection::vec(any_step(), 1..60))| {
        round.set(round.get() + 1);
        let name = round.get().to_string();
        let (shown, twin) = (place.shown(&name), twin.path().join(&name));
        fs::create_dir(&shown).unwrap();
        fs::create_dir(&twin).unwrap();
        for step in &steps {
            prop_assert_eq!(take(&shown, step), take(&twin, step), "{:?}", step);
        }
        prop_assert_eq!(tree(&shown), tree(&twin));
        prop_assert_eq!(tree(&place.real(&name)), tree(&twin));
    });
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(60)
}

#[test]
fn every_profile_shows_the_same_bytes_and_can_become_another() {
    for profile in Profile::all() {
        let Some(place) = Place::new(&Options::new(profile)) else {
            return;
        };
        for next in Profile::all() {
            let file = place.shown(next.name);
            let mut written = File::create(&file).unwrap();
            written.write_all(next.name.as_bytes()).unwrap();
            written.sync_all().unwrap();
            drop(written);
            assert_eq!(fs::read_to_string(&file).unwrap(), next.name);
            place.mount.change(&next);
        }
    }
}

#[test]
fn a_directory_can_be_mounted_over_itself() {
    if !can_mount() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("before"), "1").unwrap();
    let mut mount = Mount::new(root.path(), None, &Options::new(Profile::none())).unwrap();
    assert_eq!(list(root.path()).unwrap(), b"before");
    fs::write(root.path().join("during"), "2").unwrap();
    assert_eq!(mount.unmount().unwrap(), Unmounted::Clean);
    assert_eq!(list(root.path()).unwrap(), b"before/during");
}

#[test]
fn an_open_file_outlives_its_name() {
    let Some(place) = Place::plain() else {
        return;
    };
    let path = place.shown("a");
    fs::write(&path, "before").unwrap();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    fs::remove_file(&path).unwrap();
    // A new file with that name, and perhaps with that inode number.
    fs::write(&path, "another").unwrap();
    file.write_all(b"after!").unwrap();
    file.set_len(5).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o640))
        .unwrap();
    file.set_modified(time(1_000_000)).unwrap();
    file.sync_all().unwrap();
    let stat = file.metadata().unwrap();
    assert_eq!((stat.nlink(), stat.size(), stat.mtime()), (0, 5, 1_000_000));
    assert_eq!(stat.mode() & 0o7777, 0o640);
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "after");
    assert_eq!(fs::read_to_string(&path).unwrap(), "another");
}

#[test]
fn an_open_file_keeps_its_contents_when_replaced() {
    let Some(place) = Place::plain() else {
        return;
    };
    let (old, new) = (place.shown("old"), place.shown("new"));
    fs::write(&old, "old").unwrap();
    fs::write(&new, "new").unwrap();
    let mut open = File::open(&old).unwrap();
    fs::rename(&new, &old).unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old");
    assert_eq!(fs::read_to_string(&old).unwrap(), "new");
    assert_eq!(open.metadata().unwrap().nlink(), 0);
}

#[test]
fn files_below_a_renamed_directory_move_with_it() {
    let Some(place) = Place::plain() else {
        return;
    };
    fs::create_dir_all(place.shown("a/b/c")).unwrap();
    fs::write(place.shown("a/b/c/file"), "1").unwrap();
    let mut open = OpenOptions::new()
        .append(true)
        .open(place.shown("a/b/c/file"))
        .unwrap();
    fs::rename(place.shown("a"), place.shown("z")).unwrap();
    fs::create_dir(place.shown("a")).unwrap();
    open.write_all(b"2").unwrap();
    open.set_permissions(fs::Permissions::from_mode(0o600))
        .unwrap();
    assert_eq!(fs::read_to_string(place.shown("z/b/c/file")).unwrap(), "12");
    assert_eq!(code(fs::read(place.shown("a/b/c/file"))), Some(2));
}

#[test]
fn inode_numbers_are_those_of_the_directory() {
    let Some(place) = Place::plain() else {
        return;
    };
    fs::write(place.shown("one"), "1").unwrap();
    fs::hard_link(place.shown("one"), place.shown("two")).unwrap();
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(place.shown("one")), inode(place.real("one")));
    assert_eq!(inode(place.shown("one")), inode(place.shown("two")));
    // Removing one link does not remove the other.
    fs::remove_file(place.shown("one")).unwrap();
    assert_eq!(fs::read_to_string(place.shown("two")).unwrap(), "1");
}

/// File systems reuse a number as soon as it is free. A mount that remembers the old file would
/// show its contents, or refuse the new file.
#[test]
fn a_reused_inode_number_is_another_file() {
    let Some(place) = Place::plain() else {
        return;
    };
    for round in 0..50 {
        let path = place.shown(&format!("file{round}"));
        if round % 2 == 0 {
            fs::write(&path, round.to_string()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), round.to_string());
            fs::remove_file(&path).unwrap();
        } else {
            fs::create_dir(&path).unwrap();
            assert_eq!(list(&path).unwrap(), b"");
            fs::remove_dir(&path).unwrap();
        }
    }
}

/// A bench replaces files on the directory itself, and runs programs on the mount. The system
/// remembers `file` when its number goes to another file, which then goes too.
#[test]
fn a_file_that_was_replaced_behind_the_mount_is_found_by_its_name() {
    for made_on_the_mount in [true, false] {
        let Some(place) = Place::plain() else {
            return;
        };
        fs::write(place.shown("file"), "old").unwrap();
        let number = fs::metadata(place.shown("file")).unwrap().ino();
        fs::write(place.real("new"), "replaced").unwrap();
        fs::rename(place.real("new"), place.real("file")).unwrap();
        let has_its_number = |name: &String| {
            let seen = place.shown(name);
            let made = if made_on_the_mount {
                seen.clone()
            } else {
                place.real(name)
            };
            fs::write(&made, "another").unwrap();
            fs::metadata(&seen).unwrap().ino() == number
        };
        // Not every file system gives the number away again.
        if let Some(name) = (0..50)
            .map(|count| format!("other{count}"))
            .find(has_its_number)
        {
            // What the system knew of the number no longer holds.
            fs::write(place.shown(&name), "changed").unwrap();
            fs::rename(place.real(&name), place.real("gone")).unwrap();
        }
        let size = fs::symlink_metadata(place.shown("file")).unwrap().len();
        assert_eq!(size, 8, "made on the mount: {made_on_the_mount}");
    }
}

#[test]
fn files_belong_to_the_user_who_makes_them() {
    let Some(place) = Place::plain() else {
        return;
    };
    fs::set_permissions(place.root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(place.mount.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(place.shown("secret"), "1").unwrap();
    fs::set_permissions(place.shown("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    let script =
        "umask 027; echo 1 >file; mkdir dir; ln -s file link; mkfifo pipe; cat secret 2>&1";
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(place.mount.path())
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("Permission denied"),
        "{output:?}"
    );
    for (name, mode) in [
        ("file", 0o640),
        ("dir", 0o750),
        ("link", 0o777),
        ("pipe", 0o640),
    ] {
        for stat in [place.shown(name), place.real(name)].map(fs::symlink_metadata) {
            let stat = stat.unwrap();
            assert_eq!((stat.uid(), stat.gid()), (65534, 65534), "{name}");
            assert_eq!(stat.mode() & 0o7777, mode, "{name}");
        }
    }
}

/// One descriptor for each known inode or directory would run out at the first large tree.
#[test]
fn thousands_of_files_in_hundreds_of_directories_need_few_descriptors() {
    let Some(place) = Place::plain() else {
        return;
    };
    let (directories, files) = match std::env::var_os("SMALLFRY_TEST_ALL") {
        Some(_) => (1000, 10),
        None => (500, 5),
    };
    for directory in 0..directories {
        let directory = place.shown(&directory.to_string());
        fs::create_dir(&directory).unwrap();
        for file in 0..files {
            fs::write(directory.join(file.to_string()), "text").unwrap();
        }
    }
    let mut bytes = 0;
    for directory in fs::read_dir(place.mount.path()).unwrap() {
        for file in fs::read_dir(directory.unwrap().path()).unwrap() {
            bytes += fs::read(file.unwrap().path()).unwrap().len();
        }
    }
    assert_eq!(bytes, 4 * directories * files);
    // This process has the descriptors of the mount, and of the other tests' mounts.
    let open = fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 700, "{open}");
}

#[test]
fn only_the_named_calls_fail() {
    let Some(place) = Place::failing(&[
        "write:2:EIO",
        "mkdir:every2:ENOSPC",
        "unlink:2+:EACCES",
        "rename:1:EXDEV",
        "open:1:EMFILE",
        "fsync:2:EIO",
        "readdir:1:EIO",
    ]) else {
        return;
    };
    let path = place.shown("file");
    let mut file = File::create(&path).unwrap();
    assert_eq!(code(file.write_all(b"1")), None);
    assert_eq!(code(file.write_all(b"2")), Some(EIO));
    assert_eq!(code(file.write_all(b"3")), None);
    assert_eq!(code(file.sync_all()), None);
    assert_eq!(code(file.sync_all()), Some(EIO));
    assert_eq!(code(file.sync_data()), None);
    assert_eq!(code(fs::read(&path)), Some(24));
    assert_eq!(fs::read(&path).unwrap(), b"13");
    let made = [1, 2, 3, 4].map(|name| code(fs::create_dir(place.shown(&name.to_string()))));
    assert_eq!(made, [None, Some(ENOSPC), None, Some(ENOSPC)]);
    assert_eq!(code(fs::rename(&path, place.shown("b"))), Some(18));
    assert_eq!(code(fs::rename(&path, place.shown("b"))), None);
    assert_eq!(code(list(&place.shown("1"))), Some(EIO));
    assert_eq!(code(list(&place.shown("1"))), None);
    let removed = ["b", "c", "d"].map(|name| {
        fs::write(place.shown(name), "").unwrap();
        code(fs::remove_file(place.shown(name)))
    });
    assert_eq!(removed, [None, Some(13), Some(13)]);
}

/// close(2) waits for FLUSH, which also comes for each duplicate of a descriptor, and for files
/// that were not written. Rust does not report that a close failed; `cp` does.
#[test]
fn only_the_close_of_a_written_file_can_fail() {
    let Some(place) = Place::failing(&["close:3:EIO"]) else {
        return;
    };
    let path = place.shown("file");
    let file = File::create(&path).unwrap();
    (&file).write_all(b"first").unwrap();
    // Only the first close counts.
    drop([file.try_clone().unwrap(), file.try_clone().unwrap(), file]);
    drop(
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap(),
    );
    assert_eq!(fs::read(&path).unwrap(), b"first");
    let copies = ["second", "third", "fourth"].map(|name| {
        let mut copy = Command::new("cp");
        copy.arg("/proc/self/status").arg(place.shown(name));
        copy.output().unwrap().status.success()
    });
    assert_eq!(copies, [true, false, true]);
}

#[test]
fn a_full_disk_takes_what_fits() {
    let mut options = Options::new(Profile::none());
    options.full_after = Some(10_000);
    let Some(place) = Place::new(&options) else {
        return;
    };
    let mut file = File::create(place.shown("a")).unwrap();
    assert_eq!(file.write(&[1; 6000]).unwrap(), 6000);
    assert_eq!(file.write(&[2; 6000]).unwrap(), 4000);
    assert_eq!(code(file.write(&[3; 1])), Some(ENOSPC));
    assert_eq!(fs::metadata(place.real("a")).unwrap().len(), 10_000);
    assert_eq!(code(fs::write(place.shown("b"), "1")), Some(ENOSPC));
    assert!(place.shown("b").exists());
}

/// `--full-after` counts written bytes: calls that wrote none of them, or fewer, leave the rest.
#[test]
fn failed_writes_do_not_fill_the_disk() {
    let mut options = Options::new(Profile::none());
    options.full_after = Some(10_000);
    let Some(place) = Place::new(&options) else {
        return;
    };
    let file = File::create(place.shown("a")).unwrap();
    let none = rustix::fs::FallocateFlags::empty();
    let allocate = |bytes| rustix::fs::fallocate(&file, none, 0, bytes).map_err(io::Error::from);
    assert_eq!(code(allocate(10_001)), Some(ENOSPC));
    // The directory's own file system refuses it, since no file can be so long.
    assert!(file.write_at(b"x", i64::MAX as u64 - 1).is_err());
    fs::write(place.shown("from"), [1; 1000]).unwrap();
    let from = File::open(place.shown("from")).unwrap();
    let copied = rustix::fs::copy_file_range(&from, None, &file, None, 9000).unwrap();
    assert_eq!(copied, 1000);
    file.write_all_at(&[2; 8000], 1000).unwrap();
    assert_eq!(code(file.write_at(b"x", 9000)), Some(ENOSPC));
}

#[test]
fn one_extended_attribute_empties_the_cache_and_all_others_are_refused() {
    let Some(place) = Place::plain() else {
        return;
    };
    let set = |name| {
        rustix::fs::setxattr(
            place.mount.path(),
            name,
            b"",
            rustix::fs::XattrFlags::empty(),
        )
        .map_err(io::Error::from)
    };
    set(smallfry_slowfs::EMPTY_CACHE).unwrap();
    assert_eq!(code(set("user.other")), Some(95));
}

#[test]
fn open_files_do_not_delay_an_unmount_and_fail_afterwards() {
    let Some(mut place) = Place::plain() else {
        return;
    };
    fs::write(place.shown("a"), "x".repeat(100_000)).unwrap();
    let file = File::open(place.shown("a")).unwrap();
    assert!(place.mount.is_mounted());
    let shown = place.mount.path().to_owned();
    assert_eq!(place.mount.unmount().unwrap(), Unmounted::Busy);
    assert_eq!(code(file.read_at(&mut [0; 10], 0)), Some(107));
    assert_eq!(list(&shown).unwrap(), b"");
}

#[test]
fn an_unmount_by_another_program_is_noticed() {
    let Some(mut place) = Place::plain() else {
        return;
    };
    assert!(
        Command::new("umount")
            .arg(place.mount.path())
            .status()
            .unwrap()
            .success()
    );
    while place.mount.is_mounted() {
        std::thread::yield_now();
    }
    assert_eq!(place.mount.unmount().unwrap(), Unmounted::Already);
}

/// The threads of a mount end when it is unmounted. Waiting for them while another mount covers it
/// would never end.
#[test]
fn a_covered_mount_stays_until_the_other_is_gone() {
    if !can_mount() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "text").unwrap();
    let mount = || Mount::new(root.path(), None, &Options::new(Profile::none())).unwrap();
    let (mut first, mut second) = (mount(), mount());
    assert_eq!(first.unmount().unwrap(), Unmounted::Covered);
    assert!(first.is_mounted());
    assert_eq!(fs::read(root.path().join("file")).unwrap(), b"text");
    // A process that another test starts at that moment may have a copy of the open file.
    let gone = [Unmounted::Clean, Unmounted::Busy];
    assert!(gone.contains(&second.unmount().unwrap()));
    assert!(gone.contains(&first.unmount().unwrap()));
    assert_eq!(first.unmount().unwrap(), Unmounted::Already);
}

/// `umount -l` removes it from the table of mounts at once, but open files in it are still served.
#[test]
fn a_detached_mount_is_not_waited_for() {
    let Some(mut place) = Place::plain() else {
        return;
    };
    fs::write(place.shown("a"), "text").unwrap();
    let file = File::open(place.shown("a")).unwrap();
    let mut umount = Command::new("umount");
    umount.arg("-l").arg(place.mount.path());
    assert!(umount.status().unwrap().success());
    assert_eq!(place.mount.unmount().unwrap(), Unmounted::Already);
    drop(file);
}

#[test]
fn holes_and_free_space_are_those_of_the_directory() {
    let Some(place) = Place::plain() else {
        return;
    };
    let file = File::create(place.shown("a")).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 5000).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 5000);
    file.set_len(0).unwrap();
    file.set_len(1 << 20).unwrap();
    file.write_all_at(b"x", 512 << 10).unwrap();
    let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0)).unwrap();
    let real = File::open(place.real("a")).unwrap();
    assert_eq!(
        rustix::fs::seek(&real, rustix::fs::SeekFrom::Data(0)).unwrap(),
        data
    );
    let room = |path: &Path| rustix::fs::statvfs(path).unwrap().f_blocks;
    assert_eq!(room(place.mount.path()), room(place.root.path()));
}
