//! Staying within the number of files that a process may have open.

use std::io;
use std::thread;
use std::time::Duration;

use crate::raw::Errno;
use crate::sys;

/// The longest sleep before another try.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long to hope that somebody closes a file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Workers that a batch may have: each has a file open, perhaps two, and the rest of the program has some too.
pub(super) fn most_workers() -> usize {
    (sys::descriptor_limit() / 4).max(1)
}

/// Opens a file, and waits for descriptors if there are none.
pub(crate) fn patiently<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    loop {
        match open() {
            Err(error) if waited < PATIENCE && is_out_of_descriptors(&error) => {
                thread::sleep(pause);
                waited += pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            result => return result,
        }
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    number.is_some_and(|number| Errno(number).is_out_of_descriptors())
}
