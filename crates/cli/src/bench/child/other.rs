//! Systems that do not tell a parent what its child used: the usage is zero.

use super::{End, Usage};
use std::time::Duration;

pub(in crate::bench) struct Child(std::process::Child);

impl Child {
    pub(in crate::bench) fn new(child: std::process::Child) -> Self {
        Self(child)
    }

    pub(in crate::bench) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(in crate::bench) fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = self.0.kill();
    }

    pub(in crate::bench) fn try_wait(&mut self) -> Option<End> {
        let status = self.0.try_wait().ok()??;
        let usage = Usage::default();
        Some(End { status, usage })
    }

    #[allow(clippy::unused_self, reason = "elsewhere it tells which child")]
    pub(in crate::bench) fn waiting(&self) -> Waiting {
        Waiting
    }
}

pub(in crate::bench) struct Waiting;

impl Waiting {
    /// Leaves the waiting to the looks that follow.
    #[allow(clippy::unused_self, reason = "elsewhere it tells which child")]
    pub(in crate::bench) fn wait(&self) {
        std::thread::sleep(Duration::ZERO);
    }
}
