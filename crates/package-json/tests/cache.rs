//! The answers of a cache, when it checks again, and how it treats bad files: on real files,
//! through public calls only. A stale or wrong answer makes a loader run a file in the wrong
//! format. The contents of files are tested in node.rs, and where they are looked for in walk.rs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use smallfry_package_json::{Cache, Extensions, Format, ModuleType, Problem, Revalidate};
use tempfile::TempDir;

const FOREVER: Revalidate = Revalidate::After(Duration::from_secs(3600));
const POLICIES: [Revalidate; 3] = [Revalidate::Never, Revalidate::OnChange, FOREVER];

/// Makes a directory with these files, and the directories above them.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Waits until a new file is old enough for its times to show a change.
fn wait_for_old_times() {
    thread::sleep(Duration::from_millis(150));
}

const MODULE: &str = r#"{"type":"module"}"#;
const COMMON: &str = r#"{"type":"commonjs"}"#;

fn type_at(cache: &Cache, path: impl AsRef<Path>) -> ModuleType {
    cache.nearest_type(path).unwrap()
}

#[test]
fn the_nearest_package_json_decides_by_every_call() {
    let dir = tree(&[
        ("package.json", MODULE),
        ("lib/package.json", COMMON),
        ("none/package.json", "{}"),
        ("node_modules/p/package.json", COMMON),
    ]);
    let at = |name: &str| dir.path().join(name);
    let files = [
        ("a.js", Some("package.json"), ModuleType::Module),
        ("src/deep/er/a.js", Some("package.json"), ModuleType::Module),
        ("lib/a.js", Some("lib/package.json"), ModuleType::CommonJs),
        ("lib/x/a.js", Some("lib/package.json"), ModuleType::CommonJs),
        ("lib", Some("package.json"), ModuleType::Module),
        ("lib/", Some("lib/package.json"), ModuleType::CommonJs),
        ("lib/.", Some("lib/package.json"), ModuleType::CommonJs),
        ("lib/x/..", Some("lib/package.json"), ModuleType::CommonJs),
        ("lib/../a.js", Some("package.json"), ModuleType::Module),
        (
            "lib//./a.js",
            Some("lib/package.json"),
            ModuleType::CommonJs,
        ),
        ("none/a.js", Some("none/package.json"), ModuleType::None),
        ("node_modules/a.js", None, ModuleType::None),
        (
            "node_modules/p/a.js",
            Some("node_modules/p/package.json"),
            ModuleType::CommonJs,
        ),
        ("node_modules/q/a.js", None, ModuleType::None),
    ];
    let paths: Vec<PathBuf> = files.iter().map(|(name, ..)| at(name)).collect();
    for policy in POLICIES {
        let one_by_one = Cache::new().with(policy);
        let batch = Cache::new().with(policy);
        for _ in 0..2 {
            let types = batch.nearest_types(&paths);
            let packages = batch.nearest_of_each(&paths);
            for (index, (name, package, module_type)) in files.iter().enumerate() {
                let expected = package.map(at);
                let found = one_by_one.nearest(at(name)).unwrap();
                assert_eq!(
                    found.as_ref().map(|found| found.path()),
                    expected.as_deref(),
                    "{name}"
                );
                assert_eq!(type_at(&one_by_one, at(name)), *module_type, "{name}");
                assert_eq!(types[index].as_ref().unwrap(), module_type, "{name}");
                assert_eq!(packages[index].as_ref().unwrap(), &found, "{name}");
                let source = one_by_one.nearest_type_source(at(name)).unwrap();
                assert_eq!(
                    source.as_ref().map(|source| source.path.clone()),
                    expected,
                    "{name}"
                );
                if let Some(source) = source {
                    assert_eq!(source.bytes, fs::read(&source.path).unwrap());
                    assert_eq!(source.module_type, *module_type);
                }
            }
        }
    }
}

#[test]
fn an_answer_is_as_old_as_its_oldest_check() {
    let dir = tree(&[("package.json", MODULE)]);
    let at = |name: &str| dir.path().join(name);
    let cache = Cache::new().with(FOREVER);
    let before = Instant::now();
    let (package, first) = cache.nearest_checked(at("a.js")).unwrap();
    assert!(package.is_some() && first >= before);
    // `sub` is checked now, but the directory above it was checked before.
    let began = Instant::now();
    assert_eq!(cache.nearest_checked(at("sub/a.js")).unwrap().1, first);
    assert_eq!(cache.scope_of_path(at("sub/a.js")).unwrap().checked, first);
    let never = cache.with(Revalidate::Never);
    for _ in 0..2 {
        assert_eq!(never.nearest_checked(at("sub/a.js")).unwrap().1, first);
    }
    for checked in cache.nearest_types_checked(&[at("a.js"), at("sub/a.js"), at("other/a.js")]) {
        assert_eq!(checked.unwrap(), (ModuleType::Module, first));
    }
    // Every file is old enough.
    wait_for_old_times();
    let again = cache.with(Revalidate::After(Duration::ZERO));
    assert!(again.nearest_checked(at("sub/a.js")).unwrap().1 > began);
    for checked in again.nearest_types_checked(&[at("a.js"), at("sub/a.js")]) {
        assert!(checked.unwrap().1 > began);
    }
    assert!(cache.nearest_checked(at("sub/a.js")).unwrap().1 > began);
}

#[test]
fn a_scope_names_where_the_search_ended() {
    let dir = tree(&[("node_modules/p/package.json", COMMON)]);
    let cache = Cache::new();
    let inside = cache
        .scope_of_path(dir.path().join("node_modules/p/a.js"))
        .unwrap();
    assert_eq!(inside.package.unwrap().path(), inside.path);
    let ended = cache
        .scope_of_path(dir.path().join("node_modules/a.js"))
        .unwrap();
    assert_eq!(ended.path, dir.path().join("node_modules/package.json"));
    assert!(ended.package.is_none());
    let root = dir.path().ancestors().last().unwrap();
    let outside = cache.scope_of_path(root.join("no such dir/a.js")).unwrap();
    assert_eq!(outside.path, root.join("package.json"));
}

#[test]
fn formats_follow_extensions_and_types() {
    let dir = tree(&[
        ("m/package.json", MODULE),
        ("c/package.json", COMMON),
        ("n/package.json", "{}"),
    ]);
    let cache = Cache::new();
    let (javascript, typescript) = (Extensions::JavaScript, Extensions::TypeScript);
    let cases = [
        ("m/a.js", Format::Module, Format::Module),
        ("c/a.js", Format::CommonJs, Format::CommonJs),
        ("n/a.js", Format::CommonJs, Format::CommonJs),
        ("m/a", Format::Module, Format::Module),
        ("m/.js", Format::Module, Format::Module),
        ("c/a.mjs", Format::Module, Format::Module),
        ("m/a.cjs", Format::CommonJs, Format::CommonJs),
        ("m/a.json", Format::Json, Format::Json),
        ("m/a.wasm", Format::Wasm, Format::Wasm),
        ("m/a.node", Format::Addon, Format::Addon),
        ("m/a.ts", Format::Unknown, Format::Module),
        ("c/a.ts", Format::Unknown, Format::CommonJs),
        ("c/a.mts", Format::Unknown, Format::Module),
        ("m/a.cts", Format::Unknown, Format::CommonJs),
        ("m/a.tsx", Format::Unknown, Format::Unknown),
        ("m/a.JS", Format::Unknown, Format::Unknown),
        ("m/a.", Format::Unknown, Format::Unknown),
    ];
    let paths = cases.map(|(name, ..)| dir.path().join(name));
    let in_one = [javascript, typescript].map(|extensions| cache.formats(&paths, extensions));
    for (index, (name, plain, typed)) in cases.into_iter().enumerate() {
        assert_eq!(
            cache.format(&paths[index], javascript).unwrap(),
            plain,
            "{name}"
        );
        assert_eq!(
            cache.format(&paths[index], typescript).unwrap(),
            typed,
            "{name}"
        );
        assert_eq!(*in_one[0][index].as_ref().unwrap(), plain, "{name}");
        assert_eq!(*in_one[1][index].as_ref().unwrap(), typed, "{name}");
    }
}

/// A change of files between two look-ups.
type Change = fn(&Path);

#[test]
fn changes_are_noticed_as_revalidate_says() {
    let changes: &[(&str, Change, ModuleType)] = &[
        ("nothing", |_| {}, ModuleType::Module),
        (
            "removed",
            |at| fs::remove_file(at.join("p/package.json")).unwrap(),
            ModuleType::None,
        ),
        (
            "written in place",
            |at| fs::write(at.join("p/package.json"), COMMON).unwrap(),
            ModuleType::CommonJs,
        ),
        (
            "another in its place",
            |at| {
                fs::write(at.join("new"), COMMON).unwrap();
                fs::rename(at.join("new"), at.join("p/package.json")).unwrap();
            },
            ModuleType::CommonJs,
        ),
        (
            "a nearer one",
            |at| fs::write(at.join("p/q/package.json"), COMMON).unwrap(),
            ModuleType::CommonJs,
        ),
        (
            "its directory moved away",
            |at| fs::rename(at.join("p"), at.join("o")).unwrap(),
            ModuleType::None,
        ),
    ];
    for (what, change, after) in changes {
        for policy in POLICIES {
            let dir = tree(&[
                ("package.json", "{}"),
                ("p/package.json", MODULE),
                ("p/q/r/a.js", ""),
            ]);
            wait_for_old_times();
            let cache = Cache::new().with(policy);
            let file = dir.path().join("p/q/r/a.js");
            let both = || {
                let batch = cache.nearest_types(std::slice::from_ref(&file));
                assert_eq!(
                    type_at(&cache, &file),
                    *batch[0].as_ref().unwrap(),
                    "{what}"
                );
                type_at(&cache, &file)
            };
            assert_eq!(both(), ModuleType::Module);
            change(dir.path());
            let noticed = policy == Revalidate::OnChange;
            assert_eq!(
                both(),
                if noticed { *after } else { ModuleType::Module },
                "{what}, {policy:?}"
            );
            assert_eq!(
                type_at(&cache.with(Revalidate::OnChange), &file),
                *after,
                "{what}"
            );
            assert_eq!(
                both(),
                *after,
                "what another look-up has found out holds for all, {what}"
            );
        }
        for forget in [
            (|cache, _| cache.clear()) as fn(&Cache, &Path),
            |cache, at| cache.invalidate(at).unwrap(),
            |cache, at| cache.invalidate(at.join("p")).unwrap(),
        ] {
            let dir = tree(&[
                ("package.json", "{}"),
                ("p/package.json", MODULE),
                ("p/q/r/a.js", ""),
            ]);
            let cache = Cache::new().with(Revalidate::Never);
            let file = dir.path().join("p/q/r/a.js");
            assert_eq!(type_at(&cache, &file), ModuleType::Module);
            change(dir.path());
            forget(&cache, dir.path());
            assert_eq!(type_at(&cache, &file), *after, "{what}");
        }
    }
}

/// A clock ticks every few milliseconds at best, so times alone do not distinguish two quick
/// writes.
#[test]
fn a_quick_change_with_equal_size_and_times_is_noticed() {
    let dir = tree(&[]);
    let (file, at) = (dir.path().join("package.json"), dir.path().join("a.js"));
    let cache = Cache::new();
    let texts = [
        (MODULE, ModuleType::Module),
        (r#"{"type":"madule"}"#, ModuleType::None),
    ];
    for round in 0..2000 {
        let (text, module_type) = texts[round % 2];
        fs::write(&file, text).unwrap();
        assert_eq!(type_at(&cache, &at), module_type, "{round}");
    }
}

#[cfg(unix)]
#[test]
fn times_set_back_do_not_hide_a_change() {
    let dir = tree(&[("package.json", MODULE)]);
    let (file, at) = (dir.path().join("package.json"), dir.path().join("a.js"));
    let old = fs::FileTimes::new()
        .set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    let set = || {
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_times(old)
            .unwrap();
    };
    set();
    wait_for_old_times();
    let cache = Cache::new();
    assert_eq!(type_at(&cache, &at), ModuleType::Module);
    fs::write(&file, r#"{"type":"madule"}"#).unwrap();
    set();
    assert_eq!(type_at(&cache, &at), ModuleType::None);
}

#[test]
fn threads_that_ask_at_once_share_one_read() {
    for round in 0..50 {
        let dir = tree(&[("package.json", MODULE)]);
        let cache = Cache::new().with(Revalidate::Never);
        let start = Barrier::new(4);
        let found = thread::scope(|scope| {
            let ask = |number: usize| {
                start.wait();
                cache
                    .nearest(dir.path().join(format!("{}/a.js", number % 2)))
                    .unwrap()
                    .unwrap()
            };
            let threads: Vec<_> = (0..4)
                .map(|number| scope.spawn(move || ask(number)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        assert!(
            found.iter().all(|package| Arc::ptr_eq(package, &found[0])),
            "{round}"
        );
    }
}

/// Not on Windows, where an open file cannot be replaced, and here a thread always has it open.
#[cfg(unix)]
#[test]
fn threads_get_a_whole_answer_while_files_change() {
    let dir = tree(&[("package.json", MODULE), ("p/q/a.js", "")]);
    let file = dir.path().join("p/q/a.js");
    let cache = Cache::new();
    thread::scope(|scope| {
        for policy in POLICIES {
            let (cache, file) = (cache.with(policy), &file);
            scope.spawn(move || {
                for _ in 0..3000 {
                    let batch = cache.nearest_types(&[file, file]);
                    for found in [
                        cache.nearest_type(file).unwrap(),
                        *batch[1].as_ref().unwrap(),
                    ] {
                        assert!(matches!(found, ModuleType::Module | ModuleType::CommonJs));
                    }
                }
            });
        }
        for round in 0..300 {
            fs::write(
                dir.path().join("new"),
                if round % 2 == 0 { COMMON } else { MODULE },
            )
            .unwrap();
            fs::rename(dir.path().join("new"), dir.path().join("package.json")).unwrap();
            match round % 50 {
                0 => cache.clear(),
                1 => cache.invalidate(dir.path()).unwrap(),
                _ => {}
            }
        }
    });
    assert_eq!(type_at(&cache, &file), ModuleType::Module);
}

#[test]
fn an_invalid_file_is_reported_with_its_place_and_not_remembered() {
    let dir = tree(&[("package.json", "{\n  \"type\": 1\n}"), ("p/a.js", "")]);
    let files = ["a.js", "p/a.js", "p/b.js"].map(|name| dir.path().join(name));
    for policy in POLICIES {
        fs::write(dir.path().join("package.json"), "{\n  \"type\": 1\n}").unwrap();
        let cache = Cache::new().with(policy);
        let mut errors = vec![cache.nearest(&files[0]).unwrap_err()];
        errors.extend(
            cache
                .nearest_types(&files)
                .into_iter()
                .map(Result::unwrap_err),
        );
        errors.push(cache.format(&files[1], Extensions::JavaScript).unwrap_err());
        errors.push(cache.scope_of_path(&files[1]).unwrap_err());
        errors.push(cache.nearest_type_source(&files[1]).unwrap_err());
        for error in errors {
            let invalid = error.invalid().unwrap();
            assert_eq!((invalid.line, invalid.column), (2, 11));
            assert_eq!(error.path(), dir.path().join("package.json"));
            let text = error.to_string();
            assert!(
                text.ends_with("package.json:2:11: a string is expected"),
                "{text}"
            );
            assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(
            cache
                .format(dir.path().join("a.mjs"), Extensions::JavaScript)
                .unwrap(),
            Format::Module
        );
        fs::write(dir.path().join("package.json"), MODULE).unwrap();
        assert_eq!(type_at(&cache, &files[1]), ModuleType::Module);
    }
}

#[test]
fn read_looks_only_at_the_given_path() {
    let dir = tree(&[
        ("package.json", MODULE),
        ("other.json", COMMON),
        ("broken.json", "{"),
    ]);
    let at = |name: &str| dir.path().join(name);
    let cache = Cache::new();
    let type_of = |name: &str| {
        cache
            .read(at(name))
            .unwrap()
            .map(|package| package.module_type())
    };
    assert_eq!(type_of("package.json"), Some(ModuleType::Module));
    assert_eq!(type_of("other.json"), Some(ModuleType::CommonJs));
    assert_eq!(type_of("p/package.json"), None);
    assert_eq!(type_of("none.json"), None);
    assert_eq!(type_of("package.json/"), None);
    let broken = cache.read(at("broken.json")).unwrap_err();
    assert_eq!(broken.path(), at("broken.json"));
}

#[test]
fn impossible_paths_are_errors() {
    let cache = Cache::new();
    let long = "a/".repeat(20_000) + "a.js";
    let refused = ["", "a\0b/a.js", "/a\0b.js"];
    for path in refused {
        let error = cache.nearest(path).unwrap_err();
        assert!(matches!(error.problem(), Problem::Path(_)), "{error}");
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
        assert!(cache.nearest_types(&[path])[0].is_err());
        assert!(cache.invalidate(path).is_err());
        assert!(cache.read(path).is_err());
    }
    let error = cache.nearest(&long).unwrap_err();
    assert!(matches!(error.problem(), Problem::Io(..)), "{error}");
    assert!(cache.is_empty());
}

#[test]
fn relative_paths_begin_at_the_current_directory() {
    let cache = Cache::new();
    let here = std::env::current_dir().unwrap();
    assert_eq!(
        cache.nearest("src/lib.rs").unwrap(),
        cache.nearest(here.join("src/lib.rs")).unwrap()
    );
    let scope = cache.scope_of_path("node_modules/x.js").unwrap();
    assert_eq!(scope.path, here.join("node_modules/package.json"));
}

#[cfg(unix)]
mod what_is_no_file {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    fn error_of(cache: &Cache, dir: &TempDir) -> String {
        let one = cache.nearest(dir.path().join("p/q/a.js")).unwrap_err();
        let many = cache.nearest_types(&[dir.path().join("p/q/b.js")]);
        assert_eq!(one.to_string(), many[0].as_ref().unwrap_err().to_string());
        assert_eq!(one.path(), dir.path().join("p/package.json"));
        one.to_string()
    }

    #[test]
    fn pipes_and_devices_are_errors_and_never_waited_for() {
        let cases: &[(Change, &str)] = &[
            (
                |at| assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
                "neither a file nor a directory",
            ),
            (
                |at| drop(UnixListener::bind(at).unwrap()),
                "neither a file nor a directory",
            ),
            (
                |at| symlink("/dev/zero", at).unwrap(),
                "neither a file nor a directory",
            ),
            (|at| symlink("package.json", at).unwrap(), "symbolic links"),
            (
                |at| fs::File::create(at).unwrap().set_len(1 << 30).unwrap(),
                "larger than 256 MiB",
            ),
        ];
        for (make, reason) in cases {
            let dir = tree(&[("package.json", MODULE), ("p/q/a.js", "")]);
            make(&dir.path().join("p/package.json"));
            for policy in POLICIES {
                let cache = Cache::new().with(policy);
                let text = error_of(&cache, &dir);
                assert!(text.contains(reason), "{text}");
                assert_eq!(text, error_of(&cache, &dir));
            }
        }
    }

    #[test]
    fn directories_and_dangling_links_are_ignored() {
        let dir = tree(&[
            ("package.json", MODULE),
            ("p/package.json/a.js", ""),
            ("l/a.js", ""),
        ]);
        symlink("nothing", dir.path().join("l/package.json")).unwrap();
        let cache = Cache::new();
        for name in [
            "p/a.js",
            "p/package.json/a.js",
            "l/a.js",
            "package.json/a.js",
        ] {
            assert_eq!(
                type_at(&cache, dir.path().join(name)),
                ModuleType::Module,
                "{name}"
            );
            assert_eq!(
                type_at(&cache, dir.path().join(name)),
                ModuleType::Module,
                "{name}"
            );
        }
        fs::write(dir.path().join("l/nothing"), COMMON).unwrap();
        assert_eq!(
            type_at(&cache, dir.path().join("l/a.js")),
            ModuleType::CommonJs
        );
    }

    /// Root may read everything, so a child process does this as the user `nobody`.
    #[test]
    fn unreadable_files_are_errors() {
        let dir = tree(&[
            ("package.json", MODULE),
            ("p/package.json", COMMON),
            ("p/q/a.js", ""),
        ]);
        let file = dir.path().join("p/package.json");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).unwrap();
        if fs::read(&file).is_err() {
            assert!(error_of(&Cache::new(), &dir).contains("ermission denied"));
            return;
        }
        let test = dir.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let status = Command::new(&test)
            .args(["--exact", "what_is_no_file::unreadable_files_are_errors"])
            .current_dir("/")
            .uid(65_534)
            .gid(65_534)
            .status();
        assert!(status.unwrap().success());
    }
}
