//! A whole process: lists the directory, reads every file, keeps nothing. The counterpart of
//! `discard.js`.

use super::super::prelude::*;
use super::case::check;
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
    check((paths.len(), bytes), (work.files, work.bytes)).map_err(io::Error::other)
}

/// Returns the number of bytes.
fn read(functions: Functions, work: &Discard, paths: &[PathBuf]) -> io::Result<usize> {
    let threads = work.way.threads;
    let lengths = match functions {
        Functions::Std => {
            return one_by_one(paths, |path, buffer| File::open(path)?.read_to_end(buffer));
        }
        Functions::Smallfry if work.way.style.is_bulk() => {
            let mut sum = 0;
            bulk::read(paths, threads, |bytes| {
                sum += bytes.len();
                Ok(())
            })?;
            return Ok(sum);
        }
        Functions::Smallfry => {
            return one_by_one(paths, |path, buffer| {
                Ok(smallfry::fs::read_into(path, buffer)?)
            });
        }
        Functions::Raw => share::share(threads.count(), paths.len(), Vec::new, |buffer, index| {
            Ok(Prepared::new(&paths[index])?.read(buffer)?.len())
        }),
        #[cfg(feature = "peers")]
        Functions::Rayon => peers::rayon(paths, |_, path| Ok(fs::read(path)?.len())),
        #[cfg(feature = "peers")]
        Functions::Tokio => peers::tokio(paths, |_, path| async {
            Ok(tokio::fs::read(path).await?.len())
        }),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    Ok(lengths?.into_iter().sum())
}

/// Reads each file into the same buffer: discarded contents need no memory of their own.
fn one_by_one(
    paths: &[PathBuf],
    read: impl Fn(&Path, &mut Vec<u8>) -> io::Result<usize>,
) -> io::Result<usize> {
    let (mut sum, mut buffer) = (0, Vec::new());
    for path in paths {
        buffer.clear();
        sum += read(path, &mut buffer)?;
    }
    Ok(sum)
}
