//! What beneath promises, kept by `openat2` and by the walk alike: the two are compared on generated trees, and both
//! are run while somebody exchanges a directory for a link that leads out.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::raw::{O_CREAT, O_EXCL, O_RDONLY, O_TRUNC, O_WRONLY};

impl Root {
    fn by_walk(self) -> Self {
        Self {
            directory: self.directory.by_walk(),
            path: self.path,
        }
    }
}

/// A directory `in`, beneath which paths are resolved, and beside it `out`, which holds a secret.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("in")).unwrap();
        fs::create_dir(place.path("out")).unwrap();
        fs::write(place.path("out/secret"), "secret").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The directory `in`, resolved by whatever the system has, and by the walk.
    fn roots(&self) -> [Root; 2] {
        let open = || Root::open_dir(&self.path("in")).unwrap();
        let roots = [open(), open().by_walk()];
        if !roots[0].directory.is_by_kernel() {
            // As common::skip does, which unit tests cannot reach.
            let must_run = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!must_run || !cfg!(target_os = "linux"), "no openat2 here");
            println!("skipped openat2: not here");
        }
        roots
    }

    fn assert_nothing_outside_changed(&self) {
        let names: Vec<_> = fs::read_dir(self.path("out")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(fs::read(self.path("out/secret")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(self.path("")).unwrap().count(), 2);
    }
}

fn read(root: &Root, path: &str) -> io::Result<String> {
    let mut text = String::new();
    fs::File::from(root.open(Path::new(path), O_RDONLY, 0)?).read_to_string(&mut text)?;
    Ok(text)
}

fn write(root: &Root, path: &str, text: &str) -> io::Result<()> {
    let file = root.open(Path::new(path), O_WRONLY | O_CREAT | O_TRUNC, 0o666)?;
    fs::File::from(file).write_all(text.as_bytes())
}

#[test]
fn what_stays_beneath_works() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/a/b")).unwrap();
    symlink("a/b", place.path("in/link")).unwrap();
    symlink("../../a/b/./", place.path("in/a/b/around")).unwrap();
    symlink("b/new", place.path("in/a/dangling")).unwrap();
    for root in place.roots() {
        for (n, path) in [
            "f",
            "a/f",
            "./a/../a/./b//f",
            "link/f",
            "link/around/around/g",
        ]
        .iter()
        .enumerate()
        {
            write(&root, path, &n.to_string()).unwrap();
            assert_eq!(read(&root, path).unwrap(), n.to_string());
        }
        // Through a link to where there is nothing yet: made there, as without a root.
        write(&root, "a/dangling", "x").unwrap();
        assert_eq!(fs::read(place.path("in/a/b/new")).unwrap(), b"x");

        let size = |path: &str| root.stat(Path::new(path)).unwrap().len();
        assert_eq!((size("link/f"), size("a/dangling")), (1, 1));
        for path in [".", "a", "link", "a/b/..", "link/around/"] {
            assert!(root.stat(Path::new(path)).unwrap().is_dir(), "{path}");
        }

        for path in ["link/f", "a/b/new", "f", "a/f", "a/b/g"] {
            root.remove_file(Path::new(path)).unwrap();
        }
        for path in ["new", "a/new", "link/new2/", "a/b/../c"] {
            root.create_dir(Path::new(path)).unwrap();
            let error = root.create_dir(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{path}");
        }
        for path in ["in/new", "in/a/new", "in/a/b/new2", "in/a/c"] {
            fs::remove_dir(place.path(path)).unwrap();
        }
    }
    place.assert_nothing_outside_changed();
}

#[test]
fn what_leads_out_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/a")).unwrap();
    fs::write(place.path("in/a/f"), "").unwrap();
    symlink("../out", place.path("in/up")).unwrap();
    symlink("a/../up", place.path("in/around")).unwrap();
    symlink("../out/new", place.path("in/dangling")).unwrap();
    // Even one that leads back in.
    symlink(place.path("in/a"), place.path("in/absolute")).unwrap();
    symlink("..", place.path("in/a/root")).unwrap();
    let absolute = place.path("in/a/f");
    for root in place.roots() {
        for path in [
            "..",
            "../",
            "../out/secret",
            "../in/a/f",
            "a/../../out/secret",
            "a/root/../out/secret",
            "up/secret",
            "around/secret",
            "absolute/f",
            "dangling",
            "up/new",
            "/",
            absolute.to_str().unwrap(),
        ] {
            let path = Path::new(path);
            for result in [
                root.open(path, O_RDONLY, 0).map(drop),
                root.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
                    .map(drop),
                root.stat(path).map(drop),
                // These two do not follow a link that is the last name.
                root.remove_file(&path.join("x")),
                root.create_dir(&path.join("x")),
            ] {
                let error = result.unwrap_err();
                assert_eq!(
                    error.kind(),
                    ErrorKind::PermissionDenied,
                    "{path:?}: {error}"
                );
                let expected = format!("the path leads out of {}", place.path("in").display());
                assert_eq!(error.to_string(), expected);
            }
        }
        // The link goes, not what it leads to.
        symlink("../out/secret", place.path("in/leaves")).unwrap();
        root.remove_file(Path::new("leaves")).unwrap();
    }
    place.assert_nothing_outside_changed();
}

#[test]
fn other_errors_are_the_systems_own() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/a")).unwrap();
    fs::write(place.path("in/f"), "").unwrap();
    symlink("circle", place.path("in/circle")).unwrap();
    symlink("f", place.path("in/link")).unwrap();
    symlink("missing", place.path("in/dangling")).unwrap();
    symlink("a", place.path("in/chain0")).unwrap();
    for n in 1..=40 {
        symlink(
            format!("chain{}", n - 1),
            place.path(&format!("in/chain{n}")),
        )
        .unwrap();
    }
    let new = O_WRONLY | O_CREAT | O_EXCL;
    let long = "x".repeat(256);
    for root in place.roots() {
        for (path, flags, expected) in [
            ("", O_RDONLY, libc::ENOENT),
            ("missing", O_RDONLY, libc::ENOENT),
            ("missing/f", O_RDONLY, libc::ENOENT),
            ("missing/../f", O_RDONLY, libc::ENOENT),
            ("dangling", O_RDONLY, libc::ENOENT),
            ("f/", O_RDONLY, libc::ENOTDIR),
            ("f/x", O_RDONLY, libc::ENOTDIR),
            ("link/x", O_RDONLY, libc::ENOTDIR),
            ("f/..", O_RDONLY, libc::ENOTDIR),
            ("a", O_WRONLY, libc::EISDIR),
            ("a/", O_WRONLY | O_CREAT, libc::EISDIR),
            ("a/..", O_WRONLY | O_CREAT, libc::EISDIR),
            ("circle", O_RDONLY, libc::ELOOP),
            ("circle/x", O_RDONLY, libc::ELOOP),
            ("chain40/x", O_RDONLY, libc::ELOOP),
            ("link", O_RDONLY | libc::O_NOFOLLOW, libc::ELOOP),
            ("f", new, libc::EEXIST),
            ("link", new, libc::EEXIST),
            ("dangling", new, libc::EEXIST),
            (&long, O_RDONLY, libc::ENAMETOOLONG),
        ] {
            let error = root.open(Path::new(path), flags, 0o666).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(expected), "{path}: {error}");
        }
        // One link fewer is allowed.
        drop(root.open(Path::new("chain39"), O_RDONLY, 0).unwrap());
        let error = root.open(Path::new("a\0b"), O_RDONLY, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = root.remove_file(Path::new("a")).unwrap_err();
        assert!(matches!(
            error.raw_os_error(),
            Some(libc::EISDIR | libc::EPERM)
        ));
    }
    let error = Root::open_dir(&place.path("in/f")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
    let error = Root::open_dir(&place.path("in/missing")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn the_directory_is_the_one_that_was_opened() {
    let place = Place::new();
    fs::write(place.path("in/f"), "inside").unwrap();
    for root in place.roots() {
        fs::rename(place.path("in"), place.path("moved")).unwrap();
        symlink("out", place.path("in")).unwrap();
        assert_eq!(read(&root, "f").unwrap(), "inside");
        assert!(read(&root, "secret").is_err());
        fs::remove_file(place.path("in")).unwrap();
        fs::rename(place.path("moved"), place.path("in")).unwrap();
    }
}

/// A path and links that go down and up again for ever are given up, at a bounded cost.
#[test]
fn deep_and_winding_paths() {
    let place = Place::new();
    let deep = "d/".repeat(500);
    fs::create_dir_all(place.path("in").join(&deep)).unwrap();
    let winding = format!("{deep}{}", "../d/".repeat(500));
    symlink(&winding, place.path("in/winding")).unwrap();
    for root in place.roots() {
        write(&root, &format!("{deep}f"), "deep").unwrap();
        assert_eq!(read(&root, &format!("{deep}f")).unwrap(), "deep");
        let up = "../".repeat(500);
        assert!(root.stat(Path::new(&format!("{deep}{up}d"))).is_ok());
        let error = root
            .stat(Path::new(&format!("{deep}{up}../d")))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }
    let [_, walk] = place.roots();
    let error = walk.stat(Path::new("winding/f")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
}

/// How many descriptors of this process lead into the place: other tests open some at the same time.
#[cfg(target_os = "linux")]
fn descriptors(place: &Place) -> usize {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|target| target.starts_with(place.path("")))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn one_descriptor_is_held() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/a/b")).unwrap();
    symlink("../out", place.path("in/up")).unwrap();
    symlink("a/b", place.path("in/link")).unwrap();
    for make in [|root| root, Root::by_walk] {
        let root = make(Root::open_dir(&place.path("in")).unwrap());
        for _ in 0..10 {
            write(&root, "link/../b/f", "x").unwrap();
            write(&root, "up/f", "x").unwrap_err();
            write(&root, "a/b/f/g", "x").unwrap_err();
            root.stat(Path::new("a/b/f")).unwrap();
            root.create_dir(Path::new("a/c")).ok();
            root.remove_file(Path::new("link/f")).unwrap();
            root.remove_file(Path::new("link/f")).unwrap_err();
        }
        assert_eq!(descriptors(&place), 1);
        drop(root);
        assert_eq!(descriptors(&place), 0);
    }
}

/// Sets its flag when dropped, also by a failed assertion, so that nobody waits for ever.
struct SetWhenDropped<'flag>(&'flag AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// While one thread exchanges a directory for a link that leads out, another goes through it. What it gets is a file
/// beneath or an error, and nothing outside is ever made, changed or removed.
#[test]
fn a_directory_exchanged_for_a_link_meanwhile() {
    let place = Place::new();
    fs::create_dir_all(place.path("in/a/swapped/deep")).unwrap();
    fs::create_dir(place.path("out/deep")).unwrap();
    fs::write(place.path("in/a/swapped/deep/secret"), "inside").unwrap();
    fs::write(place.path("out/deep/secret"), "secret").unwrap();
    symlink("../../out", place.path("in/a/link")).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let swapped = place.path("in/a/swapped");
            while !is_over.load(Ordering::Relaxed) {
                for other in ["in/a/link", "in/a/directory"] {
                    let rest = place.path("in/a/rest");
                    fs::rename(&swapped, &rest).unwrap();
                    fs::rename(place.path(other), &swapped).unwrap_or(());
                    fs::rename(
                        &rest,
                        place.path(if other == "in/a/link" {
                            "in/a/directory"
                        } else {
                            "in/a/link"
                        }),
                    )
                    .unwrap();
                }
            }
        });
        let _over = SetWhenDropped(&is_over);
        let mut inside = 0;
        for root in place.roots() {
            for _ in 0..4000 {
                for path in ["a/swapped/deep/secret", "a/swapped/../swapped/deep/secret"] {
                    if let Ok(text) = read(&root, path) {
                        assert_eq!(text, "inside");
                        inside += 1;
                    }
                }
                let new = "a/swapped/deep/new";
                write(&root, new, "x").ok();
                root.remove_file(Path::new(new)).ok();
                root.create_dir(Path::new("a/swapped/made")).ok();
            }
        }
        assert!(inside > 0);
    });
    let mut names: Vec<_> = fs::read_dir(place.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["deep", "secret"]);
    assert_eq!(fs::read_dir(place.path("out/deep")).unwrap().count(), 1);
    assert_eq!(fs::read(place.path("out/deep/secret")).unwrap(), b"secret");
}

/// Paths of a few names, so that they often mean something.
fn paths() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("c"),
        Just("."),
        Just(".."),
        Just(""),
    ];
    let names = prop::collection::vec(name, 1..6);
    names.prop_map(|names| names.join("/"))
}

/// One thing put into a tree.
fn things() -> impl Strategy<Value = (String, Thing)> {
    let thing = prop_oneof![
        Just(Thing::File),
        Just(Thing::Directory),
        paths().prop_map(Thing::Link),
    ];
    (paths(), thing)
}

#[derive(Clone, Debug)]
enum Thing {
    File,
    Directory,
    Link(String),
}

/// Puts it there if it can be and lands beneath `root`.
fn put(root: &Path, path: &str, thing: &Thing) {
    let path = root.join(path.trim_start_matches('/'));
    let Some(parent) = path.parent().and_then(|parent| parent.canonicalize().ok()) else {
        return;
    };
    let Some(name) = path.file_name().filter(|_| parent.starts_with(root)) else {
        return;
    };
    let path = parent.join(name);
    let _ = match thing {
        Thing::File => fs::File::create_new(path).map(drop),
        Thing::Directory => fs::create_dir(path),
        Thing::Link(target) => symlink(target, path),
    };
}

/// What a result comes to, for two to be compared.
fn outcome(result: io::Result<Metadata>) -> Result<u64, (ErrorKind, Option<i32>)> {
    match result {
        Ok(metadata) => Ok(metadata.ino()),
        Err(error) => Err((error.kind(), error.raw_os_error())),
    }
}

proptest! {
    /// The kernel's resolution is what the walk must match: the same file, or the same error.
    #[test]
    fn the_walk_does_as_the_kernel(
        things in prop::collection::vec(things(), 0..12),
        paths in prop::collection::vec(paths(), 1..12),
    ) {
        let place = Place::new();
        let root = place.path("in").canonicalize().unwrap();
        for (path, thing) in &things {
            put(&root, path, thing);
        }
        let [kernel, walk] = place.roots();
        for path in &paths {
            let path = Path::new(path);
            prop_assert_eq!(outcome(kernel.stat(path)), outcome(walk.stat(path)), "stat {:?}", path);
            for flags in [O_RDONLY, O_WRONLY, O_RDONLY | libc::O_DIRECTORY, O_RDONLY | libc::O_NOFOLLOW] {
                let open = |root: &Root| {
                    outcome(root.open(path, flags, 0).and_then(|file| fs::File::from(file).metadata()))
                };
                prop_assert_eq!(open(&kernel), open(&walk), "open {:?} {}", path, flags);
            }
            // Made by one and then found by the other, through the same links.
            let made = kernel.open(path, O_WRONLY | O_CREAT, 0o666).map(fs::File::from);
            let found = walk.open(path, O_WRONLY | O_CREAT, 0o666).map(fs::File::from);
            prop_assert_eq!(
                outcome(made.and_then(|file| file.metadata())),
                outcome(found.and_then(|file| file.metadata())),
                "create {:?}", path
            );
        }
        for path in &paths {
            let path = Path::new(path);
            let kernel = kernel.create_dir(path).map_err(|error| error.kind());
            let walk = walk.create_dir(path).map_err(|error| error.kind());
            match kernel {
                Ok(()) => prop_assert_eq!(walk, Err(ErrorKind::AlreadyExists)),
                error => prop_assert_eq!(error, walk, "mkdir {:?}", path),
            }
        }
        place.assert_nothing_outside_changed();
    }
}
