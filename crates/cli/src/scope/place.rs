//! The place that a path leads to.

use std::collections::HashMap;
use std::fs::{canonicalize, metadata, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf, absolute, is_separator};

/// The maximum length of a path whose links are followed. Longer paths exist only on Windows.
const MAX_LENGTH: usize = 4096;

/// The file that a path leads to.
#[derive(Debug)]
pub(super) struct Place {
    /// From the root, without dots and links.
    pub(super) path: PathBuf,
    /// The kind of link, if `path` differs from the given path.
    pub(super) link: Option<Link>,
    /// True if it is a directory or, if it is missing, is written as one.
    pub(super) is_directory: bool,
    pub(super) seen: Seen,
}

/// Where a symbolic link was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Itself,
    Above,
}

/// The file that exists at the path.
#[derive(Debug)]
pub(super) enum Seen {
    Something,
    /// A link that cannot be followed, with the error.
    Dangling(io::Error),
    Missing,
    /// Unknown, because it cannot be inspected.
    Hidden(io::Error),
}

/// Follows links, once for all files of a directory.
#[derive(Default)]
pub(super) struct Resolver {
    /// The real path of each directory.
    directories: HashMap<PathBuf, PathBuf>,
}

impl Resolver {
    /// Resolves a path. Like Node, it makes the path absolute before it follows links, so `..`
    /// removes the name before it, even that of a link.
    pub(super) fn place(&mut self, path: &Path) -> io::Result<Place> {
        let named = plain(&absolute(path)?);
        let ends_as_directory = path
            .as_os_str()
            .as_encoded_bytes()
            .last()
            .is_some_and(|byte| is_separator((*byte).into()));
        let (Some(above), Some(name)) = (named.parent(), named.file_name()) else {
            return Ok(Place {
                path: named,
                link: None,
                is_directory: true,
                seen: Seen::Something,
            });
        };
        if named.as_os_str().len() > MAX_LENGTH {
            return Ok(Place {
                path: named,
                link: None,
                is_directory: ends_as_directory,
                seen: Seen::Missing,
            });
        }
        let mut path = self.directory(above).join(name);
        let mut is_link = false;
        let (is_directory, seen) = match symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => match real(&path) {
                Ok(real) => {
                    path = real;
                    is_link = true;
                    let found = metadata(&path);
                    (found.is_ok_and(|found| found.is_dir()), Seen::Something)
                }
                Err(error) => (ends_as_directory, Seen::Dangling(error)),
            },
            Ok(found) => (found.is_dir(), Seen::Something),
            Err(error) => {
                let seen = match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Seen::Missing,
                    _ => Seen::Hidden(error),
                };
                (ends_as_directory, seen)
            }
        };
        let link = if is_link {
            Some(Link::Itself)
        } else if path == named {
            None
        } else {
            Some(Link::Above)
        };
        Ok(Place {
            path,
            link,
            is_directory,
            seen,
        })
    }

    /// The real path of a directory, as far as it exists.
    fn directory(&mut self, named: &Path) -> PathBuf {
        let mut new: Vec<&Path> = Vec::new();
        let mut known = None;
        for above in named.ancestors() {
            known = self.directories.get(above).cloned();
            if known.is_some() {
                break;
            }
            new.push(above);
        }
        let mut path = known.unwrap_or_default();
        for named in new.into_iter().rev() {
            match named.file_name() {
                Some(name) => path.push(name),
                None => named.clone_into(&mut path),
            }
            if symlink_metadata(&path).is_ok_and(|found| found.is_symlink())
                && let Ok(real) = real(&path)
            {
                path = real;
            }
            self.directories.insert(named.to_owned(), path.clone());
        }
        path
    }
}

/// Removes `.`, `..` and a separator at the end.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            _ => plain.push(component),
        }
    }
    plain
}

/// Resolves links. On Windows it removes the prefix `\\?\`, which people do not write.
fn real(path: &Path) -> io::Result<PathBuf> {
    let real = canonicalize(path)?;
    let plain = real
        .to_str()
        .and_then(|text| text.strip_prefix(r"\\?\"))
        .map(|rest| match rest.strip_prefix(r"UNC\") {
            Some(share) => PathBuf::from(format!(r"\\{share}")),
            None => PathBuf::from(rest),
        });
    Ok(plain.unwrap_or(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_removed_from_paths() {
        for (path, expected) in [
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/..", "/"),
            ("/", "/"),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
