//! A file that is written by its user, and then replaces another one in one step.

use std::path::{Path, PathBuf};

use super::target::{Target, without_links};
use super::temporary_file::TemporaryFile;
use crate::error::{Error, Operation};
use crate::path::Base;
use crate::raw::{self, OwnedFile};
use crate::sys::Attributes;

/// A temporary file that is to replace a file. Dropping it removes the temporary file.
pub(crate) struct Replacement {
    temporary: TemporaryFile,
    target: PathBuf,
    old: Option<Attributes>,
}

impl Replacement {
    /// Creates the temporary file beside the file at `path`, whose attributes it gets. Without such
    /// a file it gets `mode`. Links at `path` are followed, also to nothing.
    pub(crate) fn begin(path: &Path, mode: u32) -> Result<(Self, OwnedFile), Error> {
        let base = Base::default();
        let Target { path: target, old } =
            Target::find(&base, &without_links(&base, path)?, false)?;
        let target = base.absolute(target);
        let old = old.map(|old| old.attributes);
        let mode = old.as_ref().map_or(mode, Attributes::temporary_mode);
        let (temporary, file) = TemporaryFile::create(&base, &target, mode)?;
        if let Some(old) = &old {
            let given = old.give(raw::borrow(&file), true);
            given.map_err(|(operation, reason)| Error::at(operation, path, reason))?;
        }
        Ok((
            Self {
                temporary,
                target,
                old,
            },
            file,
        ))
    }

    /// The path of the file that is replaced.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Closes the temporary file and gives it the name of its target. Nothing is flushed.
    pub(crate) fn commit(mut self, file: OwnedFile) -> Result<(), Error> {
        if let Some(old) = self.old.take() {
            let given = old.give_privileges(raw::borrow(&file));
            given.map_err(|(operation, reason)| Error::at(operation, &self.target, reason))?;
        }
        let closed = raw::close(file);
        closed.map_err(|errno| Error::at(Operation::Close, &self.target, errno))?;
        self.temporary.rename(&self.target, false)
    }
}
