//! The patterns of `--exclude`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Path, is_separator};

/// The patterns of entries that are left out.
pub(super) struct Exclude(GlobSet);

impl Exclude {
    /// Compiles the patterns. One without a slash matches names at any depth, another one the whole
    /// path below the source. `None` if there are none.
    pub(super) fn new(patterns: &[String]) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let whole = pattern.trim_end_matches(is_separator);
            let path = match whole.strip_prefix(is_separator) {
                Some(path) => path.to_owned(),
                None if whole.contains(is_separator) => whole.to_owned(),
                None => format!("**/{whole}"),
            };
            let glob = GlobBuilder::new(&path).literal_separator(true).build();
            set.add(glob.map_err(|error| format!("--exclude {pattern}: {}", error.kind()))?);
        }
        let set = set.build().map_err(|error| error.to_string())?;
        Ok(Some(Self(set)))
    }

    /// Tells whether the entry at a path below the source is left out.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_matches_names_at_any_depth_and_whole_paths() {
        let exclude = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            Exclude::new(&patterns).ok().flatten()
        };
        let has = |patterns: &[&str], path: &str| {
            exclude(patterns).is_some_and(|exclude| exclude.has(Path::new(path)))
        };
        assert!(has(&["*.map"], "a/b.map") && has(&["*.map"], "b.map"));
        assert!(has(&[".cache/"], "a/.cache") && !has(&[".cache"], "a/.cached"));
        assert!(has(&["a/*.js"], "a/b.js") && !has(&["a/*.js"], "c/a/b.js"));
        assert!(has(&["/dist"], "dist") && !has(&["/dist"], "a/dist"));
        assert!(exclude(&[]).is_none());
        assert!(Exclude::new(&["[".to_owned()]).is_err());
    }
}
