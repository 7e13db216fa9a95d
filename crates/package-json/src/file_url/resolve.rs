//! Makes paths absolute, like Node's `path.resolve`.

use super::error::UrlError;
use super::system::System;
use std::borrow::Cow;
use std::env;

/// Resolves one path, like Node's `path.resolve`.
pub(super) fn resolve(path: &str, system: System) -> Result<String, UrlError> {
    match system {
        System::Posix => resolve_posix(path),
        System::Windows => resolve_windows(path),
    }
}

fn resolve_posix(path: &str) -> Result<String, UrlError> {
    let path = if path.starts_with('/') {
        Cow::Borrowed(path)
    } else {
        let mut start = working_directory()?;
        if cfg!(windows) {
            // Like Node where such a path is impossible: the drive is left out.
            start = start.replace('\\', "/");
            start.drain(..start.find('/').unwrap_or(start.len()));
        }
        Cow::Owned(format!("{start}/{path}"))
    };
    Ok(format!("/{}", without_dots(&path, true, System::Posix)))
}

/// Takes a missing drive, or the directory on it, from the working directory, like Node.
fn resolve_windows(path: &str) -> Result<String, UrlError> {
    let mut root = Root::of(path);
    let mut tail = path[root.end..].to_owned();
    if root.device.is_empty() || !root.is_absolute {
        let start = if root.device.is_empty() {
            let start = working_directory()?;
            if matches!(path, "" | ".") && start.starts_with(['/', '\\']) {
                return Ok(if cfg!(windows) {
                    start
                } else {
                    start.replace('/', "\\")
                });
            }
            start
        } else {
            working_directory_of(&root.device)?
        };
        let Root {
            device,
            end,
            is_absolute,
        } = Root::of(&start);
        let is_other = !device.is_empty()
            && !root.device.is_empty()
            && device.to_lowercase() != root.device.to_lowercase();
        if !is_other {
            if root.device.is_empty() {
                root.device = device;
            }
            if !root.is_absolute {
                tail = format!("{}\\{tail}", &start[end..]);
                root.is_absolute = is_absolute;
            }
        }
    }
    let separator = if root.is_absolute { "\\" } else { "" };
    let tail = without_dots(&tail, root.is_absolute, System::Windows);
    Ok(format!("{}{separator}{tail}", root.device))
}

/// The beginning of a path on Windows.
struct Root {
    /// `C:` or `\\server\share`, or empty.
    device: String,
    /// The start of the rest of the path.
    end: usize,
    is_absolute: bool,
}

impl Root {
    fn of(path: &str) -> Self {
        let bytes = path.as_bytes();
        let is_separator = |index: usize| {
            bytes
                .get(index)
                .is_some_and(|byte| System::Windows.is_separator(*byte))
        };
        let skip = |from: usize, separators: bool| {
            (from..bytes.len())
                .find(|index| is_separator(*index) != separators)
                .unwrap_or(bytes.len())
        };
        let root = |device: String, end, is_absolute| Self {
            device,
            end,
            is_absolute,
        };
        if !is_separator(0) {
            return match bytes {
                [letter, b':', ..] if letter.is_ascii_alphabetic() => {
                    let is_absolute = is_separator(2);
                    root(
                        path[..2].to_owned(),
                        2 + usize::from(is_absolute),
                        is_absolute,
                    )
                }
                _ => root(String::new(), 0, false),
            };
        }
        if !is_separator(1) {
            return root(String::new(), 1, true);
        }
        let server_end = skip(2, false);
        let share = skip(server_end, true);
        if server_end == 2 || share == bytes.len() {
            return root(String::new(), 0, true);
        }
        let share_end = skip(share, false);
        match (&path[2..server_end], &path[share..share_end]) {
            (device @ ("." | "?"), _) => root(format!(r"\\{device}"), 4, true),
            (server, share) => root(format!(r"\\{server}\{share}"), share_end, true),
        }
    }
}

/// Removes empty and dot segments. A path that is not absolute may begin with `..`.
fn without_dots(path: &str, is_absolute: bool, system: System) -> String {
    let mut segments = Vec::new();
    for segment in path
        .split(|character| matches!(u8::try_from(character), Ok(byte) if system.is_separator(byte)))
    {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => drop(segments.pop()),
            ".." if is_absolute => {}
            _ => segments.push(segment),
        }
    }
    segments.join(system.separator().encode_utf8(&mut [0; 4]))
}

/// Returns `process.cwd()`, as text.
fn working_directory() -> Result<String, UrlError> {
    let directory = env::current_dir().map_err(|error| UrlError::WorkingDirectory(error.kind()))?;
    Ok(directory.to_string_lossy().into_owned())
}

/// Returns the working directory of a drive. Windows keeps them in variables named like `=C:`.
fn working_directory_of(drive: &str) -> Result<String, UrlError> {
    let directory = match env::var_os(format!("={drive}")) {
        Some(directory) if !directory.is_empty() => directory.to_string_lossy().into_owned(),
        _ => working_directory()?,
    };
    let bytes = directory.as_bytes();
    let is_of_drive = bytes
        .get(..2)
        .is_some_and(|start| start.eq_ignore_ascii_case(drive.as_bytes()));
    Ok(if !is_of_drive && bytes.get(2) == Some(&b'\\') {
        format!("{drive}\\")
    } else {
        directory
    })
}
