//! The files of the archive that is being written. They may be in the tree that is packed.

use std::io;
use std::path::{Path, PathBuf};

use super::listing::Found;
use crate::durable::is_temporary_of;
use crate::sys::{self, EntryStatus, Identity, Kind, OpenDirectory};

/// The files of the archive itself, which are left out.
pub(super) struct ArchiveFiles {
    /// The archive, and the one that it replaces.
    files: [Option<Identity>; 2],
    /// `None` if it cannot be listed.
    directory: Option<Identity>,
    path: PathBuf,
}

impl ArchiveFiles {
    /// Finds them for the new archive that is to get the absolute path `path`.
    pub(super) fn find(new: Identity, path: &Path) -> io::Result<Self> {
        let above = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let name = sys::last_name(path).ok_or(io::ErrorKind::InvalidInput)?;
        let open = match OpenDirectory::open(above) {
            // Nothing that is in it is packed then, but by another name.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Self {
                    files: [Some(new), None],
                    directory: None,
                    path: path.to_owned(),
                });
            }
            open => open?,
        };
        let old = match open.status_of(&name).map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?.identity),
        };
        Ok(Self {
            files: [Some(new), old],
            directory: Some(open.status()?.identity),
            path: path.to_owned(),
        })
    }

    /// Returns true for one of them, or for a temporary file that a killed process has left.
    pub(super) fn has(&self, found: &Found, status: &EntryStatus) -> bool {
        let is_temporary = || {
            status.kind == Kind::File
                && Some(found.directory.identity()) == self.directory
                && is_temporary_of(sys::as_path(&found.name).as_os_str(), &self.path)
        };
        self.files.contains(&Some(status.identity)) || is_temporary()
    }
}
