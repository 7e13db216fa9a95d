//! Progress on a terminal, and Ctrl-C, while a tree is worked on.

use crate::signals;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use smallfry::bulk::Control;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time between two lines of progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time for a command with a stream to end by itself after Ctrl-C. Then a thread still waits for
/// a pipe or a terminal.
const GRACE: Duration = Duration::from_millis(500);

/// Watches one command.
pub(super) struct Watch {
    control: Control,
    /// The exit code of the signal that has stopped the command; 0 for none.
    stopped: Arc<AtomicU8>,
    is_done: Arc<AtomicBool>,
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
            move |code| {
                stopped.store(code, Ordering::Relaxed);
                control.cancel();
                after_stop(code);
            }
        };
        if let Err(error) = signals::listen(stop) {
            eprintln!("smallfry: Ctrl-C ends the command at once: {error}");
        }
        let is_done = Arc::new(AtomicBool::new(false));
        let shows = std::io::stderr().is_terminal().then(|| {
            let (control, is_done) = (control.clone(), Arc::clone(&is_done));
            let bar = ProgressBar::new_spinner();
            let of_thread = bar.clone();
            let thread = thread::spawn(move || show(done, &of_thread, &control, &is_done));
            (bar, thread)
        });
        Self {
            control,
            stopped,
            is_done,
            shows,
        }
    }

    pub(super) fn control(&self) -> &Control {
        &self.control
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

fn show(done: &str, bar: &ProgressBar, control: &Control, is_done: &AtomicBool) {
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let began = Instant::now();
    while !is_done.load(Ordering::Relaxed) {
        thread::park_timeout(INTERVAL);
        let progress = control.progress();
        let seconds = began.elapsed().as_secs_f64();
        let rate = (progress.operations as f64 / seconds) as u64;
        let bytes = match progress.bytes {
            0 => String::new(),
            bytes => format!("{}, ", HumanBytes(bytes)),
        };
        let entries = HumanCount(progress.operations);
        let rate = HumanCount(rate);
        bar.set_message(format!("{done} {entries} entries, {bytes}{rate} a second"));
        bar.tick();
    }
    bar.finish_and_clear();
}
