//! The mount on Linux.

mod attributes;
mod backing;
mod clock;
mod directories;
mod filesystem;
mod handles;
mod pool;
mod record;
mod recorded;
mod session;
mod table;
mod tree;

pub(crate) use session::{Session, clean_up};
