//! Calls that finish later: promise and callback calls, gathered into native jobs.
//!
//! A call is put on one queue for the process (`queue.rs`), whose threads work through it in order of arrival: the first
//! call starts at once, and calls made meanwhile wait there without a system call each. Long files are read and written
//! in slices and go to the end of the queue between slices, so a huge one never holds up small ones. Results go back to
//! the environment that asked (`client.rs`), which is woken once for all that have arrived (`delivery.rs`). Writes that must
//! survive have a queue of their own (`together.rs`), where they wait for one flush.

mod client;
mod delivery;
mod exit;
mod queue;
mod task;
mod together;

pub(crate) use client::{Accepted, Client, Finished};
pub(crate) use delivery::{
    Turn, again, attach, finish, hold_loop, release_loop, submit_durable_write, submit_read,
    submit_write,
};
