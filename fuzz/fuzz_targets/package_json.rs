//! Parsing any bytes ends without a panic, and an error has a place in the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smallfry_package_json::{Fields, Value};

fuzz_target!(|bytes: &[u8]| {
    match Fields::parse(bytes) {
        Ok(fields) => {
            for value in [fields.exports, fields.imports].into_iter().flatten() {
                if let Value::Json(json) = value {
                    assert!(json.starts_with(['{', '[']));
                }
            }
        }
        Err(invalid) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(&invalid.line));
            assert!((1..=bytes.len() + 1).contains(&invalid.column));
        }
    }
});
