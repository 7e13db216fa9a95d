//! Guards against paths that leave their directory: an archive could then overwrite any file of the
//! user.
//!
//! `openat2` and the walk must keep the same promises. Tests compare the two on generated trees,
//! and run both while a thread replaces a directory with a link that leads out.

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

/// A directory `in`, beneath which paths are resolved, and a directory `out` beside it, which holds
/// a secret.
struct Fixture(TempDir);

impl Fixture {
    fn new() -> Self {
        let fixture = Self(tempfile::tempdir().unwrap());
        fs::create_dir(fixture.path("in")).unwrap();
        fs::create_dir(fixture.path("out")).unwrap();
        fs::write(fixture.path("out/secret"), "secret").unwrap();
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Opens the directory `in` twice: resolved by the system if it can, and by the walk.
    fn roots(&self) -> [Root; 2] {
        let open = || Root::open_dir(&self.path("in")).unwrap();
        let roots = [open(), open().by_walk()];
        if !roots[0].directory.is_by_kernel() {
            // As common::skip, which unit tests cannot reach.
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
fn paths_that_stay_beneath_work() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("in/a/b")).unwrap();
    symlink("a/b", fixture.path("in/link")).unwrap();
    symlink("../../a/b/./", fixture.path("in/a/b/around")).unwrap();
    symlink("b/new", fixture.path("in/a/dangling")).unwrap();
    for root in fixture.roots() {
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
        // A dangling link: the file is made at its target, as without a root.
        write(&root, "a/dangling", "x").unwrap();
        assert_eq!(fs::read(fixture.path("in/a/b/new")).unwrap(), b"x");

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
            fs::remove_dir(fixture.path(path)).unwrap();
        }
    }
    fixture.assert_nothing_outside_changed();
}

#[test]
fn paths_that_lead_out_are_refused() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("in/a")).unwrap();
    fs::write(fixture.path("in/a/f"), "").unwrap();
    symlink("../out", fixture.path("in/up")).unwrap();
    symlink("a/../up", fixture.path("in/around")).unwrap();
    symlink("../out/new", fixture.path("in/dangling")).unwrap();
    // An absolute link is refused even if it leads back in.
    symlink(fixture.path("in/a"), fixture.path("in/absolute")).unwrap();
    symlink("..", fixture.path("in/a/root")).unwrap();
    let absolute = fixture.path("in/a/f");
    for root in fixture.roots() {
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
                let expected = format!("the path leads out of {}", fixture.path("in").display());
                assert_eq!(error.to_string(), expected);
            }
        }
        // The link is removed, and its target stays.
        symlink("../out/secret", fixture.path("in/leaves")).unwrap();
        root.remove_file(Path::new("leaves")).unwrap();
    }
    fixture.assert_nothing_outside_changed();
}

#[test]
fn other_errors_are_the_systems_own() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("in/a")).unwrap();
    fs::write(fixture.path("in/f"), "").unwrap();
    symlink("circle", fixture.path("in/circle")).unwrap();
    symlink("f", fixture.path("in/link")).unwrap();
    symlink("missing", fixture.path("in/dangling")).unwrap();
    symlink("a", fixture.path("in/chain0")).unwrap();
    for n in 1..=40 {
        symlink(
            format!("chain{}", n - 1),
            fixture.path(&format!("in/chain{n}")),
        )
        .unwrap();
    }
    let new = O_WRONLY | O_CREAT | O_EXCL;
    let long = "x".repeat(256);
    for root in fixture.roots() {
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
    let error = Root::open_dir(&fixture.path("in/f")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
    let error = Root::open_dir(&fixture.path("in/missing")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn root_stays_the_opened_directory_after_a_rename() {
    let fixture = Fixture::new();
    fs::write(fixture.path("in/f"), "inside").unwrap();
    for root in fixture.roots() {
        fs::rename(fixture.path("in"), fixture.path("moved")).unwrap();
        symlink("out", fixture.path("in")).unwrap();
        assert_eq!(read(&root, "f").unwrap(), "inside");
        assert!(read(&root, "secret").is_err());
        fs::remove_file(fixture.path("in")).unwrap();
        fs::rename(fixture.path("moved"), fixture.path("in")).unwrap();
    }
}

/// Links that go down and up again for ever are given up, at a bounded cost.
#[test]
fn deep_paths_work_and_winding_links_are_given_up() {
    let fixture = Fixture::new();
    let deep = "d/".repeat(500);
    fs::create_dir_all(fixture.path("in").join(&deep)).unwrap();
    let winding = format!("{deep}{}", "../d/".repeat(500));
    symlink(&winding, fixture.path("in/winding")).unwrap();
    for root in fixture.roots() {
        write(&root, &format!("{deep}f"), "deep").unwrap();
        assert_eq!(read(&root, &format!("{deep}f")).unwrap(), "deep");
        let up = "../".repeat(500);
        assert!(root.stat(Path::new(&format!("{deep}{up}d"))).is_ok());
        let error = root
            .stat(Path::new(&format!("{deep}{up}../d")))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }
    let [_, walk] = fixture.roots();
    let error = walk.stat(Path::new("winding/f")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
}

/// Counts the descriptors of this process that lead into the fixture. Other tests open some
/// elsewhere.
#[cfg(target_os = "linux")]
fn descriptors(fixture: &Fixture) -> usize {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|target| target.starts_with(fixture.path("")))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn root_holds_one_descriptor() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("in/a/b")).unwrap();
    symlink("../out", fixture.path("in/up")).unwrap();
    symlink("a/b", fixture.path("in/link")).unwrap();
    for make in [|root| root, Root::by_walk] {
        let root = make(Root::open_dir(&fixture.path("in")).unwrap());
        for _ in 0..10 {
            write(&root, "link/../b/f", "x").unwrap();
            write(&root, "up/f", "x").unwrap_err();
            write(&root, "a/b/f/g", "x").unwrap_err();
            root.stat(Path::new("a/b/f")).unwrap();
            root.create_dir(Path::new("a/c")).ok();
            root.remove_file(Path::new("link/f")).unwrap();
            root.remove_file(Path::new("link/f")).unwrap_err();
        }
        assert_eq!(descriptors(&fixture), 1);
        drop(root);
        assert_eq!(descriptors(&fixture), 0);
    }
}

/// Sets its flag when dropped, also by a failed assertion, so that no thread waits for ever.
struct SetWhenDropped<'flag>(&'flag AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One thread replaces a directory with a link that leads out, while another goes through it. The
/// second gets a file beneath or an error, and nothing outside is made, changed or removed.
#[test]
fn nothing_outside_is_reached_while_a_directory_is_replaced_by_a_link() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("in/a/swapped/deep")).unwrap();
    fs::create_dir(fixture.path("out/deep")).unwrap();
    fs::write(fixture.path("in/a/swapped/deep/secret"), "inside").unwrap();
    fs::write(fixture.path("out/deep/secret"), "secret").unwrap();
    symlink("../../out", fixture.path("in/a/link")).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let swapped = fixture.path("in/a/swapped");
            while !is_over.load(Ordering::Relaxed) {
                for other in ["in/a/link", "in/a/directory"] {
                    let rest = fixture.path("in/a/rest");
                    fs::rename(&swapped, &rest).unwrap();
                    fs::rename(fixture.path(other), &swapped).unwrap_or(());
                    fs::rename(
                        &rest,
                        fixture.path(if other == "in/a/link" {
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
        for root in fixture.roots() {
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
    let mut names: Vec<_> = fs::read_dir(fixture.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["deep", "secret"]);
    assert_eq!(fs::read_dir(fixture.path("out/deep")).unwrap().count(), 1);
    assert_eq!(
        fs::read(fixture.path("out/deep/secret")).unwrap(),
        b"secret"
    );
}

/// Makes paths of a few names, so that many lead to something.
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

/// Makes a thing to put into a tree, and its path.
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

/// Puts the thing at the path, if that is possible and beneath `root`.
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

/// Returns the part of a result that must be the same for both.
fn outcome(result: io::Result<Metadata>) -> Result<u64, (ErrorKind, Option<i32>)> {
    match result {
        Ok(metadata) => Ok(metadata.ino()),
        Err(error) => Err((error.kind(), error.raw_os_error())),
    }
}

proptest! {
    /// The walk must give the same file as the kernel, or the same error.
    #[test]
    fn walk_gives_the_file_or_the_error_of_the_kernel(
        things in prop::collection::vec(things(), 0..12),
        paths in prop::collection::vec(paths(), 1..12),
    ) {
        let fixture = Fixture::new();
        let root = fixture.path("in").canonicalize().unwrap();
        for (path, thing) in &things {
            put(&root, path, thing);
        }
        let [kernel, walk] = fixture.roots();
        for path in &paths {
            let path = Path::new(path);
            prop_assert_eq!(outcome(kernel.stat(path)), outcome(walk.stat(path)), "stat {:?}", path);
            for flags in [O_RDONLY, O_WRONLY, O_RDONLY | libc::O_DIRECTORY, O_RDONLY | libc::O_NOFOLLOW] {
                let open = |root: &Root| {
                    outcome(root.open(path, flags, 0).and_then(|file| fs::File::from(file).metadata()))
                };
                prop_assert_eq!(open(&kernel), open(&walk), "open {:?} {}", path, flags);
            }
            // The kernel creates the file, and the walk finds it through the same links.
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
        fixture.assert_nothing_outside_changed();
    }
}
