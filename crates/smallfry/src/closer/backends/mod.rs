//! The thread pools that can close files: one file per pool.
//!
//! No pool closes files by itself. Each runs a [`Job`], which closes a few files that wait and
//! comes back for more. So as few closes are in flight, whatever the pool.

#[cfg(feature = "backend-async-std")]
mod async_std;
#[cfg(any(feature = "backend-blocking", feature = "backend-smol"))]
mod blocking;
mod job;
#[cfg(feature = "backend-rayon")]
mod rayon;
mod threads;
#[cfg(feature = "backend-tokio")]
mod tokio;

use std::fmt;
use std::sync::Arc;

pub use job::Job;
pub(super) use job::Serve;
pub(super) use threads::spawn as spawn_thread;

/// The thread pool that closes files.
///
/// The features only add: all of them can be in one build, and the program chooses at run time. A
/// pool that does not run a job, because there is no runtime or it has ended, is replaced by
/// threads of smallfry.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Backend {
    /// Threads of smallfry, which end after a second without work.
    #[default]
    Threads,
    /// A pool of the program. The function [`run`](Job::run)s the job on another thread, or drops
    /// it.
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
    /// The threads of the crate [`blocking`](https://docs.rs/blocking). Needs the feature
    /// `backend-blocking`.
    #[cfg(feature = "backend-blocking")]
    Blocking,
    /// The global pool of [`rayon`](https://docs.rs/rayon), which has a thread for each processor.
    /// Closing takes these threads from what the program computes. Needs the feature
    /// `backend-rayon`.
    #[cfg(feature = "backend-rayon")]
    Rayon,
    /// The blocking threads of [`smol`](https://docs.rs/smol), which are those of `blocking`. Needs
    /// the feature `backend-smol`. The thread that reads ahead keeps a file open for a moment after
    /// it was closed here.
    #[cfg(feature = "backend-smol")]
    Smol,
    /// The blocking threads of [`async-std`](https://docs.rs/async-std). Needs the feature
    /// `backend-async-std`. The crate itself writes a second time what it could not write of a
    /// file.
    #[cfg(feature = "backend-async-std")]
    #[deprecated(
        note = "async-std is discontinued, and its authors recommend smol: use `Backend::Smol`"
    )]
    AsyncStd,
    /// The blocking threads of the [`tokio`](https://docs.rs/tokio) runtime in whose context a file
    /// is handed over. Outside of a runtime, threads of smallfry close it. Needs the feature
    /// `backend-tokio`.
    #[cfg(feature = "backend-tokio")]
    Tokio,
}

#[cfg_attr(
    feature = "backend-async-std",
    expect(
        deprecated,
        reason = "it is offered as long as close_already offers it"
    )
)]
impl Backend {
    /// Returns a name to print.
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
