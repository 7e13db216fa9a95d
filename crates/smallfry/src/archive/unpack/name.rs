//! The names of entries, which may lead anywhere.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::path::check_names;
use crate::sys;

/// The maximum length of a path in bytes, as on Linux.
///
/// [path_resolution(7)](https://man7.org/linux/man-pages/man7/path_resolution.7.html)
const MAX_PATH: usize = 4096;

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

/// Returns the path of an entry below the destination, without its first `stripped` names; empty
/// for the destination itself. `None` if it has no more names than these.
pub(super) fn below(path: &Path, stripped: usize) -> io::Result<Option<PathBuf>> {
    if path.as_os_str().len() >= MAX_PATH {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let mut below = PathBuf::new();
    let mut names = 0;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => return Err(refused("the name of the entry has `..` in it")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(refused("the name of the entry is absolute"));
            }
            Component::Normal(name) => {
                names += 1;
                if names > stripped {
                    below.push(name);
                }
            }
        }
    }
    if stripped > 0 && names <= stripped {
        return Ok(None);
    }
    check_names(path)?;
    Ok(Some(below))
}

/// Takes the bytes of the target of a link for a path, which need not exist.
pub(super) fn target(bytes: &[u8]) -> io::Result<&Path> {
    let target = sys::path_from(bytes)?;
    check_names(target)?;
    Ok(target)
}

/// Returns true if the names of the link at `path` and of its target lead out of the destination.
pub(super) fn leads_out(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::RootDir | Component::Prefix(_) => return true,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
        }
    }
    false
}

/// Returns the paths below the destination from which the target of the link at `path` goes up, if
/// that is after a name. Where one of them is a link, `..` leads elsewhere than the names tell.
pub(super) fn turns(path: &Path, target: &Path) -> Vec<PathBuf> {
    let mut here = path.parent().unwrap_or(path).to_owned();
    let mut is_after_name = false;
    let mut turns = Vec::new();
    for component in target.components() {
        match component {
            Component::Normal(name) => {
                is_after_name = true;
                here.push(name);
            }
            Component::ParentDir => {
                if is_after_name {
                    turns.push(here.clone());
                }
                here.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    turns
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn below_strips_names_and_refuses_those_that_lead_out() {
        let of = |path: &str, stripped| below(Path::new(path), stripped).unwrap();
        assert_eq!(of("./a//b/./c", 0).unwrap(), Path::new("a/b/c"));
        assert_eq!(of("a/b/c", 2).unwrap(), Path::new("c"));
        assert_eq!(of("a/b", 2), None);
        assert_eq!(of(".", 0).unwrap(), Path::new(""));
        for path in ["/etc/passwd", "..", "a/../../b", "a/..", "//x"] {
            let error = below(Path::new(path), 0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{path}");
        }
    }

    #[test]
    fn leads_out_counts_names() {
        let leads_out = |path: &str, target: &str| leads_out(Path::new(path), Path::new(target));
        for (path, target) in [
            ("a/b", "../c"),
            ("a", "b/../c"),
            ("a/b/c", "../../d"),
            ("a", ""),
        ] {
            assert!(!leads_out(path, target), "{path} -> {target}");
        }
        for (path, target) in [
            ("a", "../a"),
            ("a/b", "../../c"),
            ("a", "/a"),
            ("a/b", "c/../../../a/b"),
        ] {
            assert!(leads_out(path, target), "{path} -> {target}");
        }
    }

    #[test]
    fn turns_are_ways_up_after_a_name() {
        let turns = |path: &str, target: &str| turns(Path::new(path), Path::new(target));
        assert_eq!(turns("a/b", "../c/d"), [""; 0].map(PathBuf::from));
        assert_eq!(turns("a", "b/./../c"), ["b"].map(PathBuf::from));
        assert_eq!(
            turns("a/b", "c/d/../../e"),
            ["a/c/d", "a/c"].map(PathBuf::from)
        );
    }
}
