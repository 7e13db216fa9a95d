//! Fields of package.json files, compared with Node's own reader, on texts written by hand, on real
//! files, and on mutations of both. Node is lenient: a strict parser would refuse files that
//! Node accepts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::{Path, PathBuf};

use common::{Random, ask, nodes};
use serde_json::{Value as Json, json};
use smallfry_package_json::{Fields, Value};

/// Texts with every decision that a reader makes.
const TEXTS: &[&str] = &[
    "",
    "  ",
    "{",
    "{}",
    "null",
    "[]",
    "\u{feff}{\"type\":\"module\"}",
    r#"{"name":"n","main":"m","exports":"./x","imports":{"a":"b"},"type":"commonjs"}"#,
    r#"{ "name" : "ü😀" , "exports" : { ".": { "import": "./a.mjs" } }  , "type" : "module" }"#,
    r#"{"type":"module"} x"#,
    r#"{"type":"module"}}"#,
    r#"{"type":"module"} {}"#,
    r#"{"type":"module",}"#,
    r#"{"type":"module" "a":1}"#,
    r#"{"a":tru,"type":"module"}"#,
    r#"{"a":nul"b","type":"module"}"#,
    r#"{"a":"b"c,"type":"module"}"#,
    r#"{"a":{]},"type":"module"}"#,
    r#"{"a":[}],"type":"module"}"#,
    r#"{"a":{"b" 1},"type":"module"}"#,
    r#"{"scripts":{"b" 1},"type":"module"}"#,
    r#"{"scripts":{"test":"node --test"},"type":"module","main":"./a"}"#,
    r#"{"exports":{[]},"type":"module"}"#,
    r#"{"exports":[1,],"imports":[],"type":"module"}"#,
    r#"{"exports":[[],{"a":[1,{"b":{}}]}],"imports":{} ,"type":"module"}"#,
    r#"{"exports":"a\q"}"#,
    r#"{"exports":tru,"imports":1}"#,
    r#"{"type":"\u006dodule"}"#,
    r#"{"ty\u0070e":"module"}"#,
    r#"{"type":"module","type":"commonjs"}"#,
    r#"{"type":"module","type":"x"}"#,
    r#"{"type":"module","type":1}"#,
    r#"{"name":null}"#,
    r#"{"name":"\ud83d\ude00\/\b\f\n\r\t\\\""}"#,
    r#"{"name":"\ud83d"}"#,
    r#"{"main":"\ud83d","type":"module"}"#,
    r#"{"main":"a","main":{"b":1}}"#,
    r#"{"exports":"./a","exports":1,"imports":{"a":1},"imports":"./b"}"#,
    "{\"a\":\"\u{1}\"}",
    "{\"a\":\u{1},\"type\":\"module\"}",
    "{\"a\":1\u{c},\"type\":\"module\"}",
    "{'type':'module'}",
    "/**/{\"type\":\"module\"}",
];

/// Texts that mutations insert.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b" ",
    b"\n",
    b"1",
    b"a",
    b"\x00",
    b"\x1a",
    b"\x0c",
    b"\xff",
    b"\xc3",
    b"\"type\":",
    b"\"name\":",
    b"\"module\"",
    b"\\u0061",
    b"\\ud800",
    b"{}",
    b"[]",
    b",\"main\":\"x\"",
    b"\xef\xbb\xbf",
];

/// Texts that replace strings.
const STRINGS: &[&[u8]] = &[
    b"\"name\"",
    b"\"main\"",
    b"\"type\"",
    b"\"exports\"",
    b"\"imports\"",
    b"\"scripts\"",
    b"\"ty\\u0070e\"",
    b"\"module\"",
    b"\"commonjs\"",
    b"null",
    b"true",
    b"-1.5e3",
    b"{\"a\":1}",
    b"[\"a\"]",
];

fn mutate(random: &mut Random, text: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(4)).min(text.len());
        match random.below(6) {
            0 => text.truncate(at.max(1).min(text.len())),
            1 => drop(text.drain(at..end)),
            2 => {
                let piece = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            3 => replace_string(random, text, at),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.iter().copied());
            }
        }
    }
}

/// Replaces the next string with a key that matters, or with a value of another type.
fn replace_string(random: &mut Random, text: &mut Vec<u8>, at: usize) {
    let quote = |from: usize| {
        text[from..]
            .iter()
            .position(|byte| *byte == b'"')
            .map(|to| from + to)
    };
    let Some(start) = quote(at) else {
        return;
    };
    let Some(end) = quote(start + 1) else {
        return;
    };
    let with = STRINGS[random.below(STRINGS.len())];
    text.splice(start..=end, with.iter().copied());
}

/// Files as people write them: those of the npm packages that this project's own tests install.
fn real() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut directories = vec![
        root.join("bindings/node/node_modules"),
        root.join("crates/cli/peers"),
    ];
    let mut found = Vec::new();
    while let Some(dir) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else if entry.file_name() == "package.json" {
                found.push(std::fs::read(entry.path()).unwrap());
            }
        }
    }
    // The order of directories differs by file system.
    found.sort_unstable();
    found
}

/// Texts that no mutation makes.
fn large() -> Vec<Vec<u8>> {
    let nested = |open: &str, close: &str, key: &str| {
        let depth = 100_000;
        format!(
            r#"{{"{key}":{}1{},"type":"module"}}"#,
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let long = "a".repeat(10 << 20);
    vec![
        nested("[", "]", "x").into_bytes(),
        nested("[", "]", "exports").into_bytes(),
        nested("{\"a\":", "}", "exports").into_bytes(),
        nested("[", "", "x").into_bytes(),
        format!(r#"{{"x":"{long}","type":"module"}}"#).into_bytes(),
        format!(r#"{{"name":"{long}","type":"module"}}"#).into_bytes(),
        format!(r#"{{"x":"{long},"type":"module"}}"#).into_bytes(),
        format!(
            r#"{{{}"type":"module"}}"#,
            r#""a":[1,{"b":"c"}],"#.repeat(500_000)
        )
        .into_bytes(),
    ]
}

fn ours(text: &[u8]) -> Json {
    let value = |value: &Option<Value>| match value {
        Some(Value::Text(text) | Value::Json(text)) => json!(text),
        None => Json::Null,
    };
    match Fields::parse(text) {
        Ok(fields) => json!({
            "name": fields.name,
            "main": fields.main,
            "type": fields.module_type as u8,
            "imports": value(&fields.imports),
            "exports": value(&fields.exports),
        }),
        Err(_) => json!({ "error": "ERR_INVALID_PACKAGE_CONFIG" }),
    }
}

#[test]
fn node_reads_the_same_fields() {
    let Some(nodes) = nodes("node_reads_the_same_fields") else {
        return;
    };
    let count = std::env::var("SMALLFRY_TEST_PACKAGES");
    let count: usize = count.map_or(4000, |count| count.parse().unwrap());
    let mut random = Random(1);
    let mut sources: Vec<Vec<u8>> = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    let short = sources.len();
    sources.extend(real());
    compare(&nodes, &large());
    compare(&nodes, &sources);
    let mut left = count.saturating_sub(sources.len());
    while left > 0 {
        let some = left.min(MAX_TEXTS_ON_DISK);
        left -= some;
        let mutated = |_| {
            // Half of them are short ones, which cover the decisions of a reader.
            let among = if random.below(2) == 0 {
                short
            } else {
                sources.len()
            };
            let mut text = sources[random.below(among)].clone();
            mutate(&mut random, &mut text);
            text
        };
        let texts: Vec<Vec<u8>> = (0..some).map(mutated).collect();
        compare(&nodes, &texts);
    }
}

/// The maximum number of texts that are on the disk at the same time.
const MAX_TEXTS_ON_DISK: usize = 10_000;

fn compare(nodes: &[PathBuf], texts: &[Vec<u8>]) {
    let dir = tempfile::tempdir().unwrap();
    let mut list = String::new();
    for (number, text) in texts.iter().enumerate() {
        let directory = dir.path().join(number.to_string());
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("package.json"), text).unwrap();
        list.push_str(directory.to_str().unwrap());
        list.push('\n');
    }
    let shown = |text: &[u8]| text[..text.len().min(2000)].escape_ascii().to_string();
    for node in nodes {
        let options = ["--expose-internals", "--no-warnings"];
        let found = ask(node, &options, "node.js", &list);
        assert_eq!(found.len(), texts.len(), "{}", node.display());
        let wrong: Vec<String> = texts
            .iter()
            .zip(&found)
            .filter(|(text, found)| ours(text) != **found)
            .map(|(text, found)| {
                let (found, ours) = (found.to_string(), ours(text).to_string());
                let [found, ours] = [found, ours].map(|answer| shown(answer.as_bytes()));
                format!("{}\n  Node {found}\n  ours {ours}", shown(text))
            })
            .collect();
        assert!(
            wrong.is_empty(),
            "{}: {} of {} differ\n{}",
            node.display(),
            wrong.len(),
            texts.len(),
            wrong[..wrong.len().min(8)].join("\n")
        );
    }
}
