//! What is known of the file systems on which files are closed: how slow that is, and whether it can fail.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::time::{Duration, Instant};

use super::auto::Auto;
use crate::raw::BorrowedFile;
use crate::sys;

/// So many closes are looked at after a slow one, and on a new file system.
const ATTENTION: u32 = 16;
/// One close in so many is timed where they are fast.
const ONE_IN: u32 = 16;
/// Nobody has asked whether closing may fail.
const UNKNOWN: u8 = 2;
/// File systems remembered; a process that uses more learns anew.
const MOST: usize = 64;

/// How much is to be learnt from a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing.
    Away,
    /// Whether it is slow: a look at the clock, no system call.
    Glance,
    /// On which file system it waited how long.
    Closely,
}

/// One file system.
#[derive(Debug)]
pub(super) struct Device {
    id: u64,
    /// Whether closing a file may fail there: 0 for no, 1 for yes, else nobody has asked.
    reports: AtomicU8,
    auto: Mutex<Auto>,
    defers: AtomicBool,
}

impl Device {
    /// Whether closing is slow here.
    pub(super) fn defers(&self) -> bool {
        self.defers.load(Ordering::Relaxed)
    }

    /// Whether closing a file may fail here, so that its path has to be known before. A server may be asked, once.
    pub(super) fn reports(&self, file: BorrowedFile<'_>) -> bool {
        match self.reports.load(Ordering::Relaxed) {
            0 => false,
            1 => true,
            _ => {
                let reports = sys::reports_at_close(file);
                self.reports.store(reports.into(), Ordering::Relaxed);
                reports
            }
        }
    }

    /// Has the question asked again where the answer was no, which costs no more than a system call there. Numbers of file
    /// systems that are no disks are given to others once they are unmounted.
    pub(super) fn forget_silence(&self) {
        if self.reports.load(Ordering::Relaxed) == 0 {
            self.reports.store(UNKNOWN, Ordering::Relaxed);
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

    /// How to look at this close.
    pub(super) fn look(&self) -> Look {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let until = self.attentive_until.load(Ordering::Relaxed);
        if until.wrapping_sub(count).cast_signed() > 0 {
            Look::Closely
        } else if count.is_multiple_of(ONE_IN) {
            Look::Glance
        } else {
            Look::Away
        }
    }

    /// A close at which somebody glanced took so long.
    pub(super) fn glanced(&self, passed: Duration) {
        if Auto::is_slow(passed) {
            self.look_closely();
        }
    }

    /// Look at the next ones.
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
            reports: AtomicU8::new(UNKNOWN),
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
    fn some_closes_are_glanced_at_and_all_after_a_slow_one_are_looked_at() {
        let devices = Devices::default();
        let looks: Vec<Look> = (0..1600).map(|_| devices.look()).collect();
        assert_eq!(looks[0], Look::Glance);
        let glances = looks.iter().filter(|look| **look == Look::Glance);
        assert_eq!(glances.count(), 100);
        assert!(!looks.contains(&Look::Closely));
        devices.glanced(Duration::from_micros(10));
        assert_ne!(devices.look(), Look::Closely);
        devices.glanced(Duration::from_millis(5));
        assert!((0..ATTENTION).all(|_| devices.look() == Look::Closely));
        assert_ne!(devices.look(), Look::Closely);
    }
}
