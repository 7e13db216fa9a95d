//! The options of a copy: attributes that are kept, links that are followed, files that are linked.
//! Copies are compared with those of `cp` and rsync.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::trees::{describe, make_tree};
use common::unix::{
    SmallDisk, can_trace, child_directory, is_child, is_root, make_fifo, mode_of, number_of,
    run_child, set_mode, strace, symlink,
};
use common::{Directory, names, skip, strategies};
use rustix::fs::{XattrFlags, lgetxattr, llistxattr, lsetxattr};
use smallfry::Operation;
use smallfry::tree::{Copier, Existing, Links, Method};

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn run(command: &str, arguments: &[&Path]) -> String {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap())
        .env("LC_ALL", "C")
        .args(words)
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Returns the paths of a tree, the root among them.
fn paths(root: &Path) -> Vec<PathBuf> {
    let below = describe(root);
    let below = below.keys().map(|path| root.join(path));
    [root.to_owned()].into_iter().chain(below).collect()
}

/// The extended attributes of an entry, access control lists among them.
fn attributes(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut list = vec![0; 4096];
    let length = llistxattr(path, &mut list[..]).unwrap();
    list.truncate(length);
    let names = list
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty());
    names
        .map(|name| {
            let name = String::from_utf8(name.to_vec()).unwrap();
            let mut value = vec![0; 4096];
            let length = lgetxattr(path, &*name, &mut value[..]).unwrap();
            value.truncate(length);
            (name, value)
        })
        .collect()
}

fn set_attribute(path: &Path, name: &str, value: &[u8]) {
    lsetxattr(path, name, value, XattrFlags::empty()).unwrap();
}

/// All that a copy may keep: owner, group, permissions, time of modification and attributes.
type Kept = (u32, u32, u32, (i64, i64), BTreeMap<String, Vec<u8>>);

fn kept(root: &Path) -> BTreeMap<PathBuf, Kept> {
    let kept = |path: &Path| {
        let status = fs::symlink_metadata(path).unwrap();
        let time = (status.mtime(), status.mtime_nsec());
        let owner = (status.uid(), status.gid());
        (owner.0, owner.1, mode_of(path), time, attributes(path))
    };
    let paths = paths(root).into_iter();
    paths
        .map(|path| (path.strip_prefix(root).unwrap().to_owned(), kept(&path)))
        .collect()
}

/// A copier that keeps everything.
fn all() -> Copier {
    let mut copier = Copier::new();
    copier
        .times(true)
        .owner(true)
        .access_lists(true)
        .attributes(true);
    copier
}

/// Makes a tree whose entries have owners, lists and attributes.
fn make_attributed_tree(root: &Path, seed: u64) {
    make_tree(root, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for path in paths(root) {
        let status = fs::symlink_metadata(&path).unwrap();
        let mode = mode_of(&path);
        if random.bool() {
            let [owner, group] = [1234, 4321].map(|id| Some([id, 0][random.usize(..2)]));
            lchown(&path, owner, group).unwrap();
        }
        if random.u32(..3) == 0 {
            set_attribute(&path, "trusted.smallfry", b"any user but root sees none");
        }
        if status.is_symlink() {
            continue;
        }
        if random.u32(..3) == 0 {
            set_attribute(&path, "user.origin", &vec![7; random.usize(..2000)]);
            set_attribute(&path, "user.ä 魚", b"");
        }
        if random.u32(..3) == 0 {
            run("setfacl -m u:99:rw-,g:77:r-x", &[&path]);
        } else {
            // The owner has taken away the permissions to run.
            set_mode(&path, mode);
        }
        if status.is_dir() && random.bool() {
            run("setfacl -d -m u:98:rwx", &[&path]);
        }
        if status.is_file() && random.u32(..4) == 0 {
            // cap_net_raw, of version 2.
            let mut value = 0x0200_0001_u32.to_le_bytes().to_vec();
            value.extend_from_slice(&0x2000_u32.to_le_bytes());
            value.resize(20, 0);
            set_attribute(&path, "security.capability", &value);
        }
    }
}

#[test]
fn copies_that_keep_everything_are_those_of_cp_and_rsync() {
    let test = "copies_that_keep_everything_are_those_of_cp_and_rsync";
    if !is_root() || !has("setfacl") {
        return skip(test, "it needs root and setfacl");
    }
    for seed in 0..6 {
        let directory = Directory::new();
        let [from, to, other] = ["from", "to", "other"].map(|name| directory.path(name));
        make_attributed_tree(&from, seed);
        // New entries would get this list from the directory.
        run("setfacl -d -m u:97:rwx", &[&directory.path("")]);
        let before = kept(&from);
        run("cp -a", &[&from, &other]);
        assert_eq!(kept(&other), before, "cp, seed {seed}");
        for strategy in strategies() {
            all().strategy(strategy).copy(&from, &to).unwrap();
            assert_eq!(kept(&to), before, "seed {seed}");
            assert_eq!(describe(&to), describe(&from));
            // It prints a line for each difference.
            if has("rsync") {
                let compare = "rsync -aHAX --checksum --dry-run --itemize-changes --delete";
                let difference = run(compare, &[&from.join(""), &to.join("")]);
                assert_eq!(difference, "", "seed {seed}");
            } else {
                skip(test, "there is no rsync");
            }
            fs::remove_dir_all(&to).unwrap();
        }
    }
}

#[test]
fn nothing_is_kept_that_was_not_asked() {
    if !is_root() || !has("setfacl") {
        return skip("nothing_is_kept_that_was_not_asked", "it needs root");
    }
    let directory = Directory::new();
    let from = directory.path("from");
    fs::write(&from, "text").unwrap();
    run("setfacl -m u:99:rw-", &[&from]);
    set_attribute(&from, "user.origin", b"somewhere");
    chown(&from, Some(1234), Some(4321)).unwrap();
    set_mode(&from, 0o6775);
    let copy = |copier: &Copier| {
        let to = directory.path("to");
        copier.copy(&from, &to).unwrap();
        let status = fs::metadata(&to).unwrap();
        let names: Vec<_> = attributes(&to).into_keys().collect();
        (status.uid(), status.gid(), mode_of(&to), names)
    };
    let own = fs::metadata(directory.path("")).unwrap();
    let (user, group) = (own.uid(), own.gid());
    let list = || vec!["system.posix_acl_access".to_owned()];
    assert_eq!(copy(&Copier::new()), (user, group, 0o775, vec![]));
    assert_eq!(
        copy(Copier::new().owner(true)),
        (1234, 4321, 0o6775, vec![])
    );
    assert_eq!(
        copy(Copier::new().access_lists(true)),
        (user, group, 0o775, list())
    );
    assert_eq!(
        copy(Copier::new().attributes(true)),
        (user, group, 0o775, vec!["user.origin".to_owned()])
    );
}

#[test]
fn another_user_keeps_what_is_allowed() {
    if !is_root() || !has("setpriv") || !has("setfacl") {
        return skip(
            "another_user_keeps_what_is_allowed",
            "it needs root, setpriv",
        );
    }
    let directory = Directory::new();
    let from = directory.path("from");
    make_attributed_tree(&from, 3);
    for (name, owner, group, mode) in [
        ("root", 0, 0, 0o6755),
        ("group", 0, 5000, 0o6755),
        ("own", 65534, 5000, 0o6755),
        ("read-only", 65534, 5000, 0o444),
    ] {
        let path = from.join(name);
        fs::write(&path, name).unwrap();
        chown(&path, Some(owner), Some(group)).unwrap();
        set_attribute(&path, "user.origin", b"somewhere");
        set_mode(&path, mode);
    }
    // So that the user can read all of it.
    run("chmod -R a+rX", &[&from]);
    let place = directory.path("place");
    fs::create_dir(&place).unwrap();
    chown(&place, Some(65534), None).unwrap();
    for path in [directory.path(""), place] {
        set_mode(&path, 0o755);
    }
    let user = "setpriv --reuid 65534 --regid 5001 --groups 5000 --";
    let user: Vec<_> = user.split(' ').collect();
    run_child("child_that_copies_as_another_user", &directory, &user);
}

#[test]
#[ignore = "run by another_user_keeps_what_is_allowed"]
fn child_that_copies_as_another_user() {
    if !is_child() {
        return;
    }
    let directory = child_directory();
    let [from, to, other] = ["from", "place/to", "place/other"].map(|name| directory.join(name));
    all().copy(&from, &to).unwrap();
    run("cp -a", &[&from, &other]);
    // `cp` also takes the sticky bit from what has another owner, and from a file the permission to
    // run as its group, although that is kept.
    let comparable = |root: &Path| {
        let mut kept = kept(root);
        for it in kept.values_mut() {
            it.2 &= 0o777;
        }
        kept
    };
    assert_eq!(comparable(&to), comparable(&other));
    assert_eq!(describe(&to).len(), describe(&from).len());
    let found = ["root", "group", "own", "read-only"].map(|name| {
        let path = to.join(name);
        let status = fs::metadata(&path).unwrap();
        assert_eq!(attributes(&path)["user.origin"], b"somewhere", "{name}");
        (status.uid(), status.gid(), mode_of(&path))
    });
    assert_eq!(
        found,
        [
            (65534, 5001, 0o755),
            (65534, 5000, 0o2755),
            (65534, 5000, 0o6755),
            (65534, 5000, 0o444),
        ]
    );
}

#[test]
fn a_list_that_cannot_be_given_is_an_error() {
    let test = "a_list_that_cannot_be_given_is_an_error";
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), "text").unwrap();
    if !has("setfacl") || !is_root() {
        return skip(test, "it needs root and setfacl");
    }
    run("setfacl -m u:99:rw-", &[&from.join("a")]);
    // ramfs has no attributes.
    let place = directory.path("place");
    let disk = match SmallDisk::mount_type("ramfs", &place, "mode=755") {
        Ok(disk) => disk,
        Err(reason) => return skip(test, &reason),
    };
    let to = disk.path().join("to");
    let error = all().copy(&from, &to).unwrap_err();
    assert!(names(&to).is_empty());
    Copier::new().attributes(true).copy(&from, &to).unwrap();
    let message = error.to_string();
    assert!(message.contains("access control list"), "{message}");
    assert_eq!(error.errors().len(), 1);
}

#[test]
fn nothing_more_is_called_unless_asked() {
    if !can_trace("nothing_more_is_called_unless_asked") {
        return;
    }
    let directory = Directory::new();
    let from = directory.path("from");
    fs::create_dir(&from).unwrap();
    for index in 0..10 {
        fs::write(from.join(index.to_string()), "text").unwrap();
    }
    let under = strace(&directory, ["-e", "trace=%file,%desc"]);
    run_child("child_that_copies", &directory, &under);
    let log = fs::read_to_string(directory.path("log")).unwrap();
    for call in ["xattr", "chown", "linkat", "readlink", "utimens"] {
        let calls = log.lines().filter(|line| line.contains(call));
        let calls: Vec<_> = calls.filter(|line| !line.contains("/proc/")).collect();
        assert!(calls.is_empty(), "{calls:?}");
    }
}

#[test]
#[ignore = "run by nothing_more_is_called_unless_asked"]
fn child_that_copies() {
    if is_child() {
        let directory = child_directory();
        let (from, to) = (directory.join("from"), directory.join("to"));
        Copier::new().copy(from, to).unwrap();
    }
}

/// A tree with links of every kind, outside of which there are other entries.
fn make_linked_tree(directory: &Directory) -> PathBuf {
    let from = directory.path("from");
    make_tree(&directory.path("outside"), 5);
    for path in describe(&directory.path("outside")).keys() {
        let path = directory.path("outside").join(path);
        if path.is_symlink() {
            fs::remove_file(path).unwrap();
        }
    }
    fs::create_dir_all(from.join("a/b")).unwrap();
    fs::write(from.join("a/file"), "text").unwrap();
    set_mode(&from.join("a/file"), 0o750);
    for (target, link) in [
        ("a", "to-directory"),
        ("to-directory", "to-link"),
        ("a/file", "to-file"),
        ("../../a/file", "a/b/to-file-above"),
        ("../outside", "to-outside"),
    ] {
        symlink(target, from.join(link)).unwrap();
    }
    from
}

#[test]
fn links_are_followed_as_by_cp() {
    let directory = Directory::new();
    let [to, other] = ["to", "other"].map(|name| directory.path(name));
    let from = make_linked_tree(&directory);
    run("cp -rL --preserve=mode,links", &[&from, &other]);
    for strategy in strategies() {
        let mut copier = Copier::new();
        copier.links(Links::Follow).strategy(strategy);
        let report = copier.copy(&from, &to).unwrap();
        // `cp --preserve=links` makes one file of a file and of links to it.
        let comparable = |root: &Path| {
            let mut described = describe(root);
            for it in described.values_mut() {
                it.3 = PathBuf::new();
            }
            described
        };
        assert_eq!(comparable(&to), comparable(&other));
        let count = describe(&to).len() as u64 + 1;
        assert_eq!(report.files + report.directories, count);
        assert_ne!(
            number_of(&to.join("to-file")),
            number_of(&to.join("a/file"))
        );
        fs::remove_dir_all(&to).unwrap();
    }
    // The source itself may be a link.
    let file = directory.path("file");
    let mut copier = Copier::new();
    copier.links(Links::Follow);
    copier.copy(from.join("to-file"), &file).unwrap();
    assert!(file.is_file() && !file.is_symlink());
    copier.copy(from.join("to-link"), &to).unwrap();
    assert_eq!(names(&to), ["b", "file"]);
}

#[test]
fn links_that_cannot_be_followed_are_errors_by_name() {
    for strategy in strategies() {
        let directory = Directory::new();
        let from = directory.path("from");
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/file"), "text").unwrap();
        make_fifo(&directory.path("pipe"));
        let links = [
            ("gone", "a/dangling"),
            ("itself", "a/itself"),
            (".", "a/here"),
            ("..", "a/b/above"),
            ("../../..", "a/b/far-above"),
            ("../pipe", "pipe"),
        ];
        for (target, link) in links {
            symlink(target, from.join(link)).unwrap();
        }
        let to = directory.path("to");
        let mut copier = Copier::new();
        copier.links(Links::Follow).strategy(strategy);
        let error = copier.copy(&from, &to).unwrap_err();
        let mut failed: Vec<_> = error
            .errors()
            .iter()
            .map(|error| {
                let path = error.path().unwrap().strip_prefix(directory.path(""));
                (path.unwrap().to_str().unwrap().to_owned(), error.kind())
            })
            .collect();
        failed.sort();
        let filesystem_loop = rustix::io::Errno::LOOP.kind();
        let expected = [
            ("from/a/b/above", ErrorKind::InvalidInput),
            // The directory above all is copied, but for the source and the copy.
            ("from/a/b/far-above/from", ErrorKind::InvalidInput),
            ("from/a/b/far-above/pipe", ErrorKind::Unsupported),
            ("from/a/b/far-above/to", ErrorKind::InvalidInput),
            ("from/a/dangling", ErrorKind::NotFound),
            ("from/a/here", ErrorKind::InvalidInput),
            ("from/a/itself", filesystem_loop),
            ("from/pipe", ErrorKind::Unsupported),
        ];
        assert_eq!(failed, expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert_eq!(fs::read(to.join("a/file")).unwrap(), b"text");
        assert!(names(&to.join("a/b/far-above")).is_empty());
    }
}

#[test]
fn a_link_into_the_copy_does_not_make_it_endless() {
    for strategy in strategies() {
        let directory = Directory::new();
        let [from, to] = ["from", "to"].map(|name| directory.path(name));
        for name in ["x", "y"] {
            fs::create_dir_all(from.join(name)).unwrap();
            fs::create_dir_all(to.join(name)).unwrap();
        }
        // Each would get what the other one has got.
        symlink(to.join("y"), from.join("x/link")).unwrap();
        symlink(to.join("x"), from.join("y/link")).unwrap();
        let mut copier = Copier::new();
        copier.links(Links::Follow).strategy(strategy);
        let error = copier.copy(&from, &to);
        if let Err(error) = error {
            for error in error.errors() {
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            }
        }
        // Depth is bounded: no directory that the copy has made was copied.
        assert!(!to.join("x/link/link/link").exists());
        assert!(!to.join("y/link/link/link").exists());
    }
}

/// The numbers of the files and links of a tree.
fn numbers(root: &Path) -> BTreeMap<PathBuf, u64> {
    let paths = paths(root)
        .into_iter()
        .filter(|path| !path.is_dir() || path.is_symlink());
    paths
        .map(|path| {
            (
                path.strip_prefix(root).unwrap().to_owned(),
                number_of(&path),
            )
        })
        .collect()
}

#[test]
fn files_are_linked_as_by_cp() {
    let directory = Directory::new();
    let [from, to, other] = ["from", "to", "other"].map(|name| directory.path(name));
    make_tree(&from, 9);
    make_fifo(&from.join("pipe"));
    run("cp -rlP", &[&from, &other]);
    let expected = {
        fs::remove_file(other.join("pipe")).unwrap();
        fs::remove_file(from.join("pipe")).unwrap();
        let numbers = numbers(&other);
        make_fifo(&from.join("pipe"));
        numbers
    };
    for strategy in strategies() {
        let mut copier = Copier::new();
        copier.method(Method::HardLink).strategy(strategy);
        let report = copier.copy(&from, &to).unwrap();
        assert_eq!((report.files, report.bytes), (expected.len() as u64 + 1, 0));
        assert_eq!(number_of(&to.join("pipe")), number_of(&from.join("pipe")));
        // It is done already.
        assert_eq!(copier.copy(&from, &to).unwrap().files, 0);
        fs::remove_file(to.join("pipe")).unwrap();
        assert_eq!(numbers(&to), expected);
        fs::remove_dir_all(&to).unwrap();
    }
}

#[test]
fn linked_files_replace_others_in_one_step() {
    let directory = Directory::new();
    let [from, to] = ["from", "to"].map(|name| directory.path(name));
    for root in [&from, &to] {
        fs::create_dir(root).unwrap();
        fs::write(root.join("file"), root.to_str().unwrap()).unwrap();
    }
    let same = || number_of(&from.join("file")) == number_of(&to.join("file"));
    let mut copier = Copier::new();
    copier.method(Method::HardLink);
    copier.existing(Existing::Keep).copy(&from, &to).unwrap();
    assert!(!same());
    let error = copier.existing(Existing::Refuse).copy(&from, &to);
    let error = error.unwrap_err();
    assert_eq!(error.errors()[0].operation(), Operation::Copy);
    assert_eq!(error.errors()[0].kind(), ErrorKind::AlreadyExists);
    copier.existing(Existing::Replace).copy(&from, &to).unwrap();
    assert!(same());
    assert_eq!(names(&to), ["file"]);
    // Behind a link is the file itself.
    symlink("file", from.join("link")).unwrap();
    copier.links(Links::Follow).copy(&from, &to).unwrap();
    assert_eq!(number_of(&to.join("link")), number_of(&from.join("file")));
}

#[test]
fn unchanged_files_stay() {
    let directory = Directory::new();
    let (from, to) = (directory.path("from"), directory.path("to"));
    fs::create_dir(&from).unwrap();
    for name in ["same", "longer", "newer"] {
        fs::write(from.join(name), name).unwrap();
    }
    symlink("same", from.join("link")).unwrap();
    let mut copier = Copier::new();
    copier.times(true).only_if_changed(true);
    assert_eq!(copier.copy(&from, &to).unwrap().files, 4);
    let before = numbers(&to);
    fs::write(from.join("longer"), "longer than before").unwrap();
    let newer = fs::File::options().write(true).open(from.join("newer"));
    newer
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let report = copier.copy(&from, &to).unwrap();
    assert_eq!((report.files, report.unchanged), (2, 2));
    let after = numbers(&to);
    let changed = |name: &str| before[Path::new(name)] != after[Path::new(name)];
    assert_eq!(
        ["same", "link", "longer", "newer"].map(changed),
        [false, false, true, true]
    );
    assert_eq!(fs::read(to.join("longer")).unwrap(), b"longer than before");
}

#[test]
fn names_of_an_unchanged_file_stay_names_of_one_file() {
    let directory = Directory::new();
    let (from, to) = (directory.path("from"), directory.path("to"));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("a"), "text").unwrap();
    fs::hard_link(from.join("a"), from.join("sub/b")).unwrap();
    let mut copier = Copier::new();
    copier.times(true).only_if_changed(true);
    copier.copy(&from, &to).unwrap();
    // One name is gone, one is a file of its own.
    for change in [
        fs::remove_file,
        (|path: PathBuf| {
            fs::copy(&path, path.with_file_name("other"))?;
            fs::rename(path.with_file_name("other"), path)
        }) as fn(PathBuf) -> _,
    ] {
        change(to.join("sub/b")).unwrap();
        copier.copy(&from, &to).unwrap();
        assert_eq!(number_of(&to.join("a")), number_of(&to.join("sub/b")));
        let report = copier.copy(&from, &to).unwrap();
        assert_eq!((report.files, report.unchanged), (0, 2));
    }
}

#[test]
fn links_with_absolute_targets_stay() {
    let directory = Directory::new();
    let (from, to) = (directory.path("from"), directory.path("to"));
    fs::create_dir(&from).unwrap();
    symlink("file", from.join("link")).unwrap();
    let mut copier = Copier::new();
    copier
        .times(true)
        .only_if_changed(true)
        .links(Links::Absolute);
    assert_eq!(copier.copy(&from, &to).unwrap().files, 1);
    let report = copier.copy(&from, &to).unwrap();
    assert_eq!((report.files, report.unchanged), (0, 1));
}

#[test]
fn special_files_are_left_out_if_asked() {
    let directory = Directory::new();
    let (from, to) = (directory.path("from"), directory.path("to"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("file"), "text").unwrap();
    make_fifo(&from.join("pipe"));
    let error = Copier::new().copy(&from, &to).unwrap_err();
    assert_eq!(error.errors().len(), 1);
    assert_eq!(error.errors()[0].path(), Some(&*from.join("pipe")));
    let report = Copier::new().skip_special(true).copy(&from, &to).unwrap();
    assert_eq!((report.files, names(&to)), (1, vec!["file".to_owned()]));
    let linked = directory.path("linked");
    let mut copier = Copier::new();
    copier.skip_special(true).method(Method::HardLink);
    assert_eq!(copier.copy(&from, &linked).unwrap().files, 1);
}

#[test]
fn a_clone_that_cannot_be_made_is_an_error() {
    // A file system in memory has no blocks to share.
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("empty"), "").unwrap();
    fs::write(from.join("file"), "text").unwrap();
    let error = Copier::new()
        .method(Method::Clone)
        .copy(&from, &to)
        .unwrap_err();
    assert_eq!(error.errors().len(), 1);
    assert_eq!(error.errors()[0].path(), Some(&*from.join("file")));
    assert_eq!(names(&to), ["empty"]);
}
