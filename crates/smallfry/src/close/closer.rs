//! Who closes files: here and now, or later and elsewhere.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use super::backends::{Backend, Job};
use super::devices::{Device, Devices, Look, Stopwatch};
use super::group::Group;
use super::handle::Handle;
use super::pending::{
    Pending, Report, as_closing, close_now, guarded, is_closing, known_path, name_key,
};
use super::process::watch_process;
use super::queue::{End, Item, Pushed, Queue, Workers};
use crate::error::Error;
#[cfg(doc)]
use crate::error::Operation;
use crate::raw::{OwnedFile, is_out_of_descriptors};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::sys;

/// Closes that may be pending in the whole process, if it may have enough files open.
const MAX_PENDING: usize = 384;
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
    /// Never, but for an async file of which something is under way: to wait for that must not stop a thread that runs
    /// futures.
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
/// # let directory = tempfile::tempdir()?;
/// for number in 0..100 {
///     let mut file = std::fs::File::create(directory.path().join(number.to_string()))?.fast_close();
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
/// that were just being closed, and async files of which something was under way, stay open in the child until it ends.
pub struct Closer(pub(super) Arc<Shared>);

/// What a closer and its workers have in common.
pub(super) struct Shared {
    policy: AtomicU8,
    pub(super) backend: Mutex<Backend>,
    /// Files that need only be closed, on whosever threads.
    pub(super) plain: Queue<Pending>,
    /// Files that hold bytes back. Writing these may take threads of the backend, all of which may be closing already, so
    /// they have threads of ours.
    pub(super) holding: Queue<Pending>,
    /// The process is at its end: nobody would close later.
    pub(super) is_over: AtomicBool,
    devices: Devices,
    pub(super) reports: Mutex<Reports>,
    /// The process has only one, which has to be there at the end.
    is_global: bool,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    Plain,
    Holding,
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
            plain: Queue::new(),
            holding: Queue::new(),
            is_over: AtomicBool::new(false),
            devices: Devices::default(),
            reports: Mutex::new(Reports::default()),
            is_global,
        }))
    }

    /// When closing is left to other threads, from now on. `Auto` unless set.
    ///
    /// ```
    /// use smallfry::close::{Closer, Policy};
    ///
    /// Closer::global().set_policy(Policy::Never);
    /// assert_eq!(Closer::global().policy(), Policy::Never);
    /// ```
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

    /// Whose threads close, from now on: those of the closer unless set. What waits goes over to them.
    ///
    /// Async files that hold bytes back are always closed by threads of the closer: to write those takes threads of their
    /// runtime, which could all be closing.
    pub fn set_backend(&self, backend: Backend) {
        let before = std::mem::replace(&mut *lock(&self.0.backend), backend);
        drop(before); // Without the lock, as it may be a function that owns things.
        if let Some(crew) = self.0.plain.change_crew() {
            self.0.bring_worker(crew);
        }
    }

    /// Tells `sink` of errors, on the thread that meets them, instead of keeping them for [`drain`](Self::drain). Those
    /// kept so far are told at once.
    ///
    /// That thread may be one of the backend, one that drains, or the one that ends the process. Should `sink` panic, the
    /// error is kept for `drain` as if there were no sink. While it runs, the file counts as pending; what `sink` itself
    /// closes is closed at once.
    ///
    /// ```
    /// use smallfry::close::Closer;
    ///
    /// Closer::global().set_sink(|error| eprintln!("{error}"));
    /// // ...
    /// Closer::global().remove_sink(); // Kept again.
    /// ```
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
    /// # let directory = tempfile::tempdir()?;
    /// use smallfry::close::{Closed, Closer};
    ///
    /// let path = directory.path().join("a");
    /// let file = std::fs::File::create(&path)?;
    /// let closed = Closer::global().close(file, &path)?;
    /// assert!(matches!(closed, Closed::Now | Closed::Later));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn close(&self, file: impl Into<Handle>, path: impl AsRef<Path>) -> Result<Closed, Error> {
        self.hand_over(file.into(), Some(path.as_ref()), None, Report::Sink)
    }

    /// As [`close`](Self::close), of a file of which it is known whether it was written.
    pub(super) fn close_known(
        &self,
        file: OwnedFile,
        path: &Path,
        written: bool,
    ) -> Result<Closed, Error> {
        self.hand_over(file.into(), Some(path), Some(written), Report::Sink)
    }

    /// Waits until all is closed that is pending now, and returns the errors since the last time, unless a sink gets them.
    ///
    /// The calling thread closes what waits, beside the others. Called by a sink, it returns what there is without waiting.
    /// It blocks: in async code, call it where blocking is allowed. Errors are kept until they are asked for, so a process
    /// that goes on for long asks, or has a sink.
    pub fn drain(&self) -> Vec<Error> {
        self.wait();
        self.take_errors()
    }

    /// The errors since the last time, of what is closed by now, without waiting.
    pub fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut lock(&self.0.reports).errors)
    }

    /// Waits until all is closed that is pending now, and leaves the errors where they are. It blocks, as
    /// [`drain`](Self::drain).
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let (from, to) = (directory.path().join("build"), directory.path().join("site"));
    /// # std::fs::create_dir(&from)?;
    /// use smallfry::close::{Closer, fs};
    ///
    /// fs::write(from.join("index.html"), "text")?;
    /// // A directory in which files are open cannot be renamed on Windows.
    /// Closer::global().wait();
    /// std::fs::rename(from, to)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait(&self) {
        if self.pending() > 0 && !is_closing() {
            self.0.wait(None);
        }
    }

    /// Returns when no close of a file with that name is pending; to be called before the file is renamed, or removed and
    /// made anew.
    ///
    /// On Unix a name is free at once, whoever has the file open. But a file server may have all that was written only
    /// when the file is closed, so a file that is renamed is shown to others too early without this; and on NFS a directory
    /// whose files were removed while they were open cannot be removed yet. On Windows a file that is removed may keep its
    /// name until the last handle is closed, and a directory with open files in it cannot be renamed or removed. For
    /// directories use [`wait`](Self::wait). The functions of smallfry that rename, remove or copy files do what is needed
    /// themselves.
    ///
    /// Only the last component of `path` counts, so it may be relative or lead through links; on Windows not in a short
    /// name (`LONGNA~1`) or one with a dot behind it. Handles whose path is not known are waited for as well. Errors are
    /// left where they are. It blocks, as [`drain`](Self::drain).
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let (path, public) = (directory.path().join("a.new"), directory.path().join("a"));
    /// use smallfry::close::{Closer, fs};
    ///
    /// fs::write(&path, "text")?;
    /// Closer::global().settle(&path);
    /// std::fs::rename(&path, &public)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn settle(&self, path: impl AsRef<Path>) {
        if self.pending() > 0 && !is_closing() {
            match name_key(path.as_ref()) {
                Some(key) => {
                    self.0.plain.settle(key);
                    self.0.holding.settle(key);
                }
                None => self.wait(),
            }
        }
    }

    /// Settles `path`, and returns the error if closing that very file has failed since errors were last asked for; it is not
    /// told a second time. To be called before a file takes the place of a good one.
    ///
    /// # Errors
    ///
    /// As [`close`](Self::close). None if a sink gets them: it has been told.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("a.new");
    /// use smallfry::close::{Closer, fs};
    ///
    /// fs::write(&path, "text")?;
    /// Closer::global().confirm(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn confirm(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        self.settle(path);
        let mut reports = lock(&self.0.reports);
        if reports.errors.is_empty() {
            return Ok(());
        }
        // A file whose path had to be asked for has an absolute one.
        let absolute = std::path::absolute(path).ok();
        let is_it = |error: &Error| {
            let known = error.path();
            known == Some(path) || (known.is_some() && known == absolute.as_deref())
        };
        match reports.errors.iter().position(is_it) {
            Some(index) => Err(reports.errors.remove(index)),
            None => Ok(()),
        }
    }

    /// How many files wait to be closed or are being closed.
    pub fn pending(&self) -> usize {
        self.0.pending()
    }

    /// How many errors [`drain`](Self::drain) would return of what is closed by now.
    pub fn errors(&self) -> usize {
        lock(&self.0.reports).errors.len()
    }

    /// Closes one file that waits; false if none does.
    pub(crate) fn close_one(&self) -> bool {
        self.pending() > 0 && (self.0.plain.close_one() || self.0.holding.close_one())
    }

    /// Opens something. If the process may have no more files open, what is pending is closed for that, and tried again. All
    /// that smallfry opens is opened so.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("a");
    /// use smallfry::close::Closer;
    ///
    /// let file = Closer::global().with_room(|| std::fs::File::create(&path))?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_room<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match open() {
                Err(error) if is_out_of_descriptors(&error) && self.pending() > 0 => {
                    if !self.close_one() {
                        self.wait();
                        return open();
                    }
                }
                opened => return opened,
            }
        }
    }

    /// To be called before a file is removed or replaced, which a handle that is open may prevent.
    pub(crate) fn make_way(&self, path: &Path) {
        if sys::OPEN_FILES_ARE_IN_THE_WAY {
            self.settle(path);
        }
    }

    /// Whether [`wait`](Self::wait) waits on this thread.
    pub(crate) fn can_wait() -> bool {
        !is_closing()
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
        self.hand_over(file.into(), Some(path), Some(true), report)
    }

    /// `written` says whether it was open for writing, if that is known.
    pub(super) fn hand_over(
        &self,
        handle: Handle,
        path: Option<&Path>,
        written: Option<bool>,
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
        let (may_defer, needs_no_path) = match policy {
            Policy::Always => (true, path.is_some()),
            Policy::Never => (false, path.is_some()),
            // Only where there is a look now and then are other file systems found out about.
            Policy::Auto => (
                !shared.devices.all_fast(),
                path.is_some() || shared.devices.all_silent(),
            ),
        };
        if !may_defer && needs_no_path {
            match look {
                Look::Away => return close_now(handle, path, None),
                Look::Glance if path.is_some() => return shared.close_glanced(handle, path),
                _ => {}
            }
        }
        let device = handle.file().and_then(|file| shared.devices.of(file));
        if !may_defer && look == Look::Away {
            return close_now(handle, path, device.as_deref());
        }
        let written =
            written.unwrap_or_else(|| handle.file().is_none_or(|file| sys::is_writable(file)));
        let defers = match policy {
            Policy::Auto => device.as_ref().is_some_and(|device| device.defers(written)),
            policy => policy == Policy::Always,
        };
        let pending = Pending {
            handle,
            key: path.and_then(name_key),
            path: path.map(Box::from),
            device,
            written,
            report,
            closer: Arc::clone(shared),
        };
        if defers {
            return self.defer(pending);
        }
        match look {
            Look::Away => pending.close_here(),
            _ => pending.close_timed(),
        }
    }

    fn defer(&self, pending: Pending) -> Result<Closed, Error> {
        let shared = &self.0;
        if shared.is_over.load(Ordering::Relaxed) {
            // Nobody would come, but who is told of errors is told.
            pending.close();
            return Ok(Closed::Later);
        }
        if shared.is_global {
            watch_process();
        }
        let (line, other) = if pending.handle.has_more() {
            (Line::Holding, Line::Plain)
        } else {
            (Line::Plain, Line::Holding)
        };
        let room = max_pending().saturating_sub(shared.line(other).pending());
        match shared.line(line).push(pending, room) {
            Pushed::Queued { needs_worker } => {
                match (needs_worker, line) {
                    (None, _) => {}
                    (Some(crew), Line::Plain) => shared.bring_worker(crew),
                    (Some(crew), Line::Holding) => shared.bring_thread(line, crew),
                }
                Ok(Closed::Later)
            }
            Pushed::Full(pending) => pending.close_here(),
        }
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
    /// Closes a handle here where that is fast as far as is known: without a system call more, but with a look at the clock.
    fn close_glanced(&self, handle: Handle, path: Option<&Path>) -> Result<Closed, Error> {
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
        written: bool,
    ) -> Result<Closed, Error> {
        if path.is_none() {
            device.forget_silence();
        }
        let known = known_path(&handle, path, Some(device));
        let stopwatch = Stopwatch::start();
        let closed = close_now(handle, path.or(known.as_deref()), None);
        self.devices.record(device, written, &stopwatch);
        closed
    }

    pub(super) fn line(&self, line: Line) -> &Queue<Pending> {
        match line {
            Line::Plain => &self.plain,
            Line::Holding => &self.holding,
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.plain.pending() + self.holding.pending()
    }

    /// False at `deadline`.
    pub(super) fn wait(&self, deadline: Option<Duration>) -> bool {
        // Those that hold bytes back have threads of their own, and go on meanwhile.
        self.plain.wait(deadline) & self.holding.wait(deadline)
    }

    fn bring_worker(self: &Arc<Self>, crew: Workers) {
        let backend = lock(&self.backend).clone();
        let job = Job::new(Arc::clone(self), crew);
        // A pool that cannot be made may panic. The job is dropped then, and sees to its replacement.
        guarded(|| backend.spawn(job));
    }

    /// A thread of our own, which needs nobody.
    pub(super) fn bring_thread(self: &Arc<Self>, line: Line, crew: Workers) {
        if super::backends::threads::spawn(self, line, crew).is_err()
            && self.line(line).lose_worker(crew)
        {
            // The system has no thread to give: what waits is closed here.
            while self.line(line).close_one() {}
        }
    }

    /// A worker in a pool that is not ours.
    pub(super) fn run_slice(self: &Arc<Self>, crew: Workers) {
        if self.plain.work(crew, SLICE, Duration::ZERO) == End::Paused {
            self.bring_worker(crew);
        }
    }

    /// A worker on a thread of ours.
    pub(super) fn run_thread(&self, line: Line, crew: Workers) {
        self.line(line).work(crew, usize::MAX, PATIENCE);
    }

    /// A job was dropped by its backend, or panicked.
    pub(super) fn lose_job(self: &Arc<Self>, crew: Workers) {
        if self.plain.lose_worker(crew) {
            let crew = self.plain.force_worker();
            self.bring_thread(Line::Plain, crew);
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
        if guarded(|| as_closing(|| sink(error))).is_none() {
            lock(&self.reports).errors.push(copy);
        }
    }
}

/// How many closes may be pending: a part of the files that the process may have open.
fn max_pending() -> usize {
    MAX_PENDING.min(sys::descriptor_limit() / 4)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
