//! The file URL of a path: Node's `url.pathToFileURL`.

use super::error::UrlError;
use super::parse::{FileUrl, before, parse_host, without_breaks};
use super::plain::is_plain;
use super::resolve::resolve;
use super::system::System;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use std::borrow::Cow;

/// The characters that Node encodes in a path before it parses it, beside those that the parser
/// encodes.
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

/// Converts a path to a file URL by the rules of Node 24 and 26.
///
/// A relative path begins at the working directory. Dot segments are removed, and a separator at
/// the end stays. Characters with a meaning in URLs are percent-encoded, and so are all characters
/// beyond ASCII.
///
/// The path is text, as in Node. Bytes that are not UTF-8 could be written in a URL, but
/// [`file_url_to_path`](crate::file_url_to_path) would refuse them.
///
/// As in Node, control characters at the end of a path are lost, except NUL and those that separate
/// words or lines: `"/a\u{1}"` becomes `file:///a`. The note about the names of hosts at
/// [`file_url_to_path`](crate::file_url_to_path) holds here too.
///
/// Node 20 differs. It leaves out a server whose name cannot be a host, where later versions fail.
/// It takes `//server/share` for a local path, and loses a NUL at the end.
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
/// - [`MissingResource`](UrlError::MissingResource), [`EmptyServer`](UrlError::EmptyServer) and
///   [`Invalid`](UrlError::Invalid): a path of Windows begins with two separators, but not with the
///   names of a server and a share.
/// - [`WorkingDirectory`](UrlError::WorkingDirectory): the path is relative, and the working
///   directory cannot be read.
///
/// [Node's
/// description](https://nodejs.org/docs/latest-v26.x/api/url.html#urlpathtofileurlpath-options)
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
    // Resolving removes a separator at the end.
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

/// The URL of a resolved path, if the parser would not change it.
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

/// The text that Node then parses. A path with a control character at its end loses it there.
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
    // The setter of `hostname` parses only the part that can be a host.
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
