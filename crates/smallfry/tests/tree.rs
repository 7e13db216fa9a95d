//! The files of a tree: which come, in which order, and how errors are reported. A pattern must
//! never miss a file that it matches, however many directories are skipped. A generated comparison
//! checks that.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use common::{Directory, assert_error};
use globset::GlobBuilder;
use proptest::prelude::*;
use smallfry::bulk::Reader;
use smallfry::tree::{TreeOptions, Walk};
use smallfry::{Error, Operation, WriteOptions};

const SITE: &[&str] = &[
    ".env",
    ".vitepress/config.ts",
    ".vitepress/theme/index.ts",
    "README.md",
    "content/.draft.md",
    "content/about.md",
    "content/blog/2024/first.md",
    "content/blog/2024/photo.jpg",
    "content/blog/2025/second.md",
    "content/blog/index.md",
    "content/drafts/idea.md",
    "dist/index.html",
    "node_modules/pkg/README.md",
    "src/[id].ts",
    "src/app.ts",
    "src/deep/er/app.test.ts",
];

fn make(directory: &Directory, files: &[&str]) {
    for file in files {
        let mut options = WriteOptions::new();
        options.create_parents(true);
        options.write(directory.path(file), *file).unwrap();
    }
}

/// Paths below the root with `/` between names.
fn below(root: &Path, walk: Walk) -> Vec<String> {
    walk.map(|path| {
        let path = path.unwrap();
        let names = path.strip_prefix(root).unwrap().iter();
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        names.join("/")
    })
    .collect()
}

#[track_caller]
fn assert_files(directory: &Directory, options: &TreeOptions, expected: &[&str]) {
    let root = directory.path("");
    assert_eq!(below(&root, options.walk(&root).unwrap()), expected);
}

fn matching(patterns: &[&str]) -> TreeOptions {
    let mut options = TreeOptions::new();
    for pattern in patterns {
        options.matching(*pattern);
    }
    options
}

#[test]
fn files_come_sorted_by_name() {
    let directory = Directory::new();
    make(
        &directory,
        &["b.txt", "a.txt", "a/z", "a/b/c", "B", "a-", "é", "c/d"],
    );
    fs::create_dir(directory.path("empty")).unwrap();
    let expected = ["B", "a/b/c", "a/z", "a-", "a.txt", "b.txt", "c/d", "é"];
    assert_files(&directory, &TreeOptions::new(), &expected);
    // Files are named as the root was named.
    let root = directory.path("a/../a/.");
    let files: Vec<_> = TreeOptions::new().walk(&root).unwrap().flatten().collect();
    assert_eq!(files, [root.join("b/c"), root.join("z")]);
}

#[test]
fn patterns() {
    let directory = Directory::new();
    make(&directory, SITE);
    for (patterns, expected) in [
        (
            &["content/**/*.md"][..],
            &[
                "content/about.md",
                "content/blog/2024/first.md",
                "content/blog/2025/second.md",
                "content/blog/index.md",
                "content/drafts/idea.md",
            ][..],
        ),
        (&["content/*.md"], &["content/about.md"]),
        (&["*.md"], &["README.md"]),
        (&["./*.md"], &["README.md"]),
        (
            &["**/README.md"],
            &["README.md", "node_modules/pkg/README.md"],
        ),
        (
            &["content/*/*/*.{md,jpg}"],
            &[
                "content/blog/2024/first.md",
                "content/blog/2024/photo.jpg",
                "content/blog/2025/second.md",
            ],
        ),
        (
            &["{content/blog,src}/*"],
            &["content/blog/index.md", "src/[id].ts", "src/app.ts"],
        ),
        (
            &["{dist/**,content/*.md}"],
            &["content/about.md", "dist/index.html"],
        ),
        (
            &["src/**/*.ts", "dist/**"],
            &[
                "dist/index.html",
                "src/[id].ts",
                "src/app.ts",
                "src/deep/er/app.test.ts",
            ],
        ),
        (
            &["content/blog/202[5-9]/*"],
            &["content/blog/2025/second.md"],
        ),
        (&["src/\\[id\\].ts"], &["src/[id].ts"]),
        (&["src/???.ts"], &["src/app.ts"]),
        (&["SRC/*.TS"], &[]),
        (&["content"], &[]),
        (&["**/*.nothing"], &[]),
    ] {
        assert_files(&directory, &matching(patterns), expected);
    }
}

#[test]
fn ignore_patterns_leave_files_out() {
    let directory = Directory::new();
    make(&directory, SITE);
    let mut options = matching(&["**/*.md"]);
    options
        .ignoring("**/node_modules/**")
        .ignoring("content/drafts");
    let expected = [
        "README.md",
        "content/about.md",
        "content/blog/2024/first.md",
        "content/blog/2025/second.md",
        "content/blog/index.md",
    ];
    assert_files(&directory, &options, &expected);
    options.ignoring("content/blog/").ignoring("*.md");
    assert_files(&directory, &options, &["content/about.md"]);
}

#[test]
fn hidden_files_come_if_named_or_asked_for() {
    let directory = Directory::new();
    make(&directory, SITE);
    make(&directory, &[".git/config"]);
    assert_files(&directory, &matching(&["**/*.draft.md", "*env"]), &[]);
    assert_files(&directory, &matching(&[".env"]), &[".env"]);
    assert_files(
        &directory,
        &matching(&[".vitepress/**/*.ts", "**/.draft.*"]),
        &[
            ".vitepress/config.ts",
            ".vitepress/theme/index.ts",
            "content/.draft.md",
        ],
    );
    let mut options = matching(&["**/{.env,*.draft.md,config*}"]);
    options.hidden(true);
    let expected = [".env", ".vitepress/config.ts", "content/.draft.md"];
    assert_files(&directory, &options, &expected);
    options.ignore_files(false);
    let expected = [
        ".env",
        ".git/config",
        ".vitepress/config.ts",
        "content/.draft.md",
    ];
    assert_files(&directory, &options, &expected);
    // The root itself may be hidden.
    let root = directory.path(".vitepress");
    let walk = matching(&["*.ts"]).walk(&root).unwrap();
    assert_eq!(below(&root, walk), ["config.ts"]);
}

#[test]
fn nothing_is_walked_beneath_a_directory() {
    let directory = Directory::new();
    make(&directory, &["a"]);
    let root = directory.path("");
    let mut reader = Reader::new();
    assert_eq!(
        reader
            .read_tree(&root, &TreeOptions::new())
            .unwrap()
            .count(),
        1
    );
    reader.within(&root).unwrap();
    let error = reader.read_tree(&root, &TreeOptions::new()).err().unwrap();
    assert_error(
        &error,
        Operation::Readdir,
        Some(&root),
        ErrorKind::InvalidInput,
    );
}

#[test]
fn depth() {
    let directory = Directory::new();
    make(&directory, &["a", "b/c", "b/d/e"]);
    let mut options = TreeOptions::new();
    for (depth, expected) in [
        (Some(1), &["a"][..]),
        (Some(2), &["a", "b/c"]),
        (Some(3), &["a", "b/c", "b/d/e"]),
        (None, &["a", "b/c", "b/d/e"]),
    ] {
        assert_files(&directory, options.max_depth(depth), expected);
    }
}

#[test]
fn ignore_rules_below_the_root() {
    let directory = Directory::new();
    make(
        &directory,
        &[
            "a.log", "keep.log", "a/b.log", "a/c", "out/x", "a/out/y", "z", "a/only/n",
        ],
    );
    fs::write(
        directory.path(".gitignore"),
        "*.log\n!keep.log\n/out/\n{broken\n",
    )
    .unwrap();
    fs::write(directory.path("a/.ignore"), "!b.log\nonly\n").unwrap();
    // A copy without a repository gives the same files as the repository.
    for _ in 0..2 {
        let expected = ["a/b.log", "a/c", "a/out/y", "keep.log", "z"];
        assert_files(&directory, &TreeOptions::new(), &expected);
        // A pattern never brings back an ignored file.
        assert_files(&directory, &matching(&["*.log", "out/*"]), &["keep.log"]);
        fs::create_dir_all(directory.path(".git")).unwrap();
    }
    let all = [
        "a/b.log", "a/c", "a/only/n", "a/out/y", "a.log", "keep.log", "out/x", "z",
    ];
    assert_files(&directory, TreeOptions::new().ignore_files(false), &all);
}

/// Files that should have been ignored must not come without a word.
#[cfg(unix)]
#[test]
fn unreadable_ignore_files_are_errors() {
    let directory = Directory::new();
    make(&directory, &["a/x", "b/x", "c/x", "d/x", "d/.gitignore/x"]);
    for (rules, target) in [("b/.gitignore", ".gitignore"), ("c/.ignore", "nowhere")] {
        std::os::unix::fs::symlink(target, directory.path(rules)).unwrap();
    }
    let found: Vec<_> = TreeOptions::new()
        .walk(directory.path(""))
        .unwrap()
        .collect();
    let [Ok(a), Err(error), Ok(b), Ok(c), Ok(d)] = &found[..] else {
        panic!("{found:?}");
    };
    let expected = ["a/x", "b/x", "c/x", "d/x"].map(|name| directory.path(name));
    assert_eq!([a, b, c, d], expected.each_ref());
    let rules = directory.path("b/.gitignore");
    assert_eq!(
        (error.operation(), error.path()),
        (Operation::Open, Some(&*rules))
    );
    for options in [
        TreeOptions::new().ignore_files(false),
        TreeOptions::new().max_depth(Some(1)),
        matching(&["a/*"]).ignore_files(true),
    ] {
        assert!(
            options
                .walk(directory.path(""))
                .unwrap()
                .all(|found| found.is_ok())
        );
    }
}

#[test]
fn ignore_rules_above_the_root_reach_as_far_as_the_repository() {
    let directory = Directory::new();
    make(
        &directory,
        &[
            "repo/content/a.md",
            "repo/content/b.log",
            "repo/content/c.tmp",
        ],
    );
    fs::write(directory.path(".gitignore"), "*.md\n").unwrap();
    fs::write(directory.path("repo/.gitignore"), "*.log\n").unwrap();
    fs::write(directory.path("repo/content/.gitignore"), "*.tmp\n").unwrap();
    let root = directory.path("repo/content");
    let files = || below(&root, TreeOptions::new().walk(&root).unwrap());
    // No repository: only rules below the root count.
    assert_eq!(files(), ["a.md", "b.log"]);
    fs::create_dir(directory.path("repo/.git")).unwrap();
    assert_eq!(files(), ["a.md"]);
}

#[test]
fn invalid_patterns_are_errors() {
    let directory = Directory::new();
    let root = directory.path("");
    for pattern in [
        "", "./", "/abs/*", "a/../b", "..", "!a", "{a", "[z-a]", "a/[", "content/",
    ] {
        let error = matching(&[pattern]).walk(&root).err().unwrap();
        assert_error(
            &error,
            Operation::Readdir,
            Some(&root),
            ErrorKind::InvalidInput,
        );
        assert!(
            error.to_string().contains(&format!("`{pattern}`")),
            "{error}"
        );
        let ignored = TreeOptions::new().ignoring(pattern).walk(&root);
        assert_eq!(ignored.is_ok(), pattern == "content/", "{pattern}");
    }
}

#[test]
fn impossible_roots_are_errors() {
    let directory = Directory::new();
    make(&directory, &["file"]);
    for (root, kind) in [
        ("missing", ErrorKind::NotFound),
        ("file", ErrorKind::NotADirectory),
    ] {
        let root = directory.path(root);
        let error = TreeOptions::new().walk(&root).err().unwrap();
        assert_error(&error, Operation::Readdir, Some(&root), kind);
        assert!(error.raw_os_error().is_some());
    }
    fs::create_dir(directory.path("empty")).unwrap();
    let mut walk = TreeOptions::new().walk(directory.path("empty")).unwrap();
    assert!(walk.next().is_none() && walk.next().is_none());
}

/// Directories are read when their turn comes. One that cannot be read is an error in its place.
#[test]
fn a_removed_directory_does_not_stop_the_walk() {
    let directory = Directory::new();
    make(&directory, &["a", "b/x", "c/d/x", "e/x", "f"]);
    let mut walk = TreeOptions::new().walk(directory.path("")).unwrap();
    assert_eq!(walk.next().unwrap().unwrap(), directory.path("a"));
    fs::remove_dir_all(directory.path("b")).unwrap();
    make(&directory, &["c/new"]);
    let error = walk.next().unwrap().unwrap_err();
    assert_error(
        &error,
        Operation::Readdir,
        Some(&directory.path("b")),
        ErrorKind::NotFound,
    );
    // The error has the system's number, so that a lack of descriptors can be recognized.
    assert!(error.raw_os_error().is_some());
    let rest: Result<Vec<_>, Error> = walk.collect();
    let expected = ["c/d/x", "c/new", "e/x", "f"].map(|name| directory.path(name));
    assert_eq!(rest.unwrap(), expected);
}

#[test]
fn a_walk_can_move_to_another_thread() {
    fn is_send<T: Send + 'static>(_: &T) {}
    let directory = Directory::new();
    is_send(&TreeOptions::new().walk(directory.path("")).unwrap());
}

/// The roots are relative to the current directory. There is one per process, so this needs a
/// process of its own.
#[test]
fn relative_roots_begin_at_the_current_directory() {
    let directory = Directory::new();
    make(&directory, &["-/x", "a"]);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "child_in_a_directory",
            "--ignored",
            "--nocapture",
        ])
        .current_dir(directory.path(""))
        .env("SMALLFRY_CHILD", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[test]
#[ignore = "the child that is in another directory"]
fn child_in_a_directory() {
    if std::env::var_os("SMALLFRY_CHILD").is_none() {
        return;
    }
    for (root, expected) in [
        ("", &["-/x", "a"][..]),
        (".", &["./-/x", "./a"]),
        ("-", &["-/x"]),
        ("./-", &["./-/x"]),
    ] {
        let files = TreeOptions::new().walk(root).unwrap();
        let files: Vec<PathBuf> = files.map(Result::unwrap).collect();
        let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(files, expected, "{root}");
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn links_to_files_are_files_and_links_to_directories_are_followed_if_asked() {
        let directory = Directory::new();
        make(&directory, &["a/f", "b/g"]);
        symlink("../a/f", directory.path("b/file")).unwrap();
        symlink("../a", directory.path("b/directory")).unwrap();
        let mut options = TreeOptions::new();
        assert_files(&directory, &options, &["a/f", "b/file", "b/g"]);
        options.follow_links(true);
        assert_files(
            &directory,
            &options,
            &["a/f", "b/directory/f", "b/file", "b/g"],
        );
        // A root that is a link is always walked.
        let root = directory.path("b/directory");
        assert_eq!(below(&root, TreeOptions::new().walk(&root).unwrap()), ["f"]);
    }

    #[test]
    fn links_that_lead_back_or_nowhere_are_errors_in_their_place() {
        let directory = Directory::new();
        make(&directory, &["a/b/f.md", "z.md"]);
        symlink("../..", directory.path("a/b/loop")).unwrap();
        symlink("nowhere", directory.path("a/c.md")).unwrap();
        let walk = |options: &TreeOptions| {
            let walk = options.walk(directory.path("")).unwrap();
            let show = |item: Result<PathBuf, Error>| match item {
                Ok(path) => {
                    let path = path.strip_prefix(directory.path("")).unwrap().to_owned();
                    (None, path)
                }
                Err(error) => {
                    let path = error.path().unwrap().strip_prefix(directory.path(""));
                    (Some(error.operation()), path.unwrap().to_owned())
                }
            };
            walk.map(show).collect::<Vec<_>>()
        };
        let fine = |path: &str| (None, PathBuf::from(path));
        let failed = |operation, path: &str| (Some(operation), PathBuf::from(path));
        let nowhere = failed(Operation::Stat, "a/c.md");
        let back = failed(Operation::Readdir, "a/b/loop");

        let mut options = TreeOptions::new();
        assert_eq!(
            walk(&options),
            [fine("a/b/f.md"), nowhere.clone(), fine("z.md")]
        );
        options.follow_links(true);
        assert_eq!(
            walk(&options),
            [
                fine("a/b/f.md"),
                back.clone(),
                nowhere.clone(),
                fine("z.md")
            ]
        );
        // A file that was not asked for is no error.
        let mut options = matching(&["a/*.md"]);
        assert_eq!(walk(&options), std::slice::from_ref(&nowhere));
        assert_eq!(walk(options.follow_links(true)), [nowhere]);
        let mut options = matching(&["**/z.md"]);
        assert_eq!(walk(&options), [fine("z.md")]);
        assert_eq!(walk(options.follow_links(true)), [back, fine("z.md")]);
    }

    #[test]
    fn special_files_are_left_out() {
        let directory = Directory::new();
        make(&directory, &["a", "z"]);
        let _socket = UnixListener::bind(directory.path("socket")).unwrap();
        symlink("socket", directory.path("link")).unwrap();
        symlink("/dev/null", directory.path("null")).unwrap();
        assert_files(&directory, &TreeOptions::new(), &["a", "z"]);
    }

    #[test]
    fn names_that_are_not_unicode_are_found() {
        let directory = Directory::new();
        let name = OsStr::from_bytes(b"\xff\xfe.md");
        let path = directory.path("").join(name);
        if fs::write(&path, "").is_err() {
            return println!(
                "skipped names_that_are_not_unicode_are_found: this file system refuses them"
            );
        }
        for options in [matching(&["*.md"]), TreeOptions::new()] {
            let mut walk = options.walk(directory.path("")).unwrap();
            assert_eq!(walk.next().unwrap().unwrap(), path);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_descriptor_is_held_between_files() {
        let directory = Directory::new();
        make(&directory, &["a/b/c/d/e", "a/b/f", "g"]);
        fs::write(directory.path(".gitignore"), "x").unwrap();
        let held = || {
            let entries = fs::read_dir("/proc/self/fd").unwrap();
            let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
            targets
                .filter(|target| target.starts_with(directory.path("")))
                .count()
        };
        let walk = TreeOptions::new().walk(directory.path("")).unwrap();
        let mut files = 0;
        for file in walk {
            file.unwrap();
            files += 1;
            assert_eq!(held(), 0);
        }
        assert_eq!(files, 3);
    }
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "ab", "a.md", "b.md", ".a", ".a.md"]).prop_map(String::from)
}

fn patterns_of_names() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "b", "*", "**", "*.md", "?", "a*", "{a,b}", "{a/b,b}", "[ab]", "a**", "**b", ".a",
        "{**,b}", ".*", "[!a]*",
    ]);
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

/// Lists every file below, in the simplest way.
fn listed(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            listed(root, &entry.path(), files);
        } else {
            files.push(entry.path().strip_prefix(root).unwrap().to_owned());
        }
    }
}

proptest! {
    /// Skipping directories makes no difference: the files are the same as from reading everything
    /// and matching whole paths.
    #[test]
    fn skipping_directories_loses_no_file(
        files in prop::collection::vec(prop::collection::vec(names(), 1..5), 0..20),
        wanted in prop::collection::vec(patterns_of_names(), 0..3),
        unwanted in prop::collection::vec(patterns_of_names(), 0..2),
    ) {
        let directory = Directory::new();
        let root = directory.path("");
        for names in &files {
            let path = root.join(names.join("/"));
            // Where a file already stands, none can be made below it.
            WriteOptions::new().create_parents(true).write(path, "").ok();
        }
        let mut options = matching(&wanted.iter().map(String::as_str).collect::<Vec<_>>());
        options.hidden(true);
        for pattern in &unwanted {
            options.ignoring(pattern.as_str());
        }
        let found = below(&root, options.walk(&root).unwrap());

        let matchers = |patterns: &[String]| -> Vec<_> {
            let build = |pattern: &String| {
                GlobBuilder::new(pattern).literal_separator(true).build().unwrap().compile_matcher()
            };
            patterns.iter().map(build).collect()
        };
        let (wanted, unwanted) = (matchers(&wanted), matchers(&unwanted));
        let mut expected = Vec::new();
        listed(&root, &root, &mut expected);
        expected.retain(|path| {
            (wanted.is_empty() || wanted.iter().any(|glob| glob.is_match(path)))
                // In an ignored directory everything is ignored.
                && !path.ancestors().filter(|path| !path.as_os_str().is_empty())
                    .any(|path| unwanted.iter().any(|glob| glob.is_match(path)))
        });
        expected.sort();
        let found: Vec<_> = found.iter().map(PathBuf::from).collect();
        prop_assert_eq!(&found, &expected);
    }
}
