//! Whose threads close files: one file for each.
//!
//! None of them closes by itself. Each is given a [`Job`], which closes a few of the files that wait and comes back for
//! more, so whatever pool runs it, as few are under way and as few are open as with threads of ours.

#[cfg(feature = "backend-async-std")]
mod async_std;
#[cfg(any(
    feature = "backend-async-std",
    feature = "backend-smol",
    feature = "backend-tokio"
))]
mod asynchronous;
#[cfg(any(feature = "backend-blocking", feature = "backend-smol"))]
mod blocking;
#[cfg(any(feature = "backend-async-std", feature = "backend-smol"))]
mod futures_io;
#[cfg(feature = "backend-rayon")]
mod rayon;
#[cfg(feature = "backend-smol")]
mod smol;
pub(super) mod threads;
#[cfg(feature = "backend-tokio")]
mod tokio;

use std::fmt;
use std::sync::Arc;

use super::closer::{Line, Shared};
use super::queue::Workers;

/// Whose threads close files.
///
/// The features only add: all of them can be in one build, and the program chooses at run time. Whatever does not run a
/// job, because there is no runtime or it has ended, is replaced by threads of smallfry.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Backend {
    /// Threads of smallfry, which end after a second without work.
    #[default]
    Threads,
    /// A pool of the program's: the function is given jobs to [`run`](Job::run) on some other thread, and may drop them.
    ///
    /// ```
    /// use smallfry::close::{Backend, Closer};
    /// use std::sync::Arc;
    ///
    /// let backend = Backend::Custom(Arc::new(|job| {
    ///     std::thread::spawn(|| job.run());
    /// }));
    /// Closer::global().set_backend(backend);
    /// ```
    Custom(Arc<dyn Fn(Job) + Send + Sync>),
    /// The threads that the crate [`blocking`](https://docs.rs/blocking) has for such things. With the feature
    /// `backend-blocking`.
    #[cfg(feature = "backend-blocking")]
    Blocking,
    /// [`rayon`](https://docs.rs/rayon)'s global pool, which has a thread for each processor: closing has no more at once,
    /// and takes them from what the program computes. With the feature `backend-rayon`.
    #[cfg(feature = "backend-rayon")]
    Rayon,
    /// [`smol`](https://docs.rs/smol)'s threads for blocking work, which are those of `blocking`. With the feature
    /// `backend-smol`. A file of smol's that was read is kept open by the thread that reads ahead until that notices, a
    /// moment longer than it is pending here.
    #[cfg(feature = "backend-smol")]
    Smol,
    /// [`async-std`](https://docs.rs/async-std)'s threads for blocking work. The crate is discontinued, and its authors
    /// recommend smol. With the feature `backend-async-std`. What could not be written of a file is written once more when
    /// its last handle goes, by the crate itself.
    #[cfg(feature = "backend-async-std")]
    AsyncStd,
    /// The blocking threads of the [`tokio`](https://docs.rs/tokio) runtime in whose context a file is handed over; without
    /// one, threads of smallfry. With the feature `backend-tokio`.
    #[cfg(feature = "backend-tokio")]
    Tokio,
}

impl Backend {
    /// A name for people.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Threads => "own threads",
            Self::Custom(_) => "custom",
            #[cfg(feature = "backend-blocking")]
            Self::Blocking => "blocking",
            #[cfg(feature = "backend-rayon")]
            Self::Rayon => "rayon",
            #[cfg(feature = "backend-smol")]
            Self::Smol => "smol",
            #[cfg(feature = "backend-async-std")]
            Self::AsyncStd => "async-std",
            #[cfg(feature = "backend-tokio")]
            Self::Tokio => "tokio",
        }
    }

    pub(super) fn spawn(&self, job: Job) {
        match self {
            Self::Threads => job.on_own_thread(),
            Self::Custom(spawn) => spawn(job),
            #[cfg(feature = "backend-blocking")]
            Self::Blocking => blocking::spawn(job),
            #[cfg(feature = "backend-rayon")]
            Self::Rayon => rayon::spawn(job),
            #[cfg(feature = "backend-smol")]
            Self::Smol => blocking::spawn(job),
            #[cfg(feature = "backend-async-std")]
            Self::AsyncStd => async_std::spawn(job),
            #[cfg(feature = "backend-tokio")]
            Self::Tokio => tokio::spawn(job),
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Closes files that wait.
///
/// Dropped without being run, it is replaced by a thread of smallfry.
pub struct Job(Option<(Arc<Shared>, Workers)>);

impl Job {
    pub(super) fn new(closer: Arc<Shared>, crew: Workers) -> Self {
        Self(Some((closer, crew)))
    }

    /// Closes a few files, if there are any, and asks for another job if there are more. Blocks for as long as closing
    /// takes. Does not panic.
    pub fn run(mut self) {
        if let Some((closer, crew)) = self.0.take() {
            closer.run_slice(crew);
        }
    }

    fn on_own_thread(mut self) {
        if let Some((closer, crew)) = self.0.take() {
            closer.bring_thread(Line::Plain, crew);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some((closer, crew)) = self.0.take() {
            closer.lose_job(crew);
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}
