//! A place to measure in, packages to measure with, and what tests assert of a bench.

#[cfg(target_os = "linux")]
use crate::common::skip_unless;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::sync::OnceLock;

/// Returns a `PATH` that has no java: rows in the JVM compile for seconds before each run.
#[cfg(unix)]
fn programs() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        std::fs::create_dir_all(&directory).unwrap();
        let for_rows = ["cat", "cp", "rm", "find", "xargs", "sha256sum", "sh"];
        for name in ["node", "strace"].into_iter().chain(for_rows) {
            let link = directory.join(name);
            if let (Ok(program), false) = (which::which(name), link.exists()) {
                let _ = std::fs::remove_file(&link);
                std::os::unix::fs::symlink(program, link).unwrap();
            }
        }
        directory
    })
}

#[cfg(not(unix))]
fn programs() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// A directory to measure in and a small source tree, both gone with it.
pub(crate) struct Place {
    pub(crate) root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::under(tempfile::tempdir().unwrap())
    }

    /// A place in memory, where a flush takes no time: its system calls are the same.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        Self::under(
            tempfile::tempdir_in(memory)
                .or_else(|_| tempfile::tempdir())
                .unwrap(),
        )
    }

    fn under(root: tempfile::TempDir) -> Self {
        std::fs::create_dir(root.path().join("disk")).unwrap();
        let tree = root.path().join("tree");
        std::fs::create_dir_all(tree.join("inner/deep")).unwrap();
        std::fs::write(tree.join("package.json"), r#"{"type":"module"}"#).unwrap();
        std::fs::write(tree.join("inner/package.json"), r#"{"type":"commonjs"}"#).unwrap();
        for index in 0..20 {
            std::fs::write(
                tree.join(format!("inner/deep/{index}.js")),
                "line\r\nна́звание €\r\n",
            )
            .unwrap();
        }
        // Not UTF-8: every runtime has to put U+FFFD in the same places.
        std::fs::write(
            tree.join("inner/broken.js"),
            b"a\xff\xe2\x82 \xf0\x9f b\r\n",
        )
        .unwrap();
        Self { root }
    }

    pub(crate) fn disk(&self) -> PathBuf {
        self.root.path().join("disk")
    }

    pub(crate) fn bench(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command
            .arg("bench")
            .arg("--tree")
            .arg(self.root.path().join("tree"));
        command
            .env_remove("CI")
            .env_remove("SMALLFRY_NODE_PACKAGE")
            .env("PATH", programs())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn quick(&self) -> Command {
        let mut command = self.brief();
        command.arg("--details");
        command
    }

    /// A quick run that shows no more than its screens.
    pub(crate) fn brief(&self) -> Command {
        let mut command = self.bench();
        command.arg("--quick").arg("--dir").arg(self.disk());
        command
    }

    /// A package with the functions of node:fs, and bulk ones made of them: what the bench needs,
    /// without building it.
    pub(crate) fn package(&self) -> PathBuf {
        self.package_of(&format!("module.exports = {PACKAGE};"))
    }

    pub(crate) fn package_of(&self, script: &str) -> PathBuf {
        let dir = self.root.path().join("package");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(
            dir.join("package.json"),
            r#"{"name":"smallfry","main":"index.js"}"#,
        )
        .unwrap();
        std::fs::write(dir.join("index.js"), script).unwrap();
        std::fs::create_dir_all(dir.join("dist")).unwrap();
        std::fs::write(
            dir.join("dist/fs.js"),
            "module.exports = require('node:fs');",
        )
        .unwrap();
        dir
    }

    /// Makes an executable that runs `script` under sh.
    #[cfg(unix)]
    pub(crate) fn program(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.root.path().join("fake-node");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Place {
    /// A package that looks package.json files up.
    pub(crate) fn package_that_looks_up(&self, script: &str) -> PathBuf {
        let dir = self.package();
        std::fs::write(
            dir.join("package.json"),
            r#"{"name":"smallfry","main":"index.js","exports":{".":"./index.js","./package-json":"./look-up.js"}}"#,
        )
        .unwrap();
        std::fs::write(dir.join("look-up.js"), script).unwrap();
        dir
    }
}

pub(crate) const PACKAGE: &str = "{
    ...require('node:fs'),
    readFilesSync(paths, options) { return paths.map((path) => this.readFileSync(path, options)); },
    readFiles(paths, options) { return Promise.all(paths.map((path) => this.promises.readFile(path, options))); },
    writeFilesSync(entries) { for (const [path, data] of entries) this.writeFileSync(path, data); },
    writeFiles(entries) { return Promise.all(entries.map(([path, data]) => this.promises.writeFile(path, data))); },
}";

/// Functions with the option `durability`, in the plainest way.
pub(crate) const DURABLE: &str = "
    const fs = require('node:fs');
    const { dirname } = require('node:path');
    const flush = (path, call) => {
        const fd = fs.openSync(path, 'r');
        call(fd);
        fs.closeSync(fd);
    };
    const writeFileSync = (path, data, options) => {
        const { durability, replace } = Object(options);
        if (durability === undefined) return fs.writeFileSync(path, data, options);
        if (!['none', 'data', 'full'].includes(durability)) throw new TypeError('no such durability');
        const temporary = replace ? `${path}.test` : path;
        fs.writeFileSync(temporary, data);
        if (durability === 'data') flush(temporary, fs.fdatasyncSync);
        if (durability === 'full') flush(temporary, fs.fsyncSync);
        if (replace) fs.renameSync(temporary, path);
        if (durability === 'full') flush(dirname(path), fs.fsyncSync);
    };
    const writeFilesSync = (entries, options) => {
        for (const [path, data] of entries) writeFileSync(path, data, options);
    };
    const promises = { ...fs.promises, writeFile: async (...all) =>
        (typeof all[0] === 'string' ? writeFileSync(...all) : fs.promises.writeFile(...all)) };
";

/// Returns the script of a package that writes durably.
pub(crate) fn durable() -> String {
    format!(
        "{DURABLE} module.exports = {{ ...{PACKAGE}, writeFileSync, writeFilesSync, promises, \
         writeFiles: async (...all) => writeFilesSync(...all) }};"
    )
}

pub(crate) fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().next().is_none()
}

/// Asserts that the bench succeeds, and says all `parts`.
pub(crate) fn assert_says(bench: &mut Command, parts: &[&str]) {
    assert_ends_saying(bench, true, parts);
}

/// Asserts that the bench measures what it can, says all `parts`, and fails.
pub(crate) fn assert_fails_saying(bench: &mut Command, parts: &[&str]) {
    assert_ends_saying(bench, false, parts);
}

pub(crate) fn assert_ends_saying(bench: &mut Command, success: bool, parts: &[&str]) {
    let output = bench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), success, "{said}{complaints}");
    let unwrapped = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        let is_said = said.contains(part) || unwrapped.contains(part);
        assert!(is_said, "{part:?} is not in {said}");
    }
}

/// Finds a row of a scenario or case in the JSON file.
pub(crate) fn row_named<'a>(within: &'a Value, name: &str) -> &'a Value {
    let rows = within["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["implementation"] == name)
        .unwrap_or_else(|| panic!("no row {name}"))
}

/// Returns the JSON of a run, which must succeed, say all `parts`, and leave nothing.
pub(crate) fn measured(place: &Place, bench: &mut Command, parts: &[&str]) -> Value {
    let file = place.root.path().join("results.json");
    assert_says(bench.arg("--json").arg(&file), parts);
    assert!(is_empty(&place.disk()));
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

pub(crate) fn cases_of<'a>(json: &'a Value, scenario: &str) -> &'a [Value] {
    json[scenario]["cases"].as_array().unwrap()
}

/// Asserts that a row did all its work in every round.
pub(crate) fn assert_did(row: &Value, files: u64, bytes: u64) {
    let name = &row["implementation"];
    assert_eq!(row["error"], Value::Null, "{name}");
    for run in row["runs"].as_array().unwrap() {
        assert_eq!(run["files"], files, "{name}");
        assert_eq!(run["bytes"], bytes, "{name}");
        assert!(run["usage"]["wall_ns"].as_u64().unwrap() > 0, "{name}");
    }
}

/// The counts of a row's run that was watched: `[fdatasync, fsync, fsync of directories, syncfs,
/// sync_file_range]`.
#[cfg(target_os = "linux")]
pub(crate) fn flushes(row: &Value) -> [u64; 5] {
    [
        "fdatasync",
        "fsync",
        "fsync_directory",
        "syncfs",
        "sync_file_range",
    ]
    .map(|call| row["flushes"][call].as_u64().unwrap())
}

#[cfg(target_os = "linux")]
pub(crate) fn strace_is_here() -> bool {
    let here = Command::new("strace").arg("-V").output().is_ok();
    skip_unless(here, "strace is not installed");
    here
}

#[cfg(target_os = "linux")]
pub(crate) fn is_mounted_below(dir: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.contains(dir.to_str().unwrap())
}

#[cfg(target_os = "linux")]
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
        .unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Look-ups of package.json files in the plainest way, beside the functions of a package.
pub(crate) const LOOKS_UP: &str = "
    const fs = require('node:fs');
    const { basename, dirname, join } = require('node:path');
    const formats = ['unknown', 'commonjs', 'module', 'json'];
    const typeOf = (dir) => {
        if (dirname(dir) === dir || basename(dir) === 'node_modules') return 'none';
        const file = join(dir, 'package.json');
        return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).type : typeOf(dirname(dir));
    };
    const nearestType = (path) => typeOf(dirname(path));
    const moduleFormat = (path) => {
        if (path.endsWith('.json')) return 'json';
        return nearestType(path) === 'module' ? 'module' : 'commonjs';
    };
    const moduleFormats = (paths) => Uint8Array.from(paths, (path) => formats.indexOf(moduleFormat(path)));
    const all = { formats, clear() {}, nearestType, moduleFormat, moduleFormats };
    module.exports = { ...all, revalidating: () => all };
";

pub(crate) const SCRIPTS: [&str; 8] = [
    "Node sync",
    "Node callback",
    "Node Promise.all",
    "Node Promise.all A/A",
    "smallfry sync",
    "smallfry Promise.all",
    "smallfry bulk sync",
    "smallfry bulk",
];

pub(crate) const IN_RUST: [&str; 6] = [
    "Rust std",
    "smallfry in Rust",
    "smallfry bulk in Rust",
    "bulk Rust, calling thread",
    "bulk Rust, 4 threads",
    "raw system calls",
];

pub(crate) const CLOSERS: [&str; 6] = [
    "std",
    "std A/A",
    "close_already's design",
    "smallfry Auto",
    "smallfry Always",
    "smallfry Never",
];
