//! What is known of the file systems on which files are closed: how slow that is, and whether it can fail.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::time::{Duration, Instant};

use super::auto::Auto;
use crate::raw::BorrowedFile;
use crate::sys;

/// So many closes are timed before only some are, and again after a slow one.
const ATTENTION: u32 = 16;
/// One close in so many is timed where they are fast.
const ONE_IN: u32 = 16;
/// File systems remembered; a process that uses more learns anew.
const MOST: usize = 64;

/// One file system.
#[derive(Debug)]
pub(super) struct Device {
    id: u64,
    /// Closing a file may fail there, and its path has to be known before.
    reports: AtomicBool,
    auto: Mutex<Auto>,
    defers: AtomicBool,
}

impl Device {
    /// Whether closing is slow here.
    pub(super) fn defers(&self) -> bool {
        self.defers.load(Ordering::Relaxed)
    }

    /// Whether closing a file may fail here.
    pub(super) fn reports(&self) -> bool {
        self.reports.load(Ordering::Relaxed)
    }

    /// Asks again where nothing was reported, which costs no more than a system call there; elsewhere a server might be
    /// asked. Numbers of file systems that are no disks are given to others once they are unmounted.
    pub(super) fn look_again(&self, file: BorrowedFile<'_>) {
        if !self.reports() && sys::reports_at_close(file) {
            self.reports.store(true, Ordering::Relaxed);
        }
    }

    fn record(&self, waited: Duration) {
        // Nobody waits here, so that a process that was copied while another thread held this does not hang.
        let auto = match self.auto.try_lock() {
            Ok(auto) => Some(auto),
            Err(TryLockError::Poisoned(auto)) => Some(auto.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(mut auto) = auto {
            let defers = auto.record(waited);
            self.defers.store(defers, Ordering::Relaxed);
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: RwLock<Vec<Arc<Device>>>,
    /// Closing is slow on one of them.
    any_defers: AtomicBool,
    /// Closes so far, and until when all are timed.
    count: AtomicU32,
    attentive_until: AtomicU32,
    began: AtomicBool,
}

/// How long a close waited.
pub(super) struct Stopwatch {
    began: Instant,
    busy: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            busy: sys::thread_cpu_time(),
            began: Instant::now(),
        }
    }

    fn waited(&self) -> Duration {
        let passed = self.began.elapsed();
        passed.saturating_sub(sys::thread_cpu_time().saturating_sub(self.busy))
    }
}

impl Devices {
    /// Whether closing is fast wherever that is known.
    pub(super) fn all_fast(&self) -> bool {
        !self.any_defers.load(Ordering::Relaxed)
    }

    /// Whether to time this close.
    pub(super) fn is_sample(&self) -> bool {
        if !self.began.load(Ordering::Relaxed) && !self.began.swap(true, Ordering::Relaxed) {
            self.look_closely();
        }
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let until = self.attentive_until.load(Ordering::Relaxed);
        count.is_multiple_of(ONE_IN) || until.wrapping_sub(count).cast_signed() > 0
    }

    /// Time the next ones.
    fn look_closely(&self) {
        let until = self.count.load(Ordering::Relaxed).wrapping_add(ATTENTION);
        self.attentive_until.store(until, Ordering::Relaxed);
    }

    /// Learns how long a close took.
    pub(super) fn record(&self, device: &Device, stopwatch: &Stopwatch) {
        let waited = stopwatch.waited();
        let before = device.defers();
        device.record(waited);
        if device.defers() != before {
            let Ok(known) = self.known.try_read() else {
                return self.any_defers.store(true, Ordering::Relaxed);
            };
            let any = known.iter().any(|device| device.defers());
            self.any_defers.store(any, Ordering::Relaxed);
        } else if !before && Auto::is_slow(waited) {
            self.look_closely();
        }
    }

    /// The file system of an open file; `None` if the system does not tell.
    pub(super) fn of(&self, file: BorrowedFile<'_>) -> Option<Arc<Device>> {
        let id = sys::device_of(file)?;
        let found = |known: &Vec<Arc<Device>>| known.iter().find(|it| it.id == id).cloned();
        // As in `record`: a copied process must not wait for a thread that it does not have.
        if let Some(device) = self.known.try_read().ok().and_then(|known| found(&known)) {
            return Some(device);
        }
        let device = Arc::new(Device {
            id,
            reports: AtomicBool::new(sys::reports_at_close(file)),
            auto: Mutex::default(),
            defers: AtomicBool::new(false),
        });
        if let Ok(mut known) = self.known.try_write() {
            if let Some(device) = found(&known) {
                return Some(device);
            }
            if known.len() == MOST {
                known.remove(0);
            }
            known.push(Arc::clone(&device));
        }
        self.look_closely();
        Some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_closes_are_timed_and_then_some() {
        let devices = Devices::default();
        let first = (0..ATTENTION).filter(|_| devices.is_sample()).count();
        assert_eq!(first, ATTENTION as usize);
        let later = (0..1600).filter(|_| devices.is_sample()).count();
        assert_eq!(later, 100);
        devices.look_closely();
        assert_eq!((0..8).filter(|_| devices.is_sample()).count(), 8);
    }
}
