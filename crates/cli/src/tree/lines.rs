//! The lines of `-v`, one for each entry, from several threads.

use super::summary::Total;
use super::watch::Watch;
use indicatif::ProgressBar;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
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
