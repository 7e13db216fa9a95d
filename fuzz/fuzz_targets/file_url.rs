//! Any text is converted to a path or gives an error, and a path survives the conversion to a URL
//! and back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smallfry_package_json::{System, file_url_to_path, path_to_file_url};

fuzz_target!(|text: &str| {
    for system in [System::Posix, System::Windows] {
        let _ = file_url_to_path(text, system);
        let _ = file_url_to_path(&format!("file://{text}"), system);
        if let Ok(url) = path_to_file_url(text, system) {
            let _ = file_url_to_path(&url, system);
        }
    }
    // A path without parts that a URL drops comes back unchanged.
    let is_plain = text.starts_with('/')
        && !text.contains("//")
        && !text.split('/').any(|name| matches!(name, "." | ".."))
        && !text.chars().any(char::is_control)
        && text.trim_end() == text;
    if is_plain {
        let url = path_to_file_url(text, System::Posix).expect("it is absolute");
        let path = file_url_to_path(&url, System::Posix).expect("it was a path");
        assert_eq!(path, text);
    }
});
