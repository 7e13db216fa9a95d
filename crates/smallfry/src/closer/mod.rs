//! The machinery behind [`close`](crate::close): queues, workers, measured file systems.
//!
//! `queue`, `pool` and `auto` know no files. `backends/` has one file per thread pool,
//! `async_files/` one per async runtime.

#[cfg(any(
    feature = "backend-async-std",
    feature = "backend-smol",
    feature = "backend-tokio"
))]
mod async_files;
mod auto;
mod backends;
mod devices;
mod exit_and_fork;
mod fast_close;
mod group;
mod guard;
mod handle;
mod pending;
mod pool;
mod process_closer;
mod queue;
mod records;
mod reports;
mod shared;

pub use backends::{Backend, Job};
pub use fast_close::{FastClose, FastCloseable};
pub(crate) use group::Group;
pub use handle::{Close, Handle};
pub use process_closer::{Closed, Closer, Policy};
