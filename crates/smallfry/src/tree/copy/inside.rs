//! The check that a tree is not copied into itself.

use std::io;
use std::path::Path;

use crate::sys::{Identity, OpenDirectory};

/// Returns true if `path`, or the part of it that exists, is the directory or in it.
pub(in crate::tree) fn is_inside(path: &Path, directory: Identity) -> io::Result<bool> {
    let mut open = None;
    for part in path.ancestors() {
        let part = if part.as_os_str().is_empty() {
            Path::new(".")
        } else {
            part
        };
        match OpenDirectory::open(part) {
            Ok(found) => {
                open = Some(found);
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(error),
        }
    }
    let Some(mut open) = open else {
        return Ok(false);
    };
    let mut identity = open.status()?.identity;
    loop {
        if identity == directory {
            return Ok(true);
        }
        let above = open.open_parent()?;
        let next = above.status()?.identity;
        if next == identity {
            return Ok(false);
        }
        (open, identity) = (above, next);
    }
}
