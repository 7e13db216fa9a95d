//! A progress bar on a terminal, silence elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const STEPS: u64 = 1000;

pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {msg}")
        {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(crate) fn show(&self, part: f64, message: &str) {
        self.0.set_position((part * STEPS as f64) as u64);
        if self.0.message() != message {
            self.0.set_message(message.to_owned());
        }
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
