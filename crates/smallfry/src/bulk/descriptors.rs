//! Staying within the number of files that a process may have open.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::close::Closer;
use crate::raw::is_out_of_descriptors;
use crate::sys;

/// The longest sleep before another try.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long to hope that somebody closes a file.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 5 });

/// Workers that a batch may have: each has a file open, perhaps two, and the rest of the program has some too.
pub(super) fn max_workers() -> usize {
    (sys::descriptor_limit() / 4).max(1)
}

/// Waits for descriptors on behalf of one batch.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Somebody has waited in vain, and nobody has opened anything since.
    is_lost: AtomicBool,
    /// Nobody ever waits.
    is_hasty: bool,
}

impl Patience {
    /// For who has something better to do than to wait.
    pub(super) fn none() -> Self {
        Self {
            is_hasty: true,
            ..Self::default()
        }
    }

    /// Opens a file, and waits for descriptors if there are none. Once that was in vain, nobody waits until somebody can
    /// open something: thousands of files would each take their five seconds.
    pub(super) fn open<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let mut pause = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        loop {
            // The surest way to get one: what waits to be closed is closed here.
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
            if waited > PATIENCE {
                self.is_lost.store(true, Ordering::Relaxed);
            }
            if self.is_hasty || self.is_lost.load(Ordering::Relaxed) {
                return result;
            }
            thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Clone for Patience {
    /// What one batch has found out is not for the next.
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_in_vain_is_the_last_to_wait() {
        let patience = Patience::default();
        let mut tries = 0;
        let mut fail = |patience: &Patience| {
            tries = 0;
            let opened = patience.open(|| -> io::Result<()> {
                tries += 1;
                Err(io::Error::from_raw_os_error(libc::EMFILE))
            });
            assert!(is_out_of_descriptors(&opened.unwrap_err()));
            tries
        };
        assert!(fail(&patience) > 1);
        assert_eq!(fail(&patience), 1);
        // This says nothing of descriptors.
        let missing = patience.open(|| -> io::Result<()> { Err(io::ErrorKind::NotFound.into()) });
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fail(&patience), 1);
        assert!(fail(&patience.clone()) > 1);
        patience.open(|| Ok(())).unwrap();
        assert!(fail(&patience) > 1);
    }
}
