//! The work of a call for a tree.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use napi_sys as sys;
use smallfry::bulk::{Control, Strategy};
use smallfry::tree::{Copier, Remover};
use smallfry_options::OptionBits;

use super::list;
use crate::environment::Environment;
use crate::errors::Failure;
use crate::mailbox::{Answer, JobResult};
use crate::sys::path_of;
use crate::value::{int32, is_string, undefined, utf8};

/// The work of one call.
pub(super) enum Work {
    Copy(Copier, PathBuf, PathBuf),
    Remove(Remover, PathBuf),
    List(PathBuf),
}

impl Work {
    pub(super) fn copy(
        env: sys::napi_env,
        environment: &Environment,
        paths: [sys::napi_value; 2],
        bits: sys::napi_value,
        threads: sys::napi_value,
        entries: sys::napi_value,
    ) -> Self {
        let mut copier = OptionBits::new(int32(env, bits)).copier();
        copier.strategy(strategy(env, threads));
        if is_string(env, entries) {
            let entries = environment.strings.to_vec(env, entries);
            let entries: HashSet<PathBuf> = entries.split(|byte| *byte == 0).map(path_of).collect();
            copier.filter(move |path| entries.contains(path));
        }
        let [from, to] = paths.map(|path| path_of(&environment.bytes_of(env, path)));
        Self::Copy(copier, from, to)
    }

    pub(super) fn remove(
        env: sys::napi_env,
        environment: &Environment,
        path: sys::napi_value,
        bits: sys::napi_value,
        threads: sys::napi_value,
    ) -> Self {
        let mut remover = OptionBits::new(int32(env, bits)).remover();
        remover.strategy(strategy(env, threads));
        Self::Remove(remover, path_of(&environment.bytes_of(env, path)))
    }

    pub(super) fn run(self, control: &Control) -> JobResult {
        let result = match self {
            Self::Copy(mut copier, from, to) => copier.control(control).copy(from, to),
            Self::Remove(mut remover, path) => remover.control(control).remove(path),
            Self::List(path) => {
                return match list::list(&path) {
                    Ok(listing) => Ok(Answer::Text(listing)),
                    Err(_) => Err(Failure::Delegate.into()),
                };
            }
        };
        Ok(Answer::Tree(Box::new(result.into())))
    }

    /// Does the work at once. Returns the value that JavaScript gets.
    pub(super) fn run_here(self, env: sys::napi_env) -> sys::napi_value {
        match self.run(&Control::new()) {
            Ok(Answer::Tree(outcome)) => outcome.value(env),
            Ok(Answer::Text(text)) => utf8(env, &text).unwrap_or_else(|| undefined(env)),
            _ => undefined(env),
        }
    }
}

/// Reads the `threads` option; 0 stands for `Auto`.
fn strategy(env: sys::napi_env, threads: sys::napi_value) -> Strategy {
    let threads = usize::try_from(int32(env, threads)).unwrap_or(0);
    NonZeroUsize::new(threads).map_or(Strategy::Auto, Strategy::Threads)
}
