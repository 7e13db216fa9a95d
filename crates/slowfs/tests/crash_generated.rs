//! Crashes of generated logs, with operations that no person would think of: directories moved into
//! each other, names exchanged, flushes of half of it. In each of them flushed data are there
//! exactly, an ordered file system shows one moment, and a crash can be repeated.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use smallfry_slowfs::crash::{Attributes, Crash, Inode, Kind, Log, Model, Survivors};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A change of a tree. There are few names, so that operations meet.
#[derive(Clone, Debug)]
enum Step {
    Make(Vec<u8>, bool),
    Write(Vec<u8>, u16, u16),
    Resize(Vec<u8>, u16),
    Change(Vec<u8>, u32),
    Rename(Vec<u8>, Vec<u8>),
    Exchange(Vec<u8>, Vec<u8>),
    Link(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    Flush(Vec<u8>, bool),
    Acknowledge,
}

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..3_u8, 1..4)
}

fn any_step() -> impl Strategy<Value = Step> {
    let path = any_path;
    prop_oneof![
        4 => (path(), any::<bool>()).prop_map(|(path, directory)| Step::Make(path, directory)),
        3 => (path(), 0..9000_u16, 1..9000_u16)
            .prop_map(|(path, offset, length)| Step::Write(path, offset, length)),
        1 => (path(), 0..9000_u16).prop_map(|(path, size)| Step::Resize(path, size)),
        1 => (path(), 0..0o7777_u32).prop_map(|(path, mode)| Step::Change(path, mode)),
        3 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Step::Exchange(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Step::Link(from, to)),
        1 => path().prop_map(Step::Remove),
        2 => (proptest::collection::vec(0..3_u8, 0..3), any::<bool>())
            .prop_map(|(path, data_only)| Step::Flush(path, data_only)),
        1 => Just(Step::Acknowledge),
    ]
}

fn path_of(parts: &[u8]) -> PathBuf {
    parts
        .iter()
        .map(|part| ["a", "b", "c"][usize::from(*part)])
        .collect()
}

/// Finds the directory of a path, and the name in it.
fn place(log: &Log, parts: &[u8]) -> Option<(Inode, PathBuf)> {
    let (last, before) = parts.split_last()?;
    Some((log.find(&path_of(before))?, path_of(&[*last])))
}

/// Does as much of a step as is possible.
fn take(log: &mut Log, step: &Step, number: usize) -> Option<()> {
    let attributes = Attributes::default();
    match step {
        Step::Make(path, directory) => {
            let (parent, name) = place(log, path)?;
            let kind = if *directory {
                Kind::Directory
            } else {
                Kind::File
            };
            log.make(parent, name.as_os_str(), kind, attributes).ok()?;
        }
        Step::Write(path, offset, length) => {
            let file = log.find(&path_of(path))?;
            let bytes = vec![number as u8 | 1; usize::from(*length)];
            log.write(file, u64::from(*offset), &bytes).ok()?;
        }
        Step::Resize(path, size) => {
            let file = log.find(&path_of(path))?;
            log.resize(file, u64::from(*size)).ok()?;
        }
        Step::Change(path, mode) => {
            let inode = log.find(&path_of(path))?;
            log.change(
                inode,
                Attributes {
                    mode: *mode,
                    ..attributes
                },
            )
            .ok()?;
        }
        Step::Rename(from, to) | Step::Exchange(from, to) => {
            let (from, to) = (place(log, from)?, place(log, to)?);
            let (from, to) = ((from.0, from.1.as_os_str()), (to.0, to.1.as_os_str()));
            if matches!(step, Step::Rename(..)) {
                log.rename(from, to).ok()?;
            } else {
                log.exchange(from, to).ok()?;
            }
        }
        Step::Link(from, to) => {
            let (inode, to) = (log.find(&path_of(from))?, place(log, to)?);
            log.link(inode, to.0, to.1.as_os_str()).ok()?;
        }
        Step::Remove(path) => {
            let (parent, name) = place(log, path)?;
            log.remove(parent, name.as_os_str()).ok()?;
        }
        Step::Flush(path, data_only) => {
            let inode = log.find(&path_of(path))?;
            log.flush(inode, *data_only).ok()?;
        }
        Step::Acknowledge => log.acknowledge(OsStr::new("ack")),
    }
    Some(())
}

type Tree = BTreeMap<PathBuf, (Inode, Attributes, Vec<u8>)>;

/// The whole tree, with its root.
fn tree(survivors: &Survivors) -> Tree {
    let root = (PathBuf::new(), survivors.get(Path::new("")).unwrap());
    std::iter::once(root)
        .chain(survivors.all())
        .map(|(path, found)| {
            let bytes = match found.kind() {
                Kind::File => found.read().unwrap(),
                _ => Vec::new(),
            };
            (path, (found.inode(), found.attributes(), bytes))
        })
        .collect()
}

/// The tree without a crash.
fn whole(log: &Log) -> Tree {
    let mut log = log.clone();
    log.set_baseline();
    tree(&log.crash(Crash {
        point: 0,
        model: Model::Weak,
        seed: 0,
    }))
}

proptest! {
    #[test]
    fn flushed_trees_survive_exactly(
        steps in proptest::collection::vec(any_step(), 1..60),
        seed in any::<u64>(),
        more in proptest::collection::vec(any_step(), 1..20),
    ) {
        let mut log = Log::default();
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
        }
        let wanted = whole(&log);
        for (inode, ..) in wanted.values() {
            log.flush(*inode, false).unwrap();
        }
        for model in Model::ALL {
            let crash = Crash { point: log.len(), model, seed };
            prop_assert_eq!(&tree(&log.crash(crash)), &wanted);
        }
        // The same holds for settled data, while nothing else was done.
        let flushed = log.len();
        for (number, step) in more.iter().enumerate() {
            take(&mut log, step, number);
        }
        for model in Model::ALL {
            let crash = Crash { point: flushed, model, seed };
            prop_assert_eq!(&tree(&log.crash(crash)), &wanted);
        }
    }

    #[test]
    fn any_crash_leaves_only_data_that_existed(
        steps in proptest::collection::vec(any_step(), 1..80),
        settled in 0..80_usize,
        seed in any::<u64>(),
    ) {
        let mut log = Log::default();
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
            if number == settled {
                log.set_baseline();
            }
        }
        for point in 0..=log.len() {
            for model in Model::ALL {
                let crash = Crash { point, model, seed };
                let found = tree(&log.crash(crash));
                prop_assert_eq!(&found, &tree(&log.crash(crash)));
                for (path, (_, _, bytes)) in &found {
                    // No byte was invented, and no file is longer than it ever was.
                    prop_assert!(bytes.len() < 18_000, "{}", path.display());
                    prop_assert!(bytes.iter().all(|byte| *byte == 0 || byte % 2 == 1));
                }
            }
        }
    }

    /// The names that survive on an ordered file system are those after some number of operations.
    #[test]
    fn names_are_those_of_one_moment_in_ordered(
        steps in proptest::collection::vec(any_step(), 1..40),
        seed in any::<u64>(),
    ) {
        let names = |tree: &Tree| -> Vec<(PathBuf, Inode)> {
            tree.iter().map(|(path, (inode, ..))| (path.clone(), *inode)).collect()
        };
        let mut log = Log::default();
        let mut moments = vec![names(&whole(&log))];
        for (number, step) in steps.iter().enumerate() {
            take(&mut log, step, number);
            moments.push(names(&whole(&log)));
        }
        for point in 0..=log.len() {
            let crash = Crash { point, model: Model::Ordered, seed };
            let found = names(&tree(&log.crash(crash)));
            prop_assert!(moments.contains(&found));
        }
    }
}
