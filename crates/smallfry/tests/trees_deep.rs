//! Trees deeper than a process may have files open, and deeper than a path may be long. This is the
//! only test of its file, and hence of its process, whose limit and directory it changes.
#![allow(unsafe_code, reason = "it calls the system")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::env;
use std::fs;
use std::path::Path;

use common::Directory;
use smallfry::tree::{Copier, Mirror, Remover};

const DEPTH: usize = 3000;
/// Mirroring needs the most descriptors, and time that grows with the square of the depth.
const MIRRORED: usize = 400;
const LIMIT: u64 = 64;

fn make_tree(root: &Path, depth: usize) {
    fs::create_dir(root).unwrap();
    let start = env::current_dir().unwrap();
    env::set_current_dir(root).unwrap();
    for level in 0..depth {
        fs::write("file", level.to_string()).unwrap();
        fs::create_dir("below").unwrap();
        fs::create_dir("beside").unwrap();
        env::set_current_dir("below").unwrap();
    }
    env::set_current_dir(start).unwrap();
}

#[test]
fn copy_mirror_remove_and_hash_need_few_descriptors() {
    let directory = Directory::new();
    let limit = libc::rlimit {
        rlim_cur: LIMIT,
        rlim_max: LIMIT,
    };
    // SAFETY: the structure is whole, and only read.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(set, 0);
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    let start = env::current_dir().unwrap();
    make_tree(&from, DEPTH);

    let report = Copier::new().copy(&from, &to).unwrap();
    assert_eq!(
        (report.files, report.directories),
        (DEPTH as u64, 2 * DEPTH as u64 + 1)
    );
    env::set_current_dir(&to).unwrap();
    for level in 0..DEPTH {
        assert_eq!(fs::read_to_string("file").unwrap(), level.to_string());
        env::set_current_dir("below").unwrap();
    }
    env::set_current_dir(&start).unwrap();
    #[cfg(feature = "hash")]
    {
        let hash = |tree| smallfry::hash::Hasher::new().tree(tree).unwrap();
        assert_eq!(hash(&from), hash(&to));
        assert_eq!(hash(&from).report.files, DEPTH as u64);
    }
    let [source, mirrored] = ["source", "mirrored"].map(|name| directory.path(name));
    make_tree(&source, MIRRORED);
    let mut mirror = Mirror::new();
    mirror.delete(true).run(&source, &mirrored).unwrap();
    fs::write(source.join("below/file"), "changed").unwrap();
    fs::create_dir(mirrored.join("below/extra")).unwrap();
    let report = mirror.run(&source, &mirrored).unwrap();
    assert_eq!((report.bytes, report.deleted), (7, 1));
    assert_eq!(report.unchanged, 3 * MIRRORED as u64 - 1);
    assert_eq!(mirror.run(&source, &mirrored).unwrap().deleted, 0);
    for tree in [&from, &to] {
        let report = Remover::new().remove(tree).unwrap();
        assert_eq!(
            (report.files, report.directories),
            (DEPTH as u64, 2 * DEPTH as u64 + 1)
        );
        assert!(!tree.exists());
    }
}
