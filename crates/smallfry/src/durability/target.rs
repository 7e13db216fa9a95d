//! The file that is to be replaced.

use std::io;
use std::path::{Path, PathBuf};

use super::is_a_directory;
use crate::bulk::place::Place;
use crate::error::{Error, Operation};
use crate::fs::invalid_input;
use crate::raw::{self, OwnedFile};

/// Links that are followed, as the system has it.
const MOST_LINKS: usize = 40;

/// Where a draft is to go.
pub(super) struct Target {
    /// The path without symbolic links at its end.
    pub(super) path: PathBuf,
    /// The file that is there, open to see what it has.
    pub(super) old: Option<OwnedFile>,
}

impl Target {
    /// Follows symbolic links from `path`. Links that lead nowhere, directories, pipes and devices are refused.
    pub(super) fn find(place: &Place, path: &Path) -> Result<Self, Error> {
        let is_directory = path.file_name().is_none()
            || path.as_os_str().as_encoded_bytes().ends_with(b"/")
            || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
        if is_directory {
            return Err(is_a_directory(path));
        }
        let mut target = path.to_owned();
        for links in 0..MOST_LINKS {
            match place.read_link(&target) {
                Ok(None) => {
                    let old = open_old(place, &target, path)?;
                    return Ok(Self {
                        path: target,
                        old: Some(old),
                    });
                }
                // The system resolves what is before the last name, so `..` in a link needs no care.
                Ok(Some(link)) => target = target.parent().unwrap_or(Path::new("")).join(link),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if links == 0 {
                        return Ok(Self {
                            path: target,
                            old: None,
                        });
                    }
                    return Err(Error::at(Operation::Readlink, path, error));
                }
                Err(error) => return Err(Error::at(Operation::Open, path, error)),
            }
        }
        let reason = invalid_input(format!("more than {MOST_LINKS} symbolic links"));
        Err(Error::at(Operation::Readlink, path, reason))
    }
}

/// Opens the file that is there; `path` is what the caller calls it.
fn open_old(place: &Place, target: &Path, path: &Path) -> Result<OwnedFile, Error> {
    let renamed = |error: Error| Error::at(error.operation(), path, error.into_io_error());
    let status = place.stat(target).map_err(renamed)?;
    if status.is_dir() {
        return Err(is_a_directory(path));
    }
    if !status.is_file() {
        let reason = invalid_input("only a regular file can be replaced".into());
        return Err(Error::at(Operation::Open, path, reason));
    }
    let open = |flags| place.open(target, flags | raw::O_NONBLOCK, 0);
    match open(raw::O_RDONLY) {
        // What it has can also be seen by who may only write it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => open(raw::O_WRONLY),
        opened => opened,
    }
    .map_err(renamed)
}
