//! The lines of `-v`, one for each entry, from several threads.

use super::summary::Total;
use super::watch::Watch;
use indicatif::ProgressBar;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Standard output: whole lines at a time to a terminal, more at a time elsewhere. A reader that
/// has gone away is no reason to stop.
#[derive(Clone)]
pub(super) struct Lines(Arc<Inner>);

struct Inner {
    bar: Option<ProgressBar>,
    is_terminal: bool,
    output: Mutex<Output>,
}

struct Output {
    writer: BufWriter<Stdout>,
    /// The first error, after which nothing more is printed.
    error: Option<io::Error>,
}

impl Output {
    fn run(&mut self, print: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = print(&mut self.writer).err();
        }
    }
}

impl Lines {
    pub(super) fn new(watch: &Watch) -> Self {
        let output = io::stdout();
        Self(Arc::new(Inner {
            bar: watch.bar(),
            is_terminal: output.is_terminal(),
            output: Mutex::new(Output {
                writer: BufWriter::new(output),
                error: None,
            }),
        }))
    }

    /// Prints a line.
    pub(super) fn put(&self, line: &str) {
        let mut output = self.output();
        output.run(|writer| writeln!(writer, "{line}"));
        if self.0.is_terminal {
            self.flush_to(&mut output);
        }
    }

    /// Prints what has not been printed yet. Adds the error of a line that could not be printed.
    pub(super) fn end(&self, total: &mut Total) {
        let mut output = self.output();
        self.flush_to(&mut output);
        if let Some(error) = &output.error
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            total.fail(format!("write standard output: {error}"));
        }
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        let output = self.0.output.lock();
        output.unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints while no progress is shown.
    fn flush_to(&self, output: &mut Output) {
        output.run(|writer| match &self.0.bar {
            Some(bar) => bar.suspend(|| writer.flush()),
            None => writer.flush(),
        });
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

/// Writes control characters as escapes, so that the names in a message cannot change the terminal
/// or forge another line.
pub(super) fn printable(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn printable_has_no_control_characters() {
        let message = printable("copy a\nb\x1b]0;x\x07 to ä");
        assert_eq!(message, "copy a\\nb\\u{1b}]0;x\\u{7} to ä");
    }

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
