//! `smallfry scope` as a user runs it, on small packages of each kind.
//!
//! The user has an error before them, and will edit the file that is named. An answer that differs
//! from Node's, or a wrong reason, would make them edit the wrong file. The last test lets the
//! newest Node run each file, and checks how Node loaded it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const INVALID: &str = "{\n  \"name\": \"a\",\n  \"type\" \"module\"\n}";

/// A directory with packages. Its path has no links.
struct Place {
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let root = match root.to_str().unwrap().strip_prefix(r"\\?\") {
            Some(plain) => PathBuf::from(plain),
            None => root,
        };
        let place = Self {
            root,
            _directory: dir,
        };
        // A search ends here, whatever is above the temporary directory.
        fs::create_dir(place.root.join("node_modules")).unwrap();
        place
    }

    /// The directory `node_modules`, where only a test's own packages exist.
    fn none(&self) -> PathBuf {
        self.root.join("node_modules")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path: PathBuf = self.root.join(path).components().collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command.arg("scope").current_dir(&self.root);
        command
    }

    fn text(&self, files: &[&str]) -> (String, i32) {
        let output = self.command().args(files).output().unwrap();
        said(&output)
    }

    /// Returns the files, and the exit status.
    fn json(&self, files: &[&str]) -> (Vec<Value>, i32) {
        let output = self.command().arg("--json").args(files).output().unwrap();
        let (text, status) = said(&output);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema"], "smallfry-scope/1");
        (document["files"].as_array().unwrap().clone(), status)
    }

    /// Checks the answer for one file without error, as JSON and as text.
    #[track_caller]
    fn assert(&self, file: &str, expected: &Value, parts: &[&str]) {
        let (found, status) = self.json(&[file]);
        assert_eq!(found.len(), 1);
        let found = &found[0];
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&found[name], value, "{name} of {found:#}");
        }
        assert_eq!(found["file"], file);
        assert_eq!(found["error"], Value::Null, "{found:#}");
        assert_eq!(status, 0);
        let why = found["why"].as_str().unwrap();
        for part in parts {
            assert!(why.contains(part), "{part:?} is not in {why}");
        }
        // The text differs only in its line breaks.
        let (text, status) = self.text(&[file]);
        assert_eq!(status, 0, "{text}");
        let (first, rest) = text.split_once('\n').unwrap();
        let format = found["format"].as_str().unwrap();
        assert_eq!(first, format!("{format:<10}{file}"));
        assert!(rest.lines().all(|line| line.starts_with("          ")));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(rest), words(why));
    }
}

/// Checks that nothing was written to standard error, and returns the output.
fn said(output: &Output) -> (String, i32) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (
        String::from_utf8(output.stdout.clone()).unwrap(),
        output.status.code().unwrap(),
    )
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_type_in_package_json_decides() {
    let place = Place::new();
    let module = place.write("module/package.json", r#"{"type":"module"}"#);
    let common = place.write("common/package.json", r#"{"type":"commonjs"}"#);
    place.write("module/a.js", "");
    place.write("module/a", "");
    place.write("common/sub/a.js", "");
    place.write("common/a", "");
    let says = format!("{} says \"type\": \"module\".", shown(&module));
    let expected = json!({
        "format": "module", "type": "module", "reason": "type", "packageJson": shown(&module),
    });
    let to_commonjs = "To make it CommonJS: rename it to a.cjs.";
    place.assert("module/a.js", &expected, &[&says, to_commonjs]);
    place.assert("module/a", &expected, &[&says, "Up to Node 24"]);
    let expected = json!({
        "format": "commonjs", "type": "commonjs", "reason": "type", "packageJson": shown(&common),
    });
    let change = format!("change \"type\" to \"module\" in {}", shown(&common));
    let parts = [
        "says \"type\": \"commonjs\"",
        "\"Cannot use import statement outside a module\"",
        &change,
        "rename it to a.mjs",
    ];
    place.assert("common/sub/a.js", &expected, &parts);
    place.assert(
        "common/a",
        &expected,
        &["up to Node 24 `node FILE` does nothing"],
    );
}

#[test]
fn without_a_type_it_is_commonjs() {
    let place = Place::new();
    let package = place.write("app/package.json", r#"{"name":"app"}"#);
    place.write("app/src/a.js", "");
    place.write("app/src/a", "");
    let expected = json!({
        "format": "commonjs", "type": "none", "reason": "no-type", "packageJson": shown(&package),
    });
    let no_type = format!("{} has no \"type\", so it is CommonJS.", shown(&package));
    let put = format!("put \"type\": \"module\" into {}", shown(&package));
    let parts = [
        &no_type,
        "Node 20.19, 22.7 and later try it again as a module, slower and with a warning",
        "Cannot use import statement outside a module",
        &put,
        "or rename it to a.mjs.",
    ];
    place.assert("app/src/a.js", &expected, &parts);
    // Node gives no warning for these.
    place.assert("app/src/a", &expected, &["as a module, slower;"]);
}

#[test]
fn an_unknown_type_is_shown() {
    let place = Place::new();
    for (text, shown) in [
        (r#"{"type":"Module"}"#, r#""Module""#),
        (r#"{"type":"esm"}"#, r#""esm""#),
        (r#"{"type":""}"#, r#""""#),
        (r#"{"type":"a\nb"}"#, r#""a\nb""#),
    ] {
        place.write("app/package.json", text);
        let expected = json!({ "format": "commonjs", "type": "none", "reason": "unknown-type" });
        let says = format!("says \"type\": {shown}, which is neither \"module\" nor \"commonjs\"");
        place.assert("app/a.js", &expected, &[&says, "change \"type\" to"]);
    }
    // Node accepts it, although it is not JSON.
    place.write("app/package.json", r#"{"a":tru,"type":"esm"}"#);
    let expected = json!({ "reason": "no-type" });
    place.assert("app/a.js", &expected, &["has no \"type\" that Node knows"]);
}

#[test]
fn the_search_ends_at_node_modules() {
    let place = Place::new();
    place.write("package.json", r#"{"type":"module"}"#);
    place.write("node_modules/a.js", "");
    let expected = json!({
        "format": "commonjs", "type": "none", "reason": "no-package", "packageJson": null,
    });
    let ends = format!("up to {}, where Node stops", shown(&place.none()));
    place.assert("node_modules/a.js", &expected, &[&ends]);
    place.write("node_modules/p/package.json", "{}");
    let (found, _) = place.json(&["node_modules/p/a.js"]);
    let why = found[0]["why"].as_str().unwrap();
    assert!(!why.contains("To make it"), "{why}");
    assert!(!why.contains("warning"), "{why}");
}

#[test]
fn extensions_other_than_js_and_ts_decide() {
    let place = Place::new();
    let package = place.write("app/package.json", r#"{"type":"module"}"#);
    for (file, format, part) in [
        (
            "app/a.mjs",
            "module",
            "The extension .mjs makes it a module",
        ),
        (
            "app/a.cjs",
            "commonjs",
            "The extension .cjs makes it CommonJS",
        ),
        ("app/a.mts", "module", "strip its types"),
        ("app/a.cts", "commonjs", "rename it to a.mts"),
        ("app/a.json", "json", "with { type: 'json' }"),
        ("app/a.wasm", "wasm", "`import` compiles it"),
        ("app/a.node", "addon", "`require` loads it"),
    ] {
        place.write(file, "");
        let expected = json!({
            "format": format, "type": "module", "reason": "extension", "packageJson": shown(&package),
        });
        place.assert(file, &expected, &[part]);
    }
}

#[test]
fn unknown_extensions_are_explained() {
    let place = Place::new();
    place.write("module/package.json", r#"{"type":"module"}"#);
    place.write("common/package.json", "{}");
    let expected = json!({ "format": "unknown", "reason": "unknown-extension" });
    let fails = "ERR_UNKNOWN_FILE_EXTENSION";
    let parts = [fails, "and so does `node FILE`, because"];
    place.assert("module/a.foo", &expected, &parts);
    let parts = [fails, "`require` and `node FILE` treat it as CommonJS"];
    place.assert("common/a.foo", &expected, &parts);
    place.assert("common/a.tsx", &expected, &["JSX has to be compiled"]);
    place.assert("common/a.MJS", &expected, &["Node knows .mjs"]);
    // Windows removes the dot.
    if cfg!(unix) {
        place.assert("common/a.", &expected, &["the extension .:"]);
    }
}

#[test]
fn versions_that_strip_typescript_types_are_named() {
    let place = Place::new();
    place.write("app/package.json", "{}");
    place.write("node_modules/p/package.json", "{}");
    let expected = json!({ "format": "commonjs", "reason": "no-type" });
    let parts = ["Node 22.18, 23.6 and later", "rename it to a.mts"];
    place.assert("app/a.ts", &expected, &parts);
    let refused = "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING";
    place.assert("node_modules/p/a.ts", &expected, &[refused]);
}

#[test]
fn an_invalid_package_json_is_reported_with_line_and_column() {
    let place = Place::new();
    let package = place.write("bad/package.json", INVALID);
    place.write("good/package.json", "{}");
    let files = ["good/a.js", "bad/a.js", "bad/a.mjs", "good/b.js"];
    let (found, status) = place.json(&files);
    assert_eq!(status, 1);
    let formats: Vec<_> = found.iter().map(|file| &file["format"]).collect();
    let expected = [
        json!("commonjs"),
        Value::Null,
        json!("module"),
        json!("commonjs"),
    ];
    assert_eq!(formats, expected.iter().collect::<Vec<_>>());
    let error = json!({
        "code": "ERR_INVALID_PACKAGE_CONFIG",
        "message": "a colon is expected",
        "path": shown(&package),
        "line": 3,
        "column": 10,
    });
    assert_eq!(found[1]["error"], error);
    assert_eq!(found[1]["reason"], "error");
    assert_eq!(found[1]["packageJson"], shown(&package));
    assert_eq!(found[1]["type"], Value::Null);
    // The extension decides, but Node needs the file for other purposes.
    assert_eq!(found[2]["error"], error);
    assert_eq!(found[2]["reason"], "extension");
    assert_eq!(found[3]["error"], Value::Null);

    let (text, status) = place.text(&files);
    assert_eq!(status, 1);
    let told = format!("{}:3:10: a colon is expected.", shown(&package));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("error bad/a.js {told}")), "{text}");
    assert!(words.contains("throw ERR_INVALID_PACKAGE_CONFIG"), "{text}");
    assert!(text.contains("commonjs  good/b.js"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_unreadable_package_json_is_reported() {
    let place = Place::new();
    std::os::unix::fs::symlink(
        "package.json",
        place.write("a/b", "").with_file_name("package.json"),
    )
    .unwrap();
    let (found, status) = place.json(&["a/a.js"]);
    assert_eq!(status, 1);
    assert_eq!(found[0]["error"]["code"], "ERR_INVALID_PACKAGE_CONFIG");
    assert_eq!(found[0]["error"]["line"], Value::Null);
    let why = found[0]["why"].as_str().unwrap();
    assert!(why.contains("earlier versions ignore it"), "{why}");
}

#[test]
fn a_directory_named_package_json_is_ignored() {
    let place = Place::new();
    place.write("app/package.json", r#"{"type":"module"}"#);
    let directory = place.write("app/src/package.json/x", "");
    let directory = directory.parent().unwrap();
    let told = format!("{} is a directory, so Node ignores it.", shown(directory));
    place.assert(
        "app/src/deep/a.js",
        &json!({ "format": "module" }),
        &[&told],
    );
}

#[test]
fn a_file_need_not_exist() {
    let place = Place::new();
    place.write("app/package.json", r#"{"type":"module"}"#);
    place.write("app/file", "");
    let expected = json!({ "format": "module", "reason": "type" });
    for file in ["app/new.js", "app/new/new.js", "app/file/new.js"] {
        place.assert(file, &expected, &["It does not exist"]);
    }
    place.assert(
        "app/new/",
        &expected,
        &["for a .js file in it", "It does not exist"],
    );
    place.write("app/new.js", "");
    let (found, _) = place.json(&["app/new.js"]);
    let why = found[0]["why"].as_str().unwrap();
    assert!(!why.contains("exist"), "{why}");
}

#[test]
fn a_directory_stands_for_its_files() {
    let place = Place::new();
    place.write("app.ts/package.json", r#"{"type":"module"}"#);
    let expected = json!({ "format": "module", "reason": "type" });
    for directory in ["app.ts", "app.ts/", "app.ts/."] {
        let parts = ["It is a directory", "To make it CommonJS: name it .cjs."];
        place.assert(directory, &expected, &parts);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_as_node_does() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("app/package.json", "{}");
    place.write("lib/package.json", r#"{"type":"module"}"#);
    let real = place.write("lib/a.js", "");
    let command = place.write("lib/command.mjs", "");
    symlink("../lib/a.js", place.root.join("app/a.js")).unwrap();
    symlink("../lib/command.mjs", place.root.join("app/command")).unwrap();
    symlink("../lib", place.root.join("app/lib")).unwrap();
    symlink("nothing", place.root.join("app/dangling.js")).unwrap();

    let expected = json!({ "format": "module", "reason": "type", "realPath": shown(&real) });
    let told = format!("the real path, {} (unless it runs", shown(&real));
    place.assert("app/a.js", &expected, &["It is a symbolic link", &told]);
    place.assert("app/lib/a.js", &expected, &["A symbolic link leads there"]);
    let expected = json!({ "format": "module", "realPath": shown(&place.root.join("lib/new.js")) });
    place.assert("app/lib/new.js", &expected, &["It does not exist"]);
    // The real path has another extension.
    let expected =
        json!({ "format": "module", "reason": "extension", "realPath": shown(&command) });
    place.assert("app/command", &expected, &[]);
    let expected = json!({ "format": "module", "realPath": shown(&place.root.join("lib")) });
    place.assert("app/lib", &expected, &["It is a directory"]);
    let expected = json!({ "format": "commonjs", "reason": "no-type", "realPath": null });
    place.assert("app/dangling.js", &expected, &["cannot be followed"]);
    // As in a URL, `..` removes the name of the link.
    place.assert("app/lib/../x.js", &json!({ "format": "commonjs" }), &[]);
}

#[test]
fn each_of_many_files_has_its_answer() {
    let place = Place::new();
    place.write("a/package.json", r#"{"type":"module"}"#);
    place.write("b/package.json", "{}");
    let files: Vec<String> = (0..300)
        .map(|index| format!("{}/{index}.js", if index % 2 == 0 { "a" } else { "b" }))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (found, status) = place.json(&files);
    assert_eq!(status, 0);
    assert_eq!(found.len(), files.len());
    for (index, (file, found)) in files.iter().zip(&found).enumerate() {
        assert_eq!(found["file"], *file);
        let format = if index % 2 == 0 { "module" } else { "commonjs" };
        assert_eq!(found["format"], format, "{file}");
    }
}

#[test]
fn impossible_paths_are_errors() {
    let place = Place::new();
    place.write("a/package.json", "{}");
    let long = "a/".repeat(20_000) + "b.js";
    let (found, status) = place.json(&["", "a/a.js", &long]);
    assert_eq!(status, 1);
    assert_eq!(found[0]["error"]["code"], "ERR_INVALID_ARG_VALUE");
    assert_eq!(found[0]["error"]["message"], "an empty path");
    assert_eq!(found[1]["format"], "commonjs");
    assert_eq!(found[2]["error"]["code"], "ENAMETOOLONG");
    assert_eq!(found[2]["reason"], "error");
    let (text, status) = place.text(&[""]);
    assert_eq!(status, 1);
    assert!(
        text.contains("There is no answer: an empty path."),
        "{text}"
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let place = Place::new();
    for arguments in [&["--typescript", "a.js"][..], &["--json"], &[]] {
        let output = place.command().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_closed_output_is_no_error() {
    let place = Place::new();
    place.write("a/package.json", "{}");
    let files = vec!["a/some-file-with-a-long-name.js"; 2_000];
    for json in [&[][..], &["--json"]] {
        let mut child = place
            .command()
            .args(json)
            .args(&files)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

/// Compares with Node itself. The tests of the Node package install programs for Linux.
#[cfg(unix)]
mod node {
    use super::*;
    use crate::common::skip_unless;

    /// The newest Node, where `npm ci` of the Node package's tests has put it.
    fn newest_node() -> Option<PathBuf> {
        let runtimes = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../bindings/node/test/runtimes/node_modules");
        let node = ["node26", "node24", "node22"]
            .iter()
            .map(|node| runtimes.join(node).join("bin/node"))
            .find(|node| node.exists());
        skip_unless(
            node.is_some(),
            "node_loads_files_in_the_reported_format: no Node to compare with",
        );
        node
    }

    #[test]
    fn node_loads_files_in_the_reported_format() {
        /// Runs in both formats.
        const EITHER: &str = "console.log(typeof module)";
        const MODULE: &str = "import 'node:fs'; console.log(typeof module)";
        const COMMONJS: &str = "exports.x = 1; console.log(typeof module)";
        let Some(node) = newest_node() else {
            return;
        };
        let place = Place::new();
        let packages = [
            ("module", Some(r#"{"type":"module"}"#)),
            ("commonjs", Some(r#"{"type":"commonjs"}"#)),
            ("none", Some(r#"{"name":"a"}"#)),
            ("esm", Some(r#"{"type":"esm"}"#)),
            ("capital", Some(r#"{"type":"Module"}"#)),
            ("invalid", Some(INVALID)),
            ("node_modules", None),
            ("node_modules/p", Some("{}")),
        ];
        let mut files = Vec::new();
        for (directory, package) in packages {
            if let Some(package) = package {
                place.write(&format!("{directory}/package.json"), package);
            }
            for extension in [".js", ".mjs", ".cjs", "", ".ts", ".mts", ".cts", ".foo"] {
                for (name, text) in [
                    ("either", EITHER),
                    ("module", MODULE),
                    ("commonjs", COMMONJS),
                ] {
                    let file = format!("{directory}/{name}{extension}");
                    place.write(&file, text);
                    files.push(file);
                }
            }
        }
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let (found, status) = place.json(&files);
        assert_eq!(status, 1);
        let wrong: Vec<String> = files
            .iter()
            .zip(&found)
            .filter_map(|(file, found)| {
                let output = Command::new(&node)
                    .arg(file)
                    .current_dir(&place.root)
                    .env_remove("NODE_OPTIONS")
                    .output()
                    .unwrap();
                let expected = expected(file, found);
                let agrees = match expected {
                    Expected::Prints(text) => {
                        output.status.success()
                            && String::from_utf8_lossy(&output.stdout).trim() == text
                    }
                    Expected::Fails(text) => {
                        !output.status.success()
                            && String::from_utf8_lossy(&output.stderr).contains(text)
                    }
                };
                (!agrees).then(|| {
                    format!(
                        "{file}: {expected:?}, but Node: {} {} {}\n  {found}",
                        output.status,
                        String::from_utf8_lossy(&output.stdout),
                        String::from_utf8_lossy(&output.stderr),
                    )
                })
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// The outcome of running a file in Node, if the answer is right.
    #[derive(Clone, Copy, Debug)]
    enum Expected {
        Prints(&'static str),
        Fails(&'static str),
    }

    fn expected(file: &str, found: &Value) -> Expected {
        let stem = Path::new(file).file_stem().unwrap();
        let why = found["why"].as_str().unwrap();
        for code in [
            "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
            "ERR_UNKNOWN_FILE_EXTENSION",
        ] {
            let fails = why.contains(code) && !why.contains("`node FILE` treat it as CommonJS");
            if fails && found["error"].is_null() {
                return Expected::Fails(code);
            }
        }
        let is_tried_again = why.contains("it again as a module");
        match found["format"].as_str() {
            None => Expected::Fails("ERR_INVALID_PACKAGE_CONFIG"),
            Some("unknown") if why.contains("is run as `node FILE`") => {
                Expected::Fails("ERR_INVALID_PACKAGE_CONFIG")
            }
            Some("unknown") if stem == "module" => Expected::Fails("ERR_UNKNOWN_FILE_EXTENSION"),
            Some("module") if stem == "commonjs" => Expected::Fails("exports is not defined"),
            Some("module") => Expected::Prints("undefined"),
            Some("commonjs") if stem == "module" && is_tried_again => Expected::Prints("undefined"),
            Some("commonjs") if stem == "module" => {
                Expected::Fails("Cannot use import statement outside a module")
            }
            _ => Expected::Prints("object"),
        }
    }
}
