//! Files of async runtimes, one file per runtime.

#[cfg(feature = "backend-async-std")]
mod async_std;
#[cfg(any(feature = "backend-async-std", feature = "backend-smol"))]
mod futures_io;
#[cfg(any(
    feature = "backend-async-std",
    feature = "backend-smol",
    feature = "backend-tokio"
))]
mod poll;
#[cfg(feature = "backend-smol")]
mod smol;
#[cfg(feature = "backend-tokio")]
mod tokio;
