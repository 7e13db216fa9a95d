//! Windows: the attributes of a file besides its contents, for the file that replaces it.

use std::fs::Metadata;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::MetadataExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM,
    FILE_BASIC_INFO, FileBasicInfo, GetFileInformationByHandleEx, SetFileInformationByHandle,
};

use super::nt::last_error;
use super::platform::BorrowedFile;
use crate::errno::Errno;
use crate::error::Operation;

/// The attributes that are kept. Others say how a file is stored, which differs for the new file.
const KEPT: u32 = FILE_ATTRIBUTE_READONLY
    | FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_SYSTEM
    | FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// The status of what is at a path.
pub(crate) type PathStatus = Metadata;

/// Returns the status of what is at a path. A link is not followed.
pub(crate) fn path_status(path: &Path) -> io::Result<PathStatus> {
    std::fs::symlink_metadata(path)
}

/// The attributes of a file: read-only, hidden, system, archive, not indexed.
///
/// The access control list is not among them. A new file has one from its directory.
#[derive(Debug)]
pub(crate) struct Attributes(u32);

impl Attributes {
    /// Reads the attributes of an open file.
    ///
    /// `GetFileInformationByHandleEx`,
    /// [FILE_BASIC_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_basic_info)
    pub(crate) fn of(file: BorrowedFile<'_>) -> Result<Self, (Operation, Errno)> {
        let mut found = MaybeUninit::<FILE_BASIC_INFO>::uninit();
        // SAFETY: the handle is open as long as it is borrowed, and the structure has the size that
        // is told.
        let done = unsafe {
            GetFileInformationByHandleEx(
                file.as_raw_handle(),
                FileBasicInfo,
                found.as_mut_ptr().cast(),
                size_of::<FILE_BASIC_INFO>() as u32,
            )
        };
        if done == 0 {
            return Err((Operation::Fstat, last_error()));
        }
        // SAFETY: the call succeeded, so it has filled the structure.
        Ok(Self(unsafe { found.assume_init() }.FileAttributes))
    }

    /// Takes the attributes of a file from its status. The file need not be opened.
    pub(crate) fn at(_path: &Path, found: &PathStatus) -> Option<Result<Self, (Operation, Errno)>> {
        Some(Ok(Self(found.file_attributes())))
    }

    /// Returns 0: a mode has no meaning here.
    #[allow(clippy::unused_self, reason = "other systems have permissions")]
    pub(crate) fn temporary_mode(&self) -> u32 {
        0
    }

    /// Gives the attributes to the temporary file, and leaves its times alone.
    ///
    /// `SetFileInformationByHandle`,
    /// [FILE_BASIC_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_basic_info)
    pub(crate) fn give(
        &self,
        temporary: BorrowedFile<'_>,
        _: bool,
    ) -> Result<(), (Operation, Errno)> {
        let wanted = FILE_BASIC_INFO {
            FileAttributes: match self.0 & KEPT {
                0 => FILE_ATTRIBUTE_NORMAL,
                kept => kept,
            },
            // Zero leaves a time alone.
            ..FILE_BASIC_INFO::default()
        };
        set_basic(temporary, &wanted).map_err(|error| (Operation::Fchmod, error))
    }

    /// Does nothing: writing takes no attributes away.
    #[allow(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "other systems' do"
    )]
    pub(crate) fn give_privileges(
        &self,
        _temporary: BorrowedFile<'_>,
    ) -> Result<(), (Operation, Errno)> {
        Ok(())
    }
}

/// Sets attributes and times of an open file. Those that are zero stay.
///
/// `SetFileInformationByHandle`,
/// [FILE_BASIC_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_basic_info)
pub(super) fn set_basic(file: BorrowedFile<'_>, wanted: &FILE_BASIC_INFO) -> Result<(), Errno> {
    // SAFETY: the handle is open as long as it is borrowed. The structure has the size that is told
    // and is only read.
    let done = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileBasicInfo,
            ptr::from_ref(wanted).cast(),
            size_of::<FILE_BASIC_INFO>() as u32,
        )
    };
    if done == 0 {
        return Err(last_error());
    }
    Ok(())
}

/// Returns false: new files keep the access control list that their directory gives them.
pub(crate) fn gives_list(_directory: BorrowedFile<'_>) -> bool {
    false
}
