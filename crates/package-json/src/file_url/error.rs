//! The error of a conversion, with Node's code, class and message.

use super::system::System;
use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter, Write};
use std::io;

/// The error of a conversion between a file URL and a path. It prints as Node's message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is not a URL, or the name of a server cannot be the host of a URL.
    Invalid,
    /// The URL has another scheme than `file`.
    Scheme,
    /// The URL names a host, and only Windows has paths for hosts.
    Host,
    /// A separator is percent-encoded, so that it would become one only in the path.
    EncodedSeparator(System),
    /// The URL has neither a drive letter nor a host, so its path would not be absolute on Windows.
    NotAbsolute,
    /// The percent-encoded bytes are not UTF-8, or a `%` begins no escape.
    Malformed,
    /// A path begins like `\\server`, and no further separator follows. Holds the path.
    MissingResource(String),
    /// A path begins with `\\` and one more separator. Holds the path.
    EmptyServer(String),
    /// The path is relative, and the working directory cannot be read.
    WorkingDirectory(io::ErrorKind),
}

impl UrlError {
    /// The `code` of Node's error. A `URIError` has none.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Invalid => Some("ERR_INVALID_URL"),
            Self::Scheme => Some("ERR_INVALID_URL_SCHEME"),
            Self::Host => Some("ERR_INVALID_FILE_URL_HOST"),
            Self::EncodedSeparator(_) | Self::NotAbsolute => Some("ERR_INVALID_FILE_URL_PATH"),
            Self::MissingResource(_) | Self::EmptyServer(_) => Some("ERR_INVALID_ARG_VALUE"),
            Self::WorkingDirectory(io::ErrorKind::NotFound) => Some("ENOENT"),
            Self::WorkingDirectory(io::ErrorKind::PermissionDenied) => Some("EACCES"),
            Self::Malformed | Self::WorkingDirectory(_) => None,
        }
    }

    /// The class of Node's error in JavaScript.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Malformed => "URIError",
            Self::WorkingDirectory(_) => "Error",
            _ => "TypeError",
        }
    }
}

impl Display for UrlError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("Invalid URL"),
            Self::Scheme => f.write_str("The URL must be of scheme file"),
            Self::Host => write!(
                f,
                "File URL host must be \"localhost\" or empty on {}",
                platform()
            ),
            Self::EncodedSeparator(System::Posix) => {
                f.write_str("File URL path must not include encoded / characters")
            }
            Self::EncodedSeparator(System::Windows) => {
                f.write_str("File URL path must not include encoded \\ or / characters")
            }
            Self::NotAbsolute => f.write_str("File URL path must be absolute"),
            Self::Malformed => f.write_str("URI malformed"),
            Self::MissingResource(path) => write!(
                f,
                "The argument 'path' Missing UNC resource path. Received {}",
                inspect(path)
            ),
            Self::EmptyServer(path) => write!(
                f,
                "The argument 'path' Empty UNC servername. Received {}",
                inspect(path)
            ),
            Self::WorkingDirectory(kind) => write!(f, "the working directory: {kind}"),
        }
    }
}

impl Error for UrlError {}

/// The value of `process.platform`.
fn platform() -> &'static str {
    match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        "solaris" | "illumos" => "sunos",
        os => os,
    }
}

/// `util.inspect` breaks longer texts at their line breaks.
const MAX_LINE: usize = 76;

/// Quotes a string like Node's messages: as `util.inspect` does, cut after 128 units of UTF-16.
fn inspect(text: &str) -> String {
    let lines: Vec<String> = if text.encode_utf16().count() > MAX_LINE {
        text.split_inclusive('\n').map(quote).collect()
    } else {
        vec![quote(text)]
    };
    let mut inspected = lines.join(" +\n  ");
    let mut units = 0;
    let end = inspected.char_indices().find_map(|(index, character)| {
        units += character.len_utf16();
        (units > 128).then_some(index)
    });
    if let Some(end) = end {
        inspected.truncate(end);
        inspected.push_str("...");
    }
    inspected
}

fn quote(text: &str) -> String {
    let quote = if !text.contains('\'') {
        '\''
    } else if !text.contains('"') {
        '"'
    } else if !text.contains('`') && !text.contains("${") {
        '`'
    } else {
        '\''
    };
    let mut quoted = String::from(quote);
    for character in text.chars() {
        match character {
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            '\\' => quoted.push_str("\\\\"),
            '\'' if quote == '\'' => quoted.push_str("\\'"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\x{:02X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push(quote);
    quoted
}
