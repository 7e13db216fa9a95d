//! The file systems on which files are closed, and for each whether closing is slow or can fail.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::time::{Duration, Instant};

use super::auto::Auto;
use crate::raw::BorrowedFile;
use crate::sys;
use smallfry_workers::thread_cpu_time;

/// The number of closes that are measured in full after a slow one, and on a new file system.
const FULL_SAMPLES: u64 = 16;
/// One close in this many is timed where closing is fast.
const ONE_IN: u64 = 16;
/// The system was not asked whether closing can fail.
const UNKNOWN: u8 = 2;
/// The maximum number of file systems that are remembered. On others no close is deferred.
const MAX_DEVICES: usize = 64;

/// The part of a close that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    /// Nothing.
    Off,
    /// The time, which takes no system call.
    Clock,
    /// The time that it waited, and its file system.
    Full,
}

/// One file system.
#[derive(Debug)]
pub(super) struct Device {
    id: u64,
    /// It is remembered, so that its times are worth recording.
    is_known: bool,
    /// 1 if closing a file can fail there, 0 if it cannot, else it is not known.
    can_fail: AtomicU8,
    /// The times of files that were only read, and of files that were written. Scanners slow down
    /// files that were read, and servers files that were written. One average would hide either.
    history: [History; 2],
}

/// The closing times of one kind of files.
#[derive(Debug, Default)]
struct History {
    auto: Mutex<Auto>,
    defers: AtomicBool,
}

impl Device {
    /// Returns true if closing is slow here.
    pub(super) fn defers(&self, written: bool) -> bool {
        self.of(written).defers.load(Ordering::Relaxed)
    }

    fn of(&self, written: bool) -> &History {
        &self.history[usize::from(written)]
    }

    /// Returns true if closing a file can fail here, so that its path must be known before. The
    /// first call asks the system, which may ask a server.
    pub(super) fn can_fail(&self, file: BorrowedFile<'_>) -> bool {
        match self.can_fail.load(Ordering::Relaxed) {
            0 => false,
            1 => true,
            _ => {
                let can_fail = sys::reports_at_close(file);
                self.can_fail.store(can_fail.into(), Ordering::Relaxed);
                can_fail
            }
        }
    }

    fn cannot_fail(&self) -> bool {
        self.can_fail.load(Ordering::Relaxed) == 0
    }

    /// Forgets an answer of no, so that the system is asked again. Device numbers of file systems
    /// without a disk are reused after they are unmounted.
    pub(super) fn forget_cannot_fail(&self) {
        if self.cannot_fail() {
            self.can_fail.store(UNKNOWN, Ordering::Relaxed);
        }
    }
}

impl History {
    /// Records a time. Returns whether closing is slow, and whether that is new; `None` if another
    /// thread is recording.
    fn record(&self, waited: Duration) -> Option<(bool, bool)> {
        // No thread waits here: after a `fork` the lock may be held by a thread that does not
        // exist.
        let mut auto = match self.auto.try_lock() {
            Ok(auto) => auto,
            Err(TryLockError::Poisoned(auto)) => auto.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let defers = auto.record(waited);
        let before = self.defers.swap(defers, Ordering::Relaxed);
        Some((defers, defers != before))
    }
}

/// All file systems on which files were closed.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: RwLock<Vec<Arc<Device>>>,
    /// The number of histories in which closing is slow.
    deferring: AtomicUsize,
    /// Closing can fail on none of the known ones, so that no path has to be known.
    all_cannot_fail: AtomicBool,
    /// The number of closes so far, and the one up to which all are measured in full.
    count: AtomicU64,
    full_until: AtomicU64,
}

/// A clock for the time that a close waits.
pub(super) struct Stopwatch {
    began: Instant,
    busy: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            busy: thread_cpu_time(),
            began: Instant::now(),
        }
    }

    fn waited(&self) -> Duration {
        let passed = self.began.elapsed();
        passed.saturating_sub(thread_cpu_time().saturating_sub(self.busy))
    }
}

impl Devices {
    /// Returns true if closing is fast on all known file systems.
    pub(super) fn all_fast(&self) -> bool {
        self.deferring.load(Ordering::Relaxed) == 0
    }

    /// Returns true if closing can fail on no known file system. It may still fail on a new one,
    /// until the next sample finds that out.
    pub(super) fn all_cannot_fail(&self) -> bool {
        self.all_cannot_fail.load(Ordering::Relaxed)
    }

    /// Decides how much of the next close is measured.
    pub(super) fn sampling(&self) -> Sampling {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let until = self.full_until.load(Ordering::Relaxed);
        if count < until {
            Sampling::Full
        } else if count.is_multiple_of(ONE_IN) {
            Sampling::Clock
        } else {
            Sampling::Off
        }
    }

    /// Records the time of a close of which only the clock was read.
    pub(super) fn record_clock(&self, passed: Duration) {
        if Auto::is_slow(passed) {
            self.sample_in_full();
        }
    }

    /// Measures the next closes in full.
    fn sample_in_full(&self) {
        let until = self.count.load(Ordering::Relaxed) + FULL_SAMPLES;
        self.full_until.store(until, Ordering::Relaxed);
    }

    /// Records the time of a close that was measured in full.
    pub(super) fn record(&self, device: &Device, written: bool, stopwatch: &Stopwatch) {
        if !device.is_known {
            return;
        }
        if let Ok(known) = self.known.try_read() {
            let all = known.iter().all(|device| device.cannot_fail());
            self.all_cannot_fail.store(all, Ordering::Relaxed);
        }
        let waited = stopwatch.waited();
        match device.of(written).record(waited) {
            Some((true, true)) => drop(self.deferring.fetch_add(1, Ordering::Relaxed)),
            Some((false, true)) => drop(self.deferring.fetch_sub(1, Ordering::Relaxed)),
            Some((false, false)) if Auto::is_slow(waited) => self.sample_in_full(),
            _ => {}
        }
    }

    /// Returns the file system of an open file; `None` if the system does not tell.
    pub(super) fn of(&self, file: BorrowedFile<'_>) -> Option<Arc<Device>> {
        let id = sys::device_of(file)?;
        let found = |known: &Vec<Arc<Device>>| known.iter().find(|it| it.id == id).cloned();
        // As in `History::record`: no thread waits here.
        if let Some(device) = self.known.try_read().ok().and_then(|known| found(&known)) {
            return Some(device);
        }
        let device = |is_known| {
            Arc::new(Device {
                id,
                is_known,
                can_fail: AtomicU8::new(UNKNOWN),
                history: Default::default(),
            })
        };
        match self.known.try_write() {
            Ok(mut known) => {
                if let Some(device) = found(&known) {
                    return Some(device);
                }
                let device = device(known.len() < MAX_DEVICES);
                self.all_cannot_fail.store(false, Ordering::Relaxed);
                if device.is_known {
                    known.push(Arc::clone(&device));
                    self.sample_in_full();
                }
                Some(device)
            }
            Err(_) => Some(device(false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_close_in_16_is_timed_and_16_after_a_slow_one_are_measured_in_full() {
        let devices = Devices::default();
        let samplings: Vec<Sampling> = (0..1600).map(|_| devices.sampling()).collect();
        assert_eq!(samplings[0], Sampling::Clock);
        let timed = samplings.iter().filter(|it| **it == Sampling::Clock);
        assert_eq!(timed.count(), 100);
        assert!(!samplings.contains(&Sampling::Full));
        devices.record_clock(Duration::from_micros(10));
        assert_ne!(devices.sampling(), Sampling::Full);
        devices.record_clock(Duration::from_millis(5));
        assert!((0..FULL_SAMPLES).all(|_| devices.sampling() == Sampling::Full));
        assert_ne!(devices.sampling(), Sampling::Full);
    }
}
