//! Conversions between file URLs and paths, compared with Node's own, on texts written by hand and
//! on mutations of them. A path that differs from Node's would name another file.
//!
//! Both systems' rules are compared on one system, since Node's functions have an option for that.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::borrow::Cow;
use std::fmt::Write;

use common::{Random, ask, nodes};
use serde_json::{Value as Json, json};
use smallfry_package_json::{System, UrlError, file_url_to_path, path_to_file_url};

const URLS: &[&str] = &[
    "",
    "file",
    "file:",
    "file:/",
    "file://",
    "file:///",
    "file:////",
    "file:///a",
    "file:///a/b.js",
    "file:///home/me/node_modules/@scope/package-name/dist/index.mjs",
    "file:///home/me/node_modules/.pnpm/a@1.0.0_b@2.0.0/node_modules/a/+~!$&'()*,;=-_.js",
    "file:///C:/Users/me/node_modules/.bin/a.js",
    "file:///c:/a/b",
    "file:///C|/a/b",
    "file:///C:",
    "file:///C:/",
    "file:///C|",
    "file://C:/a",
    "file://C|/a",
    "file:C:/a",
    "file:C|/a",
    "file:/C:/a",
    "file:///C:/../../a",
    "file:///C|/../a",
    "file:///C:/a/../..",
    "file:///a/C:/..",
    "file:///../C:/a",
    "file:///C:a",
    "file:///1:/a",
    "file:///%43:/a",
    "file:///C%3A/a",
    "file:///C%7C/a",
    "FILE:///a",
    "fIlE:/a",
    "file:relative",
    "file:relative/../../a",
    "file:/x",
    "file:./x",
    "file:?x",
    "file:#x",
    "file:\\\\server\\share\\a",
    "file:\\a\\..\\b",
    "file:///a\\b",
    "file:///a/./b/../c/",
    "file:///a/%2e/b/%2E%2e/c/.%2e",
    "file:///a/..",
    "file:///a/.",
    "file:///a/...",
    "file:///a/.b",
    "file:///a/b?query#hash",
    "file:///a/b#hash?query",
    "file:///a?/../b",
    " \tfile:///a ",
    "fi\nle:///a\tb\r/\n.\t.",
    "\0file:///a\u{1f}",
    "file:///a b",
    "file:///a\"<>`{}|^[]~",
    "file:///\u{fc}/\u{1f600}\u{7f}\u{80}",
    "file:///\u{fdd0}\u{ffff}",
    "file:///%C3%BC%F0%9F%98%80",
    "file:///a%20b%25",
    "file:///a%",
    "file:///a%2",
    "file:///a%zz",
    "file:///a%ff",
    "file:///a%c3",
    "file:///a%ed%a0%80",
    "file:///a%c0%af",
    "file:///a%f4%90%80%80",
    "file:///a%00",
    "file:///C:/a%00",
    "file:///a%2fb",
    "file:///a%2Fb%ff",
    "file:///C:/a%5cb",
    "file:///C:/a%5Cb%",
    "file://localhost/a",
    "file://LOCALHOST/C:/a",
    "file://localhost",
    "file://loc%61lhost/a",
    "file://server",
    "file://server/share/a.js",
    "file://SERVER/share/../../a",
    "file://server/C:/../a",
    "file://server/C|/a",
    "file://server/a%2fb",
    "file://server:80/a",
    "file://me@server/a",
    "file://me:pass@server/a",
    "file://ser ver/a",
    "file://ser%20ver/a",
    "file://server%/a",
    "file://./a",
    "file://../a",
    "file://a_b/c",
    "file://%2e/a",
    "file://1.2/a",
    "file://0x7f.1/a",
    "file://256.1.1.1/a",
    "file://1.2.3.4.5/a",
    "file://[::1]/a",
    "file://[1:0::2]/a",
    "file://[x]/a",
    "file://xn--nc-wka/share/a",
    "file://\u{fc}nc/share/a",
    "file://\u{dc}NC.example/share",
    "file://xn--/a",
    "file://xn--a/a",
    "file://xn--zzzzzz/a",
    "file://stra\u{df}e/a",
    "file://xn--strae-oqa/a",
    "file://\u{200d}/a",
    "file://\u{ad}/a",
    "file://a\u{3002}b/c",
    "file://\u{ff21}/c",
    "file://\u{1f600}/c",
    "file://-a-/c",
    "file://a--b/c",
    "file://ab--c/c",
    "file:///",
    "file:////server/share",
    "file://///server/share",
    "file:////C:/a",
    "file:///./C:/a",
    "file:///.//a",
    "http:",
    "http://a",
    "http://a b/",
    "https://a/b",
    "node:fs",
    "data:text/javascript,1",
    "blob:file:///a",
    "C:/a",
    "C:\\a",
    "/a",
    "./a",
    "a",
    "//a/b",
];

const PATHS: &[&str] = &[
    "",
    ".",
    "..",
    "a",
    "./a/../b/",
    "../../a",
    "a/",
    "a\\",
    "/",
    "//",
    "///",
    "\\",
    "/a",
    "/a/",
    "/a//",
    "//a",
    "/a/b/../../../c/./d",
    "/a/..",
    "/a/../",
    "/home/me/node_modules/@scope/package-name/dist/index.mjs",
    "/a/.b/...",
    "/a b\t\n\r",
    "/a\0b",
    "/a\0",
    "/a\u{1}",
    "/a\u{1f}\u{1f}",
    "/a\u{1f}/",
    "/a ",
    "/%41%2f%",
    "/!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~",
    "/\u{fc}/\u{1f600}\u{7f}\u{80}",
    "/a\\b\\..\\c",
    "/C:/a",
    "/C|/a",
    "C:",
    "C:\\",
    "C:/",
    "c:\\a",
    "C:\\a\\",
    "C:\\a/",
    "C:\\a\\\\",
    "C:\\a\\..\\..\\b",
    "C:\\a\\.\\b#?%[]^|~ \u{fc}",
    "C:a",
    "C:a\\",
    "C:..\\a",
    "C:\\a\u{1}",
    "C|\\a",
    "C:\\C:\\a",
    "1:\\a",
    "\u{fc}:\\a",
    "\\a\\b",
    "\\a\\",
    "\\\\",
    "\\\\\\",
    "\\\\\\a",
    "\\\\server",
    "\\\\server\\",
    "\\\\server\\share",
    "\\\\server\\share\\a\\..\\..\\..\\b\\",
    "\\\\server\\share\\a#?% ~\u{1}",
    "\\\\server\\C:\\..\\a",
    "\\\\server\\C|\\a",
    "\\\\server/share\\a",
    "\\\\server?\\a",
    "\\\\server#a\\a",
    "\\\\server:80\\a",
    "\\\\me@server\\a",
    "\\\\ser ver\\a",
    "\\\\ser\tver\\a",
    "\\\\ser%41ver\\a",
    "\\\\ser%ver\\a",
    "\\\\LOCALHOST\\a",
    "\\\\\u{fc}nc\\share\\a",
    "\\\\xn--nc-wka\\a",
    "\\\\1.2\\a",
    "\\\\256.256\\a",
    "\\\\[::1]\\a",
    "\\\\[\\a",
    "\\\\C:\\a",
    "\\\\.\\a",
    "\\\\.\\PIPE\\a",
    "\\\\?\\C:\\a\\..",
    "\\\\?\\UNC\\server\\share\\a",
    "\\\\?\\UNC\\server",
    "\\\\?\\UNC\\\\a",
    "\\\\?\\UNC\\",
    "\\\\?\\unc\\server\\share",
    "\\\\'\u{1}\u{85}\t",
    "\\\\'\"",
    "\\\\'\"`",
    "\\\\aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "//server/share/a",
    "//server/share/../../a/",
    "//server/share",
    "//server//share",
    "//server/",
    "//./a/b",
    "//?/C:/a",
    "//?/UNC/server/share",
    "/\\server\\share",
    "\\/server/share/\u{fc}",
];

/// Texts that mutations insert.
const PIECES: &[&str] = &[
    "/",
    "\\",
    "//",
    ".",
    "..",
    "/../",
    "/./",
    "%2e",
    "%2E%2e",
    "%2f",
    "%5C",
    "%",
    "%41",
    "%ff",
    "%c3%bc",
    "%00",
    "?",
    "#",
    ":",
    "|",
    "C:",
    "/C:/",
    "c|",
    "@",
    "[",
    "]",
    "\t",
    "\n",
    "\r",
    " ",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{fc}",
    "\u{1f600}",
    "\u{200d}",
    "~",
    "^",
    "<",
    "`",
    "{",
    "'",
    "localhost",
    "server",
    "xn--",
    "file:",
    "1",
    "0x",
    "a",
    "A",
];

fn mutate(random: &mut Random, text: &str) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(4)).min(text.len());
        match random.below(6) {
            0 => text.truncate(at.max(1)),
            1 => drop(text.drain(at..end)),
            2 => {
                let piece = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            _ => drop(text.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
        }
    }
    text.into_iter().collect()
}

fn json(answer: Result<Cow<'_, str>, UrlError>) -> Json {
    match answer {
        Ok(text) => json!({ "text": text }),
        Err(error) => {
            json!({ "class": error.class(), "code": error.code(), "message": error.to_string() })
        }
    }
}

fn ours((name, text, system): &(&str, String, System)) -> Json {
    json(match *name {
        "fileURLToPath" => file_url_to_path(text, *system),
        _ => path_to_file_url(text, *system).map(Cow::Owned),
    })
}

/// The same questions each time, the ones written by hand first.
fn questions(count: usize) -> Vec<(&'static str, String, System)> {
    let mut random = Random(1);
    let mut questions = Vec::new();
    let lists = [("fileURLToPath", URLS), ("pathToFileURL", PATHS)];
    let systems = [System::Posix, System::Windows];
    for (name, texts) in lists {
        for text in texts {
            questions.extend(systems.map(|system| (name, (*text).to_owned(), system)));
        }
    }
    while questions.len() < count {
        let (name, texts) = lists[random.below(lists.len())];
        let text = texts[random.below(texts.len())];
        let text = mutate(&mut random, text);
        questions.extend(systems.map(|system| (name, text.clone(), system)));
    }
    questions
}

/// Node 22 refuses hosts with wrong Punycode, leaves `..` in a URL that also has a name beginning
/// with a dot, and keeps a name that begins like a drive letter when `..` should remove it.
fn node_24_differs(text: &str) -> bool {
    let text = text.to_lowercase().replace(['\t', '\n', '\r'], "");
    let text = text.replace("%2e", ".").replace('\\', "/");
    let text = text.strip_prefix("file:").unwrap_or(&text);
    let has_begin = |begin: fn(&[u8]) -> bool| text.split('/').any(|name| begin(name.as_bytes()));
    text.contains("xn--")
        || has_begin(|name| matches!(name, [b'.', next, ..] if *next != b'.'))
        || has_begin(|name| matches!(name, [_, b':' | b'|', _, ..]))
}

#[test]
fn a_plain_path_is_borrowed() {
    for url in [
        "file:///",
        "file:///a/b.js",
        "file:////a/.b/...",
        "file:///C:/a/@b~1",
    ] {
        let path = file_url_to_path(url, System::Posix);
        assert!(matches!(path, Ok(Cow::Borrowed(_))), "{url}");
    }
    for url in [
        "file:///a/.",
        "file:///a/../b",
        "file:///a%20b",
        "FILE:///a",
        "file:///a?b",
    ] {
        let path = file_url_to_path(url, System::Posix);
        assert!(matches!(path, Ok(Cow::Owned(_))), "{url}");
    }
}

#[test]
fn a_path_survives_the_conversion_to_a_url_and_back() {
    let systems = [
        (System::Posix, "/", "a\\b"),
        (System::Windows, "C:\\", "a\\b"),
        (System::Windows, "\\\\server\\share\\", "a\\b"),
    ];
    for (system, start, rest) in systems {
        for character in ('\0'..='\u{2ff}').chain(['\u{20ac}', '\u{ffff}', '\u{10ffff}']) {
            if system == System::Windows && character == '/' {
                continue;
            }
            let path = format!("{start}x{character}{rest}");
            let url = path_to_file_url(&path, system).unwrap();
            assert!(url.is_ascii(), "{url}");
            assert_eq!(file_url_to_path(&url, system).unwrap(), path);
        }
    }
}

#[test]
fn node_converts_urls_and_paths_alike() {
    let Some(nodes) = nodes("node_converts_urls_and_paths_alike") else {
        return;
    };
    let count = std::env::var("SMALLFRY_TEST_URLS");
    let questions = questions(count.map_or(8000, |count| count.parse().unwrap()));
    let lines: Vec<String> = questions
        .iter()
        .map(|(name, text, system)| json!([name, text, *system == System::Windows]).to_string())
        .collect();
    let mut report = String::new();
    for node in nodes {
        let found = ask(&node, &["--no-warnings"], "file_url.js", &lines.join("\n"));
        assert_eq!(found.len(), questions.len(), "{}", node.display());
        let is_22 = node.iter().any(|part| part == "node22");
        for (question, found) in questions.iter().zip(&found) {
            let ours = ours(question);
            if ours != *found && !(is_22 && node_24_differs(&question.1)) {
                let node = node.display();
                let _ = writeln!(
                    report,
                    "{node}: {question:?}\n  Node {found}\n  ours {ours}"
                );
            }
        }
    }
    assert!(report.is_empty(), "these differ:\n{report}");
}
