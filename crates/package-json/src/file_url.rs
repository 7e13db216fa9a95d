//! Paths of file URLs and file URLs of paths: Node's `url.fileURLToPath` and `url.pathToFileURL`.
//!
//! Most URLs that a loader meets are plain ones, `file:///home/me/node_modules/a/index.js`: what neither parsing nor decoding would change.
//! They are told by one look at their bytes, and their path is a part of them. Every other URL is parsed by the crate `url`, after the
//! [URL Standard](https://url.spec.whatwg.org/) that Node follows too.

use std::borrow::Cow;
use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter, Write};
use std::io;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::{Host, Url};

/// Whose paths are meant: what the option `windows` of Node's functions says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// Paths like `/home/me`.
    Posix,
    /// Paths like `C:\Users\me` and `\\server\share`.
    Windows,
}

impl System {
    /// The one this is compiled for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Posix
    };

    fn is_separator(self, byte: u8) -> bool {
        byte == b'/' || self == Self::Windows && byte == b'\\'
    }

    fn separator(self) -> char {
        match self {
            Self::Posix => '/',
            Self::Windows => '\\',
        }
    }
}

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

/// What of a file URL makes its path, both still percent-encoded.
pub(crate) struct FileUrl<'a> {
    /// Empty for files of this machine.
    pub(crate) host: Cow<'a, str>,
    /// Begins with `/`.
    pub(crate) pathname: Cow<'a, str>,
}

impl<'a> FileUrl<'a> {
    /// Parses by the URL Standard.
    ///
    /// The crate `url` differs from it in what it makes of drive letters, of empty segments and of hosts before a drive letter, so from it come
    /// only hosts, and what other schemes' URLs are valid.
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

/// What separates segments in the URL of a file.
const SLASHES: &[char] = &['/', '\\'];

/// The parser drops tabs and line breaks wherever they are.
fn without_breaks(text: &str) -> Cow<'_, str> {
    const BREAKS: &[char] = &['\t', '\n', '\r'];
    if text.contains(BREAKS) {
        Cow::Owned(text.replace(BREAKS, ""))
    } else {
        Cow::Borrowed(text)
    }
}

fn before<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

/// [A Windows drive letter](https://url.spec.whatwg.org/#windows-drive-letter)
fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// [File host state](https://url.spec.whatwg.org/#file-host-state)
fn parse_host(host: &str) -> Result<String, UrlError> {
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

/// Since Node 24 a name that is ASCII is not refused for what its Punycode says.
fn parse_undecodable_host(host: &str) -> Option<String> {
    let host = percent_decode_str(host).decode_utf8().ok()?;
    let without_punycode = without_punycode(&host)?;
    let is_name = matches!(Host::parse(&without_punycode), Ok(Host::Domain(_)));
    is_name.then(|| host.to_ascii_lowercase())
}

fn is_valid(url: &str) -> bool {
    Url::parse(url).is_ok() || without_punycode(url).is_some_and(|url| Url::parse(&url).is_ok())
}

/// A text that says nothing in Punycode, but is as valid otherwise.
fn without_punycode(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    (text.is_ascii() && lower.contains("xn--")).then(|| lower.replace("xn--", "xx--"))
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
                // A drive is not left.
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

/// Whether a segment is a dot segment, also if its dots are percent-encoded.
enum Dots {
    None,
    One,
    Two,
}

impl Dots {
    fn of(segment: &str) -> Self {
        const LONGEST: usize = "%2e%2e".len();
        if segment.len() > LONGEST || !segment.starts_with(['.', '%']) {
            return Self::None;
        }
        match &*segment.to_ascii_lowercase().replace("%2e", ".") {
            "." => Self::One,
            ".." => Self::Two,
            _ => Self::None,
        }
    }
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

fn with_slashes(path: &str, system: System) -> Cow<'_, str> {
    match system {
        System::Posix => Cow::Borrowed(path),
        System::Windows => Cow::Owned(path.replace('\\', "/")),
    }
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

/// How many bytes are looked at together. They overlap by one, so that each is seen with the one that follows it.
const WINDOW: usize = 17;

/// Whether neither the parser nor decoding would change any of it.
fn is_plain(pathname: &str) -> bool {
    let bytes = pathname.as_bytes();
    let mut seen = Seen::default();
    if let Some(last) = bytes.last_chunk() {
        let mut rest = bytes;
        while let Some(window) = rest.first_chunk() {
            seen.look(window);
            if seen.special != 0 {
                return false;
            }
            rest = &rest[WINDOW - 1..];
        }
        // What is left over at the end is less than a window.
        seen.look(last);
    } else {
        let mut window = [b'a'; WINDOW];
        window[..bytes.len()].copy_from_slice(bytes);
        seen.look(&window);
    }
    // Names that begin with a dot are common, so one is no reason to parse.
    seen.special == 0 && (seen.dots == 0 || !has_dot_segment(bytes))
}

#[derive(Default)]
struct Seen {
    /// Not 0 if there was a byte that [`is_special`].
    special: u8,
    /// Not 0 if a segment began with a dot.
    dots: u8,
}

impl Seen {
    /// Has no way out in the middle and no branches, so that all of a window is compared at once.
    fn look(&mut self, window: &[u8; WINDOW]) {
        for index in 0..WINDOW - 1 {
            let byte = window[index];
            self.special |= is_special(byte);
            self.dots |= u8::from(byte == b'/') & u8::from(window[index + 1] == b'.');
        }
        self.special |= is_special(window[WINDOW - 1]);
    }
}

/// 1 for what a path in a URL cannot have as it is, or what means something there: the
/// [path percent-encode set](https://url.spec.whatwg.org/#path-percent-encode-set), `%`, `\`, and `|` for it may follow a drive letter.
fn is_special(byte: u8) -> u8 {
    u8::from(byte <= b' ')
        | u8::from(byte == b'"')
        | u8::from(byte == b'#')
        | u8::from(byte == b'%')
        | u8::from(byte == b'<')
        | u8::from(byte == b'>')
        | u8::from(byte == b'?')
        | u8::from(byte == b'\\')
        | u8::from(byte == b'^')
        | u8::from(byte == b'`')
        | u8::from(byte == b'{')
        | u8::from(byte == b'|')
        | u8::from(byte == b'}')
        | u8::from(byte >= 0x7f)
}

/// Whether a segment is `.` or `..`.
fn has_dot_segment(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'/')
        .any(|segment| matches!(segment, b"." | b".."))
}

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

/// Node's `path.resolve` of one path.
fn resolve(path: &str, system: System) -> Result<String, UrlError> {
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
            // What Node does where such a path cannot be one: the drive is left out.
            start = start.replace('\\', "/");
            start.drain(..start.find('/').unwrap_or(start.len()));
        }
        Cow::Owned(format!("{start}/{path}"))
    };
    Ok(format!("/{}", without_dots(&path, true, System::Posix)))
}

/// As Node does: what a path lacks, its drive or the directory on it, is taken of the working directory.
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

/// What a path of Windows begins with.
struct Root {
    /// `C:` or `\\server\share`, or empty.
    device: String,
    /// Where the rest of the path begins.
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

/// A path without empty and dot segments. One that is not absolute may begin with `..`.
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

/// `process.cwd()`, which is text.
fn working_directory() -> Result<String, UrlError> {
    let directory = env::current_dir().map_err(|error| UrlError::WorkingDirectory(error.kind()))?;
    Ok(directory.to_string_lossy().into_owned())
}

/// Windows keeps a working directory for each drive, in variables named like `=C:`.
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
