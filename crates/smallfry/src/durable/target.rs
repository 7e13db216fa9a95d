//! The file that is to be replaced.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Operation};
use crate::path::{Base, Found};
use crate::raw::{self, OwnedFile};
use crate::sys::{self, Attributes, PathStatus};

/// The maximum number of links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// The maximum number of attempts to find a file that was there a moment before.
const MAX_TRIES: usize = 3;

/// The place of a file that is to be replaced.
pub(super) struct Target {
    /// The path without symbolic links at its end.
    pub(super) path: PathBuf,
    /// The file that exists there.
    pub(super) old: Option<Old>,
}

/// An existing file that is to be replaced.
pub(super) struct Old {
    pub(super) attributes: Attributes,
    /// The open file, if its contents are needed.
    pub(super) file: Option<OwnedFile>,
}

impl Target {
    /// Follows symbolic links from `path`. The file there must be readable if it `is_read`.
    ///
    /// Dangling links, directories, pipes and devices are refused.
    pub(super) fn find(base: &Base, path: &Path, is_read: bool) -> Result<Self, Error> {
        let is_directory = path.file_name().is_none()
            || path.as_os_str().as_encoded_bytes().ends_with(b"/")
            || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
        if is_directory {
            return Err(is_a_directory(path));
        }
        // Another program may remove it between two calls, to replace it.
        for _ in 1..MAX_TRIES {
            match Self::look(base, path, is_read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                found => return found,
            }
        }
        Self::look(base, path, is_read)
    }

    fn look(base: &Base, path: &Path, is_read: bool) -> Result<Self, Error> {
        let mut links = 0;
        let found = follow(base, path, &mut links);
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
            let reason = "only a regular file can be replaced";
            let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
            return Err(Error::at(Operation::Open, path, reason));
        }
        let old = Old::find(base, &target, &found, is_read)
            .map_err(|error| Error::at(error.operation(), path, error.into_io_error()))?;
        Ok(Self {
            path: target,
            old: Some(old),
        })
    }
}

impl Old {
    fn find(base: &Base, target: &Path, found: &PathStatus, is_read: bool) -> Result<Self, Error> {
        let failed = |(operation, reason)| Error::at(operation, target, reason);
        if !is_read
            && !base.is_beneath()
            && let Some(attributes) = Attributes::at(target, found)
        {
            return Ok(Self {
                attributes: attributes.map_err(failed)?,
                file: None,
            });
        }
        let open = |flags| base.open(target, flags | raw::O_NONBLOCK, 0);
        let file = match open(raw::O_RDONLY) {
            // Its attributes can be read through a descriptor for writing, too.
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

/// Returns the path without symbolic links at its end. Its directory holds the file's name.
pub(crate) fn without_links(base: &Base, path: &Path) -> Result<PathBuf, Error> {
    match follow(base, path, &mut 0) {
        Ok((target, _)) => Ok(target),
        Err(reason) => Err(Error::at(Operation::Readlink, path, reason)),
    }
}

/// Follows symbolic links, and counts them. Returns the last path, and the file there if there is
/// one.
fn follow(
    base: &Base,
    path: &Path,
    links: &mut usize,
) -> io::Result<(PathBuf, Option<PathStatus>)> {
    let mut target = path.to_owned();
    loop {
        match base.look(&target) {
            Ok(Found::Other(found)) => return Ok((target, Some(found))),
            Ok(Found::Link(_)) if *links == MAX_LINKS => return Err(sys::TOO_MANY_LINKS.into()),
            // The system resolves the directories, so `..` in a link needs no care.
            Ok(Found::Link(link)) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((target, None)),
            Err(error) => return Err(error),
        }
        *links += 1;
    }
}

/// Returns the error of a directory that should be replaced by a file.
fn is_a_directory(path: &Path) -> Error {
    let reason = io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
    Error::at(Operation::Open, path, reason)
}
