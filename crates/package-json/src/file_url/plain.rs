//! Recognizes URL paths that neither parsing nor decoding would change.

/// How many bytes are looked at together. They overlap by one, so that each is seen with the one that follows it.
const WINDOW: usize = 17;

/// Whether neither the parser nor decoding would change any of it.
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
