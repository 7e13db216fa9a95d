//! smallfry's ways of closing.

use crate::backends::{self, OTHERS};
use crate::{Backend, Closing, Policy, Way};
use smallfry::close::{Closer, FastCloseable};
use std::fs::File;
use std::io;

/// Returns the ways in the order of their rows: smallfry's own threads with every policy, then
/// those of other libraries.
pub fn ways() -> Vec<Way> {
    let policies = [Policy::Auto, Policy::Always, Policy::Never];
    let own = policies.map(|policy| (policy, Backend::Threads));
    let others = OTHERS
        .iter()
        .flat_map(|backend| [(Policy::Auto, *backend), (Policy::Always, *backend)]);
    own.into_iter()
        .chain(others)
        .map(|(policy, backend)| Way::Smallfry { policy, backend })
        .collect()
}

struct Ours;

pub(crate) fn start(policy: Policy, backend: Backend) -> io::Result<Box<dyn Closing>> {
    Closer::global().set_policy(match policy {
        Policy::Auto => smallfry::close::Policy::Auto,
        Policy::Always => smallfry::close::Policy::Always,
        Policy::Never => smallfry::close::Policy::Never,
    });
    Closer::global().set_backend(backends::of(backend)?);
    Ok(Box::new(Ours))
}

impl Closing for Ours {
    fn close(&self, file: File) {
        drop(file.fast_close());
    }

    fn wait(&self) -> io::Result<()> {
        match Closer::global().drain().into_iter().next() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
