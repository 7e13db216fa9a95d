//! What is known of the file systems on which files are closed: how slow that is, and whether it can fail.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::time::{Duration, Instant};

use super::auto::Auto;
use crate::raw::BorrowedFile;
use crate::sys;

/// So many closes are looked at after a slow one, and on a new file system.
const ATTENTION: u64 = 16;
/// One close in so many is timed where they are fast.
const ONE_IN: u64 = 16;
/// Nobody has asked whether closing may fail.
const UNKNOWN: u8 = 2;
/// File systems remembered; on others files are closed where they are.
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
    /// It will be found again, so that learning is worth while.
    is_known: bool,
    /// Whether closing a file may fail there: 0 for no, 1 for yes, else nobody has asked.
    reports: AtomicU8,
    /// Of files that were only read, and of those that were written: a scanner looks at the ones, a server is sent the
    /// others, and either would hide the other in one average.
    learnt: [Learnt; 2],
}

/// What is known of closing files of one kind.
#[derive(Debug, Default)]
struct Learnt {
    auto: Mutex<Auto>,
    defers: AtomicBool,
}

impl Device {
    /// Whether closing is slow here.
    pub(super) fn defers(&self, written: bool) -> bool {
        self.of(written).defers.load(Ordering::Relaxed)
    }

    fn of(&self, written: bool) -> &Learnt {
        &self.learnt[usize::from(written)]
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

    fn is_silent(&self) -> bool {
        self.reports.load(Ordering::Relaxed) == 0
    }

    /// Has the question asked again where the answer was no, which costs no more than a system call there. Numbers of file
    /// systems that are no disks are given to others once they are unmounted.
    pub(super) fn forget_silence(&self) {
        if self.is_silent() {
            self.reports.store(UNKNOWN, Ordering::Relaxed);
        }
    }
}

impl Learnt {
    /// Answers whether it is slow, and whether that is new; `None` if somebody else is just learning.
    fn record(&self, waited: Duration) -> Option<(bool, bool)> {
        // Nobody waits here, so that a process that was copied while another thread held this does not hang.
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

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Devices {
    known: RwLock<Vec<Arc<Device>>>,
    /// Of how many of them, and of which kind of files, closing is slow.
    deferring: AtomicUsize,
    /// None of those known reports anything when a file is closed, as far as was asked: so no path has to be known.
    all_silent: AtomicBool,
    /// Closes so far, and until when all are timed.
    count: AtomicU64,
    attentive_until: AtomicU64,
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
        self.deferring.load(Ordering::Relaxed) == 0
    }

    /// Whether no close is expected to report anything. One on a file system that nobody has looked at yet still may; it is
    /// found out by the next look.
    pub(super) fn all_silent(&self) -> bool {
        self.all_silent.load(Ordering::Relaxed)
    }

    /// How to look at this close.
    pub(super) fn look(&self) -> Look {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let until = self.attentive_until.load(Ordering::Relaxed);
        if count < until {
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
        let until = self.count.load(Ordering::Relaxed) + ATTENTION;
        self.attentive_until.store(until, Ordering::Relaxed);
    }

    /// Learns how long a close took.
    pub(super) fn record(&self, device: &Device, written: bool, stopwatch: &Stopwatch) {
        if !device.is_known {
            return;
        }
        if let Ok(known) = self.known.try_read() {
            let all = known.iter().all(|device| device.is_silent());
            self.all_silent.store(all, Ordering::Relaxed);
        }
        let waited = stopwatch.waited();
        match device.of(written).record(waited) {
            Some((true, true)) => drop(self.deferring.fetch_add(1, Ordering::Relaxed)),
            Some((false, true)) => drop(self.deferring.fetch_sub(1, Ordering::Relaxed)),
            Some((false, false)) if Auto::is_slow(waited) => self.look_closely(),
            _ => {}
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
        let device = |is_known| {
            Arc::new(Device {
                id,
                is_known,
                reports: AtomicU8::new(UNKNOWN),
                learnt: Default::default(),
            })
        };
        match self.known.try_write() {
            Ok(mut known) => {
                if let Some(device) = found(&known) {
                    return Some(device);
                }
                let device = device(known.len() < MOST);
                self.all_silent.store(false, Ordering::Relaxed);
                if device.is_known {
                    known.push(Arc::clone(&device));
                    self.look_closely();
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
