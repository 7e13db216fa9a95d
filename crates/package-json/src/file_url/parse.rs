//! Parses file URLs by the [URL Standard](https://url.spec.whatwg.org/#url-parsing).

use super::error::UrlError;
use super::plain::is_plain;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use url::{Host, Url};

/// The parts of a file URL that make its path, both percent-encoded.
pub(crate) struct FileUrl<'a> {
    /// Empty for files of this machine.
    pub(crate) host: Cow<'a, str>,
    /// Begins with `/`.
    pub(crate) pathname: Cow<'a, str>,
}

impl<'a> FileUrl<'a> {
    /// Parses by the URL Standard.
    ///
    /// The crate `url` deviates from the standard for drive letters, for empty segments, and for
    /// hosts before a drive letter. It therefore parses only hosts, and decides which URLs of other
    /// schemes are valid.
    pub(crate) fn parse(url: &'a str) -> Result<Self, UrlError> {
        if let Some(pathname) = url.strip_prefix("file://")
            && pathname.starts_with('/')
            && is_plain(pathname)
        {
            return Ok(Self {
                host: Cow::Borrowed(""),
                pathname: Cow::Borrowed(pathname),
            });
        }
        let text = without_breaks(url.trim_matches(|character| character <= ' '));
        let rest = match text.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("file:") => &text[5..],
            _ => {
                return Err(if is_valid(url) {
                    UrlError::Scheme
                } else {
                    UrlError::Invalid
                });
            }
        };
        let rest = before(rest, &['?', '#']);
        let Some(rest) = rest.strip_prefix(SLASHES) else {
            return Ok(Self::local(rest));
        };
        let Some(rest) = rest.strip_prefix(SLASHES) else {
            return Ok(Self::local(rest));
        };
        let host = before(rest, SLASHES);
        if is_drive(host) {
            return Ok(Self::local(rest));
        }
        let path = &rest[host.len()..];
        Ok(Self {
            host: Cow::Owned(parse_host(host)?),
            pathname: Cow::Owned(parse_pathname(path.strip_prefix(SLASHES).unwrap_or(path))),
        })
    }

    fn local(path: &str) -> Self {
        Self {
            host: Cow::Borrowed(""),
            pathname: Cow::Owned(parse_pathname(path)),
        }
    }
}

impl Display for FileUrl<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}{}", self.host, self.pathname)
    }
}

/// The separators of segments in a file URL.
const SLASHES: &[char] = &['/', '\\'];

/// Removes tabs and line breaks, as the parser does anywhere in a URL.
pub(super) fn without_breaks(text: &str) -> Cow<'_, str> {
    const BREAKS: &[char] = &['\t', '\n', '\r'];
    if text.contains(BREAKS) {
        Cow::Owned(text.replace(BREAKS, ""))
    } else {
        Cow::Borrowed(text)
    }
}

pub(super) fn before<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

/// [A Windows drive letter](https://url.spec.whatwg.org/#windows-drive-letter)
fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// [File host state](https://url.spec.whatwg.org/#file-host-state)
pub(super) fn parse_host(host: &str) -> Result<String, UrlError> {
    if host.is_empty() {
        return Ok(String::new());
    }
    let host = match Host::parse(host) {
        Ok(host) => host.to_string(),
        Err(_) => parse_undecodable_host(host).ok_or(UrlError::Invalid)?,
    };
    Ok(if host == "localhost" {
        String::new()
    } else {
        host
    })
}

/// Parses an ASCII name whose Punycode is wrong. Since Node 24 such a name is accepted.
fn parse_undecodable_host(host: &str) -> Option<String> {
    let host = percent_decode_str(host).decode_utf8().ok()?;
    let without_punycode = without_punycode(&host)?;
    let is_name = matches!(Host::parse(&without_punycode), Ok(Host::Domain(_)));
    is_name.then(|| host.to_ascii_lowercase())
}

fn is_valid(url: &str) -> bool {
    Url::parse(url).is_ok() || without_punycode(url).is_some_and(|url| Url::parse(&url).is_ok())
}

/// Replaces the marks of Punycode, so that the text is otherwise as valid as before.
fn without_punycode(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    (text.is_ascii() && lower.contains("xn--")).then(|| lower.replace("xn--", "xx--"))
}

/// The [path percent-encode set](https://url.spec.whatwg.org/#path-percent-encode-set)
const PATHNAME: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// [Path state](https://url.spec.whatwg.org/#path-state), given what follows the first slash.
fn parse_pathname(path: &str) -> String {
    let mut pathname = String::with_capacity(path.len() + 1);
    let mut segments = path.split(SLASHES).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match Dots::of(segment) {
            Dots::Two => {
                // `..` does not leave the drive.
                let is_drive = matches!(pathname.as_bytes(), [b'/', letter, b':'] if letter.is_ascii_alphabetic());
                if !is_drive {
                    pathname.truncate(pathname.rfind('/').unwrap_or(0));
                }
            }
            Dots::One => {}
            Dots::None => {
                if pathname.is_empty() && is_drive(segment) {
                    pathname.extend(["/", &segment[..1], ":"]);
                } else {
                    pathname.push('/');
                    pathname.extend(utf8_percent_encode(segment, PATHNAME));
                }
                continue;
            }
        }
        if is_last {
            pathname.push('/');
        }
    }
    pathname
}

/// A dot segment, even if its dots are percent-encoded.
enum Dots {
    None,
    One,
    Two,
}

impl Dots {
    fn of(segment: &str) -> Self {
        const MAX_LENGTH: usize = "%2e%2e".len();
        if segment.len() > MAX_LENGTH || !segment.starts_with(['.', '%']) {
            return Self::None;
        }
        match &*segment.to_ascii_lowercase().replace("%2e", ".") {
            "." => Self::One,
            ".." => Self::Two,
            _ => Self::None,
        }
    }
}
