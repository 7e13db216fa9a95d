//! A call whose arguments are one object, which `lib/` has made and checked.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use napi_sys as sys;
use smallfry::bulk::Strategy;
use smallfry::tree::{Exclude, Method};
use smallfry_options::OptionBits;

use crate::environment::Environment;
use crate::sys::path_of;
use crate::value::{byte_count, int32, is_string, property};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'e> {
    pub(super) env: sys::napi_env,
    pub(super) environment: &'e Environment,
    pub(super) object: sys::napi_value,
}

impl Call<'_> {
    fn value(&self, name: &CStr) -> sys::napi_value {
        property(self.env, self.object, name)
    }

    /// Returns a number; 0 for none.
    pub(super) fn number(&self, name: &CStr) -> i32 {
        int32(self.env, self.value(name))
    }

    /// Returns a number that may be large; `None` for 0, which stands for none.
    pub(super) fn limit(&self, name: &CStr) -> Option<u64> {
        Some(byte_count(self.env, self.value(name))).filter(|limit| *limit > 0)
    }

    /// Copies a string in UTF-8, or the bytes of a view.
    pub(super) fn bytes(&self, name: &CStr) -> Vec<u8> {
        self.environment.bytes_of(self.env, self.value(name))
    }

    pub(super) fn is_string(&self, name: &CStr) -> bool {
        is_string(self.env, self.value(name))
    }

    pub(super) fn path(&self, name: &CStr) -> PathBuf {
        path_of(&self.bytes(name))
    }

    pub(super) fn bits(&self) -> OptionBits {
        OptionBits::new(self.number(c"bits"))
    }

    pub(super) fn strategy(&self) -> Strategy {
        strategy(self.number(c"threads"))
    }

    /// Returns the way of copying, by the number that `lib/bulk/trees.ts` has for it.
    pub(super) fn method(&self) -> Method {
        OptionBits::method(self.number(c"method"))
    }

    /// Returns the only paths that are wanted, which are joined by NUL; `None` for all.
    pub(super) fn entries(&self) -> Option<HashSet<PathBuf>> {
        let entries = self.is_string(c"entries").then(|| self.bytes(c"entries"))?;
        Some(entries.split(|byte| *byte == 0).map(path_of).collect())
    }

    /// Compiles the patterns, which are joined by NUL; `None` for no patterns.
    pub(super) fn exclude(&self) -> io::Result<Option<Exclude>> {
        let joined = self.bytes(c"exclude");
        let joined = String::from_utf8_lossy(&joined);
        let patterns = joined.split('\0').filter(|pattern| !pattern.is_empty());
        let exclude = Exclude::new(patterns).map_err(|error| {
            let reason = format!("The \"exclude\" option has a pattern that is not valid. {error}");
            io::Error::new(error.kind(), reason)
        })?;
        Ok((!exclude.is_empty()).then_some(exclude))
    }
}

/// Reads the `threads` option; 0 stands for `Auto`.
pub(super) fn strategy(threads: i32) -> Strategy {
    let threads = usize::try_from(threads).unwrap_or(0);
    NonZeroUsize::new(threads).map_or(Strategy::Auto, Strategy::Threads)
}
