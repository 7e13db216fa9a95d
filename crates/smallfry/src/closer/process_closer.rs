//! Closes files here, or has them closed by other threads.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use super::backends::Backend;
use super::devices::Sampling;
use super::exit_and_fork;
use super::group::Group;
use super::guard::is_closing;
use super::handle::Handle;
use super::pending::{Pending, Receiver, name_key};
use super::queue::Item as _;
use super::records;
use super::shared::Shared;
use crate::errno::is_out_of_descriptors;
use crate::error::Error;
#[cfg(doc)]
use crate::error::Operation;
use crate::raw::OwnedFile;
use crate::sys;

/// The rule for closing files on other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Closes are deferred where they are slow. The first closes on each file system are timed, and
    /// later ones now and then. Values that give no file away are always deferred.
    #[default]
    Auto,
    /// All closes are deferred, as long as there is room in the queue.
    Always,
    /// No close is deferred, except of an async file with an operation in flight: a thread that
    /// runs futures must not wait for it.
    Never,
}

/// The state of a file that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closed {
    /// It was closed without an error.
    Now,
    /// It will be closed. An error is kept, or goes to the sink.
    Later,
}

/// Closes files, or has them closed by other threads where that is slow.
///
/// There is one for the process, [`Closer::global`]. The program configures it; libraries only hand
/// files over, so two libraries never conflict.
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
/// At most 384 closes are pending, or a quarter of the descriptor limit if that is less. When the
/// queue is full, the caller closes the file. Eight threads close files, and up to 32 where that
/// proves faster. They start when they are needed and end after a second without work.
///
/// # At the end of the process
///
/// On Unix a process that returns from `main` or calls [`exit`](std::process::exit) first closes
/// all pending files, on the thread that ends it. It waits up to five seconds for closes in flight.
/// Errors are lost then, so call [`drain`](Self::drain) before. On Windows, and if the process is
/// killed, the system closes all files. Bytes written to a [`std::fs::File`] are with the system
/// already; bytes that an async file holds back are not, so drain there too.
///
/// The child of a `fork` has none of the threads, and closes its copies of waiting handles itself.
/// Handles that were being closed, async files with an operation in flight, and values that give no
/// file away stay open until it ends.
pub struct Closer {
    policy: AtomicU8,
    shared: Arc<Shared>,
}

static GLOBAL: OnceLock<Closer> = OnceLock::new();

impl Closer {
    /// Returns the closer of this process.
    #[inline]
    pub fn global() -> &'static Self {
        GLOBAL.get().unwrap_or_else(|| {
            // It is made before the lock is taken. The child of a `fork` at that moment would wait
            // for a thread that it does not have.
            let made = Self::new();
            GLOBAL.get_or_init(|| made)
        })
    }

    fn new() -> Self {
        Self {
            policy: AtomicU8::new(Policy::Auto as u8),
            shared: Arc::new(Shared::new()),
        }
    }

    /// Sets the rule for closing files on other threads, from now on. The default is `Auto`.
    ///
    /// ```
    /// use smallfry::close::{Closer, Policy};
    ///
    /// Closer::global().set_policy(Policy::Never);
    /// assert_eq!(Closer::global().policy(), Policy::Never);
    /// ```
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// Returns the rule in force.
    pub fn policy(&self) -> Policy {
        match self.policy.load(Ordering::Relaxed) {
            policy if policy == Policy::Always as u8 => Policy::Always,
            policy if policy == Policy::Never as u8 => Policy::Never,
            _ => Policy::Auto,
        }
    }

    /// Sets the threads that close files, from now on. The default is threads of the closer. Files
    /// that wait go over to the new ones.
    ///
    /// Async files that hold bytes back are always closed by threads of the closer. Writing these
    /// bytes takes threads of their runtime, which could all be closing files.
    pub fn set_backend(&self, backend: Backend) {
        self.shared.set_backend(backend);
    }

    /// Passes errors to `sink`, on the thread that meets them, instead of keeping them for
    /// [`drain`](Self::drain). Errors kept so far are passed at once.
    ///
    /// That thread may belong to the backend, drain the queue, or end the process. If `sink`
    /// panics, the error is kept. While `sink` runs, the file counts as pending. Files that `sink`
    /// itself closes are closed at once.
    ///
    /// ```
    /// use smallfry::close::Closer;
    ///
    /// Closer::global().set_sink(|error| eprintln!("{error}"));
    /// // ...
    /// Closer::global().remove_sink(); // Errors are kept again.
    /// ```
    pub fn set_sink(&self, sink: impl Fn(Error) + Send + Sync + 'static) {
        self.shared.records.reports.set_sink(Arc::new(sink));
    }

    /// Keeps errors for [`drain`](Self::drain) again.
    pub fn remove_sink(&self) {
        self.shared.records.reports.remove_sink();
    }

    /// Closes a file, or defers that. An error names `path`.
    ///
    /// # Errors
    ///
    /// If it was closed here: [`Operation::Close`], or [`Operation::Write`] for a file that held
    /// bytes back. The file is closed in any case.
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
        self.hand_over(file.into(), Some(path.as_ref()), None, Receiver::Closer)
    }

    /// Closes a file as [`close`](Self::close) does, if it is known whether it was written.
    pub(crate) fn close_known(
        &self,
        file: OwnedFile,
        path: &Path,
        written: bool,
    ) -> Result<Closed, Error> {
        self.hand_over(file.into(), Some(path), Some(written), Receiver::Closer)
    }

    /// Waits until all files are closed that are pending now, and takes the errors since the last
    /// call. A sink gets them instead if there is one.
    ///
    /// The calling thread closes waiting files too. A sink that calls this gets the errors so far,
    /// without waiting. It blocks: in async code, call it where blocking is allowed. Errors are
    /// kept until they are taken, so a long-running process should call this or set a sink.
    pub fn drain(&self) -> Vec<Error> {
        self.wait();
        self.take_errors()
    }

    /// Takes the errors since the last call, of files that are closed by now, without waiting.
    pub fn take_errors(&self) -> Vec<Error> {
        self.shared.records.reports.take()
    }

    /// Waits until all files are closed that are pending now, and keeps the errors. It blocks, as
    /// [`drain`](Self::drain) does.
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
            self.shared.wait(None);
        }
    }

    /// Waits until no file with the name of `path` is pending. Call it before that file is renamed,
    /// or removed and created again.
    ///
    /// - On Unix a name is free at once. But a file server may get all contents only when the file
    ///   is closed, so without this call other machines may see a renamed file too early. And a
    ///   directory on NFS cannot be removed while removed files in it are open.
    /// - On Windows a removed file may keep its name until its last handle is closed. A directory
    ///   with open files cannot be renamed or removed.
    ///
    /// For directories use [`wait`](Self::wait). The functions of smallfry that rename, remove or
    /// copy files call it themselves.
    ///
    /// Only the last component of `path` counts, so it may be relative or lead through links. On
    /// Windows it must not be a short name (`LONGNA~1`) or end in a dot. Handles whose path is not
    /// known are waited for, too. Errors are kept. It blocks, as [`drain`](Self::drain) does.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let (path, public) = (directory.path().join("a.new"), directory.path().join("a"));
    /// use smallfry::close::{Closer, fs};
    ///
    /// fs::write(&path, "text")?;
    /// Closer::global().wait_for(&path);
    /// std::fs::rename(&path, &public)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait_for(&self, path: impl AsRef<Path>) {
        if self.pending() > 0 && !is_closing() {
            match name_key(path.as_ref()) {
                Some(key) => self.shared.wait_for(key),
                None => self.wait(),
            }
        }
    }

    /// Waits as [`wait_for`](Self::wait_for) does, and takes the error of the file at `path`, if
    /// closing it has failed. Call it before that file replaces a good one.
    ///
    /// # Errors
    ///
    /// The errors of [`close`](Self::close). There is none if a sink got the error.
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
        self.wait_for(path);
        match self.shared.records.reports.take_of(path) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Returns the number of files that wait or are being closed.
    pub fn pending(&self) -> usize {
        self.shared.pending()
    }

    /// Returns the number of errors that are kept.
    pub fn errors(&self) -> usize {
        self.shared.records.reports.len()
    }

    /// Closes one file that waits. Returns false if none waits.
    pub(crate) fn close_one(&self) -> bool {
        self.pending() > 0 && self.shared.close_one()
    }

    /// Runs `open`. If no descriptor is left, closes pending files and runs it again. smallfry
    /// opens all its files with this.
    ///
    /// # Errors
    ///
    /// The errors of `open`.
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

    /// Waits for pending closes that would prevent a file from being removed or replaced.
    pub(crate) fn make_way(&self, path: &Path) {
        if sys::OPEN_FILES_ARE_IN_THE_WAY {
            self.wait_for(path);
        }
    }

    /// Returns true if [`wait`](Self::wait) waits on this thread.
    pub(crate) fn can_wait() -> bool {
        !is_closing()
    }

    /// Closes a file as [`close`](Self::close) does. A late error goes to `group`, for its entry
    /// `index`.
    pub(crate) fn close_of_group(
        &self,
        file: impl Into<Handle>,
        path: &Path,
        group: &Arc<Group>,
        index: usize,
    ) -> Result<Closed, Error> {
        let receiver = Receiver::Batch(Arc::clone(group), index);
        self.hand_over(file.into(), Some(path), Some(true), receiver)
    }

    /// Closes a handle, or defers that. `written` says whether it was open for writing, if that is
    /// known.
    pub(super) fn hand_over(
        &self,
        handle: Handle,
        path: Option<&Path>,
        written: Option<bool>,
        receiver: Receiver,
    ) -> Result<Closed, Error> {
        let records = &self.shared.records;
        let devices = &records.devices;
        let policy = match self.policy() {
            _ if is_closing() => Policy::Never,
            // A thread that runs futures must not wait for the bytes that the file holds back.
            _ if handle.has_more() => Policy::Always,
            // It is wrapped because dropping it is slow, and there is nothing to measure that by.
            Policy::Auto if handle.is_value() => Policy::Always,
            policy => policy,
        };
        let sampling = match policy {
            Policy::Auto => devices.sampling(),
            _ => Sampling::Off,
        };
        let (may_defer, needs_no_path) = match policy {
            Policy::Always => (true, path.is_some()),
            Policy::Never => (false, path.is_some()),
            // Other file systems are noticed only by samples.
            Policy::Auto => (
                !devices.all_fast(),
                path.is_some() || devices.all_cannot_fail(),
            ),
        };
        if !may_defer && needs_no_path {
            match sampling {
                Sampling::Off => return now(records::close(handle, path, None)),
                Sampling::Clock if path.is_some() => {
                    return now(records.close_on_clock(handle, path));
                }
                _ => {}
            }
        }
        let device = handle.file().and_then(|file| devices.of(file));
        if !may_defer && sampling == Sampling::Off {
            return now(records::close(handle, path, device.as_deref()));
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
            receiver,
            records: Arc::clone(records),
        };
        if defers {
            return self.defer(pending);
        }
        match sampling {
            Sampling::Off => now(pending.close_here()),
            _ => now(pending.close_measured()),
        }
    }

    fn defer(&self, pending: Pending) -> Result<Closed, Error> {
        let shared = &self.shared;
        if shared.is_over.load(Ordering::Relaxed) {
            // No worker would come. The receiver still gets the error.
            pending.close();
            return Ok(Closed::Later);
        }
        exit_and_fork::watch(&Self::global().shared);
        match shared.push(pending) {
            Ok(()) => Ok(Closed::Later),
            Err(pending) => now(pending.close_here()),
        }
    }

    /// Reports an error that has no other receiver.
    pub(super) fn report(&self, error: Error) {
        self.shared.records.reports.report(error);
    }
}

fn now(closed: Result<(), Error>) -> Result<Closed, Error> {
    closed.map(|()| Closed::Now)
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer")
            .field("policy", &self.policy())
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
