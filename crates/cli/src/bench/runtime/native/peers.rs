//! Libraries that Rust programs use for many files, as their documentation shows it.

use oxc_resolver::{
    FileMetadata, FileSystem, FileSystemOs, ModuleType, ResolveError, ResolveOptions,
    ResolverGeneric,
};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Runs on rayon's global pool, which the first call makes.
pub(crate) fn rayon<T: Send>(
    paths: &[PathBuf],
    work: impl Fn(usize, &Path) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| work(index, path))
        .collect()
}

/// Runs a task per file on a new multi-threaded runtime, and returns results in order.
pub(crate) fn tokio<T: Send + 'static, F>(
    paths: &[PathBuf],
    work: impl Fn(usize, PathBuf) -> F,
) -> io::Result<Vec<T>>
where
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    Runtime::new()?.block_on(async {
        let tasks = paths.iter().enumerate();
        let tasks = tasks.map(|(index, path)| tokio::spawn(work(index, path.clone())));
        let mut all = Vec::with_capacity(paths.len());
        for task in tasks.collect::<Vec<_>>() {
            all.push(task.await??);
        }
        Ok(all)
    })
}

/// The crate `oxc_resolver`.
///
/// It has no look-up of a package.json alone; the nearest is `resolve(directory, "./file.js")` with
/// the option `module_type`. That finds the file that decides as Node's `LOOKUP_PACKAGE_SCOPE`,
/// reads it by simd-json and remembers it with its directory, for ever. It also looks whether the
/// file is there, and for packages in `node_modules` at each directory up to the package's own.
/// Links are not resolved.
pub(crate) struct Oxc(ResolverGeneric<Disk>);

impl Oxc {
    /// Makes a resolver that remembers nothing. Given `files`, it takes them for files and all else
    /// for directories, and asks no disk.
    pub(crate) fn new(files: Option<&[&Path]>) -> Self {
        let own = |files: &[&Path]| files.iter().map(|path| path.to_path_buf()).collect();
        let disk = Disk {
            files: files.map(own),
            disk: FileSystem::new(),
        };
        let options = ResolveOptions {
            module_type: true,
            symlinks: false,
            ..ResolveOptions::default()
        };
        Self(ResolverGeneric::new_with_file_system(disk, options))
    }

    pub(crate) fn is_module(&self, path: &Path) -> io::Result<bool> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let name = format!("./{}", name.to_string_lossy());
        let resolved = self.0.resolve(directory, &name).map_err(io::Error::other)?;
        Ok(resolved.module_type() == Some(ModuleType::Module))
    }
}

struct Disk {
    files: Option<HashSet<PathBuf>>,
    disk: FileSystemOs,
}

impl Disk {
    fn known(&self, path: &Path) -> Option<FileMetadata> {
        let is_file = self.files.as_ref()?.contains(path);
        Some(FileMetadata::new(is_file, !is_file, false))
    }
}

impl FileSystem for Disk {
    fn new() -> Self {
        Self {
            files: None,
            disk: FileSystem::new(),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        FileSystem::read_to_string(&self.disk, path)
    }

    fn metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let known = self.known(path);
        known.map_or_else(|| self.disk.metadata(path), Ok)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let known = self.known(path);
        known.map_or_else(|| self.disk.symlink_metadata(path), Ok)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, ResolveError> {
        FileSystem::read_link(&self.disk, path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.disk.canonicalize(path)
    }
}
