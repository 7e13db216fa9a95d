//! The path that a file URL names: Node's `url.fileURLToPath`.

use super::error::UrlError;
use super::parse::FileUrl;
use super::system::System;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The path that a file URL names, by the rules of Node 24 and 26.
///
/// The URL is parsed first: tabs and line breaks are dropped, `\` is a `/`, dot segments are taken away even if they are
/// percent-encoded, the query and the fragment are dropped. A host is part of a path of Windows only. Then what is percent-encoded is decoded,
/// which has to give UTF-8: Node's answer is a string, so a file whose name is not UTF-8 has no URL. A NUL is let through, as Node does; what
/// opens the file refuses it.
///
/// A plain URL costs one look at its bytes. On POSIX its path is borrowed from it.
///
/// Where others answer otherwise:
/// - Node 20 and 22 leave `..` in a URL that also has a name beginning with a dot, as in `file:///a/.b/../c`, and `..` does not take away a first
///   name like `C:x` there. They refuse a host for what its Punycode says, as in `file://xn--a/b`.
/// - Which characters the name of a host may have outside ASCII is a matter of Unicode's tables, which here are newer than Node's for some.
///
/// ```
/// use smallfry_package_json::{System, UrlError, file_url_to_path};
///
/// assert_eq!(file_url_to_path("file:///a/%C3%BC.js?x", System::Posix)?, "/a/ü.js");
/// assert_eq!(file_url_to_path("file:///C:/a/b.js", System::Windows)?, r"C:\a\b.js");
/// assert_eq!(file_url_to_path("file://server/share/b.js", System::Windows)?, r"\\server\share\b.js");
/// assert_eq!(file_url_to_path("file:///a%2Fb", System::Posix), Err(UrlError::EncodedSeparator(System::Posix)));
/// # Ok::<(), UrlError>(())
/// ```
///
/// # Errors
///
/// [`Invalid`](UrlError::Invalid), [`Scheme`](UrlError::Scheme), [`Host`](UrlError::Host), [`EncodedSeparator`](UrlError::EncodedSeparator),
/// [`NotAbsolute`](UrlError::NotAbsolute) and [`Malformed`](UrlError::Malformed), where Node refuses a URL with the same code and message.
///
/// [Node's description](https://nodejs.org/docs/latest-v26.x/api/url.html#urlfileurltopathurl-options),
/// [parsing in the URL Standard](https://url.spec.whatwg.org/#url-parsing)
pub fn file_url_to_path(url: &str, system: System) -> Result<Cow<'_, str>, UrlError> {
    let FileUrl { host, pathname } = FileUrl::parse(url)?;
    decode(&host, pathname, system)
}

/// The path of a host and a percent-encoded pathname.
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

/// A name as it is shown. A label that no Punycode makes stays as it is.
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

/// JavaScript's `decodeURIComponent`, but for separators.
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
