//! The limit on the number of files that a process may have open.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::closer::Closer;
use crate::errno::is_out_of_descriptors;
use crate::sys;

/// The maximum sleep before another try.
const MAX_PAUSE: Duration = Duration::from_millis(50);
/// The time to wait for a file to be closed.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 5 });

/// Returns the maximum number of workers that open files: a quarter of the descriptor limit.
///
/// Each worker has a file open, perhaps two, and the rest of the program needs some too.
pub fn max_workers() -> usize {
    (sys::descriptor_limit() / 4).max(1)
}

/// Waits for descriptors, for one batch.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// A thread has waited in vain, and no file was opened since.
    is_lost: AtomicBool,
    /// No thread waits.
    no_wait: bool,
}

impl Backoff {
    /// Makes a backoff that never waits.
    pub(super) fn no_wait() -> Self {
        Self {
            no_wait: true,
            ..Self::default()
        }
    }

    /// Opens a file, and waits for descriptors if there are none.
    ///
    /// Once a thread has waited in vain, no thread waits until a file could be opened. Otherwise
    /// thousands of files would take five seconds each.
    pub(crate) fn open<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let mut pause = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        loop {
            // Pending closes are done first, which surely frees descriptors.
            let result = Closer::global().with_room(&mut open);
            match &result {
                Err(error) if is_out_of_descriptors(error) => {}
                Err(_) => return result,
                Ok(_) => {
                    if self.is_lost.load(Ordering::Relaxed) {
                        self.is_lost.store(false, Ordering::Relaxed);
                    }
                    return result;
                }
            }
            if waited > MAX_WAIT {
                self.is_lost.store(true, Ordering::Relaxed);
            }
            if self.no_wait || self.is_lost.load(Ordering::Relaxed) {
                return result;
            }
            thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

impl Clone for Backoff {
    /// Makes a new backoff: what one batch has found out does not hold for the next.
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn open_does_not_wait_again_after_a_wait_in_vain() {
        let backoff = Backoff::default();
        let mut tries = 0;
        let mut fail = |backoff: &Backoff| {
            tries = 0;
            let opened = backoff.open(|| -> io::Result<()> {
                tries += 1;
                Err(io::Error::from_raw_os_error(libc::EMFILE))
            });
            assert!(is_out_of_descriptors(&opened.unwrap_err()));
            tries
        };
        assert!(fail(&backoff) > 1);
        assert_eq!(fail(&backoff), 1);
        // This error does not come from a lack of descriptors.
        let missing = backoff.open(|| -> io::Result<()> { Err(io::ErrorKind::NotFound.into()) });
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fail(&backoff), 1);
        assert!(fail(&backoff.clone()) > 1);
        backoff.open(|| Ok(())).unwrap();
        assert!(fail(&backoff) > 1);
    }
}
