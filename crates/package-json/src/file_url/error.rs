//! The error of a conversion, with Node's code, class and message.

use super::system::System;
use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter, Write};
use std::io;

/// Why there is no path for a URL, or no URL for a path. Its text is Node's message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// What should be a URL is none, or a server's name cannot be a URL's host.
    Invalid,
    /// It is a URL of another scheme than `file`.
    Scheme,
    /// It names a host, which only Windows has a path for.
    Host,
    /// A separator is percent-encoded, so that it would become one only in the path.
    EncodedSeparator(System),
    /// It has neither a drive letter nor a host, so it is no absolute path on Windows.
    NotAbsolute,
    /// What is percent-encoded is not UTF-8, or a `%` begins nothing.
    Malformed,
    /// A path begins as `\\server` does, but no further separator follows. The path is the one given.
    MissingResource(String),
    /// A path begins with `\\` and one more separator.
    EmptyServer(String),
    /// A relative path needs the working directory, which cannot be had.
    WorkingDirectory(io::ErrorKind),
}

impl UrlError {
    /// What Node's error has as `code`: none if it is a `URIError`.
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

    /// Which of JavaScript's errors Node's one is.
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

/// What `process.platform` says here.
fn platform() -> &'static str {
    match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        "solaris" | "illumos" => "sunos",
        os => os,
    }
}

/// `util.inspect` breaks a longer text at its line breaks.
const LONGEST_LINE: usize = 76;

/// A string as Node's messages quote it: as `util.inspect` does, and cut after 128 units of UTF-16.
fn inspect(text: &str) -> String {
    let lines: Vec<String> = if text.encode_utf16().count() > LONGEST_LINE {
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
