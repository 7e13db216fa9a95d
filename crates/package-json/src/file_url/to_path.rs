//! The path that a file URL names: Node's `url.fileURLToPath`.

use super::error::UrlError;
use super::parse::FileUrl;
use super::system::System;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// Converts a file URL to its path by the rules of Node 24 and 26.
///
/// The URL is parsed first. Parsing removes tabs and line breaks, reads `\` as `/`, removes dot
/// segments even if they are percent-encoded, and drops the query and the fragment. Only a path of
/// Windows can have a host. The percent-encoded bytes are decoded last, and must be UTF-8: Node's
/// result is a string, so a file whose name is not UTF-8 has no URL. A NUL stays, as in Node;
/// opening the file will fail.
///
/// A plain URL costs one pass over its bytes. On POSIX its path is borrowed from it.
///
/// Other implementations differ:
///
/// - Node 20 and 22 keep `..` in a URL that also has a name beginning with a dot, as in
///   `file:///a/.b/../c`, and `..` does not remove a first name like `C:x` there. They refuse a
///   host with wrong Punycode, as in `file://xn--a/b`.
/// - Unicode's tables decide which characters beyond ASCII the name of a host may have. The tables
///   here are newer than those of some versions of Node.
///
/// ```
/// use smallfry_package_json::{System, UrlError, file_url_to_path};
///
/// assert_eq!(file_url_to_path("file:///a/%C3%BC.js?x", System::Posix)?, "/a/ü.js");
/// assert_eq!(file_url_to_path("file:///C:/a/b.js", System::Windows)?, r"C:\a\b.js");
/// let shared = file_url_to_path("file://server/share/b.js", System::Windows)?;
/// assert_eq!(shared, r"\\server\share\b.js");
/// let error = UrlError::EncodedSeparator(System::Posix);
/// assert_eq!(file_url_to_path("file:///a%2Fb", System::Posix), Err(error));
/// # Ok::<(), UrlError>(())
/// ```
///
/// # Errors
///
/// [`Invalid`](UrlError::Invalid), [`Scheme`](UrlError::Scheme), [`Host`](UrlError::Host),
/// [`EncodedSeparator`](UrlError::EncodedSeparator), [`NotAbsolute`](UrlError::NotAbsolute) and
/// [`Malformed`](UrlError::Malformed), where Node refuses the URL with the same code and message.
///
/// [Node's
/// description](https://nodejs.org/docs/latest-v26.x/api/url.html#urlfileurltopathurl-options),
/// [parsing in the URL Standard](https://url.spec.whatwg.org/#url-parsing)
pub fn file_url_to_path(url: &str, system: System) -> Result<Cow<'_, str>, UrlError> {
    let FileUrl { host, pathname } = FileUrl::parse(url)?;
    decode(&host, pathname, system)
}

/// Converts a host and a percent-encoded pathname to a path.
pub(crate) fn decode<'a>(
    host: &str,
    pathname: Cow<'a, str>,
    system: System,
) -> Result<Cow<'a, str>, UrlError> {
    if system == System::Posix {
        return if host.is_empty() {
            decode_escapes(pathname, system)
        } else {
            Err(UrlError::Host)
        };
    }
    let mut path = decode_escapes(Cow::Owned(with_backslashes(&pathname)), system)?.into_owned();
    if !host.is_empty() {
        path.insert_str(0, &domain_to_unicode(host));
        path.insert_str(0, r"\\");
        return Ok(Cow::Owned(path));
    }
    match path.as_bytes() {
        [b'\\', letter, b':', ..] if letter.is_ascii_alphabetic() => {
            path.remove(0);
            Ok(Cow::Owned(path))
        }
        _ => Err(UrlError::NotAbsolute),
    }
}

/// Decodes Punycode for display. A label with wrong Punycode stays as it is.
fn domain_to_unicode(host: &str) -> String {
    let labels = host.split('.').map(|label| {
        let (text, result) = idna::domain_to_unicode(label);
        match result {
            Ok(()) => Cow::Owned(text),
            Err(_) => Cow::Borrowed(label),
        }
    });
    labels.collect::<Vec<_>>().join(".")
}

fn with_backslashes(pathname: &str) -> String {
    pathname.replace('/', "\\")
}

/// Works like JavaScript's `decodeURIComponent`, and refuses encoded separators.
fn decode_escapes(pathname: Cow<'_, str>, system: System) -> Result<Cow<'_, str>, UrlError> {
    if !pathname.contains('%') {
        return Ok(pathname);
    }
    let escapes = || pathname.split('%').skip(1).map(str::as_bytes);
    let is_separator = |escape: &[u8]| match escape {
        [b'2', b'f' | b'F', ..] => true,
        [b'5', b'c' | b'C', ..] => system == System::Windows,
        _ => false,
    };
    if escapes().any(is_separator) {
        return Err(UrlError::EncodedSeparator(system));
    }
    let is_whole = |escape: &[u8]| matches!(escape, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    if !escapes().all(is_whole) {
        return Err(UrlError::Malformed);
    }
    match percent_decode_str(&pathname).decode_utf8() {
        Ok(path) => Ok(Cow::Owned(path.into_owned())),
        Err(_) => Err(UrlError::Malformed),
    }
}
