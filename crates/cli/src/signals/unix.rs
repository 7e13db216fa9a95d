//! Unix: SIGINT, SIGTERM and SIGHUP, told apart.
//!
//! [signal(7)](https://man7.org/linux/man-pages/man7/signal.7.html)

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::thread;

pub(super) fn listen(mut stop: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let serve = move || {
        for signal in signals.forever() {
            stop(match signal {
                SIGHUP => 129,
                SIGTERM => 143,
                _ => 130,
            });
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(serve)
        .map(drop)
}
