//! Patterns of entries that are left out of a tree.

use std::fmt;
use std::io;
use std::path::{Path, is_separator};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of entries that are left out of a tree, as those of `--exclude`.
///
/// A pattern without a slash matches names at any depth, another one the whole path below the
/// source. `*` and `?` stand for anything but a slash, and `**` as a whole name for any number of
/// directories. A slash at the end of a pattern has no meaning.
///
/// ```
/// use smallfry::tree::Exclude;
/// use std::path::Path;
///
/// let exclude = Exclude::new(["*.map", "/dist"])?;
/// assert!(exclude.has(Path::new("src/app.js.map")) && exclude.has(Path::new("dist")));
/// assert!(!exclude.has(Path::new("src/dist")));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Exclude(GlobSet);

impl Exclude {
    /// Compiles the patterns. Without any, no entry is left out.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] for a pattern that is not valid. The text names it.
    pub fn new(patterns: impl IntoIterator<Item: AsRef<str>>) -> io::Result<Self> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let whole = pattern.trim_end_matches(is_separator);
            let path = match whole.strip_prefix(is_separator) {
                Some(path) => path.to_owned(),
                None if whole.contains(is_separator) => whole.to_owned(),
                None => format!("**/{whole}"),
            };
            let glob = GlobBuilder::new(&path).literal_separator(true).build();
            set.add(glob.map_err(|error| refused(format!("{pattern}: {}", error.kind())))?);
        }
        let set = set.build().map_err(|error| refused(error.to_string()))?;
        Ok(Self(set))
    }

    /// Returns true if there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the entry at a path below the source is left out.
    pub fn has(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

impl fmt::Debug for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exclude").field(&self.0.len()).finish()
    }
}

#[cold]
fn refused(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn has_matches_names_at_any_depth_and_whole_paths() {
        let has = |patterns: &[&str], path: &str| {
            let exclude = Exclude::new(patterns).unwrap();
            exclude.has(Path::new(path))
        };
        assert!(has(&["*.map"], "a/b.map") && has(&["*.map"], "b.map"));
        assert!(has(&[".cache/"], "a/.cache") && !has(&[".cache"], "a/.cached"));
        assert!(has(&["a/*.js"], "a/b.js") && !has(&["a/*.js"], "c/a/b.js"));
        assert!(has(&["/dist"], "dist") && !has(&["/dist"], "a/dist"));
        assert!(!has(&[], "a") && Exclude::new([""; 0]).unwrap().is_empty());
        assert!(Exclude::new(["["]).is_err());
    }
}
