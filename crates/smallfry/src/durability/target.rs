//! The file that is to be replaced.

use std::io;
use std::path::{Path, PathBuf};

use super::is_a_directory;
use crate::bulk::place::Place;
use crate::error::{Error, Operation};
use crate::fs::invalid_input;
use crate::raw::{self, OwnedFile};
use crate::sys;

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
    /// Follows symbolic links from `path`. What is there must be readable if it `is_read`. Links that lead nowhere, directories, pipes and devices are refused.
    pub(super) fn find(place: &Place, path: &Path, is_read: bool) -> Result<Self, Error> {
        let is_directory = path.file_name().is_none()
            || path.as_os_str().as_encoded_bytes().ends_with(b"/")
            || cfg!(windows) && path.as_os_str().as_encoded_bytes().ends_with(b"\\");
        if is_directory {
            return Err(is_a_directory(path));
        }
        let mut links = 0;
        let found = follow(place, path, &mut links);
        let (target, is_there) = found.map_err(|error| {
            let operation = if links == 0 {
                Operation::Open
            } else {
                Operation::Readlink
            };
            Error::at(operation, path, error)
        })?;
        if is_there {
            let old = open_old(place, &target, path, is_read)?;
            return Ok(Self {
                path: target,
                old: Some(old),
            });
        }
        if links > 0 {
            let nowhere = io::Error::from(sys::NOTHING_THERE);
            return Err(Error::at(Operation::Readlink, path, nowhere));
        }
        Ok(Self {
            path: target,
            old: None,
        })
    }
}

/// The path without symbolic links at its end, where that can be told: whose directory has the file's name.
pub(super) fn without_links(place: &Place, path: PathBuf) -> PathBuf {
    match follow(place, &path, &mut 0) {
        Ok((target, _)) => target,
        Err(_) => path,
    }
}

/// Follows symbolic links, which are counted, to a path that is none, and says whether there is anything.
fn follow(place: &Place, path: &Path, links: &mut usize) -> io::Result<(PathBuf, bool)> {
    let mut target = path.to_owned();
    loop {
        match place.read_link(&target) {
            Ok(None) => return Ok((target, true)),
            Ok(Some(_)) if *links == MOST_LINKS => return Err(sys::TOO_MANY_LINKS.into()),
            // The system resolves what is before the last name, so `..` in a link needs no care.
            Ok(Some(link)) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((target, false)),
            Err(error) => return Err(error),
        }
        *links += 1;
    }
}

/// Opens the file that is there; `path` is what the caller calls it.
fn open_old(place: &Place, target: &Path, path: &Path, is_read: bool) -> Result<OwnedFile, Error> {
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
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_read => {
            open(raw::O_WRONLY)
        }
        opened => opened,
    }
    .map_err(renamed)
}
