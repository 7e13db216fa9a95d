//! Many files in one call, compared with std for every strategy, including wrong uses by the
//! caller.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{Directory, assert_error};
use proptest::prelude::*;
use smallfry::bulk::{Bytes, Control, Files, Progress, Reader, Strategy as Workers, Writer};
use smallfry::{Error, Operation, Outcome};

fn threads(count: usize) -> Workers {
    Workers::Threads(count.try_into().unwrap())
}

/// All kinds of strategies, and a few numbers.
fn strategies() -> impl Iterator<Item = Workers> {
    [Workers::Auto, Workers::CallingThread]
        .into_iter()
        .chain([1, 2, 3, 8].map(threads))
}

fn reader(strategy: Workers) -> Reader {
    let mut reader = Reader::new();
    reader.strategy(strategy);
    reader
}

fn writer(strategy: Workers) -> Writer {
    let mut writer = Writer::new();
    writer.strategy(strategy);
    writer
}

fn files(strategy: Workers) -> Files {
    let mut files = Files::new();
    files.strategy(strategy);
    files
}

/// Makes `count` files that hold their numbers.
fn numbered(directory: &Directory, count: usize) -> Vec<PathBuf> {
    let paths: Vec<_> = (0..count).map(|i| directory.path(&i.to_string())).collect();
    for (index, path) in paths.iter().enumerate() {
        fs::write(path, index.to_string()).unwrap();
    }
    paths
}

/// Contents that differ for each seed.
fn pattern(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + seed * 7) as u8).collect()
}

/// Limits the cases of a property that costs many files each.
fn few_cases() -> ProptestConfig {
    let all = ProptestConfig::default();
    ProptestConfig {
        cases: all.cases.div_ceil(32),
        ..all
    }
}

/// The contents of a path.
#[derive(Clone, Debug)]
enum Node {
    File(usize),
    Directory,
    Missing,
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        6 => prop_oneof![Just(0), 1..200_usize, Just(4095), Just(4096), 4000..70_000_usize].prop_map(Node::File),
        1 => Just(Node::File(700_000)),
        1 => Just(Node::Directory),
        1 => Just(Node::Missing),
    ]
}

fn same_contents(found: &Result<Bytes, Error>, expected: &std::io::Result<Vec<u8>>) -> bool {
    match (found, expected) {
        (Ok(found), Ok(expected)) => **found == **expected,
        (Err(found), Err(expected)) => found.kind() == expected.kind(),
        _ => false,
    }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn reads_the_same_as_std(
        nodes in prop::collection::vec(node(), 1..40),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
        in_flight in prop_oneof![Just(0_u64), 1..100_000_u64, Just(32 << 20)],
    ) {
        let directory = Directory::new();
        let paths: Vec<_> = (0..nodes.len()).map(|i| directory.path(&i.to_string())).collect();
        for (index, (path, node)) in paths.iter().zip(&nodes).enumerate() {
            match node {
                Node::File(length) => fs::write(path, pattern(index, *length)).unwrap(),
                Node::Directory => fs::create_dir(path).unwrap(),
                Node::Missing => {}
            }
        }
        let expected: Vec<_> = paths.iter().map(fs::read).collect();
        let picks: Vec<_> = picks.iter().map(|pick| pick.index(nodes.len())).collect();
        for strategy in strategies() {
            for completion_order in [false, true] {
                let mut reader = reader(strategy);
                reader.completion_order(completion_order).max_in_flight(in_flight);
                // All results are kept, so that a block of memory given out twice would show.
                let mut results: Vec<_> = reader.read(picks.iter().map(|pick| &paths[*pick])).collect();
                if completion_order {
                    results.sort_by_key(|(index, _)| *index);
                }
                prop_assert_eq!(results.len(), picks.len());
                for (place, ((index, found), pick)) in results.iter().zip(&picks).enumerate() {
                    prop_assert_eq!(place, *index);
                    prop_assert!(same_contents(found, &expected[*pick]), "{:?} {} {:?}", strategy, pick, found);
                    prop_assert!(found.as_ref().err().is_none_or(|error| error.path() == Some(&paths[*pick])));
                }
            }
        }
    }

    #[test]
    fn the_last_write_to_a_path_wins(
        entries in prop::collection::vec((0..12_usize, 0..4_usize, prop_oneof![8 => 0..100_usize, 1 => 0..50_000_usize]), 0..200),
        in_flight in prop_oneof![Just(0_u64), 1..100_000_u64, Just(32 << 20)],
        only_if_changed: bool,
    ) {
        for strategy in strategies() {
            let directory = Directory::new();
            // Four spellings of each path.
            let path = |(file, spelling, _): &(usize, usize, usize)| {
                Path::new(["d", "d/./", "d//", "./d"][*spelling]).join(file.to_string())
            };
            let contents = |(index, entry): (usize, &(usize, usize, usize))| pattern(index, entry.2);
            let batch = entries.iter().enumerate().map(|entry| (path(entry.1), contents(entry)));
            let mut writer = writer(strategy);
            writer.create_parents(true).max_in_flight(in_flight).only_if_changed(only_if_changed);
            writer.within(directory.path("")).unwrap();
            let report = writer.write(batch);
            prop_assert_eq!(report.results().len(), entries.len());
            prop_assert_eq!(report.written() + report.unchanged(), entries.len());
            let last: HashMap<_, _> = entries.iter().enumerate().map(|entry| (entry.1.0, contents(entry))).collect();
            for (file, contents) in last {
                prop_assert!(fs::read(directory.path(&format!("d/{file}"))).unwrap() == contents, "{:?} {}", strategy, file);
            }
        }
    }

    #[test]
    fn stat_copy_and_remove_agree_with_std(nodes in prop::collection::vec(node(), 0..60)) {
        for strategy in strategies() {
            let directory = Directory::new();
            let paths: Vec<_> = (0..nodes.len()).map(|i| directory.path(&i.to_string())).collect();
            let copies: Vec<_> = (0..nodes.len()).map(|i| directory.path(&format!("{i}.copy"))).collect();
            for (path, node) in paths.iter().zip(&nodes) {
                match node {
                    Node::File(length) => fs::write(path, pattern(0, *length)).unwrap(),
                    Node::Directory => fs::create_dir(path).unwrap(),
                    Node::Missing => {}
                }
            }
            let files = files(strategy);
            let found = files.stat(&paths);
            let copied = files.copy(paths.iter().zip(&copies));
            let removed = files.remove(&paths);
            prop_assert_eq!([found.len(), copied.len(), removed.len()], [nodes.len(); 3]);
            for (index, node) in nodes.iter().enumerate() {
                let outcome = (&found[index], &copied[index], &removed[index]);
                match (node, outcome) {
                    (Node::File(length), (Ok(found), Ok(copied), Ok(()))) => {
                        prop_assert!(found.is_file() && found.len() == *length as u64);
                        prop_assert_eq!(*copied, *length as u64);
                        prop_assert_eq!(fs::read(&copies[index]).unwrap().len(), *length);
                        prop_assert!(!paths[index].exists());
                    }
                    (Node::Directory, (Ok(found), Err(copied), Err(removed))) => {
                        prop_assert!(found.is_dir());
                        prop_assert_eq!(copied.destination(), Some(&*copies[index]));
                        prop_assert_eq!((removed.operation(), removed.path()), (Operation::Unlink, Some(&*paths[index])));
                    }
                    (Node::Missing, (Err(found), Err(copied), Err(removed))) => {
                        assert_error(found, Operation::Stat, Some(&paths[index]), ErrorKind::NotFound);
                        assert_error(copied, Operation::Copy, Some(&paths[index]), ErrorKind::NotFound);
                        assert_error(removed, Operation::Unlink, Some(&paths[index]), ErrorKind::NotFound);
                    }
                    (node, outcome) => prop_assert!(false, "{:?} {:?}", node, outcome),
                }
            }
        }
    }
}

#[test]
fn empty_batches_have_no_results() {
    let none: [&Path; 0] = [];
    for strategy in strategies() {
        assert_eq!(reader(strategy).read(none).count(), 0);
        assert_eq!(reader(strategy).read(none).size_hint(), (0, Some(0)));
        let report = writer(strategy).write(none.map(|path| (path, "")));
        assert!(report.results().is_empty());
        report.into_result().unwrap();
        assert!(files(strategy).stat(none).is_empty());
        assert!(files(strategy).remove(none).is_empty());
        assert!(
            files(strategy)
                .copy(none.map(|path| (path, path)))
                .is_empty()
        );
    }
}

#[test]
fn impossible_paths_are_errors_of_their_entries() {
    for strategy in strategies() {
        for path in ["", "a\0b"] {
            let kind = if path.is_empty() {
                ErrorKind::NotFound
            } else {
                ErrorKind::InvalidInput
            };
            let path = Path::new(path);
            for (_, result) in reader(strategy).read([path; 3]) {
                assert_error(&result.unwrap_err(), Operation::Open, Some(path), kind);
            }
            let mut writer = writer(strategy);
            for result in writer
                .create_parents(true)
                .write([(path, "x"); 3])
                .into_results()
            {
                assert_error(&result.unwrap_err(), Operation::Open, Some(path), kind);
            }
            for result in files(strategy).stat([path; 3]) {
                assert_error(&result.unwrap_err(), Operation::Stat, Some(path), kind);
            }
        }
    }
}

#[test]
fn the_number_of_results_is_known_beforehand() {
    let directory = Directory::new();
    let paths = numbered(&directory, 300);
    for strategy in strategies() {
        let mut results = reader(strategy).read(&paths);
        for left in (0..=paths.len()).rev() {
            assert_eq!(results.size_hint(), (left, Some(left)), "{strategy:?}");
            assert_eq!(results.next().is_some(), left > 0);
        }
        assert!(results.next().is_none());
        let filtered = reader(strategy).read(paths.iter().filter(|path| path.ends_with("7")));
        assert_eq!(filtered.size_hint(), (0, Some(300)));
        assert_eq!(filtered.count(), 1);
    }
}

#[test]
fn contents_outlive_everything() {
    let directory = Directory::new();
    let paths = numbered(&directory, 1000);
    for strategy in strategies() {
        let mut kept: Vec<_> = reader(strategy).read(&paths).collect();
        // Some are dropped, and later results may take their place.
        kept.retain(|(index, _)| index % 3 == 0);
        let others: Vec<_> = reader(strategy).read(&paths).collect();
        let kept = thread::spawn(move || kept).join().unwrap();
        for (index, contents) in kept.iter().chain(&others) {
            assert_eq!(**contents.as_ref().unwrap(), *index.to_string().as_bytes());
        }
    }
}

#[test]
fn missing_directories_are_made_if_asked() {
    for strategy in strategies() {
        let directory = Directory::new();
        let entries =
            || (0..200).map(|i| (directory.path(&format!("a/{}/{}/f", i % 7, i % 3)), "x"));
        for error in writer(strategy).write(entries()).results() {
            let error = error.as_ref().unwrap_err();
            assert_eq!(
                (error.operation(), error.kind()),
                (Operation::Open, ErrorKind::NotFound)
            );
        }
        let report = writer(strategy).create_parents(true).write(entries());
        assert_eq!((report.written(), report.errors().count()), (200, 0));

        fs::write(directory.path("file"), "x").unwrap();
        let path = directory.path("file/a/b");
        let report = writer(strategy).create_parents(true).write([(&path, "x")]);
        report.into_result().unwrap_err();
    }
}

#[test]
fn unchanged_files_are_not_written() {
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for strategy in strategies() {
        let directory = Directory::new();
        let paths = numbered(&directory, 100);
        for path in &paths {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(old).unwrap();
        }
        // Every tenth file gets other contents of the same length.
        let contents = |i: usize| {
            if i.is_multiple_of(10) {
                "x".repeat(i.to_string().len())
            } else {
                i.to_string()
            }
        };
        let entries = paths
            .iter()
            .enumerate()
            .map(|(i, path)| (path, contents(i)));
        let report = writer(strategy).only_if_changed(true).write(entries);
        assert_eq!((report.written(), report.unchanged()), (10, 90));
        for (index, path) in paths.iter().enumerate() {
            let changed = fs::metadata(path).unwrap().modified().unwrap() != old;
            assert_eq!(changed, index.is_multiple_of(10));
            assert_eq!(fs::read_to_string(path).unwrap(), contents(index));
        }

        let report = writer(strategy)
            .only_if_changed(true)
            .create_new(true)
            .write([(&paths[0], "x")]);
        assert_eq!(
            report.into_result().unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}

#[test]
fn existing_files_are_refused_if_asked() {
    for strategy in strategies() {
        let directory = Directory::new();
        let paths = numbered(&directory, 20);
        let more = (20..40).map(|i| directory.path(&i.to_string()));
        let entries = paths.iter().cloned().chain(more).map(|path| (path, "new"));
        let report = writer(strategy).create_new(true).write(entries);
        assert_eq!((report.written(), report.errors().count()), (20, 20));
        for (index, error) in report.errors() {
            assert_error(
                error,
                Operation::Open,
                Some(&paths[index]),
                ErrorKind::AlreadyExists,
            );
            assert_eq!(
                fs::read_to_string(&paths[index]).unwrap(),
                index.to_string()
            );
        }
    }
}

/// Checks the results of a stopped batch: some inputs were done, then some were not begun, each in
/// its place.
fn assert_stopped<T>(results: &[(usize, Result<T, Error>)], of: usize) {
    assert!(results.len() < of);
    for (place, (index, _)) in results.iter().enumerate() {
        assert_eq!(place, *index);
    }
}

#[test]
fn fail_fast_stops_the_rest() {
    let directory = Directory::new();
    // So many that they take longer than a stop. Under Wine fewer do.
    let count = if cfg!(windows) { 3000 } else { 20_000 };
    let paths = numbered(&directory, count);
    fs::remove_file(&paths[10]).unwrap();
    for strategy in strategies() {
        let mut results: Vec<_> = reader(strategy).fail_fast(true).read(&paths).collect();
        assert_stopped(&results, paths.len());
        let (_, error) = results.remove(10);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
        for (index, result) in results {
            match result {
                Ok(contents) => assert_eq!(*contents, *index.to_string().as_bytes()),
                Err(error) => {
                    // Nothing before the failure was given up for it.
                    assert!(error.is_cancelled() && index > 10);
                    assert_eq!(error.path(), Some(&*paths[index]));
                }
            }
        }

        let found = files(strategy).fail_fast(true).stat(&paths);
        assert!(found.len() < paths.len() && found[10].is_err() && found[9].is_ok());

        let entries = (0..count).map(|i| {
            (
                directory.path(if i == 10 { "no/file" } else { "same" }),
                "x",
            )
        });
        let report = writer(strategy).fail_fast(true).write(entries);
        assert!(report.results().len() < count);
        let (index, error) = report.errors().next().unwrap();
        assert_eq!((index, error.kind()), (10, ErrorKind::NotFound));
        assert!(
            report
                .errors()
                .skip(1)
                .all(|(_, error)| error.is_cancelled())
        );
    }
    let one_by_one = reader(Workers::CallingThread)
        .fail_fast(true)
        .read(&paths)
        .count();
    assert_eq!(one_by_one, 11);
}

#[test]
fn a_cancelled_batch_begins_nothing() {
    let directory = Directory::new();
    let paths = numbered(&directory, 10);
    let control = Control::new();
    control.cancel();
    for strategy in strategies() {
        assert_eq!(reader(strategy).control(&control).read(&paths).count(), 0);
        let entries = paths.iter().map(|path| (path, "changed"));
        assert!(
            writer(strategy)
                .control(&control)
                .write(entries)
                .results()
                .is_empty()
        );
        assert!(files(strategy).control(&control).remove(&paths).is_empty());
    }
    assert_eq!(fs::read(&paths[1]).unwrap(), b"1");
    assert!(control.is_cancelled());
}

#[test]
fn endless_inputs_end_when_cancelled() {
    let directory = Directory::new();
    let path = &numbered(&directory, 1)[0];
    for strategy in strategies() {
        assert_eq!(
            reader(strategy).read(iter::repeat(path)).take(500).count(),
            500
        );

        let control = Control::new();
        let mut results = Vec::new();
        for (index, result) in reader(strategy).control(&control).read(iter::repeat(path)) {
            assert_eq!(index, results.len());
            results.push(result);
            if index == 300 {
                control.cancel();
            }
        }
        assert!(results.len() > 300);
        assert!(results[..=300].iter().all(Result::is_ok));
        let mut failed = results.iter().filter_map(|result| result.as_ref().err());
        assert!(failed.all(Error::is_cancelled));

        // The results come only once all are there, so another thread has to stop the batch.
        let control = Control::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                while control.progress().operations < 300 {
                    thread::yield_now();
                }
                control.cancel();
            });
            let found = files(strategy).control(&control).stat(iter::repeat(path));
            assert!(found.len() >= 300);
            assert!(
                found
                    .iter()
                    .filter_map(|found| found.as_ref().err())
                    .all(Error::is_cancelled)
            );
        });
    }
}

#[test]
fn inputs_are_pulled_only_as_needed() {
    let directory = Directory::new();
    let path = &numbered(&directory, 1)[0];
    for strategy in strategies() {
        let asked = Cell::new(0);
        let paths = iter::from_fn(|| {
            asked.set(asked.get() + 1);
            Some(path)
        });
        let mut reader = reader(strategy);
        let mut results = reader.completion_order(true).read(paths);
        assert_eq!(asked.get(), 0);
        for consumed in 1..=2000 {
            results.next();
            let ahead = match strategy {
                Workers::CallingThread => 0,
                Workers::Threads(count) => 64 * count.get() + 1,
                _ => 64 * 64 + 1,
            };
            assert!(
                (consumed..=consumed + ahead).contains(&asked.get()),
                "{strategy:?}"
            );
        }
        drop(results);
        assert!(asked.get() < 10_000);
    }
}

#[test]
fn an_ended_iterator_is_not_called_again() {
    let directory = Directory::new();
    let path = &numbered(&directory, 1)[0];
    for strategy in strategies() {
        let mut left = 200;
        let paths = iter::from_fn(|| {
            left -= 1;
            assert!(left >= -1, "asked after the end");
            (left >= 0).then_some(path)
        });
        let mut results = reader(strategy).read(paths);
        assert_eq!(results.by_ref().count(), 200);
        assert!(results.next().is_none());
    }
}

#[test]
fn the_last_copy_to_a_destination_wins() {
    let directory = Directory::new();
    let sources = ["long", "middle", "short"].map(|name| directory.path(name));
    for (seed, (path, length)) in sources.iter().zip([300_000, 100_000, 10]).enumerate() {
        fs::write(path, pattern(seed, length)).unwrap();
    }
    for strategy in strategies() {
        for last in &sources {
            let copied = files(strategy).within(directory.path("")).unwrap().copy(
                iter::repeat_n(&sources, 20)
                    .flatten()
                    .chain([last])
                    .enumerate()
                    .map(|(index, from)| {
                        let to = ["to", "./to", ".//./to"][index % 3];
                        (from.file_name().unwrap(), to)
                    }),
            );
            assert!(copied.iter().all(Result::is_ok));
            assert!(fs::read(directory.path("to")).unwrap() == fs::read(last).unwrap());
        }
    }
}

#[test]
fn progress_counts_files_and_bytes() {
    let directory = Directory::new();
    let mut paths = numbered(&directory, 500);
    paths.extend((0..50).map(|i| directory.path(&format!("missing {i}"))));
    let bytes: usize = (0..500_usize).map(|i| i.to_string().len()).sum();
    for strategy in strategies() {
        let control = Control::new();
        assert_eq!(control.progress(), Progress::default());
        reader(strategy)
            .control(&control)
            .read(&paths)
            .for_each(drop);
        let progress = control.progress();
        assert_eq!((progress.operations, progress.failed), (550, 50));
        assert_eq!(progress.bytes, bytes as u64);

        // One control may be for several batches.
        let entries = paths.iter().map(|path| (path, "12345"));
        writer(strategy).control(&control).write(entries.take(500));
        let progress = control.progress();
        assert_eq!((progress.operations, progress.failed), (1050, 50));
        assert_eq!(progress.bytes, bytes as u64 + 2500);
        for (index, path) in paths[..500].iter().enumerate() {
            fs::write(path, index.to_string()).unwrap();
        }

        let pairs = paths.iter().map(|path| (path, directory.path("copy")));
        files(strategy).control(&control).copy(pairs);
        let progress = control.progress();
        assert_eq!((progress.operations, progress.failed), (1600, 100));
        assert_eq!(progress.bytes, 2 * bytes as u64 + 2500);
    }
}

/// Waits until threads have stopped for lack of room.
fn steady(control: &Control) -> Progress {
    let mut before = control.progress();
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = control.progress();
        if now == before {
            return now;
        }
        before = now;
    }
}

#[test]
fn unconsumed_results_are_bounded() {
    const SIZE: u64 = 1000;
    let directory = Directory::new();
    let path = directory.path("a");
    fs::write(&path, pattern(0, SIZE as usize)).unwrap();
    for completion_order in [false, true] {
        for (most, room) in [(0, 0), (1, 0), (20_000, 20_000), (50_500, 50_000)] {
            let control = Control::new();
            let mut results = reader(threads(4))
                .control(&control)
                .max_in_flight(most)
                .completion_order(completion_order)
                .read(iter::repeat_n(&path, 1000));
            for consumed in 1..=3 {
                results.next().unwrap().1.unwrap();
                let done = steady(&control).bytes;
                // Beyond the limit there is at most one file for the consumer itself, one that it
                // needed next, and one that was alone.
                let bound = consumed * SIZE + room + 3 * (SIZE + 1);
                assert!(done <= bound, "{done} bytes, {bound} at most");
            }
            assert_eq!(results.count(), 997);
        }
    }
}

#[test]
fn one_slow_file_holds_up_a_bounded_number_of_others() {
    // Errors take no bytes in flight, but they do take memory.
    let directory = Directory::new();
    let missing = directory.path("missing");
    let control = Control::new();
    let mut results = reader(threads(2))
        .control(&control)
        .read(iter::repeat_n(&missing, 200_000));
    results.next();
    assert!(steady(&control).operations < 100_000);
    assert_eq!(results.count(), 199_999);
}

#[test]
fn large_files_are_refused_before_memory_is_taken() {
    let directory = Directory::new();
    let sparse = directory.path("sparse");
    File::create(&sparse).unwrap().set_len(10 << 30).unwrap();
    fs::write(directory.path("10"), "0123456789").unwrap();
    fs::write(directory.path("11"), "0123456789a").unwrap();
    for strategy in strategies() {
        let (_, result) = reader(strategy).read([&sparse]).next().unwrap();
        let error = result.unwrap_err();
        assert_error(
            &error,
            Operation::Read,
            Some(&sparse),
            ErrorKind::FileTooLarge,
        );
        assert!(error.to_string().contains("10737418240"), "{error}");

        let mut reader = reader(strategy);
        let paths = ["10", "11"].map(|name| directory.path(name));
        let results: Vec<_> = reader
            .max_file_size(10)
            .read(&paths)
            .map(|(_, result)| result)
            .collect();
        assert_eq!(**results[0].as_ref().unwrap(), *b"0123456789");
        let error = results[1].as_ref().unwrap_err();
        assert_error(
            error,
            Operation::Read,
            Some(&paths[1]),
            ErrorKind::FileTooLarge,
        );
    }
}

#[test]
fn growing_and_shrinking_files_give_bounded_contents() {
    let directory = Directory::new();
    let path = directory.path("a");
    let whole = pattern(0, 300_000);
    let mut file = File::create(&path).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for piece in whole.chunks(50_000) {
                    file.write_all(piece).unwrap();
                }
                file.set_len(1000).unwrap();
                file.set_len(0).unwrap();
                std::io::Seek::rewind(&mut file).unwrap();
            }
        });
        for strategy in strategies() {
            for (_, contents) in reader(strategy).read(iter::repeat_n(&path, 300)) {
                // A cut in the middle of a read may leave zeros from the kernel, but never more
                // bytes than there ever were.
                assert!(contents.unwrap().len() <= 2 * whole.len());
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// An input that panics when its path is read.
struct Trap(bool, PathBuf);

impl AsRef<Path> for Trap {
    fn as_ref(&self) -> &Path {
        assert!(!self.0, "it snaps");
        &self.1
    }
}

impl AsRef<[u8]> for Trap {
    fn as_ref(&self) -> &[u8] {
        assert!(!self.0, "it snaps");
        b"x"
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    let directory = Directory::new();
    let paths = numbered(&directory, 2000);
    let traps = |at: usize| {
        let trap = move |(index, path): (usize, &PathBuf)| Trap(index == at, path.clone());
        paths.iter().enumerate().map(trap)
    };
    let assert_snaps = |act: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(act)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"it snaps"));
    };
    for strategy in strategies() {
        for at in [0, 1, 700, 1999] {
            assert_snaps(&|| reader(strategy).read(traps(at)).for_each(drop));
            assert_snaps(&|| drop(files(strategy).stat(traps(at))));
            let entries = || traps(at).map(|trap| (directory.path("same"), trap));
            assert_snaps(&|| drop(writer(strategy).write(entries())));
            let endless =
                || iter::from_fn(|| Some(&paths[0])).chain(iter::once_with(|| unreachable!()));
            let breaking = || {
                endless()
                    .enumerate()
                    .inspect(|(index, _)| assert!(*index < at, "it snaps"))
            };
            assert_snaps(&|| {
                reader(strategy)
                    .read(breaking().map(|(_, path)| path))
                    .for_each(drop);
            });
        }
        // The stream that panicked has ended, and the next one works.
        let mut results = reader(strategy).read(traps(5));
        let panic = catch_unwind(AssertUnwindSafe(|| results.by_ref().for_each(drop)));
        assert!(panic.is_err() && results.next().is_none());
        assert_eq!(reader(strategy).read(&paths).count(), paths.len());
    }
}

#[test]
fn many_batches_run_at_once() {
    let directory = Directory::new();
    let paths = numbered(&directory, 300);
    thread::scope(|scope| {
        for strategy in strategies().chain(strategies()) {
            let paths = &paths;
            scope.spawn(move || {
                for (index, contents) in reader(strategy).read(paths) {
                    assert_eq!(*contents.unwrap(), *index.to_string().as_bytes());
                }
            });
        }
    });
}

#[test]
fn a_batch_can_run_inside_another() {
    let directory = Directory::new();
    let paths = numbered(&directory, 50);
    for strategy in strategies() {
        let mut seen = HashSet::new();
        for (index, contents) in reader(strategy).read(&paths) {
            let copy = directory.path(&format!("copy {index}"));
            let report = writer(strategy).write([(&copy, contents.unwrap())]);
            assert_eq!(report.results().len(), 1);
            assert!(matches!(report.results()[0], Ok(Outcome::Written)));
            seen.extend(
                reader(strategy)
                    .read([&copy])
                    .map(|(_, copy)| copy.unwrap().into_vec()),
            );
        }
        assert_eq!(seen.len(), 50);
    }
}
