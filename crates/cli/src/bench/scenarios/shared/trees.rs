//! Trees of source files: which one a scenario takes, and walking and copying it.

use super::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns `--tree`, else the development dependencies of this project's own npm package or the
/// nearest ones.
pub(crate) fn tree(session: &Session) -> Result<PathBuf, Failure> {
    if let Some(named) = &session.options.tree {
        let tree = fs::canonicalize(named).map_err(Failure::at("open tree", named))?;
        if tree.is_dir() {
            return Ok(tree);
        }
        return Err(Failure::at("walk", &tree)("it is not a directory"));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node");
    let here = std::env::current_dir().unwrap_or_default();
    let packages = session.nodes.iter().flat_map(|node| &node.package);
    let mut places: Vec<&Path> = packages.map(|package| &*package.directory).collect();
    places.push(&source);
    places.extend(here.ancestors());
    let mut trees = places.iter().map(|place| place.join("node_modules"));
    let found = trees.find_map(|tree| fs::canonicalize(tree).ok());
    found.ok_or_else(|| {
        Failure::said(
            "build needs a source tree, and no node_modules with files is near: npm install makes \
             one, --tree DIR names one",
        )
    })
}

/// Returns the files whose names are wanted: paths within the tree, with `/`, in order. Links are
/// not followed; names that are not Unicode, or have two lines, are passed over.
pub(crate) fn walk(tree: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    walk_to(tree, |name, kind| kind.is_file() && is_wanted(name))
}

/// Returns the symbolic links in the same way.
#[cfg(unix)]
pub(crate) fn links(tree: &Path) -> io::Result<Vec<String>> {
    walk_to(tree, |_, kind| kind.is_symlink())
}

fn walk_to(tree: &Path, is_wanted: impl Fn(&str, fs::FileType) -> bool) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        let path = tree.join(&directory);
        let at = |error: io::Error| {
            io::Error::new(error.kind(), format!("{error} in {}", path.display()))
        };
        for entry in fs::read_dir(&path).map_err(at)? {
            let entry = entry.map_err(at)?;
            let (name, kind) = (entry.file_name(), entry.file_type().map_err(at)?);
            let Some(name) = name.to_str().filter(|name| !name.contains('\n')) else {
                continue;
            };
            if kind.is_dir() {
                directories.push(format!("{directory}{name}/"));
            } else if is_wanted(name, kind) {
                files.push(format!("{directory}{name}"));
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

pub(crate) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| extensions.contains(&it))
}

/// Returns true if Node searches this directory for a package.json: not the root, and no further
/// than a directory `node_modules`.
pub(crate) fn is_searched(directory: &Path) -> bool {
    let is_modules = directory.file_name().is_some_and(|it| it == "node_modules");
    directory.parent().is_some() && !is_modules
}

pub(crate) fn copy(session: &Session, from: &Path, to: &Path) -> Result<(), Failure> {
    session.interrupt.check()?;
    make_above(to)?;
    fs::copy(from, to)
        .map(drop)
        .map_err(Failure::at("copy", to))
}

/// Writes a file, and makes the directories above it.
pub(crate) fn put(session: &Session, path: &Path, text: &str) -> Result<(), Failure> {
    session.interrupt.check()?;
    make_above(path)?;
    fs::write(path, text).map_err(Failure::at("write", path))
}

/// Makes the directories above a file.
pub(crate) fn make_above(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(Failure::at("make directory", directory))
}

/// The contents of a tree, to compare it with another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) bytes: usize,
    /// The hash of names and contents, if they were read.
    hash: Option<u64>,
}

impl Held {
    /// Looks at these files in the tree; if `careful`, at their contents.
    pub(crate) fn by(tree: &Path, files: &[String], careful: bool) -> io::Result<Self> {
        let (mut bytes, mut hasher) = (0, DefaultHasher::new());
        for file in files {
            let path = tree.join(file);
            bytes += fs::metadata(&path)?.len() as usize;
            if careful {
                file.hash(&mut hasher);
                fs::read(&path)?.hash(&mut hasher);
            }
        }
        let hash = careful.then(|| hasher.finish());
        Ok(Self { bytes, hash })
    }

    /// Returns true if the other holds the same, as far as both were looked at.
    pub(crate) fn equals(self, other: Self) -> bool {
        let is_known = self.hash.is_some() && other.hash.is_some();
        self.bytes == other.bytes && (!is_known || self.hash == other.hash)
    }
}
