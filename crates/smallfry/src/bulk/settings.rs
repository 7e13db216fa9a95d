//! What the caller may say of any batch: kept in one place, and offered by each builder under the same names.

use super::Strategy;
use super::control::Control;
use super::engine::{BatchOptions, MAX_IN_FLIGHT};
use super::place::Place;

/// How a batch is to be done, and where its files are.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) strategy: Strategy,
    pub(super) max_in_flight: u64,
    pub(super) fail_fast: bool,
    pub(super) control: Option<Control>,
    pub(super) place: Place,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            max_in_flight: MAX_IN_FLIGHT,
            fail_fast: false,
            control: None,
            place: Place::default(),
        }
    }
}

impl Settings {
    pub(super) fn options(&self) -> BatchOptions {
        BatchOptions {
            strategy: self.strategy,
            max_in_flight: self.max_in_flight,
            control: self.control.clone().unwrap_or_default(),
            fail_fast: self.fail_fast,
            notify: None,
        }
    }
}

/// The methods of a builder that has `settings`.
macro_rules! settings_methods {
    () => {
        /// How many operations are under way at once.
        pub fn strategy(&mut self, strategy: $crate::bulk::Strategy) -> &mut Self {
            self.settings.strategy = strategy;
            self
        }

        /// Begin nothing more after an error. What is behind it and had been handed to threads gets an error for which
        /// [`Error::is_cancelled`](crate::Error::is_cancelled) holds; entries behind that have no result.
        pub fn fail_fast(&mut self, fail_fast: bool) -> &mut Self {
            self.settings.fail_fast = fail_fast;
            self
        }

        /// Cancel the batch or watch its progress through `control`.
        pub fn control(&mut self, control: &$crate::bulk::Control) -> &mut Self {
            self.settings.control = Some(control.clone());
            self
        }

        /// Resolve all paths beneath `directory`, which is opened now, and refuse those that lead out of it: absolute
        /// ones, `..`, symbolic links, whoever changes links meanwhile. The error is
        /// [`PermissionDenied`](std::io::ErrorKind::PermissionDenied). On Windows links are not followed at all, and names
        /// that it reserves are refused with [`InvalidInput`](std::io::ErrorKind::InvalidInput); so are, there and on
        /// macOS, names in a batch of writes that differ in case only.
        ///
        /// # Errors
        ///
        /// [`Operation::Open`](crate::Operation::Open) with the directory.
        ///
        /// [openat2(2), `RESOLVE_BENEATH`](https://man7.org/linux/man-pages/man2/openat2.2.html)
        pub fn within(
            &mut self,
            directory: impl AsRef<std::path::Path>,
        ) -> Result<&mut Self, $crate::Error> {
            self.settings.place.enter(directory.as_ref())?;
            Ok(self)
        }
    };
}

pub(super) use settings_methods;
