//! Who closes files: here and now, or later and elsewhere.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use super::backends::{Backend, Job};
use super::devices::{Device, Devices, Look, Stopwatch};
use super::group::Group;
use super::handle::Handle;
use super::pending::{Pending, Report, as_closing, close_now, is_closing, known_path, name_key};
use super::process::watch_process;
use super::queue::{End, Pushed, Queue};
use crate::error::Error;
#[cfg(doc)]
use crate::error::Operation;
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::sys;

/// Closes that may be pending in the whole process, if it may have enough files open.
const MOST_PENDING: usize = 384;
/// How long a thread of ours waits for something to close before it ends.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many files a job closes before it lets others have its place in a pool that it shares with them.
const SLICE: usize = 32;

/// When closing is left to other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Where it is slow. The first closes of each file system are timed, and later ones now and then.
    #[default]
    Auto,
    /// Always, as long as there is room in the queue.
    Always,
    /// Never.
    Never,
}

/// Whether something has been closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closed {
    /// Yes, and without an error.
    Now,
    /// It will be. An error goes to the sink.
    Later,
}

/// Closes files, or has them closed by other threads where that is slow.
///
/// There is one for the process, [`Closer::global`]. The program decides how it works; libraries only hand files over, and
/// so cannot be at odds with each other.
///
/// ```
/// use smallfry::close::{Closer, FastCloseable};
/// use std::io::Write;
///
/// # let folder = tempfile::tempdir()?;
/// for number in 0..100 {
///     let mut file = std::fs::File::create(folder.path().join(number.to_string()))?.fast_close();
///     file.write_all(b"text")?;
/// } // Closed here, or soon.
///
/// let errors = Closer::global().drain();
/// assert!(errors.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Room
///
/// At most 384 closes are pending, fewer where the process may have fewer than 1,536 files open: a quarter. When the queue
/// is full, files are closed by who hands them over. Eight threads close, and up to 32 where that proves faster; they are
/// started when they are needed, and end after a second without work.
///
/// # At the end of the process
///
/// A process that returns from `main` or calls [`exit`](std::process::exit) on Unix closes what is pending first, on the
/// thread that ends it, and waits up to five seconds for closes that are under way elsewhere. Errors that nobody has asked
/// for are lost then, so call [`drain`](Self::drain) before. On Windows, and if the process is killed, the system closes
/// what is open; all that was written to a [`std::fs::File`] is with the system already. What an async file holds back
/// itself is not, so drain there too.
///
/// After `fork` the child has none of the threads: it closes its copies of the handles that were waiting by itself. Those
/// that were just being closed stay open in the child until it ends.
pub struct Closer(pub(super) Arc<Shared>);

/// What a closer and its workers have in common.
pub(super) struct Shared {
    policy: AtomicU8,
    pub(super) backend: Mutex<Backend>,
    pub(super) queue: Queue<Pending>,
    devices: Devices,
    pub(super) reports: Mutex<Reports>,
    /// The process has only one, which has to be there at the end.
    is_global: bool,
}

/// A function that is told of errors.
type Sink = Arc<dyn Fn(Error) + Send + Sync>;

#[derive(Default)]
pub(super) struct Reports {
    sink: Option<Sink>,
    errors: Vec<Error>,
}

static GLOBAL: LazyLock<Closer> = LazyLock::new(|| Closer::new(true));

impl Closer {
    /// The closer of this process.
    pub fn global() -> &'static Self {
        &GLOBAL
    }

    pub(super) fn new(is_global: bool) -> Self {
        Self(Arc::new(Shared {
            policy: AtomicU8::new(Policy::Auto as u8),
            backend: Mutex::new(Backend::default()),
            queue: Queue::new(),
            devices: Devices::default(),
            reports: Mutex::new(Reports::default()),
            is_global,
        }))
    }

    /// When closing is left to other threads, from now on. `Auto` unless set.
    pub fn set_policy(&self, policy: Policy) {
        self.0.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// What is set.
    pub fn policy(&self) -> Policy {
        match self.0.policy.load(Ordering::Relaxed) {
            policy if policy == Policy::Always as u8 => Policy::Always,
            policy if policy == Policy::Never as u8 => Policy::Never,
            _ => Policy::Auto,
        }
    }

    /// Whose threads close, from now on: those of the closer unless set.
    pub fn set_backend(&self, backend: Backend) {
        let before = std::mem::replace(&mut *lock(&self.0.backend), backend);
        drop(before); // Without the lock, as it may be a function that owns things.
    }

    /// Tells `sink` of errors, on the thread that meets them, instead of keeping them for [`drain`](Self::drain). Those
    /// kept so far are told at once.
    ///
    /// Should `sink` panic, the error is kept for `drain` as if there were no sink. While it runs, the file counts as
    /// pending; what `sink` itself closes is closed at once.
    pub fn set_sink(&self, sink: impl Fn(Error) + Send + Sync + 'static) {
        let sink: Sink = Arc::new(sink);
        let (before, errors) = {
            let mut reports = lock(&self.0.reports);
            let before = reports.sink.replace(sink);
            (before, std::mem::take(&mut reports.errors))
        };
        drop(before);
        for error in errors {
            self.0.report(error);
        }
    }

    /// Keeps errors for [`drain`](Self::drain) again.
    pub fn remove_sink(&self) {
        let before = lock(&self.0.reports).sink.take();
        drop(before);
    }

    /// Closes a file, or hands it over to be closed. `path` is what an error will name.
    ///
    /// # Errors
    ///
    /// If it was closed here: [`Operation::Close`]; [`Operation::Write`] where a file held bytes back. The file is closed
    /// in any case.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// use smallfry::close::{Closed, Closer};
    ///
    /// let path = folder.path().join("a");
    /// let file = std::fs::File::create(&path)?;
    /// let closed = Closer::global().close(file, &path)?;
    /// assert!(matches!(closed, Closed::Now | Closed::Later));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn close(&self, file: impl Into<Handle>, path: impl AsRef<Path>) -> Result<Closed, Error> {
        self.hand_over(file.into(), Some(path.as_ref()), Report::Sink)
    }

    /// Waits until all is closed that is pending now, and returns the errors since the last time, unless a sink gets them.
    ///
    /// The calling thread closes what waits, beside the others. Called by a sink, it returns what there is without waiting.
    pub fn drain(&self) -> Vec<Error> {
        self.wait();
        self.take_errors()
    }

    /// The errors since the last time, of what is closed by now, without waiting.
    pub fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut lock(&self.0.reports).errors)
    }

    /// Waits until all is closed that is pending now, and leaves the errors where they are.
    pub fn wait(&self) {
        if self.pending() > 0 && !is_closing() {
            self.0.queue.wait(None);
        }
    }

    /// Returns when no close of a file with that name is pending; to be called before the file is renamed, or removed and
    /// made anew.
    ///
    /// On Unix nothing goes wrong without it, but for a directory on NFS that cannot be removed yet. On Windows a file that
    /// is removed keeps its name until the last handle is closed, and a directory with open files in it cannot be renamed
    /// or removed: for directories use [`wait`](Self::wait). The functions of smallfry that remove, rename or copy do this
    /// themselves.
    ///
    /// Only the last component of `path` counts, so it may be relative or lead through links. Handles whose path is not
    /// known are waited for as well. Errors are left where they are.
    pub fn settle(&self, path: impl AsRef<Path>) {
        if self.pending() > 0 && !is_closing() {
            match name_key(path.as_ref()) {
                Some(key) => self.0.queue.settle(key),
                None => self.wait(),
            }
        }
    }

    /// How many files wait to be closed or are being closed.
    pub fn pending(&self) -> usize {
        self.0.queue.pending()
    }

    /// How many errors [`drain`](Self::drain) would return of what is closed by now.
    pub fn errors(&self) -> usize {
        lock(&self.0.reports).errors.len()
    }

    /// Closes one file that waits; false if none does.
    pub(crate) fn close_one(&self) -> bool {
        self.pending() > 0 && self.0.queue.close_one()
    }

    /// As [`close`](Self::close), with an error that comes later told to `group` as that of its entry `index`.
    pub(crate) fn close_of_group(
        &self,
        file: impl Into<Handle>,
        path: &Path,
        group: &Arc<Group>,
        index: usize,
    ) -> Result<Closed, Error> {
        let report = Report::Group(Arc::clone(group), index);
        self.hand_over(file.into(), Some(path), report)
    }

    pub(super) fn hand_over(
        &self,
        handle: Handle,
        path: Option<&Path>,
        report: Report,
    ) -> Result<Closed, Error> {
        let shared = &self.0;
        let policy = match self.policy() {
            _ if is_closing() => Policy::Never,
            // Writing what it holds back must not stop a thread that runs futures.
            _ if handle.has_more() => Policy::Always,
            policy => policy,
        };
        let look = match policy {
            Policy::Auto => shared.devices.look(),
            _ => Look::Away,
        };
        if path.is_some() {
            match policy {
                Policy::Never => return close_now(handle, path, None),
                Policy::Auto if look != Look::Closely && shared.devices.all_fast() => {
                    return shared.close_fast(handle, path, look);
                }
                _ => {}
            }
        }
        let device = handle.file().and_then(|file| shared.devices.of(file));
        let defers = match policy {
            Policy::Auto => device.as_ref().is_some_and(|device| device.defers()),
            policy => policy == Policy::Always,
        };
        if defers {
            return self.defer(handle, path, device, report);
        }
        match device {
            Some(device) if look != Look::Away => shared.close_timed(handle, path, &device),
            device => close_now(handle, path, device.as_deref()),
        }
    }

    fn defer(
        &self,
        handle: Handle,
        path: Option<&Path>,
        device: Option<Arc<Device>>,
        report: Report,
    ) -> Result<Closed, Error> {
        let shared = &self.0;
        if shared.is_global {
            watch_process();
        }
        let pending = Pending {
            handle,
            key: path.and_then(name_key),
            path: path.map(Box::from),
            device,
            report,
            closer: Arc::clone(shared),
        };
        match shared.queue.push(pending, most_pending()) {
            Pushed::Queued { needs_worker } => {
                if needs_worker {
                    shared.bring_worker();
                }
                Ok(Closed::Later)
            }
            Pushed::Full(Pending {
                handle,
                path,
                device,
                ..
            }) => close_now(handle, path.as_deref(), device.as_deref()),
        }
    }

    /// An error of a handle that nobody is waiting for.
    pub(super) fn report(&self, error: Error) {
        self.0.report(error);
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer")
            .field("policy", &self.policy())
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Closes a handle here where that is fast as far as is known: without a system call more.
    fn close_fast(&self, handle: Handle, path: Option<&Path>, look: Look) -> Result<Closed, Error> {
        if look == Look::Away {
            return close_now(handle, path, None);
        }
        let began = Instant::now();
        let closed = close_now(handle, path, None);
        self.devices.glanced(began.elapsed());
        closed
    }

    /// Closes a handle here and learns how long that takes.
    pub(super) fn close_timed(
        &self,
        handle: Handle,
        path: Option<&Path>,
        device: &Device,
    ) -> Result<Closed, Error> {
        if path.is_none() {
            device.forget_silence();
        }
        let known = known_path(&handle, path, Some(device));
        let stopwatch = Stopwatch::start();
        let closed = close_now(handle, path.or(known.as_deref()), None);
        self.devices.record(device, &stopwatch);
        closed
    }

    fn bring_worker(self: &Arc<Self>) {
        let backend = lock(&self.backend).clone();
        let job = Job::new(Arc::clone(self));
        // A pool that cannot be made may panic. The job is dropped then, and sees to its replacement.
        drop(catch_unwind(AssertUnwindSafe(|| backend.spawn(job))));
    }

    /// A thread of our own, which needs nobody.
    pub(super) fn bring_thread(self: &Arc<Self>) {
        if super::backends::threads::spawn(self).is_err() && self.queue.lose_worker() {
            // The system has no thread to give: what waits is closed here.
            while self.queue.close_one() {}
        }
    }

    /// A worker in a pool that is not ours.
    pub(super) fn run_slice(self: &Arc<Self>) {
        if self.queue.work(SLICE, Duration::ZERO) == End::Paused {
            self.bring_worker();
        }
    }

    /// A worker on a thread of ours.
    pub(super) fn run_thread(&self) {
        self.queue.work(usize::MAX, PATIENCE);
    }

    /// A job was dropped by its backend, or panicked.
    pub(super) fn lose_job(self: &Arc<Self>) {
        if self.queue.lose_worker() {
            self.queue.force_worker();
            self.bring_thread();
        }
    }

    pub(super) fn report(&self, error: Error) {
        let sink = {
            let mut reports = lock(&self.reports);
            match &reports.sink {
                Some(sink) => Arc::clone(sink),
                None => return reports.errors.push(error),
            }
        };
        let copy = error.duplicate();
        let told = as_closing(|| catch_unwind(AssertUnwindSafe(|| sink(error))));
        if told.is_err() {
            lock(&self.reports).errors.push(copy);
        }
    }
}

/// How many closes may be pending: a part of the files that the process may have open.
fn most_pending() -> usize {
    MOST_PENDING.min(sys::descriptor_limit() / 4)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
