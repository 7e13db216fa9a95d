//! Windows: an open directory, and operations on paths beneath it that never leave it.
//!
//! `NtCreateFile` starts at an open directory, which no function of Win32 does. `OBJ_DONT_REPARSE`
//! makes it stop at every symbolic link and junction, also at those that would stay beneath. `.`
//! and `..` are resolved in the text, as Windows always does. That is right where no link is
//! followed.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Component, Path, PathBuf};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_IF,
    FILE_OPEN_REPARSE_POINT,
};
use windows_sys::Win32::Foundation::{ERROR_INVALID_NAME, ERROR_REPARSE_POINT_ENCOUNTERED};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_READONLY,
    FILE_DISPOSITION_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_READ_ATTRIBUTES, FILE_TRAVERSE, FILE_WRITE_DATA, FileDispositionInfo, SYNCHRONIZE,
    SetFileInformationByHandle,
};

use super::nt::{self, Request, SHARE_ALL, code};
use super::platform::{
    ACCESS, NOT_A_DIRECTORY, O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY, OWNER_WRITES,
    OwnedFile,
};
use crate::errno::Errno;

/// The error for a path that leads out of the directory, or meets a link, which might.
pub(crate) const LEADS_OUT: Errno = Errno(ERROR_REPARSE_POINT_ENCOUNTERED.cast_signed());

/// The words of [`LEADS_OUT`] between a path and the name of the directory.
pub(crate) const LEADS_OUT_WORDS: &str = "leads out of, or through a link in,";

/// False: to rename a file beneath, the kernel needs the directory's handle, and no function of
/// Win32 passes it on.
pub(crate) const RENAMES_BENEATH: bool = false;

/// An open directory. It holds one handle.
pub(crate) struct Directory {
    file: OwnedFile,
}

impl Directory {
    /// Opens the directory. `path` itself is resolved as any other path, and links are followed.
    ///
    /// `CreateFileW`,
    /// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .access_mode(FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)?;
        if !file.metadata()?.is_dir() {
            return Err(NOT_A_DIRECTORY.into());
        }
        Ok(Self { file: file.into() })
    }

    /// Opens `path` beneath this directory, with the flags and mode of `open`. The error is
    /// [`LEADS_OUT`] if the path leads out.
    ///
    /// An existing file is opened first and truncated then, as in std. Overwriting it in one step
    /// fails for hidden and system files, and takes the attributes of other files away.
    ///
    /// `NtCreateFile`,
    /// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
    pub(crate) fn open_file(&self, path: &Path, flags: i32, mode: u32) -> io::Result<OwnedFile> {
        let has = |flag: i32| flags & flag != 0;
        let written = if has(O_APPEND) && !has(O_TRUNC) {
            FILE_GENERIC_WRITE & !FILE_WRITE_DATA | FILE_APPEND_DATA
        } else {
            FILE_GENERIC_WRITE
        };
        let access = match flags & ACCESS {
            O_WRONLY => written,
            O_RDWR => FILE_GENERIC_READ | written,
            _ => FILE_GENERIC_READ,
        };
        let disposition = match (has(O_CREAT), has(O_EXCL)) {
            (true, true) => FILE_CREATE,
            (true, false) => FILE_OPEN_IF,
            (false, _) => FILE_OPEN,
        };
        let is_read_only = has(O_CREAT) && mode & OWNER_WRITES == 0;
        let file = self.create(
            path,
            &Request {
                access,
                sharing: SHARE_ALL,
                disposition,
                options: FILE_NON_DIRECTORY_FILE,
                attributes: if is_read_only {
                    FILE_ATTRIBUTE_READONLY
                } else {
                    FILE_ATTRIBUTE_NORMAL
                },
            },
        )?;
        if !has(O_TRUNC) || disposition == FILE_CREATE {
            return Ok(file);
        }
        let file = File::from(file);
        file.set_len(0)?;
        Ok(file.into())
    }

    /// Returns the metadata of the file at `path`.
    ///
    /// `NtCreateFile`, `GetFileInformationByHandle`,
    /// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let request = Request::existing(FILE_READ_ATTRIBUTES, 0);
        File::from(self.create(path, &request)?).metadata()
    }

    /// Makes one directory. The mode is ignored.
    ///
    /// `NtCreateFile`,
    /// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
    pub(crate) fn make_directory(&self, path: &Path, _mode: u32) -> io::Result<()> {
        let request = Request {
            disposition: FILE_CREATE,
            ..Request::existing(FILE_READ_ATTRIBUTES, FILE_DIRECTORY_FILE)
        };
        self.create(path, &request).map(drop)
    }

    /// Removes one file. It disappears when the last handle is closed.
    ///
    /// `NtCreateFile`, `SetFileInformationByHandle`,
    /// [SetFileInformationByHandle](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-setfileinformationbyhandle)
    pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
        let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
        let file = self.create(path, &Request::existing(DELETE, options))?;
        let information = FILE_DISPOSITION_INFO { DeleteFile: true };
        // SAFETY: the handle is open, and the structure has the size that is told and is only read.
        let done = unsafe {
            SetFileInformationByHandle(
                file.as_raw_handle(),
                FileDispositionInfo,
                (&raw const information).cast(),
                size_of::<FILE_DISPOSITION_INFO>() as u32,
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Fails: see [`RENAMES_BENEATH`].
    pub(crate) fn rename(&self, _from: &Path, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns `None`, or the error of a link: links are refused.
    pub(crate) fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.metadata(path)?;
        Ok(None)
    }

    /// Opens or creates the file at `path`.
    ///
    /// `NtCreateFile`,
    /// [NtCreateFile](https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntcreatefile)
    fn create(&self, path: &Path, request: &Request) -> io::Result<OwnedFile> {
        let mut name = relative_name(path)?;
        let opened = request.open(self.file.as_handle(), &mut name);
        opened.map_err(|status| nt::errno(status).into())
    }
}

/// Returns the path in the form of the kernel: names with one backslash between, without `.` and
/// `..`.
fn relative_name(path: &Path) -> io::Result<Vec<u16>> {
    if path.as_os_str().is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return Err(LEADS_OUT.into()),
            Component::CurDir => {}
            Component::ParentDir => {
                names.pop().ok_or(LEADS_OUT)?;
            }
            Component::Normal(name) => names.push(name),
        }
    }
    let mut text = Vec::with_capacity(path.as_os_str().len());
    for name in names {
        if !text.is_empty() {
            text.push(u16::from(b'\\'));
        }
        text.extend(name.encode_wide());
    }
    if text.contains(&0) {
        return Err(code(ERROR_INVALID_NAME).into());
    }
    Ok(text)
}
