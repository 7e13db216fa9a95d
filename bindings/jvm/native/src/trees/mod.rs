//! Trees that are copied or removed in one call.
//!
//! - `entry_points.rs`: the functions that Java calls
//! - `outcome.rs`: counts and errors as bytes
//! - `watched.rs`: work that Java watches and may stop

mod entry_points;
mod outcome;
mod watched;
