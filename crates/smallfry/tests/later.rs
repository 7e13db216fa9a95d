//! Trees that other processes remove. This program is also such a process, so it has a `main` of
//! its own.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use smallfry::tree::{Later, Remover};

const GIVEN: &str = "--remove-given-tree";
const IDLE: &str = "--idle";
const CHECKS: &str = "--checks";
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(GIVEN) => Later::remove_given().unwrap(),
        Some(IDLE) => {}
        Some(CHECKS) => checks(),
        // Where trees are noted is a matter of the environment.
        _ => {
            let home = tempfile::tempdir().unwrap();
            let program = std::env::current_exe().unwrap();
            let mut command = Command::new(program);
            command.arg(CHECKS);
            for name in ["XDG_STATE_HOME", "LOCALAPPDATA"] {
                command.env(name, home.path());
            }
            assert!(command.status().unwrap().success());
        }
    }
}

fn checks() {
    let place = tempfile::tempdir().unwrap();
    let later = Later::new(std::env::current_exe().unwrap(), [GIVEN]);
    assert!(later.errors().is_empty());
    let tree = make_tree(place.path());
    assert!(later.remove(&Remover::new(), &tree).unwrap().is_none());
    assert!(!tree.exists());
    let began = Instant::now();
    while !is_empty(place.path()) {
        assert!(began.elapsed() < PATIENCE, "not removed");
        sleep(Duration::from_millis(1));
    }

    // A file is removed at once, and one that is not there is an error.
    let file = place.path().join("file");
    fs::write(&file, "contents").unwrap();
    let report = later.remove(&Remover::new(), &file).unwrap();
    assert_eq!(report.map(|report| report.files), Some(1));
    let error = later
        .remove(&Remover::new(), &file)
        .unwrap_err()
        .to_string();
    assert!(error.contains("file"), "{error}");

    // Without its program a tree is removed at once, too.
    let missing = Later::new(place.path().join("none"), [GIVEN]);
    let tree = make_tree(place.path());
    let report = missing.remove(&Remover::new(), tree).unwrap();
    assert_eq!(report.map(|report| report.files), Some(2));

    // Another process removes what one has left that did not do its work.
    let idle = Later::new(std::env::current_exe().unwrap(), [IDLE]);
    assert!(
        idle.remove(&Remover::new(), make_tree(place.path()))
            .unwrap()
            .is_none()
    );
    let began = Instant::now();
    while Later::new(std::env::current_exe().unwrap(), [GIVEN])
        .errors()
        .is_empty()
    {
        if is_empty(place.path()) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "not removed");
        sleep(Duration::from_millis(10));
    }
    panic!("an error, although nothing failed");
}

fn make_tree(place: &Path) -> PathBuf {
    let tree = place.join("tree");
    fs::create_dir_all(tree.join("directory")).unwrap();
    fs::write(tree.join("file"), "contents").unwrap();
    fs::write(tree.join("directory/file"), "contents").unwrap();
    tree
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}
