//! The file URL of a path: Node's `url.pathToFileURL`.

use super::error::UrlError;
use super::parse::{FileUrl, before, parse_host, without_breaks};
use super::plain::is_plain;
use super::resolve::resolve;
use super::system::System;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use std::borrow::Cow;

/// What Node encodes in a path before it parses it, beside what the parser encodes.
const PATH: &AsciiSet = &AsciiSet::EMPTY
    .add(b'\0')
    .add(b'\t')
    .add(b'\n')
    .add(b'\r')
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'~');

/// The file URL of a path, by the rules of Node 24 and 26.
///
/// A relative path begins at the working directory, and dot segments are taken away. A separator at the end stays. What means something in a URL is
/// percent-encoded, and so is all that is not ASCII.
///
/// As with Node, control characters are lost at the end of a path, but for those that separate words or lines and NUL, so `"/a\u{1}"` is `file:///a`.
/// What is said of hosts at [`file_url_to_path`] holds here too. Node 20 gives a server whose name cannot be a host no host, where newer ones refuse it, takes
/// `//server/share` for a path of this machine, and loses a NUL at the end.
///
/// The path is text, as Node's is: bytes that are not UTF-8 could be written in a URL, but [`file_url_to_path`] would not take them back.
///
/// ```
/// use smallfry_package_json::{System, UrlError, path_to_file_url};
///
/// assert_eq!(path_to_file_url("/a/../b c#/", System::Posix)?, "file:///b%20c%23/");
/// assert_eq!(path_to_file_url(r"C:\a\ü", System::Windows)?, "file:///C:/a/%C3%BC");
/// assert_eq!(path_to_file_url(r"\\server\share\a", System::Windows)?, "file://server/share/a");
/// # Ok::<(), UrlError>(())
/// ```
///
/// # Errors
///
/// [`MissingResource`](UrlError::MissingResource), [`EmptyServer`](UrlError::EmptyServer) and [`Invalid`](UrlError::Invalid) for paths of Windows that
/// begin with two separators but not with the name of a server and what it shares. [`WorkingDirectory`](UrlError::WorkingDirectory).
///
/// [Node's description](https://nodejs.org/docs/latest-v26.x/api/url.html#urlpathtofileurlpath-options)
pub fn path_to_file_url(path: &str, system: System) -> Result<String, UrlError> {
    let is_unc = |path: &str| system == System::Windows && path.starts_with(r"\\");
    let mut resolved = if is_unc(path) {
        path.to_owned()
    } else {
        resolve(path, system)?
    };
    if is_unc(&resolved) {
        return unc_to_file_url(resolved);
    }
    // Resolving takes a separator away from the end.
    let last = path.as_bytes().last();
    if last.is_some_and(|last| system.is_separator(*last))
        && !resolved.ends_with(system.separator())
    {
        resolved.push('/');
    }
    if let Some(url) = plain_path_to_file_url(&resolved, system) {
        return Ok(url);
    }
    let url = url_text(&resolved, system);
    Ok(FileUrl::parse(&url)?.to_string())
}

/// The URL of a resolved path in which the parser would change nothing.
fn plain_path_to_file_url(path: &str, system: System) -> Option<String> {
    let path = with_slashes(path, system);
    let start = match path.as_bytes() {
        [b'/', ..] => "file://",
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => "file:///",
        _ => return None,
    };
    is_plain(&path).then(|| {
        let mut url = String::with_capacity(start.len() + path.len());
        url.push_str(start);
        url.extend(utf8_percent_encode(&path, PATH));
        url
    })
}

/// What Node then parses, so that a path with a control character at its end loses it.
fn url_text(path: &str, system: System) -> String {
    let path = with_slashes(path, system);
    format!("file://{}", utf8_percent_encode(&path, PATH))
}

fn unc_to_file_url(path: String) -> Result<String, UrlError> {
    let start = if path.starts_with(r"\\?\UNC\") { 8 } else { 2 };
    let end = path
        .get(start..)
        .and_then(|rest| rest.find('\\'))
        .map(|end| start + end);
    let Some(end) = end else {
        return Err(UrlError::MissingResource(path));
    };
    if end == 2 {
        return Err(UrlError::EmptyServer(path));
    }
    let url = url_text(&path[end..], System::Windows);
    let mut url = FileUrl::parse(&url)?;
    // The setter of `hostname` parses as much as can be a host.
    let host = without_breaks(&path[start..end]);
    url.host = Cow::Owned(parse_host(before(&host, &['/', '\\', '?', '#']))?);
    Ok(url.to_string())
}

fn with_slashes(path: &str, system: System) -> Cow<'_, str> {
    match system {
        System::Posix => Cow::Borrowed(path),
        System::Windows => Cow::Owned(path.replace('\\', "/")),
    }
}
