//! Trees that are copied, mirrored, removed, packed, unpacked or hashed in one call.
//!
//! - `copy_and_remove.rs`, `mirror.rs`, `archives.rs`, `digests.rs`: the functions that Java calls
//! - `arguments.rs`: paths and filters from Java
//! - `outcome.rs`: counts and errors as bytes
//! - `watched.rs`: work that Java watches and may stop, and that asks Java

mod archives;
mod arguments;
mod copy_and_remove;
mod digests;
mod mirror;
mod outcome;
mod watched;
