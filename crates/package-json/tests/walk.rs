//! The search for a package.json, compared with Node's own functions, in random trees, from paths
//! and from URLs. A search that stops a directory too early or too late gives a file another
//! format.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Random, ask, nodes};
use serde_json::{Value as Json, json};
use smallfry_package_json::{Cache, Error, ModuleType, Package, Problem, Revalidate};

const NAMES: &[&str] = &[
    "a",
    "b",
    "node_modules",
    "node_modules",
    "x_node_modules",
    ".hidden",
    "ü x",
    "%41",
    "package.json",
];

/// Spellings of names in a URL, and the names that they stand for in a path.
const ENCODED: &[(&str, &str)] = &[
    ("ü x", "%C3%BC%20x"),
    ("%41", "%2541"),
    ("node_modules", "%6eode_modules"),
    ("a", "%61"),
    ("b", "x/../b"),
    ("b", "./b"),
];

const TEXTS: &[&str] = &[
    r#"{"type":"module","name":"m"}"#,
    r#"{"type":"commonjs","name":"c"}"#,
    r#"{"name":"n"}"#,
    "{}",
    r#"{"type":1}"#,
];

fn pick<'a, T>(random: &mut Random, of: &'a [T]) -> &'a T {
    &of[random.below(of.len())]
}

/// Makes directories, most of them with a package.json. Some of those are directories themselves.
fn grow(random: &mut Random, directory: &Path, depth: usize) {
    fs::create_dir_all(directory).unwrap();
    let config = directory.join("package.json");
    match random.below(12) {
        0..4 => {}
        4..6 if !config.is_file() => fs::create_dir_all(config.join("in")).unwrap(),
        _ if config.is_dir() => {}
        _ => fs::write(config, pick(random, TEXTS)).unwrap(),
    }
    for _ in 0..random.below(4) {
        let below = directory.join(pick(random, NAMES));
        if depth > 0 && !below.is_file() {
            grow(random, &below, depth - 1);
        }
    }
}

fn question(random: &mut Random, root: &str) -> (&'static str, String) {
    let is_scope = random.below(2) == 0;
    let mut text = String::from(if is_scope { "file://" } else { "" });
    text.push_str(root);
    for _ in 0..random.below(6) {
        text.push('/');
        let name = *pick(random, NAMES);
        let encoded = ENCODED.iter().filter(|(plain, _)| *plain == name);
        let encoded: Vec<&str> = encoded.map(|(_, encoded)| *encoded).collect();
        let is_needed = name.starts_with('%') || name.starts_with('ü');
        if is_scope && !encoded.is_empty() && (is_needed || random.below(3) == 0) {
            text.push_str(pick::<&str>(random, &encoded));
        } else {
            text.push_str(name);
        }
    }
    text.push_str(pick::<&str>(random, &["/f.js", "/f.js", "/", ""]));
    (if is_scope { "scope" } else { "nearest" }, text)
}

fn told(package: &Package) -> Json {
    let module_type = match package.module_type() {
        ModuleType::None => "none",
        ModuleType::CommonJs => "commonjs",
        ModuleType::Module => "module",
    };
    json!({ "path": package.path(), "name": package.fields().name, "type": module_type })
}

fn error_of(error: &Error) -> Json {
    let code = match error.problem() {
        Problem::Url(url) => url.code().unwrap_or(url.class()),
        _ => "ERR_INVALID_PACKAGE_CONFIG",
    };
    json!({ "error": code })
}

fn ours(cache: &Cache, call: &str, text: &str) -> Json {
    if call == "scope" {
        return match cache.scope(text) {
            Ok(scope) => match scope.package {
                Some(package) => told(&package),
                None => json!(scope.path),
            },
            Err(error) => error_of(&error),
        };
    }
    match cache.nearest(text) {
        Ok(package) => package.map_or(Json::Null, |package| told(&package)),
        Err(error) => error_of(&error),
    }
}

#[test]
fn node_finds_the_same_package_json() {
    let Some(mut nodes) = nodes("node_finds_the_same_package_json") else {
        return;
    };
    // It has other functions for this.
    nodes.retain(|node| !node.ends_with("node22/bin/node"));
    let count = std::env::var("SMALLFRY_TEST_WALKS");
    let count: usize = count.map_or(20, |count| count.parse().unwrap());
    for seed in 0..count {
        let mut random = Random(seed as u64);
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        grow(&mut random, &root, 5);
        let questions: Vec<(&str, String)> = (0..300)
            .map(|_| question(&mut random, root.to_str().unwrap()))
            .collect();
        let input: String = questions
            .iter()
            .map(|question| json!(question).to_string() + "\n")
            .collect();
        for node in &nodes {
            let found = ask(
                node,
                &["--expose-internals", "--no-warnings"],
                "walk.js",
                &input,
            );
            assert_eq!(found.len(), questions.len());
            for policy in [Revalidate::Never, Revalidate::OnChange] {
                let cache = Cache::new().with(policy);
                for ((call, text), found) in questions.iter().zip(&found) {
                    let ours = ours(&cache, call, text);
                    assert_eq!(
                        ours,
                        *found,
                        "seed {seed}: {call} of {text} by {}",
                        node.display()
                    );
                }
            }
        }
    }
}
