//! The temporary file of a replacement.

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Operation};
use crate::path::Base;
use crate::raw::{self, OwnedFile};

/// The end of a temporary file's name.
const SUFFIX: &str = ".smallfry";
/// The number of hexadecimal digits before it.
const DIGITS: usize = 16;
/// The maximum number of bytes of the target's name. A name may have 255 in all.
const MAX_OF_NAME: usize = 200;
/// The maximum number of names that are tried. A name is almost never taken.
const MAX_TRIES: usize = 8;

/// A file that is removed when this is dropped, unless it was renamed to its target.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    base: Base,
    path: PathBuf,
    is_left: bool,
}

impl TemporaryFile {
    /// Creates a new file beside `target`. The error of `open` names the temporary file; the caller
    /// replaces that path.
    pub(super) fn create(
        base: &Base,
        target: &Path,
        mode: u32,
    ) -> Result<(Self, OwnedFile), Error> {
        Self::create_as(base, || target.with_file_name(new_name(target)), mode)
    }

    /// Creates a new file at the first of these paths at which nothing is.
    fn create_as(
        base: &Base,
        mut path: impl FnMut() -> PathBuf,
        mode: u32,
    ) -> Result<(Self, OwnedFile), Error> {
        let flags = raw::O_WRONLY | raw::O_CREAT | raw::O_EXCL;
        let mut tries = 1;
        loop {
            let path = path();
            match base.open(&path, flags, mode) {
                Ok(file) => {
                    let temporary = Self {
                        base: base.clone(),
                        path,
                        is_left: true,
                    };
                    return Ok((temporary, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames it to `target`. Its file must be closed.
    pub(super) fn rename(&mut self, target: &Path, flush: bool) -> Result<(), Error> {
        self.base
            .rename(&self.path, target, flush)
            .map_err(|reason| Error::between(Operation::Rename, &self.path, target, reason))?;
        self.is_left = false;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if self.is_left {
            // The caller has an error to report already.
            drop(self.base.remove(&self.path));
        }
    }
}

/// Returns a new name for the temporary file of `target`.
pub(crate) fn new_name(target: &Path) -> String {
    thread_local! {
        // One for each thread, since a fork could leave a shared one locked in the child.
        static SEED: RandomState = RandomState::new();
    }
    static COUNT: AtomicU64 = AtomicU64::new(0);

    // The process counts too, since the child of a `fork` has the same seed and count.
    let seeded = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let number = SEED.with(|seed| seed.hash_one(seeded));
    format!("{}.{number:0DIGITS$x}{SUFFIX}", start_of(target))
}

/// Returns the start of the names of the temporary files of `target`.
fn start_of(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(MAX_OF_NAME)).rfind(|&end| name.is_char_boundary(end));
    format!(".{}", &name[..end.unwrap_or(0)])
}

/// Returns the start of the name of a temporary file. `None` for another file.
fn start_in(name: &str) -> Option<&str> {
    let (start, digits) = name.strip_suffix(SUFFIX)?.rsplit_once('.')?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    let is_number = digits.len() == DIGITS && digits.bytes().all(is_digit);
    (is_number && start.starts_with('.')).then_some(start)
}

fn is_temporary(name: &OsStr) -> bool {
    start_in(&name.to_string_lossy()).is_some()
}

/// Returns true if a file of this name beside `target` is one of its temporary files.
#[cfg(feature = "archive")]
pub(crate) fn is_temporary_of(name: &OsStr, target: &Path) -> bool {
    start_in(&name.to_string_lossy()) == Some(&start_of(target))
}

/// Does the work of [`remove_temporary_files`](super::remove_temporary_files).
pub(super) fn remove_all(directory: &Path, unused: Duration) -> Result<Vec<PathBuf>, Error> {
    let list = |reason| Error::at(Operation::Readdir, directory, reason);
    let mut removed = Vec::new();
    for entry in fs::read_dir(directory).map_err(list)? {
        let entry = entry.map_err(list)?;
        if !is_temporary(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let status = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            status => status.map_err(|reason| Error::at(Operation::Stat, &path, reason))?,
        };
        // The age of a file from the future counts as zero.
        let age = |at: SystemTime| at.elapsed().unwrap_or_default();
        if !status.is_file() || !status.modified().is_ok_and(|at| age(at) >= unused) {
            continue;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => {
                done.map_err(|reason| Error::at(Operation::Unlink, &path, reason))?;
                removed.push(path);
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_link_that_others_have_planted_is_never_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("planted"), "kept").unwrap();
        let mut names = vec!["new", "planted"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("outside"), path("link")).unwrap();
            names.push("link");
        }
        let name = || path(names.pop().unwrap());
        let (temporary, _file) = TemporaryFile::create_as(&Base::default(), name, 0o600).unwrap();
        assert_eq!(temporary.path(), path("new"));
        assert_eq!(fs::read(path("planted")).unwrap(), b"kept");
        assert!(!path("outside").exists());
    }

    #[test]
    fn is_temporary_accepts_names_that_new_name_makes_and_no_others() {
        for target in ["a", "dir/app.js", ".hidden", &"ü".repeat(120), "a.smallfry"] {
            let (one, other) = (new_name(Path::new(target)), new_name(Path::new(target)));
            assert_ne!(one, other);
            assert!(one.len() <= 255);
            assert!(is_temporary(OsStr::new(&one)), "{one}");
            assert_eq!(start_in(&one), Some(&*start_of(Path::new(target))));
        }
        for name in [
            "",
            ".smallfry",
            "a.smallfry",
            ".a.smallfry",
            ".a.0123456789abcde.smallfry",
            "a.0123456789abcdef.smallfry",
            ".a.0123456789abcdeF.smallfry",
            ".a.0123456789abcdef.smallfry~",
        ] {
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }
}
