//! Windows: renaming a file, even if another program has its target open.

use std::fs;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CANT_RESOLVE_FILENAME, ERROR_FILE_NOT_FOUND, ERROR_LOCK_VIOLATION,
    ERROR_SHARING_VIOLATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW,
};

use crate::errno::Errno;

/// The error for a path through more symbolic links than the system follows.
pub(crate) const TOO_MANY_LINKS: Errno = Errno(ERROR_CANT_RESOLVE_FILENAME.cast_signed());
/// The error for a name that does not exist.
pub(crate) const NOTHING_THERE: Errno = Errno(ERROR_FILE_NOT_FOUND.cast_signed());

/// The total of the pauses after which a refusal that may pass is final. The time that passed does
/// not count: a thread that got no processor meanwhile has not tried.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(1);

/// The first pause between two attempts. Each pause is twice the one before, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The maximum pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_millis(64);

/// Renames `from` to `to`. An existing file at `to` is replaced, even if another program has it
/// open and shares its deletion. If that program does not share it, the call waits until the file
/// is closed.
///
/// [`std::fs::rename`] calls `MoveFileExW` with `MOVEFILE_REPLACE_EXISTING`. If access is denied,
/// it tries `FileRenameInfoEx` with POSIX semantics.
///
/// [MoveFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw),
/// [FILE_RENAME_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_rename_info)
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    with_backoff(to, || fs::rename(from, to))
}

/// Renames as [`rename`] does, and returns when the disk has the new name.
///
/// If another program has the file at `to` open, the file is renamed in std's way, by POSIX
/// semantics, and then flushed under its new name.
///
/// `MoveFileExW` with `MOVEFILE_WRITE_THROUGH`,
/// [MoveFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw)
pub(crate) fn rename_and_flush(from: &Path, to: &Path) -> io::Result<()> {
    let wide = |path: &Path| -> io::Result<Vec<u16>> {
        // An absolute path may have any length.
        let path = std::path::absolute(path)?;
        Ok(path.as_os_str().encode_wide().chain([0]).collect())
    };
    let (wide_from, wide_to) = (wide(from)?, wide(to)?);
    with_backoff(to, || {
        let flags = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
        // SAFETY: both are NUL-terminated and live until the call returns.
        if unsafe { MoveFileExW(wide_from.as_ptr(), wide_to.as_ptr(), flags) } != 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::PermissionDenied && !may_pass(&error, to) {
            return Err(error);
        }
        fs::rename(from, to)?;
        fs::OpenOptions::new().write(true).open(to)?.sync_all()
    })
}

/// Retries `rename` for a while if its error may pass.
fn with_backoff(to: &Path, rename: impl Fn() -> io::Result<()>) -> io::Result<()> {
    retry(MAX_WAIT, |error| may_pass(error, to), rename)
}

/// Retries `call` while its error may pass, with pauses that add up to `max_wait` at most.
pub(super) fn retry<T, E>(
    max_wait: Duration,
    may_pass: impl Fn(&E) -> bool,
    call: impl Fn() -> Result<T, E>,
) -> Result<T, E> {
    let mut waited = Duration::ZERO;
    let mut pause = FIRST_PAUSE;
    loop {
        match call() {
            Err(error) if may_pass(&error) && waited < max_wait => {}
            done => return done,
        }
        thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Returns true if `error` may come from a file that another program has open.
fn may_pass(error: &io::Error, to: &Path) -> bool {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION) => true,
        // The same error is given for a target that can never be replaced.
        Some(ERROR_ACCESS_DENIED) => !fs::symlink_metadata(to)
            .is_ok_and(|target| target.is_dir() || target.permissions().readonly()),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn may_pass_is_true_only_for_errors_of_open_files() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let locked = directory.path().join("locked");
        for path in [&file, &locked] {
            fs::write(path, "").unwrap();
        }
        let mut permissions = fs::metadata(&locked).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&locked, permissions).unwrap();
        let may_pass =
            |code: u32, to: &Path| may_pass(&io::Error::from_raw_os_error(code.cast_signed()), to);
        for to in [
            &file,
            &locked,
            directory.path(),
            &directory.path().join("none"),
        ] {
            assert!(may_pass(ERROR_SHARING_VIOLATION, to));
            assert!(may_pass(ERROR_LOCK_VIOLATION, to));
            assert!(!may_pass(ERROR_FILE_NOT_FOUND, to));
        }
        assert!(may_pass(ERROR_ACCESS_DENIED, &file));
        assert!(may_pass(
            ERROR_ACCESS_DENIED,
            &directory.path().join("none")
        ));
        assert!(!may_pass(ERROR_ACCESS_DENIED, &locked));
        assert!(!may_pass(ERROR_ACCESS_DENIED, directory.path()));
        let mut permissions = fs::metadata(&locked).unwrap().permissions();
        #[allow(
            clippy::permissions_set_readonly_false,
            reason = "on Windows it says just that"
        )]
        permissions.set_readonly(false);
        fs::set_permissions(&locked, permissions).unwrap();
    }
}
