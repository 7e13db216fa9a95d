//! Digests of files and trees. A digest that is wrong, or that two different trees share, is found
//! by nobody later. So digests are compared with published ones, with git, with hashing in one
//! piece, and with a second implementation of docs/tree-digest.md.
#![allow(unsafe_code, reason = "it calls the system")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::{ErrorKind, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
#[cfg(unix)]
use std::{path::PathBuf, process::Command};

#[cfg(unix)]
use common::skip;
use common::{Directory, assert_error, strategies};
use sha2::Digest as _;
use smallfry::Operation;
use smallfry::bulk::Control;
use smallfry::hash::{Algorithm, Digest, Hasher};

const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Blake3,
    Algorithm::Sha256,
    Algorithm::Sha1,
    Algorithm::GitBlob,
];

/// Hashes the contents of a file in one piece.
fn direct(algorithm: Algorithm, contents: &[u8]) -> Digest {
    match algorithm {
        Algorithm::Blake3 => blake3::hash(contents).as_bytes().into(),
        Algorithm::Sha256 => (&sha2::Sha256::digest(contents).0).into(),
        Algorithm::Sha1 => (&sha1::Sha1::digest(contents).0).into(),
        _ => {
            let header = format!("blob {}\0", contents.len());
            direct(Algorithm::Sha1, &[header.as_bytes(), contents].concat())
        }
    }
}

fn digest_of(algorithm: Algorithm, path: &Path) -> Digest {
    let mut hasher = Hasher::new();
    let mut digests = hasher.algorithm(algorithm).files([path]);
    let digest = digests.next().unwrap().unwrap();
    assert!(digests.next().is_none());
    digest
}

#[test]
fn digests_are_the_published_ones() {
    let directory = Directory::new();
    let path = directory.path("a");
    let published = [
        [
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
            "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
        ],
        [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ],
        [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
        ],
        [
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
            "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f",
        ],
    ];
    for (algorithm, digests) in ALGORITHMS.into_iter().zip(published) {
        for (contents, digest) in ["", "abc"].into_iter().zip(digests) {
            fs::write(&path, contents).unwrap();
            assert_eq!(digest_of(algorithm, &path).to_string(), digest);
        }
    }
    assert_eq!(Algorithm::default(), Algorithm::Blake3);
}

#[test]
fn a_file_of_any_length_has_the_digest_of_its_contents() {
    let directory = Directory::new();
    let piece = 64 << 10;
    let lengths = [
        1,
        1000,
        piece - 1,
        piece,
        piece + 1,
        2 * piece,
        5 * piece + 17,
    ];
    for length in lengths {
        let path = directory.path("a");
        let contents: Vec<u8> = (0..251).cycle().take(length).collect();
        fs::write(&path, &contents).unwrap();
        for algorithm in ALGORITHMS {
            let expected = direct(algorithm, &contents);
            assert_eq!(digest_of(algorithm, &path), expected, "{length} bytes");
        }
    }
}

/// The length from which several threads hash one file with BLAKE3.
const LARGE: u64 = 64 << 20;

/// Makes a large file, of which most is a hole.
fn make_large(path: &Path, length: u64) {
    let mut file = fs::File::create(path).unwrap();
    for place in [0, 1 << 20, LARGE / 2 - 3, length - 7] {
        file.seek(SeekFrom::Start(place)).unwrap();
        file.write_all(&place.to_le_bytes()[..7]).unwrap();
    }
    file.set_len(length).unwrap();
}

#[test]
fn a_large_file_has_the_same_digest_on_any_number_of_threads() {
    let directory = Directory::new();
    let path = directory.path("large");
    // Wine takes many times as long for each call.
    let count = if cfg!(windows) { 2 } else { 8 };
    let lengths = [0, 5_000_007, 1, 1023, 1024, 1025, (1 << 20) - 1, 1 << 20];
    for length in lengths.into_iter().take(count) {
        make_large(&path, LARGE + length);
        let expected = direct(Algorithm::Blake3, &fs::read(&path).unwrap());
        for strategy in strategies() {
            let mut hasher = Hasher::new();
            let mut digests = hasher.strategy(strategy).files([&path, &path]);
            assert_eq!(digests.next().unwrap().unwrap(), expected, "{length}");
            assert_eq!(digests.next().unwrap().unwrap(), expected, "{length}");
        }
    }
    let trees = strategies().map(|strategy| {
        let mut hasher = Hasher::new();
        hasher.strategy(strategy).tree(&path).unwrap()
    });
    assert!(trees.iter().all(|tree| *tree == trees[0]));
}

#[test]
fn a_large_file_that_changes_its_length_has_a_digest() {
    let directory = Directory::new();
    let path = directory.path("large");
    make_large(&path, LARGE + 1);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                for length in [1, 3 << 20, 5] {
                    file.set_len(LARGE + length).unwrap();
                }
            }
        });
        for _ in 0..5 {
            digest_of(Algorithm::Blake3, &path);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let expected = direct(Algorithm::Blake3, &fs::read(&path).unwrap());
    assert_eq!(digest_of(Algorithm::Blake3, &path), expected);
}

#[test]
fn a_cancelled_control_ends_a_large_file_in_its_middle() {
    let directory = Directory::new();
    let path = directory.path("large");
    let length = if cfg!(windows) { LARGE } else { 1 << 40 };
    fs::File::create(&path).unwrap().set_len(length).unwrap();
    let control = Control::new();
    let mut hasher = Hasher::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            control.cancel();
        });
        let result = hasher.control(&control).files([&path]).next();
        assert!(cfg!(windows) || result.unwrap().unwrap_err().is_cancelled());
    });
}

// Wine has no git.
#[cfg(unix)]
#[test]
fn git_blob_is_the_name_that_git_has() {
    let directory = Directory::new();
    let paths: Vec<PathBuf> = (0..20).map(|it| directory.path(&it.to_string())).collect();
    for (index, path) in paths.iter().enumerate() {
        fs::write(path, "line\r\n".repeat(index * index * 100)).unwrap();
    }
    let git = Command::new("git")
        .args(["hash-object", "--no-filters", "--"])
        .args(&paths)
        .output();
    let Ok(git) = git.map(|output| String::from_utf8(output.stdout).unwrap()) else {
        return skip("git_blob_is_the_name_that_git_has", "there is no git");
    };
    let mut hasher = Hasher::new();
    let digests = hasher.algorithm(Algorithm::GitBlob).files(&paths);
    let digests: Vec<_> = digests.map(|digest| digest.unwrap().to_string()).collect();
    assert_eq!(digests, git.lines().collect::<Vec<_>>());
}

#[test]
fn a_directory_is_no_file() {
    let directory = Directory::new();
    let path = directory.path("");
    for algorithm in ALGORITHMS {
        let mut hasher = Hasher::new();
        let digest = hasher.algorithm(algorithm).files([&path]).next().unwrap();
        let error = digest.unwrap_err();
        if cfg!(windows) {
            assert_eq!(error.operation(), Operation::Open);
        } else {
            let kind = ErrorKind::IsADirectory;
            assert_error(&error, Operation::Read, Some(&path), kind);
        }
    }
}

#[test]
fn digests_come_in_the_order_of_paths_with_errors_in_their_places() {
    let directory = Directory::new();
    // Wine takes many times as long for each file.
    let files = if cfg!(windows) { 300 } else { 3000 };
    let ending = if cfg!(windows) { "" } else { "\n" };
    let path = |index: usize| directory.path(&format!("{index}{ending}"));
    for index in 0..files {
        if index % 100 != 7 {
            fs::write(path(index), index.to_string().repeat(index % 50)).unwrap();
        }
    }
    fs::create_dir(path(7)).unwrap();
    for strategy in strategies() {
        let control = Control::new();
        let mut hasher = Hasher::new();
        hasher.strategy(strategy).control(&control);
        let mut count = 0;
        for (index, digest) in hasher.files((0..files).map(path)).enumerate() {
            count += 1;
            match digest {
                Ok(digest) => {
                    let contents = index.to_string().repeat(index % 50);
                    assert_eq!(digest, direct(Algorithm::Blake3, contents.as_bytes()));
                }
                Err(error) if index == 7 => {
                    let operation = if cfg!(windows) {
                        Operation::Open
                    } else {
                        Operation::Read
                    };
                    assert_eq!(error.operation(), operation, "{error}");
                }
                Err(error) => {
                    assert_eq!(index % 100, 7);
                    let path = path(index);
                    assert_error(&error, Operation::Open, Some(&path), ErrorKind::NotFound);
                }
            }
        }
        assert_eq!(count, files);
        assert_eq!(control.progress().failed, files as u64 / 100);
    }
}

#[test]
fn a_cancelled_control_ends_the_digests() {
    let directory = Directory::new();
    let path = directory.path("a");
    fs::write(&path, "abc").unwrap();
    for strategy in strategies() {
        let control = Control::new();
        let mut hasher = Hasher::new();
        hasher.strategy(strategy).control(&control);
        let mut digests = hasher.files(std::iter::repeat_n(&path, 100_000));
        assert!(digests.next().unwrap().is_ok());
        control.cancel();
        let mut later = 0;
        for digest in digests {
            later += 1;
            assert!(digest.map_or_else(|error| error.is_cancelled(), |_| true));
        }
        assert!(later < 99_999, "{later} were begun");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_file_without_a_size_is_read_to_its_end() {
        let path = Path::new("/proc/version");
        let contents = fs::read(path).unwrap();
        assert_eq!(
            digest_of(Algorithm::Sha256, path),
            direct(Algorithm::Sha256, &contents)
        );
        let mut hasher = Hasher::new();
        hasher.algorithm(Algorithm::GitBlob);
        let errors = hasher.files([path, Path::new("/dev/null")]);
        let errors: Vec<_> = errors.map(Result::unwrap_err).collect();
        assert_error(&errors[0], Operation::Read, Some(path), ErrorKind::Other);
        assert!(errors[0].to_string().contains("has changed"));
        assert_eq!(errors[1].kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn a_cancelled_control_ends_a_file_without_an_end() {
        let control = Control::new();
        let cancelling = control.clone();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            cancelling.cancel();
        });
        let mut hasher = Hasher::new();
        let error = hasher.control(&control).files(["/dev/zero"]).next();
        assert!(error.unwrap().unwrap_err().is_cancelled());
        canceller.join().unwrap();
    }
}

mod tree {
    use super::*;
    use std::collections::BTreeMap;
    use std::ffi::{OsStr, OsString};
    use std::fs::Metadata;
    #[cfg(unix)]
    use std::{
        fs::File,
        iter,
        os::unix::{ffi::OsStringExt, fs::PermissionsExt, net::UnixListener},
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::Duration,
    };

    use common::platform::{set_mode, symlink};
    #[cfg(unix)]
    use common::unix::{child_directory, is_child, is_root, limit, make_fifo, run_child};
    use proptest::prelude::*;
    use smallfry::hash::TreeDigest;

    #[cfg(unix)]
    const DIRECTLY: [&str; 0] = [];

    #[cfg(unix)]
    fn is_executable(status: &Metadata) -> bool {
        status.permissions().mode() & 0o100 != 0
    }

    #[cfg(windows)]
    fn is_executable(_: &Metadata) -> bool {
        false
    }

    #[cfg(unix)]
    fn name_from(bytes: Vec<u8>) -> OsString {
        OsString::from_vec(bytes)
    }

    #[cfg(windows)]
    fn name_from(bytes: Vec<u8>) -> OsString {
        String::from_utf8(bytes).unwrap().into()
    }

    fn hash(path: &Path) -> TreeDigest {
        Hasher::new().tree(path).unwrap()
    }

    fn digest(path: &Path) -> Digest {
        hash(path).digest
    }

    /// The definition on the page, from one directory down.
    fn defined(algorithm: Algorithm, path: &Path) -> Digest {
        let h = |contents: &[u8]| direct(algorithm, contents);
        let status = fs::symlink_metadata(path).unwrap();
        if !status.is_dir() {
            return h(&[
                &b"smallfry tree digest 1\0"[..],
                &record(algorithm, path, b""),
            ]
            .concat());
        }
        let mut names: Vec<OsString> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        let mut list = b"smallfry tree digest 1\0".to_vec();
        for name in names {
            let bytes = name.as_encoded_bytes();
            list.extend(record(algorithm, &path.join(&name), bytes));
        }
        h(&list)
    }

    /// The record of an entry.
    fn record(algorithm: Algorithm, path: &Path, name: &[u8]) -> Vec<u8> {
        let h = |contents: &[u8]| direct(algorithm, contents);
        let status = fs::symlink_metadata(path).unwrap();
        let (kind, digest) = if status.is_dir() {
            ('d', defined(algorithm, path))
        } else if status.is_symlink() {
            let target = fs::read_link(path).unwrap();
            ('l', h(target.as_os_str().as_encoded_bytes()))
        } else if is_executable(&status) {
            ('x', h(&fs::read(path).unwrap()))
        } else {
            ('f', h(&fs::read(path).unwrap()))
        };
        let mut record = vec![kind as u8];
        record.extend((name.len() as u64).to_le_bytes());
        record.extend(name);
        record.extend(digest.as_bytes());
        record
    }

    /// An entry of a generated tree.
    #[derive(Clone, Debug)]
    enum Node {
        File(Vec<u8>, u32),
        Link(OsString),
        Directory(BTreeMap<OsString, Node>),
    }

    fn names() -> impl Strategy<Value = OsString> {
        let letters = if cfg!(windows) {
            &b"ab-_Z"[..]
        } else if cfg!(target_os = "macos") {
            &b"ab.-\n\\ Z\x01"[..]
        } else {
            &b"ab.-\n\\ Z\x01\x80\xff"[..]
        };
        let letters = prop::collection::vec(prop::sample::select(letters), 1..4);
        let names = letters.prop_filter("no entry", |name| !matches!(&name[..], b"." | b".."));
        names.prop_map(name_from)
    }

    fn nodes() -> impl Strategy<Value = Node> {
        let modes = prop::sample::select(&[0o644, 0o755, 0o600, 0o700, 0o655, 0o611][..]);
        let leaf = prop_oneof![
            (prop::collection::vec(any::<u8>(), 0..60), modes)
                .prop_map(|(contents, mode)| Node::File(contents, mode)),
            // Not every process may make links on Windows.
            names().prop_map(|target| if cfg!(windows) {
                Node::File(Vec::new(), 0o644)
            } else {
                Node::Link(target)
            }),
        ];
        leaf.prop_recursive(4, 64, 12, |inner| {
            prop::collection::btree_map(names(), inner, 0..12).prop_map(Node::Directory)
        })
    }

    impl Node {
        fn make(&self, path: &Path) {
            match self {
                Self::File(contents, mode) => {
                    fs::write(path, contents).unwrap();
                    set_mode(path, *mode);
                }
                Self::Link(target) => symlink(target, path).unwrap(),
                Self::Directory(entries) => {
                    fs::create_dir(path).unwrap();
                    for (name, entry) in entries {
                        entry.make(&path.join(name));
                    }
                }
            }
        }

        /// Returns the numbers of entries that are no directories, of directories, and of bytes.
        fn counts(&self) -> [u64; 3] {
            match self {
                Self::File(contents, _) => [1, 0, contents.len() as u64],
                Self::Link(_) => [1, 0, 0],
                Self::Directory(entries) => {
                    let counts = entries.values().map(Self::counts);
                    counts.fold([0, 1, 0], |sum, it| {
                        std::array::from_fn(|at| sum[at] + it[at])
                    })
                }
            }
        }

        /// Returns the text of all that counts, which differs for different trees.
        fn described(&self) -> String {
            match self {
                Self::File(contents, mode) => {
                    let is_executable = cfg!(unix) && mode & 0o100 != 0;
                    format!("{contents:?} {is_executable}")
                }
                Self::Link(target) => format!("-> {:?}", target.as_encoded_bytes()),
                Self::Directory(entries) => {
                    let entries = entries.iter().map(|(name, it)| (name, it.described()));
                    format!("{:?}", entries.collect::<Vec<_>>())
                }
            }
        }
    }

    proptest! {
        #[test]
        fn tree_digest_is_the_one_that_its_page_defines(node in nodes()) {
            let directory = Directory::new();
            let path = directory.path("tree");
            node.make(&path);
            for algorithm in ALGORITHMS {
                let expected = defined(algorithm, &path);
                for strategy in strategies() {
                    let mut hasher = Hasher::new();
                    let tree = hasher.algorithm(algorithm).strategy(strategy).tree(&path).unwrap();
                    prop_assert_eq!(tree.digest, expected);
                    let report = tree.report;
                    let counts = [report.files, report.directories, report.bytes];
                    prop_assert_eq!(counts, node.counts());
                }
            }
        }

        #[test]
        fn tree_digests_are_equal_for_equal_trees_only(one in nodes(), other in nodes()) {
            let directory = Directory::new();
            let paths = [directory.path("one"), directory.path("other")];
            one.make(&paths[0]);
            other.make(&paths[1]);
            let are_equal = digest(&paths[0]) == digest(&paths[1]);
            prop_assert_eq!(are_equal, one.described() == other.described());
        }
    }

    #[test]
    fn tree_digest_of_the_example_on_its_page() {
        let directory = Directory::new();
        let root = directory.path("root");
        fs::create_dir_all(root.join("b")).unwrap();
        fs::write(root.join("a"), "abc").unwrap();
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tree-digest.md");
        let page = fs::read_to_string(page).unwrap();
        let example = page.split("## Example").nth(1).unwrap();
        let value = |label: &str| {
            let line = example.lines().find(|line| line.trim().starts_with(label));
            line.unwrap().rsplit(' ').next().unwrap().to_owned()
        };
        assert_eq!(digest(&root.join("b")).to_string(), value("digest of b"));
        assert_eq!(digest(&root).to_string(), value("digest  "));
    }

    #[test]
    fn a_large_tree_has_the_same_digest_on_any_number_of_threads() {
        let directory = Directory::new();
        let root = directory.path("root");
        // Wine takes many times as long for each call.
        let count = if cfg!(windows) { 200 } else { 2000 };
        for index in 0..count {
            let place = root.join(format!("{}/{}", index % 7, index % 91));
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(index.to_string()), vec![7; index * 4]).unwrap();
            // One directory of many entries.
            fs::write(root.join(format!("file {index}")), index.to_string()).unwrap();
        }
        let expected = defined(Algorithm::Blake3, &root);
        for strategy in strategies() {
            for _ in 0..5 {
                let control = Control::new();
                let mut hasher = Hasher::new();
                hasher.strategy(strategy).control(&control);
                let tree = hasher.tree(&root).unwrap();
                assert_eq!(tree.digest, expected);
                assert_eq!(tree.report.files, 2 * count as u64);
                let progress = control.progress();
                assert_eq!((progress.bytes, progress.failed), (tree.report.bytes, 0));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn tree_follows_no_link_but_one_with_a_slash_behind_it() {
        let directory = Directory::new();
        let [root, link] = ["root", "link"].map(|name| directory.path(name));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "abc").unwrap();
        symlink("root", &link).unwrap();
        assert_ne!(digest(&link), digest(&root));
        for spelling in ["root/", "link/", "link/.", "root/../link/", "root/."] {
            assert_eq!(
                digest(&directory.path(spelling)),
                digest(&root),
                "{spelling}"
            );
        }
        assert_eq!(digest(&link), defined(Algorithm::Blake3, &link));
        let file = root.join("a");
        let before = digest(&file);
        assert_ne!(before, digest_of(Algorithm::Blake3, &file));
        set_mode(&file, 0o755);
        assert_ne!(digest(&file), before);
        let path = directory.path("root/a/");
        let error = Hasher::new().tree(&path).unwrap_err();
        let kind = ErrorKind::NotADirectory;
        assert_error(&error.errors()[0], Operation::Readdir, Some(&path), kind);
    }

    #[test]
    fn a_filter_makes_the_digest_of_a_tree_without_the_entries() {
        let directory = Directory::new();
        let [root, less] = ["root", "less"].map(|name| directory.path(name));
        for (place, names) in [
            (&root, &["a", "b.map", "c/d", "c/e.map", "f.map/g"][..]),
            (&less, &["a", "c/d"]),
        ] {
            for name in names {
                fs::create_dir_all(place.join(name).parent().unwrap()).unwrap();
                fs::write(place.join(name), name).unwrap();
            }
        }
        for path in [root.clone(), root.join("")] {
            let mut hasher = Hasher::new();
            hasher.filter(|path| {
                let is_below = ["a", "b.map", "c", "c/d", "c/e.map", "f.map"];
                assert!(is_below.iter().any(|it| path == *it), "{}", path.display());
                path.extension() != Some(OsStr::new("map"))
            });
            assert_eq!(hasher.tree(&path).unwrap(), hash(&less));
        }
    }

    #[cfg(unix)]
    #[test]
    fn tree_has_an_error_for_each_entry_without_a_digest() {
        let directory = Directory::new();
        let root = directory.path("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("a"), "abc").unwrap();
        make_fifo(&root.join("sub/pipe\n"));
        let _socket = UnixListener::bind(root.join("socket")).unwrap();
        let error = Hasher::new().tree(&root).unwrap_err();
        let mut errors: Vec<_> = error.errors().iter().collect();
        errors.sort_by_key(|error| error.path());
        let expected = [root.join("socket"), root.join("sub/pipe\n")];
        assert_eq!(errors.len(), 2);
        for (error, path) in errors.into_iter().zip(&expected) {
            assert_error(error, Operation::Open, Some(path), ErrorKind::Unsupported);
        }
        assert_eq!(error.report().files, 1);
        let error = Hasher::new().tree(root.join("none")).unwrap_err();
        let path = root.join("none");
        let kind = ErrorKind::NotFound;
        assert_error(&error.errors()[0], Operation::Stat, Some(&path), kind);
        assert!(Hasher::new().tree(&expected[1]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_entry_that_vanishes_is_an_error() {
        for (name, operation) in [
            ("gone", Operation::Open),
            ("link", Operation::Readlink),
            ("directory", Operation::Readdir),
        ] {
            let directory = Directory::new();
            let root = directory.path("root");
            fs::create_dir_all(root.join("directory")).unwrap();
            fs::write(root.join("gone"), "").unwrap();
            fs::write(root.join("stays"), "").unwrap();
            symlink("stays", root.join("link")).unwrap();
            let path = root.join(name);
            let removed = path.clone();
            let mut hasher = Hasher::new();
            // It is called between the listing of the entry and its hashing.
            hasher.filter(move |path| {
                if path == removed.file_name().unwrap() && removed.is_dir() {
                    fs::remove_dir(&removed).unwrap();
                } else if path == removed.file_name().unwrap() {
                    fs::remove_file(&removed).unwrap();
                }
                true
            });
            let error = hasher.tree(&root).unwrap_err();
            assert_eq!(error.errors().len(), 1, "{error}");
            assert_error(
                &error.errors()[0],
                operation,
                Some(&path),
                ErrorKind::NotFound,
            );
        }
    }

    #[test]
    fn a_cancelled_control_gives_no_digest() {
        let directory = Directory::new();
        let root = directory.path("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        for index in 0..300 {
            fs::write(root.join(index.to_string()), "abc").unwrap();
        }
        for strategy in strategies() {
            for path in [root.clone(), root.join("sub"), root.join("1")] {
                let control = Control::new();
                control.cancel();
                let mut hasher = Hasher::new();
                hasher.control(&control).strategy(strategy);
                let error = hasher.tree(&path).unwrap_err();
                assert!(error.errors().len() == 1 && error.errors()[0].is_cancelled());
                assert_eq!((error.report().files, error.report().directories), (0, 0));
            }
            let control = Control::new();
            let cancelling = control.clone();
            let mut hasher = Hasher::new();
            hasher.control(&control).strategy(strategy);
            hasher.filter(move |path| {
                if path == "200" {
                    cancelling.cancel();
                }
                true
            });
            let error = hasher.tree(&root).unwrap_err();
            assert!(error.errors().len() == 1 && error.errors()[0].is_cancelled());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_is_exchanged_for_a_link_leads_nowhere() {
        let directory = Directory::new();
        let [root, outside] = ["root", "outside"].map(|name| directory.path(name));
        let (place, link, spare) = (root.join("a"), directory.path("l"), directory.path("s"));
        for place in [&place, &outside] {
            fs::create_dir_all(place).unwrap();
            for index in 0..50 {
                let contents = place.to_str().unwrap();
                fs::write(place.join(index.to_string()), contents).unwrap();
            }
        }
        symlink(&outside, &link).unwrap();
        let mut allowed = vec![digest(&root)];
        fs::rename(&place, &spare).unwrap();
        allowed.push(digest(&root));
        fs::rename(&link, &place).unwrap();
        allowed.push(digest(&root));
        let stop = AtomicBool::new(false);
        let mut digests = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                // The directory is at `spare`, and the link in its place.
                while !stop.load(Ordering::Relaxed) {
                    fs::rename(&place, &link).unwrap();
                    fs::rename(&spare, &place).unwrap();
                    fs::rename(&place, &spare).unwrap();
                    fs::rename(&link, &place).unwrap();
                }
            });
            for _ in 0..500 {
                if let Ok(tree) = Hasher::new().tree(&root) {
                    digests += 1;
                    assert!(allowed.contains(&tree.digest));
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(digests > 0);
    }

    #[cfg(unix)]
    #[test]
    fn what_may_not_be_read_is_an_error() {
        let directory = Directory::new();
        let root = directory.path("root");
        fs::create_dir_all(root.join("closed")).unwrap();
        fs::write(root.join("open"), "abc").unwrap();
        fs::write(root.join("secret"), "abc").unwrap();
        for (path, mode) in [("", 0o755), ("root/closed", 0), ("root/secret", 0)] {
            set_mode(&directory.path(path), mode);
        }
        run_child("tree::child_without_permission", &directory, &DIRECTLY);
    }

    #[cfg(unix)]
    #[test]
    #[ignore = "a child"]
    fn child_without_permission() {
        if !is_child() {
            return;
        }
        if is_root() {
            // SAFETY: it has no preconditions.
            assert_eq!(unsafe { libc::seteuid(65534) }, 0);
        }
        let root = child_directory().join("root");
        let denied = ErrorKind::PermissionDenied;
        let paths = [root.join("open"), root.join("secret")];
        let digests: Vec<_> = Hasher::new().files(&paths).collect();
        assert_eq!(
            *digests[0].as_ref().unwrap(),
            direct(Algorithm::Blake3, b"abc")
        );
        let error = digests[1].as_ref().unwrap_err();
        assert_error(error, Operation::Open, Some(&paths[1]), denied);

        let error = Hasher::new().tree(&root).unwrap_err();
        let mut errors: Vec<_> = error.errors().iter().collect();
        errors.sort_by_key(|error| error.path());
        assert_eq!(errors.len(), 2);
        let closed = root.join("closed");
        assert_error(errors[0], Operation::Readdir, Some(&closed), denied);
        assert_error(errors[1], Operation::Open, Some(&paths[1]), denied);
        assert_eq!((error.report().files, error.report().bytes), (1, 3));
    }

    #[cfg(unix)]
    #[test]
    fn files_and_trees_wait_for_descriptors_and_give_up() {
        let directory = Directory::new();
        let root = directory.path("root");
        let mut place = root.clone();
        for _ in 0..100 {
            fs::create_dir_all(place.join("beside")).unwrap();
            fs::write(place.join("beside/file"), "abc").unwrap();
            place = place.join("below");
        }
        run_child("tree::child_with_few_descriptors", &directory, &DIRECTLY);
    }

    #[cfg(unix)]
    #[test]
    #[ignore = "a child"]
    fn child_with_few_descriptors() {
        if !is_child() {
            return;
        }
        let root = child_directory().join("root");
        let expected = defined(Algorithm::Blake3, &root);
        limit(libc::RLIMIT_NOFILE, 64);
        let take_all = || -> Vec<File> { iter::from_fn(|| File::open("/dev/null").ok()).collect() };
        let file = root.join("beside/file");
        for strategy in strategies() {
            let mut hasher = Hasher::new();
            hasher.strategy(strategy);
            assert_eq!(hasher.tree(&root).unwrap().digest, expected);
            // Another thread has all descriptors, and returns them some time later.
            let taken = take_all();
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(100));
                    drop(taken);
                });
                assert_eq!(hasher.tree(&root).unwrap().digest, expected);
            });
            let taken = take_all();
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(100));
                    drop(taken);
                });
                for digest in hasher.files(iter::repeat_n(&file, 100)) {
                    assert_eq!(digest.unwrap(), direct(Algorithm::Blake3, b"abc"));
                }
            });
        }
        let _taken = take_all();
        let hasher = Hasher::new();
        let errors: Vec<_> = hasher.files(iter::repeat_n(&file, 10)).collect();
        for error in errors {
            assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::EMFILE));
        }
        let error = hasher.tree(&root).unwrap_err();
        assert_eq!(error.errors()[0].raw_os_error(), Some(libc::EMFILE));
    }
}
