//! Settings that all batches have, offered by each builder under the same names.

use smallfry_workers::{BatchOptions, Control, MAX_IN_FLIGHT, Strategy};

use crate::path::{Base, max_workers};

/// The options of a batch, and the base of its paths.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) strategy: Strategy,
    pub(super) max_in_flight: u64,
    pub(super) fail_fast: bool,
    pub(super) control: Option<Control>,
    pub(super) base: Base,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            max_in_flight: MAX_IN_FLIGHT,
            fail_fast: false,
            control: None,
            base: Base::default(),
        }
    }
}

impl Settings {
    pub(super) fn batch_options(&self) -> BatchOptions {
        BatchOptions {
            strategy: self.strategy,
            max_workers: max_workers(),
            max_in_flight: self.max_in_flight,
            control: self.control.clone().unwrap_or_default(),
            fail_fast: self.fail_fast,
            notify: None,
        }
    }
}

/// Defines the methods of a builder that has `settings`.
macro_rules! settings_methods {
    () => {
        /// Sets how many operations run at once.
        pub fn strategy(&mut self, strategy: $crate::bulk::Strategy) -> &mut Self {
            self.settings.strategy = strategy;
            self
        }

        /// Begins nothing more after an error. Later entries that were handed to threads get an
        /// error for which [`Error::is_cancelled`](crate::Error::is_cancelled) holds. Entries after
        /// those have no result.
        pub fn fail_fast(&mut self, fail_fast: bool) -> &mut Self {
            self.settings.fail_fast = fail_fast;
            self
        }

        /// Lets `control` cancel the batch and show its progress.
        pub fn control(&mut self, control: &$crate::bulk::Control) -> &mut Self {
            self.settings.control = Some(control.clone());
            self
        }

        /// Resolves all paths beneath `directory`, which is opened now.
        ///
        /// A path that leaves it is refused with
        /// [`PermissionDenied`](std::io::ErrorKind::PermissionDenied), even if another program
        /// changes links meanwhile. That may be an absolute path, one with `..`, or one through a
        /// symbolic link. On Windows no link is followed, and names that it reserves are refused
        /// with [`InvalidInput`](std::io::ErrorKind::InvalidInput). Windows and macOS refuse names
        /// in a batch of writes that differ in case only.
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
            self.settings.base.enter(directory.as_ref())?;
            Ok(self)
        }
    };
}

pub(super) use settings_methods;
