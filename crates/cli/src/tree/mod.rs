//! `smallfry cp`, `mirror`, `rm`, `pack`, `unpack` and `hash`: whole trees from the command line.
//!
//! - `cp.rs`, `mirror.rs`, `rm.rs`, `pack.rs`, `unpack.rs`, `hash.rs`: the command lines, and what
//!   they do
//! - `exclude.rs`: the patterns of `--exclude`
//! - `expected.rs`: the amount of work, which tells how much time is left
//! - `lines.rs`: the lines of `-v`
//! - `names.rs`: names in these lines and in messages
//! - `summary.rs`: counts and errors, as text or JSON
//! - `watch.rs`: progress on a terminal, and Ctrl-C

mod cp;
mod exclude;
mod expected;
mod hash;
mod lines;
mod mirror;
mod names;
mod pack;
mod rm;
mod summary;
mod unpack;
mod watch;

pub(crate) use cp::Arguments as Cp;
pub(crate) use hash::Arguments as Hash;
pub(crate) use mirror::Arguments as Mirror;
pub(crate) use pack::Arguments as Pack;
pub(crate) use rm::Arguments as Rm;
pub(crate) use unpack::Arguments as Unpack;

use std::ffi::OsStr;
use std::process::ExitCode;

/// Returns true if this is the name of one of these commands.
pub(crate) fn is_command(name: &OsStr) -> bool {
    let names = ["cp", "mirror", "rm", "pack", "unpack", "hash"];
    names.iter().any(|other| name == *other)
}

pub(crate) fn copy(arguments: &Cp) -> ExitCode {
    cp::run(arguments)
}

pub(crate) fn mirror(arguments: &Mirror) -> ExitCode {
    mirror::run(arguments)
}

pub(crate) fn remove(arguments: &Rm) -> ExitCode {
    rm::run(arguments)
}

pub(crate) fn unpack(arguments: &Unpack) -> ExitCode {
    unpack::run(arguments)
}

pub(crate) fn pack(arguments: &Pack) -> ExitCode {
    pack::run(arguments)
}

pub(crate) fn hash(arguments: &Hash) -> ExitCode {
    hash::run(arguments)
}
