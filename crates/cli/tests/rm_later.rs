//! `smallfry rm --later` as a user runs it: it returns at once, and nothing stays behind.
//!
//! The user trusts it with the files beside the tree, and with a tree that a killed process left.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::assert_one_line;
use common::place::{Place, list};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

/// Runs `rm --later` with the slots in `state`.
fn rm_later(place: &Place, paths: &str) -> Output {
    let mut command = place.command(&format!("rm --later {paths}"));
    // Each system has one of them.
    for name in ["XDG_STATE_HOME", "LOCALAPPDATA"] {
        command.env(name, place.path("state"));
    }
    command.output().unwrap()
}

/// Waits until the place holds only the slots, and these are empty.
fn wait_until_removed(place: &Place) {
    let began = Instant::now();
    let is_done = || {
        let slots = place.path("state/smallfry/removing");
        let mut slots = fs::read_dir(slots).unwrap();
        let is_empty = slots.all(|slot| slot.unwrap().metadata().unwrap().len() == 0);
        is_empty && fs::read_dir(place.path("")).unwrap().count() == 1
    };
    while !is_done() {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn rm_later_removes_in_the_background() {
    let place = Place::new();
    let output = rm_later(&place, "from");
    assert!(output.status.success(), "{output:?}");
    assert!(!place.path("from").exists());
    wait_until_removed(&place);
}

/// The numbers of a file system and of a directory in it.
#[cfg(unix)]
fn identity(path: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(path).unwrap();
    (found.dev(), found.ino())
}

/// The numbers of a volume and of a directory in it.
#[cfg(windows)]
fn identity(path: &Path) -> (u64, u64) {
    let directory = winapi_util::Handle::from_path_any(path).unwrap();
    let found = winapi_util::file::information(&directory).unwrap();
    (found.volume_serial_number(), found.file_index())
}

/// The contents of the slot of a tree.
fn slot_of(path: &Path, error: &str) -> Vec<u8> {
    let (device, number) = identity(path.parent().unwrap());
    format!("{}\0{device}\0{number}\0{error}", path.display()).into_bytes()
}

/// Makes the directory of the slots, with these.
fn make_slots<const N: usize>(place: &Place, contents: [&[u8]; N]) -> [PathBuf; N] {
    let slots = place.path("state/smallfry/removing");
    fs::create_dir_all(&slots).unwrap();
    let mut number = 0;
    contents.map(|contents| {
        number += 1;
        let slot = slots.join(format!("7-{number}"));
        fs::write(&slot, contents).unwrap();
        slot
    })
}

#[test]
fn rm_later_goes_on_with_what_a_killed_process_has_left() {
    let place = Place::new();
    let left = place.path(".dist.x.smallfry");
    fs::create_dir_all(left.join("sub")).unwrap();
    // It was killed before it renamed anything.
    let missing = place.path(".none.x.smallfry");
    // Nobody else's file is removed, whatever a slot says.
    fs::create_dir(place.path("state")).unwrap();
    let kept = place.path("state/kept");
    fs::write(&kept, "").unwrap();
    let slots = [&left, &missing, &kept].map(|path| slot_of(path, ""));
    let [_, _, slot] = make_slots(&place, slots.each_ref().map(Vec::as_slice));
    assert!(rm_later(&place, "from").status.success());
    fs::remove_file(slot).unwrap();
    wait_until_removed(&place);
    assert!(kept.exists());
}

#[test]
fn rm_later_keeps_the_slot_of_a_tree_whose_disk_is_not_there() {
    let place = Place::new();
    // There another disk is mounted, or nothing.
    let gone = ["none", ""].map(|above| place.path(above)).map(|above| {
        let path = above.join(".dist.x.smallfry");
        format!("{}\0{}\0{}\0", path.display(), 1, 2).into_bytes()
    });
    let slots = make_slots(&place, gone.each_ref().map(Vec::as_slice));
    assert!(rm_later(&place, "-f none").stderr.is_empty());
    for (slot, contents) in slots.iter().zip(gone) {
        assert_eq!(fs::read(slot).unwrap(), contents);
    }
}

#[test]
fn rm_later_tells_what_could_not_be_removed_and_tries_again() {
    let place = Place::new();
    let left = place.path(".dist.x.smallfry");
    fs::create_dir(&left).unwrap();
    make_slots(&place, [&slot_of(&left, "unlink it: Busy")]);
    let output = rm_later(&place, "from");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = format!(
        "unlink {}: it was to be removed later: unlink it: Busy",
        left.display()
    );
    assert!(said.contains(&expected), "{said}");
    wait_until_removed(&place);
    assert!(rm_later(&place, "-f none").stderr.is_empty());
}

/// A lock or a pipe of the caller would otherwise stay open until all is removed.
#[cfg(target_os = "linux")]
#[test]
fn rm_later_leaves_no_descriptor_of_the_caller_open() {
    let place = Place::new();
    for index in 0..2_000 {
        fs::write(place.path("from").join(index.to_string()), "").unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "exec 9>lock; \"$0\" rm --later from",
        env!("CARGO_BIN_EXE_smallfry"),
    ]);
    shell
        .current_dir(place.path(""))
        .env("XDG_STATE_HOME", place.path("state"));
    assert!(shell.status().unwrap().success());
    fs::remove_file(place.path("lock")).unwrap();
    let removers = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let found = processes.map(|process| fs::read_dir(process.path().join("fd")));
        let links = found
            .flatten()
            .flatten()
            .flatten()
            .flat_map(|fd| fs::read_link(fd.path()));
        links
            .filter(|link| link.starts_with(place.path("")))
            .collect::<Vec<_>>()
    };
    // It closes what it has inherited soon after its start. The slot and the open directories are
    // its own.
    let began = Instant::now();
    while removers()
        .iter()
        .any(|path| path.ends_with("lock (deleted)"))
    {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(1));
    }
    wait_until_removed(&place);
}

#[test]
fn rm_later_removes_at_once_while_two_others_are_removed() {
    let place = Place::new();
    let slots = place.path("state/smallfry/removing");
    fs::create_dir_all(&slots).unwrap();
    let (device, _) = identity(&place.path("from"));
    let locked = [0, 1].map(|number| {
        let slot = fs::File::create(slots.join(format!("{device:x}-{number}"))).unwrap();
        slot.try_lock().unwrap();
        slot
    });
    assert!(rm_later(&place, "from").status.success());
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1);
    drop(locked);
}

#[test]
fn rm_later_refuses_and_fails_as_rm_does() {
    let place = Place::new();
    for (paths, words) in [
        (".", "refused"),
        ("from/..", "refused"),
        ("none", "unlink none: "),
    ] {
        assert_one_line(&rm_later(&place, paths), &["smallfry rm: ", words]);
    }
    assert_eq!(list(&place.path("from")).len(), 3);
    // Files are removed at once.
    assert!(rm_later(&place, "from/a.js").status.success());
    assert_eq!(fs::read_dir(place.path("from")).unwrap().count(), 1);
}

/// A note says what is removed without a question.
#[cfg(unix)]
#[test]
fn rm_later_takes_notes_from_no_other_user() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let place = Place::new();
    assert!(rm_later(&place, "from").status.success());
    wait_until_removed(&place);
    let notes = place.path("state/smallfry/removing");
    assert_eq!(fs::metadata(&notes).unwrap().mode() & 0o777, 0o700);

    if !rustix::process::geteuid().is_root() {
        common::skip_unless(false, "a directory of another user needs root");
        return;
    }
    let left = place.path(".dist.x.smallfry");
    fs::create_dir(&left).unwrap();
    make_slots(&place, [&slot_of(&left, "")]);
    chown(&notes, Some(65_534), None).unwrap();
    fs::create_dir(place.path("from")).unwrap();
    // It is removed at once, and what the note names stays.
    assert!(rm_later(&place, "from").status.success());
    assert!(!place.path("from").exists());
    assert!(left.exists());
}

/// A reader of the caller's pipe would otherwise wait until all is removed.
#[cfg(windows)]
#[test]
fn rm_later_leaves_no_pipe_of_the_caller_open() {
    use std::os::windows::fs::OpenOptionsExt as _;
    let place = Place::new();
    let left = place.path(".dist.x.smallfry");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("open"), "").unwrap();
    let mut options = fs::OpenOptions::new();
    let open = options.read(true).share_mode(0).open(left.join("open"));
    let open = open.unwrap();
    let [slot] = make_slots(&place, [&slot_of(&left, "")]);
    // It reads the output to its end.
    assert!(rm_later(&place, "-f none").status.success());
    // The other process waits for the file for a second, and shares its slot with nobody.
    fs::read(&slot).unwrap_err();
    let began = Instant::now();
    let error = loop {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
        if let Ok(contents) = fs::read(&slot) {
            break contents;
        }
    };
    assert!(String::from_utf8(error).unwrap().contains("unlink "));
    drop(open);
    let said = rm_later(&place, "from").stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("it was to be removed later: unlink "),
        "{said}"
    );
    wait_until_removed(&place);
}
