//! A whole process: lists the directory, reads every file, keeps nothing. The counterpart of
//! `discard.js`.

use super::super::prelude::*;
use std::io::Read;

/// The work of the process.
#[derive(Serialize, Deserialize)]
pub(super) struct Discard {
    #[serde(flatten)]
    pub(super) way: Way,
    pub(super) directory: String,
    /// Files and bytes that there are: a process that has read less fails.
    pub(super) files: usize,
    pub(super) bytes: usize,
}

/// Reads as it is told; reading less than there is, is an error.
pub(crate) fn run(launch: &str, work: &str) -> io::Result<()> {
    let launch: Launch = serde_json::from_str(launch)?;
    let work: Discard = serde_json::from_str(work)?;
    let paths = fs::read_dir(&work.directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    let bytes = read(launch.functions, &work, &paths)?;
    if (paths.len(), bytes) != (work.files, work.bytes) {
        return Err(io::Error::other(format!(
            "it read {bytes} bytes of {} files instead of {} bytes of {}",
            paths.len(),
            work.bytes,
            work.files
        )));
    }
    Ok(())
}

/// Returns the number of bytes.
fn read(functions: Functions, work: &Discard, paths: &[PathBuf]) -> io::Result<usize> {
    let mut sum = 0;
    match functions {
        Functions::Std => {
            // Discarded contents need no memory of their own.
            let mut buffer = Vec::new();
            for path in paths {
                buffer.clear();
                sum += File::open(path)?.read_to_end(&mut buffer)?;
            }
        }
        Functions::Smallfry if work.way.style.is_bulk() => {
            bulk::read(paths, work.way.threads, |bytes| {
                sum += bytes.len();
                Ok(())
            })?;
        }
        Functions::Smallfry => {
            let mut buffer = Vec::new();
            for path in paths {
                buffer.clear();
                smallfry::fs::read_into(path, &mut buffer)?;
                sum += buffer.len();
            }
        }
        Functions::Raw => {
            let threads = work.way.threads.count();
            let lengths = share::share(threads, paths.len(), Vec::new, |buffer, index| {
                Ok(Prepared::new(&paths[index])?.read(buffer)?.len())
            })?;
            sum = lengths.into_iter().sum();
        }
        #[cfg(feature = "peers")]
        Functions::Rayon => {
            let lengths = peers::rayon(paths, |_, path| Ok(fs::read(path)?.len()))?;
            sum = lengths.into_iter().sum();
        }
        #[cfg(feature = "peers")]
        Functions::Tokio => {
            let read = |_, path| async { Ok(tokio::fs::read(path).await?.len()) };
            sum = peers::tokio(paths, read)?.into_iter().sum();
        }
        _ => {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    Ok(sum)
}
