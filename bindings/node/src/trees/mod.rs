//! Trees that are copied, mirrored, removed, packed, unpacked or hashed in one call.
//!
//! A call that finishes later waits in a queue (`queue.rs`), whose threads do one call at a time
//! each. More threads help with a large tree, as many as pay. A call that is cancelled, or whose
//! environment or process ends, ends after the entries that were begun. `entry_points.rs` and
//! `list_entry_points.rs` have the functions that JavaScript calls, `call.rs` reads their
//! arguments, and `work.rs` does the calls. `list.rs` lists trees for filters, and `links.rs` finds
//! links that node:fs has to copy.

mod call;
mod entry_points;
mod links;
#[cfg(unix)]
mod list;
#[cfg(unix)]
mod list_entry_points;
mod queue;
mod work;

pub(crate) use entry_points::FUNCTIONS;
#[cfg(unix)]
pub(crate) use list_entry_points::FUNCTIONS as LISTING;
pub(crate) use queue::{cancel_all, cancel_of};
