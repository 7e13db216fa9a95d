//! Helpers of several test files on Windows, with those of `unix.rs` that both have.

#![allow(unsafe_code, reason = "it calls the system")]

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt, symlink_dir, symlink_file};
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::time::SystemTime;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_SYSTEM, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_WRITE_ATTRIBUTES, GetFileInformationByHandle,
};

/// The starts of names. Most of them are unusual, and all are allowed.
pub(crate) const NAMES: &[&str] = &["", "ä 魚 ", "-x"];
/// Short, since paths are short here.
pub(crate) const LONG: usize = 10;
/// The seconds since 1970 of times of modification.
pub(crate) const SECONDS: &[i64] = &[1_000_000_000, 2_147_483_648];
/// The permissions that files and directories may have.
pub(crate) const FILE_MODES: &[u32] = &[0o666, 0o444];
pub(crate) const DIRECTORY_MODES: &[u32] = &[0o777];

/// Returns a name that starts with one of [`NAMES`].
pub(crate) fn name_of(start: &str, rest: &str) -> OsString {
    (start.to_owned() + rest).into()
}

/// Makes a symbolic link. A process without privileges may not, and Wine only says that it did.
pub(crate) fn symlink(target: impl AsRef<Path>, path: impl AsRef<Path>) -> io::Result<()> {
    let (target, path) = (target.as_ref(), path.as_ref());
    let leads_to = path.parent().unwrap().join(target);
    if leads_to.is_dir() {
        symlink_dir(target, path)?;
    } else {
        symlink_file(target, path)?;
    }
    fs::read_link(path).map(drop)
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions).unwrap();
}

/// Returns what a copy keeps of the attributes.
pub(crate) fn mode_of(path: &Path) -> u32 {
    let kept = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM;
    fs::symlink_metadata(path).unwrap().file_attributes() & kept
}

fn information(path: &Path) -> BY_HANDLE_FILE_INFORMATION {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let mut options = OpenOptions::new();
    let file = options.access_mode(0).custom_flags(flags).open(path);
    let mut information = MaybeUninit::uninit();
    // SAFETY: the file is open, and the structure is large enough.
    let done = unsafe {
        GetFileInformationByHandle(file.unwrap().as_raw_handle(), information.as_mut_ptr())
    };
    assert_ne!(done, 0, "{}", io::Error::last_os_error());
    // SAFETY: the call succeeded, so it has filled the structure.
    unsafe { information.assume_init() }
}

/// Returns the number that all names of a file share.
pub(crate) fn number_of(path: &Path) -> u64 {
    let found = information(path);
    u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow)
}

/// Returns the number of hard links.
pub(crate) fn names_of(path: &Path) -> u64 {
    information(path).nNumberOfLinks.into()
}

pub(crate) fn set_modified(path: &Path, time: SystemTime) {
    let mut options = OpenOptions::new();
    options
        .access_mode(FILE_WRITE_ATTRIBUTES)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    let file: File = options.open(path).unwrap();
    file.set_modified(time).unwrap();
}
