//! The length of an archive, and how far it was read.

use std::cell::Cell;
use std::rc::Rc;

use smallfry_workers::Control;

/// The length of an archive.
pub(super) struct Length {
    /// The bytes that were used.
    pub(super) used: Rc<Cell<u64>>,
    /// The length in bytes, if it is known.
    pub(super) known: Option<u64>,
}

impl Length {
    /// Returns the length in bytes, as far as it is known.
    pub(super) fn at_least(&self) -> u64 {
        self.known.unwrap_or_else(|| self.used.get())
    }

    /// Tells how much was used.
    pub(super) fn tell(&self, control: &Control) {
        if let Some(known) = self.known {
            control.reach(self.used.get(), known);
        }
    }
}
