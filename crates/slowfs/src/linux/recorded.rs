//! Calls that are recorded if the mount records.

use super::filesystem::{SlowFilesystem, read_at, write_at};
use super::handles::File;
use super::record::{Recording, acknowledged};
use super::tree::{Found, Id};
use rustix::fs::{self, Stat};
use rustix::io::{Errno, Result};
use std::ffi::OsStr;

impl SlowFilesystem {
    /// Does something that changes the tree, and records it if the mount records.
    pub(super) fn recorded<T>(
        &self,
        act: impl FnOnce() -> Result<T>,
        record: impl FnOnce(&mut Recording, &T),
    ) -> Result<T> {
        let Some(recorder) = &self.recorder else {
            return act();
        };
        let mut recording = recorder.lock();
        let done = act()?;
        record(&mut recording, &done);
        Ok(done)
    }

    /// Refuses names that are acknowledgements.
    pub(super) fn allow(&self, name: &OsStr) -> Result<()> {
        if self.recorder.is_some() && acknowledged(name).is_some() {
            return Err(Errno::PERM);
        }
        Ok(())
    }

    /// Looks up a name. Looking up some names is an acknowledgement.
    pub(super) fn find(&self, parent: Id, name: &OsStr) -> Result<(Found, Stat)> {
        if let Some(recorder) = &self.recorder
            && let Some(what) = acknowledged(name)
        {
            recorder.lock().acknowledge(what);
            return Err(Errno::NOENT);
        }
        self.backing.lookup(parent, name)
    }

    pub(super) fn write_recorded(&self, file: &File, offset: u64, data: &[u8]) -> Result<usize> {
        let Some(recorder) = &self.recorder else {
            return write_at(file, offset, data);
        };
        let mut recording = recorder.lock();
        let kept = recording.keep(data)?;
        let done = write_at(file, offset, data)?;
        recording.written(file.id, offset, done, kept);
        Ok(done)
    }

    pub(super) fn copy(
        &self,
        (from, start): (&File, u64),
        (to, offset): (&File, u64),
        max: u64,
    ) -> Result<usize> {
        let mut recording = self.recorder.as_ref().map(|recorder| recorder.lock());
        let (mut read, mut written) = (start, offset);
        let bytes = fs::copy_file_range(
            &from.descriptor,
            Some(&mut read),
            &to.descriptor,
            Some(&mut written),
            max as usize,
        )?;
        if let Some(recording) = &mut recording {
            let copied = read_at(from, start, bytes as u32)?;
            let kept = recording.keep(&copied)?;
            recording.written(to.id, offset, copied.len(), kept);
        }
        Ok(bytes)
    }
}
