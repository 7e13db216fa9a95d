//! The lines of `-v`, one for each entry, from several threads.

use super::watch::Watch;
use indicatif::ProgressBar;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Standard output: whole lines at a time to a terminal, more at a time elsewhere. A reader that
/// has gone away is no reason to stop.
#[derive(Clone)]
pub(super) struct Lines(Arc<Inner>);

struct Inner {
    bar: Option<ProgressBar>,
    is_terminal: bool,
    output: Mutex<BufWriter<Stdout>>,
}

impl Lines {
    pub(super) fn new(watch: &Watch) -> Self {
        let output = io::stdout();
        Self(Arc::new(Inner {
            bar: watch.bar(),
            is_terminal: output.is_terminal(),
            output: Mutex::new(BufWriter::new(output)),
        }))
    }

    /// Prints a line.
    pub(super) fn put(&self, line: &str) {
        let mut output = self.output();
        _ = writeln!(output, "{line}");
        if self.0.is_terminal {
            self.flush_to(&mut output);
        }
    }

    /// Prints what has not been printed yet.
    pub(super) fn flush(&self) {
        self.flush_to(&mut self.output());
    }

    fn output(&self) -> std::sync::MutexGuard<'_, BufWriter<Stdout>> {
        let output = self.0.output.lock();
        output.unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints while no progress is shown.
    fn flush_to(&self, output: &mut BufWriter<Stdout>) {
        _ = match &self.0.bar {
            Some(bar) => bar.suspend(|| output.flush()),
            None => output.flush(),
        };
    }
}

/// Quotes a path as `cp -v` does, so that a shell reads it.
pub(super) fn quoted(path: &Path) -> String {
    let mut text = String::from("'");
    let put_byte = |text: &mut String, byte: u8| _ = write!(text, "'$'\\{byte:03o}''");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\'' {
                text.push_str("'\\''");
            } else if character.is_control() {
                let mut bytes = [0; 4];
                for &byte in character.encode_utf8(&mut bytes).as_bytes() {
                    put_byte(&mut text, byte);
                }
            } else {
                text.push(character);
            }
        }
        for &byte in chunk.invalid() {
            put_byte(&mut text, byte);
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn quoted_is_read_by_a_shell() {
        for name in [
            &b"a b"[..],
            b"it's",
            b"two\nlines\x1b[1m",
            b"\xff\xfe",
            "ä".as_bytes(),
        ] {
            let quoted = quoted(Path::new(OsStr::from_bytes(name)));
            assert!(!quoted.contains(char::is_control), "{quoted}");
            let mut shell = std::process::Command::new("bash");
            let Ok(output) = shell.args(["-c", &format!("printf %s {quoted}")]).output() else {
                return;
            };
            assert_eq!(output.stdout, name, "{quoted}");
        }
    }
}
