//! Standard output: whole lines at a time to a terminal, more at a time elsewhere.

use super::super::watch::Watch;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

pub(super) struct Output<'w> {
    watch: &'w Watch,
    lines: BufWriter<Stdout>,
    is_terminal: bool,
}

impl<'w> Output<'w> {
    pub(super) fn new(watch: &'w Watch) -> Self {
        let stdout = io::stdout();
        Self {
            watch,
            is_terminal: stdout.is_terminal(),
            lines: BufWriter::new(stdout),
        }
    }

    /// Returns true after Ctrl-C.
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.control().is_cancelled()
    }

    /// Prints a line.
    pub(super) fn put(&mut self, line: &[u8]) -> io::Result<()> {
        self.lines.write_all(line)?;
        if self.is_terminal {
            self.flush()?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.watch.suspend(|| self.lines.flush())
    }
}
