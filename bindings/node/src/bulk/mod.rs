//! Many files in one call.
//!
//! A *session* is one call of JavaScript's on its way: a batch of the core (`session.rs`), inputs that JavaScript pushes
//! into it, and an array that results are put into as they are done, on the environment's thread, a few milliseconds'
//! worth at a time. Where files must survive, their barrier (`commit.rs`) comes before the end. `entry_points.rs` has the functions that JavaScript calls; `task.rs` says what workers do,
//! and `threads.rs` counts them.

mod commit;
mod entry_points;
mod outcome;
mod session;
mod task;
mod threads;

pub(crate) use commit::finish_commits;
pub(crate) use entry_points::FUNCTIONS;
pub(crate) use outcome::error_with_path;
pub(crate) use session::{Sessions, deliver, forget};
pub(crate) use threads::are_at_work;
