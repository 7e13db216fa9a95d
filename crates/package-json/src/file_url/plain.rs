//! Recognizes URL paths that neither parsing nor decoding would change.

/// Bytes that are checked at a time. Windows overlap by one byte, so that each byte is checked
/// together with the next.
const WINDOW: usize = 17;

/// Returns true if neither parsing nor decoding would change the pathname.
pub(super) fn is_plain(pathname: &str) -> bool {
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
        // The rest is shorter than a window.
        seen.look(last);
    } else {
        let mut window = [b'a'; WINDOW];
        window[..bytes.len()].copy_from_slice(bytes);
        seen.look(&window);
    }
    // Names that begin with a dot are common, so they alone are no reason to parse.
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
    /// Checks a window. It has no branches and no early return, so the whole window is compared at
    /// once.
    fn look(&mut self, window: &[u8; WINDOW]) {
        for index in 0..WINDOW - 1 {
            let byte = window[index];
            self.special |= is_special(byte);
            self.dots |= u8::from(byte == b'/') & u8::from(window[index + 1] == b'.');
        }
        self.special |= is_special(window[WINDOW - 1]);
    }
}

/// Returns 1 for bytes that cannot stand in a path of a URL, or that have a meaning there. These
/// are the [path percent-encode set](https://url.spec.whatwg.org/#path-percent-encode-set), `%`,
/// `\`, and `|`, which may follow a drive letter.
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

/// Returns true if a segment is `.` or `..`.
fn has_dot_segment(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'/')
        .any(|segment| matches!(segment, b"." | b".."))
}
