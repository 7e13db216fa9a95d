//! Many files in one call.
//!
//! A *session* is one call of JavaScript's: a batch of the core (`session.rs`), inputs that
//! JavaScript pushes into it, and an array for the results. Results are put there on the
//! environment's thread, a few milliseconds' worth at a time. Where files must survive a crash,
//! their barrier (`commit.rs`) comes before the end. `entry_points.rs` has the functions that
//! JavaScript calls; `task.rs` has the work of the workers, and `threads.rs` counts them.

mod commit;
mod entry_points;
mod results;
mod session;
mod task;
mod threads;

pub(crate) use commit::finish_commits;
pub(crate) use entry_points::FUNCTIONS;
pub(crate) use session::Sessions;
pub(crate) use threads::are_at_work;
