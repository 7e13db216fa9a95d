//! The part of a group commit that its threads share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::directories::Directories;
use super::failures::Failures;
use super::file_systems::{FileSystems, NO_FILE_SYSTEM};
use super::flushers::Flushers;
use super::open_files::OpenFiles;
use super::written::{ToClose, Written};
use crate::path::Base;
use crate::raw::{self, OwnedFile};
use crate::sys;
use crate::write::{Durability, WriteOptions};

/// The options and the state of a group commit.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) options: WriteOptions,
    pub(super) base: Base,
    /// The same base, without waiting for descriptors.
    pub(super) no_wait: Base,
    /// There may be enough files for `syncfs` or for flusher threads.
    pub(super) is_for_many: bool,
    state: Mutex<State>,
    /// Signals that a file waits, or that none will come any more.
    pub(super) file_waits: Condvar,
    /// Signals that a file has been flushed.
    pub(super) file_flushed: Condvar,
    /// The flusher threads that were not joined yet.
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The state behind the lock. Each part is changed by its own file only.
#[derive(Debug)]
pub(super) struct State {
    pub(super) open: OpenFiles,
    pub(super) flushers: Flushers,
    pub(super) file_systems: FileSystems,
    pub(super) directories: Directories,
    pub(super) failures: Failures,
}

impl Batch {
    pub(super) fn new(options: &WriteOptions, base: &Base, is_for_many: bool) -> Self {
        Self {
            options: options.clone(),
            base: base.clone(),
            no_wait: base.no_wait(),
            is_for_many,
            state: Mutex::new(State {
                open: OpenFiles::new(is_for_many),
                flushers: Flushers::default(),
                file_systems: FileSystems::default(),
                directories: Directories::default(),
                failures: Failures::default(),
            }),
            file_waits: Condvar::new(),
            file_flushed: Condvar::new(),
            threads: Mutex::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the file system of an open file. From now on errors of writing to it
    /// are seen.
    pub(super) fn enter(&self, file: &OwnedFile) -> usize {
        if !self.is_for_many || self.options.durability == Durability::None {
            return NO_FILE_SYSTEM;
        }
        // A write to a device does not go to the file system of its directory.
        match sys::device_of_regular(raw::borrow(file)) {
            Some(device) => self.lock().file_systems.enter(device, file),
            None => NO_FILE_SYSTEM,
        }
    }
}

impl State {
    /// Adds a written file of that length. Returns files that need not be open any more.
    pub(super) fn add(&mut self, written: Written, length: usize) -> Vec<ToClose> {
        self.open.remember(written.key);
        let number = written.file_system;
        let was_chosen = self.file_systems.is_chosen(number);
        if !self.file_systems.choose(number, length) {
            self.open.push(written);
            return Vec::new();
        }
        let mut covered = if was_chosen {
            Vec::new()
        } else {
            self.open.take_on(number)
        };
        covered.push(written);
        self.file_systems.cover(covered)
    }

    /// Returns true if the system should begin writing a file on that file system: it will be
    /// flushed soon, and by itself.
    pub(super) fn should_begin_writeback(&self, file_system: usize) -> bool {
        self.flushers.are_running() && !self.file_systems.is_chosen(file_system)
    }
}
