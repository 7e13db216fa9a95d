use crate::common::node_is_here;
use crate::support::{Place, assert_fails_saying, cases_of, measured, row_named};
use serde_json::Value;
use std::fs;

/// A package in whose place node:fs and this program do what smallfry's functions do.
const PACKAGE: &str = concat!(
    "const run = (...words) => execFileSync('",
    env!("CARGO_BIN_EXE_smallfry"),
    "', words, { encoding: 'utf8' });
    const hash = (path, algorithm) => run('hash', '-a', algorithm, path).split(' ')[0];
    const fs = require('node:fs');
    const { execFileSync } = require('node:child_process');
    module.exports = {
      ...fs,
      unpack: async (archive, to) => run('unpack', '-C', to, archive),
      pack: async (tree, archive) => run('pack', '-C', tree, archive, '.'),
      hashFiles: async (paths, { algorithm }) => paths.map((path) => hash(path, algorithm)),
      hashTree: async (path, { algorithm }) => ({ digest: hash(path, algorithm) }),
      copyTree: (from, to) => fs.promises.cp(from, to, { recursive: true }),
      mirrorTree: async (from, to, { compare }) => run('mirror', '--delete', ...(compare === 'contents' ? ['-c'] : []), from, to),
      removeTree: (path) => fs.promises.rm(path, { recursive: true }),
    };"
);

/// Measures the scenario once, and expects that each of these rows did its work.
fn rows_do_their_work(scenario: &str, count: usize, rows: &[&str]) -> Vec<Value> {
    let place = Place::new();
    let tree = place.root.path().join("tree");
    std::os::unix::fs::symlink("inner", tree.join("link")).unwrap();
    let mut bench = place.quick();
    bench.args([scenario, "--runs", "1", "--files", "20", "--package"]);
    let package = place.package_of(PACKAGE);
    bench.arg(&package);
    for name in ["index", "fs"] {
        let file = package.join(format!("dist/{name}.js"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, PACKAGE).unwrap();
    }
    let json = measured(&place, &mut bench, &["x node:fs"]);
    let cases = cases_of(&json, &scenario.replace('-', "_"));
    assert_eq!(cases.len(), count);
    for case in cases {
        for name in rows {
            assert!(row_named(case, name)["error"].is_null(), "{name}: {case}");
        }
    }
    cases.to_vec()
}

/// Raw system calls, by one thread and by one per core, make and read only archives that are not
/// compressed.
fn assert_raw_rows_are_of_tars(cases: &[Value]) {
    for case in cases {
        let rows = case["rows"].as_array().unwrap().iter();
        let names = rows.map(|row| row["implementation"].as_str().unwrap());
        let raw = names.filter(|name| name.starts_with("raw system calls"));
        let is_tar = case["case"]["format"] == "tar";
        assert_eq!(raw.count() > 0, is_tar, "{case}");
    }
}

#[test]
fn copy_tree_compares_each_copy_with_the_tree() {
    if node_is_here() {
        rows_do_their_work(
            "copy-tree",
            4,
            &[
                "cp -r",
                "smallfry cp",
                "Node promises.cp, filter",
                "smallfry cpSync",
                "smallfry copyTree",
                "Rust std, one thread",
                "smallfry in Rust",
                "raw system calls",
            ],
        );
    }
}

#[test]
fn mirror_compares_each_mirror_with_the_tree() {
    if node_is_here() {
        rows_do_their_work(
            "mirror",
            8,
            &["smallfry mirror", "smallfry mirrorTree", "smallfry in Rust"],
        );
    }
}

#[test]
fn remove_tree_leaves_nothing() {
    if node_is_here() {
        rows_do_their_work(
            "remove-tree",
            4,
            &[
                "rm -rf",
                "smallfry rm",
                "Node rmSync",
                "smallfry removeTree",
                "Rust std",
                "smallfry in Rust",
                "raw system calls",
            ],
        );
    }
}

#[test]
fn unpack_compares_what_was_unpacked_with_the_tree() {
    if node_is_here() {
        let cases = rows_do_their_work(
            "unpack",
            7,
            &[
                "smallfry unpack",
                "smallfry in Node",
                "Rust tar, zip",
                "smallfry in Rust",
            ],
        );
        assert_raw_rows_are_of_tars(&cases);
    }
}

#[test]
fn pack_compares_what_was_packed_with_the_tree() {
    if node_is_here() {
        let cases = rows_do_their_work(
            "pack",
            7,
            &[
                "smallfry pack",
                "smallfry in Node",
                "Rust tar, zip",
                "smallfry in Rust",
            ],
        );
        assert_raw_rows_are_of_tars(&cases);
    }
}

#[test]
fn hash_tree_compares_each_output_with_that_of_std() {
    if !node_is_here() {
        return;
    }
    rows_do_their_work(
        "hash-tree",
        4,
        &[
            "sha256sum",
            "smallfry hash, sha256",
            "smallfry hash, blake3",
            "Node crypto, sha256",
            "smallfry hashFiles, sha256",
            "smallfry hashTree, blake3",
            "Rust std, sha256",
            "Rust std, blake3",
            "smallfry in Rust, sha256",
            "smallfry in Rust, blake3",
            "raw system calls, sha256",
            "raw system calls, blake3",
        ],
    );
}

/// As extract-zip 2.0 on Node 26: nothing keeps the process alive, so it would just end.
#[test]
fn a_promise_that_is_never_settled_is_an_error_of_its_row() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let package = place.package();
    let script = "exports.copyTree = () => new Promise(() => {});";
    fs::write(package.join("dist/index.js"), script).unwrap();
    let mut bench = place.quick();
    bench.args(["copy-tree", "--runs", "1", "--cells", "font"]);
    bench.args(["--rows", "cp -r,smallfry copyTree", "--package"]);
    let parts = ["smallfry copyTree: cannot run: nothing is left to wait for"];
    assert_fails_saying(bench.arg(package), &parts);
}
