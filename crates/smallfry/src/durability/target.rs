//! The file that is to be replaced.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::is_a_directory;
use crate::bulk::place::{Found, Place};
use crate::error::{Error, Operation};
use crate::fs::invalid_input;
use crate::raw::{self, OwnedFile};
use crate::sys::{self, Attributes};

/// Links that are followed, as the system has it.
const MAX_LINKS: usize = 40;

/// Times that a file is looked for that was there a moment before.
const MAX_LOOKS: usize = 3;

/// Where a temporary file is to go.
pub(super) struct Target {
    /// The path without symbolic links at its end.
    pub(super) path: PathBuf,
    /// The file that is there.
    pub(super) old: Option<Old>,
}

/// A file that is to be replaced.
pub(super) struct Old {
    pub(super) attributes: Attributes,
    /// Open, if it is read.
    pub(super) file: Option<OwnedFile>,
}

impl Target {
    /// Follows symbolic links from `path`. What is there must be readable if it `is_read`. Links that lead nowhere, directories,
    /// pipes and devices are refused.
    pub(super) fn find(place: &Place, path: &Path, is_read: bool) -> Result<Self, Error> {
        let is_directory = path.file_name().is_none()
            || path.as_os_str().as_encoded_bytes().ends_with(b"/")
            || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
        if is_directory {
            return Err(is_a_directory(path));
        }
        // Who replaces it meanwhile may have taken it away between two looks.
        for _ in 1..MAX_LOOKS {
            match Self::look(place, path, is_read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                found => return found,
            }
        }
        Self::look(place, path, is_read)
    }

    fn look(place: &Place, path: &Path, is_read: bool) -> Result<Self, Error> {
        let mut links = 0;
        let found = follow(place, path, &mut links);
        let (target, found) = found.map_err(|error| {
            let operation = if links == 0 {
                Operation::Open
            } else {
                Operation::Readlink
            };
            Error::at(operation, path, error)
        })?;
        let Some(found) = found else {
            if links > 0 {
                let nowhere = io::Error::from(sys::NOTHING_THERE);
                return Err(Error::at(Operation::Readlink, path, nowhere));
            }
            return Ok(Self {
                path: target,
                old: None,
            });
        };
        if found.is_dir() {
            return Err(is_a_directory(path));
        }
        if !found.is_file() {
            let reason = invalid_input("only a regular file can be replaced".into());
            return Err(Error::at(Operation::Open, path, reason));
        }
        let old = Old::find(place, &target, &found, is_read)
            .map_err(|error| Error::at(error.operation(), path, error.into_io_error()))?;
        Ok(Self {
            path: target,
            old: Some(old),
        })
    }
}

impl Old {
    fn find(place: &Place, target: &Path, found: &Metadata, is_read: bool) -> Result<Self, Error> {
        let failed = |(operation, reason)| Error::at(operation, target, reason);
        if !is_read
            && !place.is_beneath()
            && let Some(attributes) = Attributes::at(target, found)
        {
            return Ok(Self {
                attributes: attributes.map_err(failed)?,
                file: None,
            });
        }
        let open = |flags| place.open(target, flags | raw::O_NONBLOCK, 0);
        let file = match open(raw::O_RDONLY) {
            // What it has can also be seen by who may only write it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_read => {
                open(raw::O_WRONLY)
            }
            opened => opened,
        }?;
        Ok(Self {
            attributes: Attributes::of(raw::borrow(&file)).map_err(failed)?,
            file: is_read.then_some(file),
        })
    }
}

/// The path without symbolic links at its end: whose directory has the file's name.
pub(super) fn without_links(place: &Place, path: &Path) -> Result<PathBuf, Error> {
    match follow(place, path, &mut 0) {
        Ok((target, _)) => Ok(target),
        Err(reason) => Err(Error::at(Operation::Readlink, path, reason)),
    }
}

/// Follows symbolic links, which are counted, to a path that is none, and says what is there, if anything.
fn follow(
    place: &Place,
    path: &Path,
    links: &mut usize,
) -> io::Result<(PathBuf, Option<Metadata>)> {
    let mut target = path.to_owned();
    loop {
        match place.look(&target) {
            Ok(Found::Other(found)) => return Ok((target, Some(found))),
            Ok(Found::Link(_)) if *links == MAX_LINKS => return Err(sys::TOO_MANY_LINKS.into()),
            // The system resolves what is before the last name, so `..` in a link needs no care.
            Ok(Found::Link(link)) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((target, None)),
            Err(error) => return Err(error),
        }
        *links += 1;
    }
}
