//! This system has no slow disks.

use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use std::path::{Path, PathBuf};

pub(in crate::bench) enum Slow {}

impl Slow {
    pub(in crate::bench) fn mount(
        profile: &str,
        _: &Path,
        _: &Path,
        _: &Interrupt,
    ) -> Result<Self, Failure> {
        Err(Failure::said(format!(
            "cannot measure on the slow disk {profile:?}: only Linux has it (--disk {} measures the disk as it is)",
            super::REAL
        )))
    }

    pub(in crate::bench) fn profile(&self) -> &str {
        match *self {}
    }

    pub(in crate::bench) fn beneath(&self) -> PathBuf {
        match *self {}
    }

    pub(in crate::bench) fn empty_cache(&self) -> std::io::Result<()> {
        match *self {}
    }

    pub(in crate::bench) fn unmount(&self) -> Result<(), Failure> {
        match *self {}
    }
}
