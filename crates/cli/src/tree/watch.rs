//! Progress on a terminal, and Ctrl-C, while a tree is worked on.

use super::expected::{Expected, Trees};
use crate::signals;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use smallfry::bulk::{Control, Progress};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time between two lines of progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time before trees are counted. A command that ends sooner does not pay for it.
const DELAY: Duration = Duration::from_secs(1);

/// The time for a command with a stream to end by itself after Ctrl-C. Then a thread still waits for
/// a pipe or a terminal. After that time a second Ctrl-C ends any command at once.
const GRACE: Duration = Duration::from_millis(500);

/// Watches one command.
pub(super) struct Watch {
    control: Control,
    /// The exit code of the signal that has stopped the command; 0 for none.
    stopped: Arc<AtomicU8>,
    is_done: Arc<AtomicBool>,
    expected: Arc<Expected>,
    shows: Option<(ProgressBar, JoinHandle<()>)>,
}

impl Watch {
    /// Begins to watch. `done` is the verb for the files: copied or removed.
    pub(super) fn begin(done: &'static str) -> Self {
        Self::start(done, |_| {})
    }

    /// Begins to watch a command that only reads, or writes a pipe. After Ctrl-C it ends, even if it
    /// waits for a pipe that nobody writes or reads.
    pub(super) fn begin_stream(done: &'static str) -> Self {
        Self::start(done, |code| {
            thread::spawn(move || {
                thread::sleep(GRACE);
                std::process::exit(code.into());
            });
        })
    }

    fn start(done: &'static str, after_stop: impl Fn(u8) + Send + 'static) -> Self {
        let control = Control::new();
        let stopped = Arc::new(AtomicU8::new(0));
        let stop = {
            let (control, stopped) = (control.clone(), Arc::clone(&stopped));
            let mut first = None;
            move |code: u8| {
                // npm and others pass on a signal that the terminal has sent to all.
                let first: &mut Instant = first.get_or_insert_with(Instant::now);
                if first.elapsed() > GRACE {
                    std::process::exit(code.into());
                }
                stopped.store(code, Ordering::Relaxed);
                control.cancel();
                after_stop(code);
            }
        };
        if let Err(error) = signals::listen(stop) {
            eprintln!("smallfry: Ctrl-C ends the command at once: {error}");
        }
        let is_done = Arc::new(AtomicBool::new(false));
        let expected = Arc::new(Expected::default());
        let shows = std::io::stderr().is_terminal().then(|| {
            let (control, is_done) = (control.clone(), Arc::clone(&is_done));
            let expected = Arc::clone(&expected);
            let bar = ProgressBar::new_spinner();
            let of_thread = bar.clone();
            let thread =
                thread::spawn(move || show(done, &of_thread, &control, &expected, &is_done));
            (bar, thread)
        });
        Self {
            control,
            stopped,
            is_done,
            expected,
            shows,
        }
    }

    pub(super) fn control(&self) -> &Control {
        &self.control
    }

    /// Counts what is in trees, to show how much time is left.
    pub(super) fn count(&self, trees: Trees) {
        if self.shows.is_none() {
            return;
        }
        let (control, is_done) = (self.control.clone(), Arc::clone(&self.is_done));
        let expected = Arc::clone(&self.expected);
        thread::spawn(move || {
            thread::sleep(DELAY);
            let is_done = || is_done.load(Ordering::Relaxed) || control.is_cancelled();
            expected.count(&trees, || (!is_done()).then(|| control.progress()));
        });
    }

    /// Calls `print`, which prints lines to a terminal, while no progress is shown there.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shows {
            Some((bar, _)) => bar.suspend(print),
            None => print(),
        }
    }

    /// Returns the progress that is shown on a terminal.
    pub(super) fn bar(&self) -> Option<ProgressBar> {
        self.shows.as_ref().map(|(bar, _)| bar.clone())
    }

    /// Ends the progress. Returns the exit code of the signal that has stopped the command.
    pub(super) fn end(self) -> Option<u8> {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some((_, shows)) = self.shows {
            shows.thread().unpark();
            drop(shows.join());
        }
        match self.stopped.load(Ordering::Relaxed) {
            0 => None,
            code => Some(code),
        }
    }
}

fn show(
    done: &str,
    bar: &ProgressBar,
    control: &Control,
    expected: &Expected,
    is_done: &AtomicBool,
) {
    let set_style = |template| {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
    };
    set_style("{spinner} {msg}");
    let began = Instant::now();
    let mut shows_end = false;
    while !is_done.load(Ordering::Relaxed) {
        thread::park_timeout(INTERVAL);
        let progress = control.progress();
        if expected.show(bar, &progress) && !shows_end {
            shows_end = true;
            set_style("{spinner} {percent}% {msg}, {eta} left");
        }
        bar.set_message(message(done, &progress, began.elapsed().as_secs_f64()));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn message(done: &str, progress: &Progress, seconds: f64) -> String {
    let a_second = |count: u64| (count as f64 / seconds) as u64;
    let entries = HumanCount(progress.operations);
    let rate = HumanCount(a_second(progress.operations));
    let mut message = format!("{done} {entries} entries, {rate} a second");
    if progress.bytes > 0 {
        let bytes = HumanBytes(progress.bytes);
        let rate = HumanBytes(a_second(progress.bytes));
        _ = write!(message, ", {bytes}, {rate}/s");
    }
    message
}
