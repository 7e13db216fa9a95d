//! Libraries that Rust programs use for many files, as their documentation shows it.

use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Are they in this build?
pub(crate) const BUILT: bool = true;

/// On rayon's global pool, which the first call makes.
pub(super) fn rayon<T: Send>(
    paths: &[PathBuf],
    work: impl Fn(usize, &Path) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    paths
        .par_iter()
        .enumerate()
        .map(|(index, path)| work(index, path))
        .collect()
}

/// A task for each file on a new multi-threaded runtime. Results in order.
pub(super) fn tokio<T: Send + Default + 'static, F>(
    paths: &[PathBuf],
    work: impl Fn(usize, PathBuf) -> F,
) -> io::Result<Vec<T>>
where
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    Runtime::new()?.block_on(async {
        let mut tasks = JoinSet::new();
        for (index, path) in paths.iter().enumerate() {
            let work = work(index, path.clone());
            tasks.spawn(async move { Ok::<_, io::Error>((index, work.await?)) });
        }
        let mut all: Vec<T> = paths.iter().map(|_| T::default()).collect();
        while let Some(done) = tasks.join_next().await {
            let (index, result) = done??;
            all[index] = result;
        }
        Ok(all)
    })
}

/// `tokio::fs::read`.
pub(super) async fn tokio_read(path: PathBuf) -> io::Result<Vec<u8>> {
    tokio::fs::read(path).await
}

/// `tokio::fs::read_to_string`.
pub(super) async fn tokio_read_to_string(path: PathBuf) -> io::Result<String> {
    tokio::fs::read_to_string(path).await
}

/// `tokio::fs::write`.
pub(super) async fn tokio_write(path: PathBuf, bytes: Vec<u8>) -> io::Result<()> {
    tokio::fs::write(path, bytes).await
}
