//! Runs blocking operations on as many threads as pay, found by measuring.
//!
//! Reading small files from the page cache is fastest on as many threads as there are processors.
//! Reading them from a network disk is fastest on dozens, and some file systems are fastest on one.
//! This crate times the operations while they run, adds threads while that raises the throughput,
//! and takes them back when it does not. It knows nothing of files: an operation is any function
//! that may block.
//!
//! # Which call for which job
//!
//! Use [`map()`] when one function does the work for each input and you want all results.
//!
//! Use [`run_all`] when the work keeps memory between inputs, holds back bytes, or has inputs that
//! must follow each other: it takes a [`Task`].
//!
//! Use [`Stream`] to take results one by one while others are in flight. The thread that asks is
//! one of the workers.
//!
//! Use [`Batch`] with [`Notify`] when your thread must not wait, as in an event loop.
//!
//! Use [`Workers`] and [`Meter`] when you have a queue of your own and want to know only how many
//! threads should serve it.
//!
//! ```
//! use smallfry_workers::{Strategy, map};
//!
//! let names = ["Cargo.toml", "src/lib.rs", "no/such/file"];
//! let sizes = map(Strategy::Auto, names, |name| std::fs::metadata(name).map(|it| it.len()));
//! assert!(sizes[0].is_ok() && sizes[2].is_err());
//! ```
//!
//! # How many at once
//!
//! [`Strategy::Auto`] begins on the calling thread. Operations that compute get as many threads as
//! there are processors, if there is enough work to pay for a thread. Operations that wait get up
//! to 64, as long as each step raises the throughput. All `Auto` batches of a process share 64
//! threads. Where each operation is a [request](Task::is_request) to a server, these numbers are
//! 256, and the server may ask for [fewer](TaskContext::slow_down). [`Strategy::Threads`] names a
//! number instead.
//!
//! # What is not promised
//!
//! - **An order of results.** Inputs begin in their order and end in any, except those with the
//!   same [`Task::key`]. [`run_all`] and [`map()`] sort the results; a [`Stream`] does if asked.
//! - **The best number at once.** The search takes a few operations per step. A batch that ends
//!   within some 50 ms may end before the search does.
//! - **Use from async code.** Each call that runs operations may block.
//! - **An end of a running operation.** [`Control::cancel`] begins nothing more; it interrupts
//!   nothing.
//!
//! # Panics
//!
//! A panic of an operation reaches the thread that consumes the results, not the process.

mod batch;
mod control;
mod controller;
mod map;
mod meter;
mod options;
mod spawn;
mod stream;
#[doc(hidden)] // Shared with `smallfry`, whose other threads are explored by loom as well.
pub mod sync;
mod sys;
mod task;
mod workers;

#[cfg(all(test, loom))]
mod model;

pub use batch::{Batch, Done};
pub use control::{Control, Progress};
pub use map::{map, run_all};
pub use meter::{Meter, Start};
pub use options::{BatchOptions, MAX_IN_FLIGHT, Notify, Strategy};
pub use spawn::{Detached, Spawn, may_start_threads, start_thread};
pub use stream::Stream;
pub use sys::{available_cores, thread_cpu_time};
pub use task::{Task, TaskContext};
pub use workers::{MAX_REQUESTS, MAX_WORKERS, Workers};

/// Its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
