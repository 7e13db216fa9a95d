//! Windows: another name for a file, though somebody may be looking at what had it.

use std::fs;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CANT_RESOLVE_FILENAME, ERROR_FILE_NOT_FOUND, ERROR_LOCK_VIOLATION,
    ERROR_SHARING_VIOLATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW,
};

use crate::errno::Errno;

/// What the system says of more links than it follows, and of a name that is not there.
pub(crate) const TOO_MANY_LINKS: Errno = Errno(ERROR_CANT_RESOLVE_FILENAME.cast_signed());
pub(crate) const NOTHING_THERE: Errno = Errno(ERROR_FILE_NOT_FOUND.cast_signed());

/// How long a refusal that may pass is not believed.
const PATIENCE: Duration = Duration::from_secs(1);

/// The first pause between two attempts; each is twice the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// `MoveFileExW` with `MOVEFILE_REPLACE_EXISTING`, as [`std::fs::rename`] calls it, which where access is denied tries
/// `FileRenameInfoEx` with POSIX semantics: those replace a file that others have open, if they share its deletion.
/// What others have open without sharing that is waited for.
///
/// [MoveFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw),
/// [FILE_RENAME_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_rename_info)
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    with_patience(to, || fs::rename(from, to))
}

/// [`rename`] with `MOVEFILE_WRITE_THROUGH` first: it returns when the disk has the new name. A file that others have open is
/// then renamed in std's way, by POSIX semantics, and flushed under its new name.
///
/// [MoveFileEx](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw)
pub(crate) fn rename_and_flush(from: &Path, to: &Path) -> io::Result<()> {
    let wide = |path: &Path| -> io::Result<Vec<u16>> {
        // Absolute, and with that as long as it may be.
        let path = std::path::absolute(path)?;
        Ok(path.as_os_str().encode_wide().chain([0]).collect())
    };
    let (wide_from, wide_to) = (wide(from)?, wide(to)?);
    with_patience(to, || {
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

fn with_patience(to: &Path, rename: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let Err(error) = rename() else {
            return Ok(());
        };
        if !may_pass(&error, to) || began.elapsed() >= PATIENCE {
            return Err(error);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether `error` may come from a file that somebody has open.
fn may_pass(error: &io::Error, to: &Path) -> bool {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION) => true,
        // Also what is said of a target that can never be replaced.
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
    fn only_what_may_pass_is_waited_for() {
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
