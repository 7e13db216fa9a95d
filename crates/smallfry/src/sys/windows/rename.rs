//! Windows: another name for a file, though somebody may be looking at what had it.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
};

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
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let Err(error) = fs::rename(from, to) else {
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
