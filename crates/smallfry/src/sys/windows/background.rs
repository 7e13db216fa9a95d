//! The directory of the slots, their locks by a sharing mode, and processes without a console.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use windows_sys::Win32::Foundation::{
    ERROR_SHARING_VIOLATION, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;
use windows_sys::Win32::System::Threading::{BELOW_NORMAL_PRIORITY_CLASS, DETACHED_PROCESS};

use super::platform::information;

/// Makes the directory of the slots, if it is missing: `smallfry\removing` in `LOCALAPPDATA`, which
/// only this user can write.
pub(crate) fn make_directory() -> io::Result<PathBuf> {
    let data = std::env::var_os("LOCALAPPDATA").map(PathBuf::from);
    let data = data.filter(|path| path.is_absolute());
    let directory = data
        .ok_or(io::ErrorKind::NotFound)?
        .join(r"smallfry\removing");
    DirBuilder::new().recursive(true).create(&directory)?;
    Ok(directory)
}

/// Opens or creates the file at `path`, and shares it with no other opening; `None` if another
/// process has it. That belongs to the open file, also in a process that inherits it, unlike the
/// locks of `LockFileEx`.
///
/// `CreateFileW`,
/// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
pub(crate) fn open_locked(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    match options.share_mode(0).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_shared(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_shared(error: &io::Error) -> bool {
    error.raw_os_error().map(i32::cast_unsigned) == Some(ERROR_SHARING_VIOLATION)
}

/// Returns the file that is the standard input.
pub(crate) fn stdin() -> io::Result<File> {
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

/// Returns the serial number of the volume, and the number of the directory in it.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let mut options = OpenOptions::new();
    // Nothing is read, so the directory needs no permission.
    options.access_mode(0);
    let directory = options
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)?;
    let found = information(directory.as_handle())?;
    let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok((u64::from(found.dwVolumeSerialNumber), number))
}

/// Returns the bytes of a path in a slot; `None` if it is not Unicode.
pub(crate) fn bytes_of(path: &Path) -> Option<&[u8]> {
    path.to_str().map(str::as_bytes)
}

/// Returns the path of these bytes in a slot.
pub(crate) fn path_from(bytes: &[u8]) -> Option<&Path> {
    str::from_utf8(bytes).ok().map(Path::new)
}

/// Returns false: mounted volumes are links here, and links are removed themselves.
pub(crate) fn has_mount_below(_: &Path) -> bool {
    false
}

/// Gives the command no console, and lets other processes run first. It also inherits no pipe of
/// this process: a reader would wait until the command has ended.
///
/// std lets a command inherit every handle that can be inherited. The standard streams that this
/// process has inherited are such handles.
///
/// `SetHandleInformation`,
/// [SetHandleInformation](https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-sethandleinformation)
pub(crate) fn prepare_background(command: &mut Command) {
    let streams = [
        io::stdin().as_raw_handle(),
        io::stdout().as_raw_handle(),
        io::stderr().as_raw_handle(),
    ];
    for stream in streams {
        // SAFETY: it is the handle of a standard stream, or null, which fails and does no harm.
        unsafe { SetHandleInformation(stream, HANDLE_FLAG_INHERIT, 0) };
    }
    // The current directory of a process can be neither renamed nor removed.
    if let Some(root) = std::env::var_os("SystemRoot") {
        command.current_dir(root);
    }
    command.creation_flags(DETACHED_PROCESS | BELOW_NORMAL_PRIORITY_CLASS);
}

/// Does nothing: the process was started in the background.
pub(crate) const fn enter_background() {}
