//! Ctrl-C and the signals that ask the command to stop: one file per platform, the same function in
//! each.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as platform;
#[cfg(unix)]
use unix as platform;

use std::io;

/// Calls `stop` on a thread of its own, each time that the command is asked to stop. `stop` gets
/// the exit code that shells give a command which that signal has ended. Call it once per process.
pub(crate) fn listen(stop: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    platform::listen(stop)
}
