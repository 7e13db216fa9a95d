//! Lines of digests and names, in the format of sha256sum and b3sum.
//!
//! A name with a backslash or a line break is escaped, and then its line begins with a backslash.
//! [sha256sum](https://www.gnu.org/software/coreutils/manual/html_node/cksum-output-modes.html)

use smallfry::hash::{Algorithm, Digest};
#[cfg(unix)]
use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::ffi::OsStringExt;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Returns the line of a file or tree.
pub(super) fn line(digest: &Digest, path: &Path) -> Vec<u8> {
    let (mark, name) = escaped(path);
    [mark, format!("{digest}  ").as_bytes(), &name, b"\n"].concat()
}

/// Returns the line that tells how a check of a file has ended.
pub(super) fn verdict(path: &Path, verdict: &str) -> Vec<u8> {
    let (mark, name) = escaped(path);
    [mark, &name, format!(": {verdict}\n").as_bytes()].concat()
}

/// Returns the beginning of a line, and the escaped name.
fn escaped(path: &Path) -> (&'static [u8], Vec<u8>) {
    let name = path.as_os_str().as_encoded_bytes();
    let mut escaped = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            // As b3sum prints it on Windows.
            _ if char::from(byte) == MAIN_SEPARATOR => escaped.push(b'/'),
            b'\\' => escaped.extend_from_slice(b"\\\\"),
            b'\n' => escaped.extend_from_slice(b"\\n"),
            b'\r' => escaped.extend_from_slice(b"\\r"),
            byte => escaped.push(byte),
        }
    }
    let mark: &[u8] = if escaped.len() > name.len() {
        b"\\"
    } else {
        b""
    };
    (mark, escaped)
}

/// Reads a line without its end. `None` if it is not in the format.
pub(super) fn parse(line: &[u8], algorithm: Algorithm) -> Option<(Digest, PathBuf)> {
    let (is_escaped, line) = match line.trim_ascii_start() {
        [b'\\', line @ ..] => (true, line),
        line => (false, line),
    };
    let (digits, rest) = line.split_at_checked(2 * algorithm.digest_len())?;
    let digest = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // A star says that the file was read as it is, which is the only way on Unix.
    let name = rest
        .strip_prefix(b"  ")
        .or_else(|| rest.strip_prefix(b" *"))?;
    let name = if is_escaped {
        unescaped(name)?
    } else {
        name.to_owned()
    };
    let path = path_from(name).filter(|path| !path.as_os_str().is_empty())?;
    Some((digest, path))
}

#[cfg(unix)]
#[allow(
    clippy::unnecessary_wraps,
    reason = "not all bytes are a path on Windows"
)]
fn path_from(name: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(name).into())
}

#[cfg(not(unix))]
fn path_from(name: Vec<u8>) -> Option<PathBuf> {
    Some(String::from_utf8(name).ok()?.into())
}

fn unescaped(name: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = name.iter();
    let mut unescaped = Vec::with_capacity(name.len());
    while let Some(&byte) = bytes.next() {
        unescaped.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(unescaped)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_what_line_writes() {
        let digest: Digest = "a9993e364706816aba3e25717850c26c9cd0d89d".parse().unwrap();
        let names = [&b"a"[..], b"a\nb", b"a/\n", b"a\r", b" *a "];
        let others = [&b"\\n"[..], b"\xff"];
        for name in names.iter().chain(others.iter().filter(|_| cfg!(unix))) {
            let path = path_from(name.to_vec()).unwrap();
            let line = line(&digest, &path);
            let line = line.strip_suffix(b"\n").unwrap();
            let read = parse(line, Algorithm::Sha1).unwrap();
            assert_eq!(read, (digest, path));
        }
    }

    #[test]
    fn parse_refuses_other_lines() {
        let digits = "a".repeat(40);
        let refused = |line: &str| parse(line.as_bytes(), Algorithm::Sha1).is_none();
        assert!(!refused(&format!("{digits} *a")));
        for line in [
            String::new(),
            format!("{digits} a"),
            format!("{digits}  "),
            format!("{digits}0  a"),
            format!("\\{digits}  a\\t"),
            format!("\\{digits}  a\\"),
            format!("{}g  a", "a".repeat(39)),
        ] {
            assert!(refused(&line), "{line}");
        }
        assert!(parse(format!("{digits}  a").as_bytes(), Algorithm::Sha256).is_none());
    }
}
