//! Trees of source files: which one a scenario takes, and walking and copying it.

use crate::bench::failure::Failure;
use crate::bench::session::Session;
use std::fs;
use std::hash::{DefaultHasher, Hash};
use std::io;
use std::path::{Path, PathBuf};

/// Returns `--tree`, else the development dependencies of this project's own npm package or the
/// nearest ones.
pub(crate) fn tree(session: &Session) -> Result<PathBuf, Failure> {
    if let Some(named) = &session.options.tree {
        let tree = fs::canonicalize(named).map_err(Failure::at("open tree", named))?;
        if tree.is_dir() {
            return Ok(tree);
        }
        let tree = tree.display();
        return Err(Failure::said(format!(
            "cannot walk {tree}: it is not a directory"
        )));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node");
    let packages = session
        .nodes
        .iter()
        .filter_map(|node| node.package.as_ref());
    let own = packages.map(|package| package.directory.clone());
    let here = std::env::current_dir().unwrap_or_default();
    let near = here.ancestors().map(Path::to_owned);
    let found = own.chain([source]).chain(near).find_map(|directory| {
        let tree = directory.join("node_modules");
        fs::canonicalize(tree).ok()
    });
    found.ok_or_else(|| {
        Failure::said(
            "build needs a source tree, and no node_modules with files is near: npm install makes \
             one, --tree DIR names one",
        )
    })
}

/// Returns the files with these extensions: paths within the tree, with `/`, in order. Links are
/// not followed; names that are not Unicode, or have two lines, are passed over.
pub(crate) fn walk(
    session: &Session,
    tree: &Path,
    extensions: &[&str],
) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        session.interrupt.check()?;
        let path = tree.join(&directory);
        for entry in fs::read_dir(&path).map_err(Failure::at("read directory", &path))? {
            let entry = entry.map_err(Failure::at("read directory", &path))?;
            let kind = entry.file_type().map_err(Failure::at("look at", &path))?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.contains('\n')) else {
                continue;
            };
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            if kind.is_dir() {
                directories.push(format!("{directory}{name}/"));
            } else if kind.is_file() && extension.is_some_and(|it| extensions.contains(&it)) {
                files.push(format!("{directory}{name}"));
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

pub(crate) fn copy(session: &Session, from: &Path, to: &Path) -> Result<(), Failure> {
    session.interrupt.check()?;
    make_above(to)?;
    fs::copy(from, to)
        .map(drop)
        .map_err(Failure::at("copy", to))
}

/// Makes the directories above a file.
pub(crate) fn make_above(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(Failure::at("make directory", directory))
}

/// Returns every file below the directory, in order.
pub(crate) fn files_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort_unstable();
        for path in paths {
            let is_directory = path.is_dir();
            let all = if is_directory {
                &mut directories
            } else {
                &mut files
            };
            all.push(path);
        }
    }
    Ok(files)
}

/// Continues a hash with the names and contents of these files below `root`.
pub(crate) fn hash(root: &Path, files: &[PathBuf], hasher: &mut DefaultHasher) -> io::Result<()> {
    for path in files {
        path.strip_prefix(root).unwrap_or(path).hash(hasher);
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}
