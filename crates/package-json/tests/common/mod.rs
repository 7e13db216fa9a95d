//! Helpers of tests that compare with Node.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// The versions of Node with the same rules, where `npm ci` of the Node package's tests has put
/// them. `None`, after a line that says so, where there are none, as on Windows. With CI=true on
/// Linux that is an error.
pub(crate) fn nodes(test: &str) -> Option<Vec<PathBuf>> {
    let runtimes = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../bindings/node/test/runtimes/node_modules");
    let found: Vec<PathBuf> = ["node22", "node24", "node26"]
        .iter()
        .map(|node| runtimes.join(node).join("bin/node"))
        .filter(|node| node.exists() && cfg!(unix))
        .collect();
    if found.is_empty() {
        let expected = std::env::var_os("CI").is_some() && cfg!(target_os = "linux");
        assert!(!expected, "no Node to compare with");
        println!("skipped {test}: no Node to compare with");
        return None;
    }
    Some(found)
}

/// Returns the lines of JSON that a script beside the tests prints for `input`.
pub(crate) fn ask(node: &Path, options: &[&str], script: &str, input: &str) -> Vec<Json> {
    let mut child = Command::new(node)
        .args(options)
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests")
                .join(script),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A generator of numbers that are the same each time: `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((number ^ number >> 31) % end as u64) as usize
    }
}
