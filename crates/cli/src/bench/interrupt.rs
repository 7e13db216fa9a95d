//! Ctrl-C, termination and hang-up: every child process is ended, then the run unwinds and its
//! directories are removed.

use super::child::{Child, End};
use super::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A thing that runs until it ends or is ended.
pub(crate) trait Running: Send + Sync {
    /// Makes it end soon; has no effect after its end.
    fn end(self: Arc<Self>);
}

impl Running for Mutex<Child> {
    fn end(self: Arc<Self>) {
        lock(&self).kill();
    }
}

/// Knows all living children. Clones are the same thing.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    children: Arc<Mutex<Vec<Weak<dyn Running>>>>,
}

impl Interrupt {
    /// Installs the handlers; once per process.
    pub(crate) fn listen(&self) -> Result<(), Failure> {
        let this = self.clone();
        ctrlc::set_handler(move || {
            this.asked.store(true, Ordering::SeqCst);
            for child in lock(&this.children).iter().filter_map(Weak::upgrade) {
                child.end();
            }
        })
        .map_err(|error| Failure::said(format!("cannot listen for Ctrl-C: {error}")))
    }

    /// `Err` once a stop was asked for.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.asked.load(Ordering::SeqCst) {
            Err(Failure::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Returns a child that the handlers leave alone, such as a disk's: its owner ends it when the
    /// run unwinds, after all others.
    #[cfg(target_os = "linux")]
    pub(crate) fn keep(child: std::process::Child) -> Registered {
        Registered(Arc::new(Mutex::new(Child::new(child))))
    }

    pub(crate) fn register(&self, child: std::process::Child) -> Result<Registered, Failure> {
        let child = Arc::new(Mutex::new(Child::new(child)));
        let watched: Arc<dyn Running> = Arc::<Mutex<Child>>::clone(&child);
        self.watch(&watched);
        let registered = Registered(child);
        // The handler may have gone through the list just before this child was on it; dropping
        // ends the child.
        self.check()?;
        Ok(registered)
    }

    /// Ends `child` when a stop is asked for, while it has another owner. Check afterwards, since
    /// the stop may have come just before.
    pub(crate) fn watch(&self, child: &Arc<dyn Running>) {
        let mut children = lock(&self.children);
        children.retain(|known| known.strong_count() > 0);
        children.push(Arc::downgrade(child));
    }
}

/// A child that the handlers know. Dropping it ends it.
pub(crate) struct Registered(Arc<Mutex<Child>>);

impl Registered {
    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        lock(&self.0).id()
    }

    pub(crate) fn kill(&self) {
        lock(&self.0).kill();
    }

    /// Waits; the lock is free between looks, so that the handler is never held up.
    pub(crate) fn wait(&self, patience: Duration) -> Option<End> {
        let until = Instant::now() + patience;
        loop {
            if let Some(end) = lock(&self.0).try_wait() {
                return Some(end);
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits, and returns at once at the end, where [`Registered::wait`] may take a millisecond
    /// more. Ends the child when `patience` is over.
    pub(crate) fn wait_long(&self, patience: Duration) -> Option<End> {
        let waiting = lock(&self.0).waiting();
        let (ended, end) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                    self.kill();
                }
            });
            waiting.wait();
            drop(ended);
        });
        self.wait(patience)
    }

    /// Asks it to end, so that it can put things in order; ends it if it does not.
    #[cfg(target_os = "linux")]
    pub(crate) fn terminate(&self, patience: Duration) -> Option<End> {
        lock(&self.0).terminate();
        self.wait(patience)
    }

    /// Waits until `until` for it to end by itself, then ends it, and reaps it.
    pub(crate) fn end(&self, until: Instant) {
        if self
            .wait(until.saturating_duration_since(Instant::now()))
            .is_none()
        {
            self.kill();
            // A killed process that is stuck in the kernel must not hold up the bench for ever.
            self.wait(Duration::from_secs(5));
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.kill();
        self.wait(Duration::from_secs(5));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing behind these locks can be left half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
