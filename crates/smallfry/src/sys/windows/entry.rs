//! Windows: the status of an entry of a directory, and the attributes that its copy gets.

use std::mem::MaybeUninit;
use std::os::windows::io::AsRawHandle;

use windows_sys::Wdk::Storage::FileSystem::{
    IO_REPARSE_TAG_LX_BLK, IO_REPARSE_TAG_LX_CHR, IO_REPARSE_TAG_LX_FIFO,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_SYSTEM,
    FILE_ATTRIBUTE_TAG_INFO, FILE_BASIC_INFO, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS,
    FileAttributeTagInfo, FileIdInfo, GetFileInformationByHandleEx,
};
use windows_sys::Win32::System::SystemServices::IO_REPARSE_TAG_AF_UNIX;

#[cfg(feature = "hash")]
use super::Stamp;
use super::attributes::set_basic;
use super::kind::Kind;
use super::nt::last_error;
use super::platform::{BorrowedFile, information};
use crate::errno::Errno;

/// The attributes that a copy gets. Others say how the file is stored, or are set by the system.
const KEPT: u32 = FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM;

/// The bit of a reparse tag which says that the name stands for another one.
///
/// [Reparse point tags](https://learn.microsoft.com/windows/win32/fileio/reparse-point-tags)
const NAME_SURROGATE: u32 = 0x2000_0000;

/// The tags of pipes and devices that Linux programs have made on Windows.
const PIPE: u32 = IO_REPARSE_TAG_LX_FIFO.cast_unsigned();
const CHARACTERS: u32 = IO_REPARSE_TAG_LX_CHR.cast_unsigned();
const BLOCKS: u32 = IO_REPARSE_TAG_LX_BLK.cast_unsigned();

/// The units of 100 ns in a second.
pub(super) const PER_SECOND: i64 = 10_000_000;
/// The year 1970, in units of 100 ns since 1601.
///
/// [FILETIME](https://learn.microsoft.com/windows/win32/api/minwinbase/ns-minwinbase-filetime)
pub(super) const UNIX_EPOCH: i64 = 11_644_473_600 * PER_SECOND;

/// The volume and the number of a directory or file, which all its names share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    number: u128,
}

/// The status of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryStatus {
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
    /// The permissions, as far as the attributes say them.
    pub(crate) mode: u32,
    /// The number of hard links.
    pub(crate) names: u64,
    /// The length in bytes.
    pub(crate) size: u64,
    attributes: u32,
    /// The times of access and modification, in units of 100 ns.
    times: [i64; 2],
}

impl EntryStatus {
    /// Returns false: the copy of a file with holes is one without.
    #[allow(clippy::unused_self, reason = "other systems tell")]
    pub(crate) fn is_sparse(&self) -> bool {
        false
    }

    /// Returns true if the attributes are those that a copy of `source` has.
    pub(crate) fn has_mode_of(&self, source: &Self) -> bool {
        (self.attributes ^ source.attributes) & KEPT == 0
    }

    /// Returns the same status: no attribute of a directory prevents entries.
    pub(crate) fn open_to_owner(self) -> Self {
        self
    }

    /// Returns the time of modification: seconds since 1970, and nanoseconds.
    pub(crate) fn modified(&self) -> (i64, i64) {
        let since = self.times[1] - UNIX_EPOCH;
        let seconds = since.div_euclid(PER_SECOND);
        (seconds, since.rem_euclid(PER_SECOND) * 100)
    }

    /// Returns `None`: nothing tells of a change after which the times were set back.
    #[cfg(feature = "hash")]
    #[allow(clippy::unused_self, reason = "other systems tell")]
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Returns zeros: owners have no numbers here.
    #[cfg(feature = "archive")]
    #[allow(clippy::unused_self, reason = "other systems have owners")]
    pub(crate) fn owner_and_group(&self) -> (u32, u32) {
        (0, 0)
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.attributes & FILE_ATTRIBUTE_READONLY != 0
    }
}

/// Returns the kind of an entry with these attributes, and this reparse tag if it has one.
///
/// Only a name that stands for another one is a link. Other reparse points are files and
/// directories that a filter of the system stores elsewhere: deduplicated ones, those of a cloud.
pub(super) const fn kind_of(attributes: u32, tag: u32) -> Kind {
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        match tag {
            // Wine has no tag for a link.
            0 => return Kind::Link,
            IO_REPARSE_TAG_AF_UNIX | PIPE | CHARACTERS | BLOCKS => return Kind::Special,
            tag if tag & NAME_SURROGATE != 0 => return Kind::Link,
            _ => {}
        }
    }
    if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        Kind::Directory
    } else {
        Kind::File
    }
}

/// Returns the status of an open file.
///
/// `GetFileInformationByHandle`,
/// [BY_HANDLE_FILE_INFORMATION](https://learn.microsoft.com/windows/win32/api/fileapi/ns-fileapi-by_handle_file_information)
pub(crate) fn entry_status(file: BorrowedFile<'_>) -> Result<EntryStatus, Errno> {
    let found = information(file)?;
    let attributes = found.dwFileAttributes;
    let tag = match attributes & FILE_ATTRIBUTE_REPARSE_POINT {
        0 => 0,
        _ => tag_of(file)?,
    };
    let mode = match attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_READONLY) {
        0 => 0o666,
        FILE_ATTRIBUTE_READONLY => 0o444,
        _ => 0o777,
    };
    let [accessed, modified] = [found.ftLastAccessTime, found.ftLastWriteTime]
        .map(|time| whole(time.dwHighDateTime, time.dwLowDateTime).cast_signed());
    let index = whole(found.nFileIndexHigh, found.nFileIndexLow);
    Ok(EntryStatus {
        kind: kind_of(attributes, tag),
        identity: Identity {
            device: found.dwVolumeSerialNumber.into(),
            number: match index {
                // The number of this file has more than 64 bits.
                0 | u64::MAX => long_number(file).unwrap_or(index.into()),
                _ => index.into(),
            },
        },
        mode,
        names: found.nNumberOfLinks.into(),
        size: whole(found.nFileSizeHigh, found.nFileSizeLow),
        attributes,
        times: [accessed, modified],
    })
}

fn whole(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Returns the reparse tag of an open file.
///
/// [FILE_ATTRIBUTE_TAG_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_attribute_tag_info)
fn tag_of(file: BorrowedFile<'_>) -> Result<u32, Errno> {
    // SAFETY: the class is that of the structure, for which any bytes are valid.
    let found: FILE_ATTRIBUTE_TAG_INFO = unsafe { query(file, FileAttributeTagInfo) }?;
    Ok(found.ReparseTag)
}

/// Returns the number of an open file on ReFS, which has 128 bits.
///
/// [FILE_ID_INFO](https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_id_info)
#[cold]
fn long_number(file: BorrowedFile<'_>) -> Option<u128> {
    // SAFETY: the class is that of the structure, for which any bytes are valid.
    let found: FILE_ID_INFO = unsafe { query(file, FileIdInfo) }.ok()?;
    Some(u128::from_le_bytes(found.FileId.Identifier))
}

/// Asks for a structure about an open file.
///
/// # Safety
///
/// `T` is the structure of `class`, has a fixed size, and any bytes make a valid one.
unsafe fn query<T>(file: BorrowedFile<'_>, class: FILE_INFO_BY_HANDLE_CLASS) -> Result<T, Errno> {
    let mut found = MaybeUninit::<T>::zeroed();
    // SAFETY: the handle is open as long as it is borrowed, and the structure has the size that is
    // told.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            class,
            found.as_mut_ptr().cast(),
            size_of::<T>() as u32,
        )
    };
    if done == 0 {
        return Err(last_error());
    }
    // SAFETY: all its bytes were given values, and any are valid.
    Ok(unsafe { found.assume_init() })
}

/// Makes a new file or directory read-only, hidden or a part of the system if another one is.
pub(crate) fn set_mode_of(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    if !has_attributes(status) {
        return Ok(());
    }
    set_attributes(file, status.attributes & KEPT)
}

/// Returns true if [`set_mode_of`] has something to do.
pub(super) const fn has_attributes(status: &EntryStatus) -> bool {
    status.attributes & KEPT != 0
}

/// Lets an open file be removed and replaced.
pub(super) fn clear_read_only(file: BorrowedFile<'_>) -> Result<(), Errno> {
    let attributes = information(file)?.dwFileAttributes & !FILE_ATTRIBUTE_READONLY;
    set_attributes(file, attributes)
}

/// Gives an open file the attributes back that it had.
pub(super) fn restore_attributes(
    file: BorrowedFile<'_>,
    status: &EntryStatus,
) -> Result<(), Errno> {
    set_attributes(file, status.attributes)
}

fn set_attributes(file: BorrowedFile<'_>, attributes: u32) -> Result<(), Errno> {
    let wanted = FILE_BASIC_INFO {
        FileAttributes: settable(attributes),
        ..FILE_BASIC_INFO::default()
    };
    set_basic(file, &wanted)
}

/// Returns the number that sets these attributes. Zero would leave those alone that are there.
const fn settable(attributes: u32) -> u32 {
    match attributes {
        0 => FILE_ATTRIBUTE_NORMAL,
        attributes => attributes,
    }
}

/// Sets the times of an open file to those of another one.
pub(crate) fn set_times(file: BorrowedFile<'_>, status: &EntryStatus) -> Result<(), Errno> {
    let [accessed, modified] = status.times;
    let wanted = FILE_BASIC_INFO {
        LastAccessTime: accessed,
        LastWriteTime: modified,
        ..FILE_BASIC_INFO::default()
    };
    set_basic(file, &wanted)
}

/// Gives an open file the times of another one, and makes it read-only, hidden or a part of the
/// system if the other one is, and only then.
pub(crate) fn set_mode_and_times(
    file: BorrowedFile<'_>,
    status: &EntryStatus,
) -> Result<(), Errno> {
    let others = information(file)?.dwFileAttributes & !KEPT;
    let [accessed, modified] = status.times;
    let wanted = FILE_BASIC_INFO {
        FileAttributes: settable(others | status.attributes & KEPT),
        LastAccessTime: accessed,
        LastWriteTime: modified,
        ..FILE_BASIC_INFO::default()
    };
    set_basic(file, &wanted)
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::System::SystemServices::{
        IO_REPARSE_TAG_CLOUD, IO_REPARSE_TAG_DEDUP, IO_REPARSE_TAG_MOUNT_POINT,
        IO_REPARSE_TAG_SYMLINK,
    };

    use super::*;

    #[test]
    fn kind_of_takes_only_names_that_stand_for_others_as_links() {
        let [directory, reparse] = [FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT];
        assert_eq!(kind_of(0, 0), Kind::File);
        assert_eq!(kind_of(directory, 0), Kind::Directory);
        // Without the attribute the number is something else.
        assert_eq!(kind_of(0, IO_REPARSE_TAG_SYMLINK), Kind::File);
        for tag in [IO_REPARSE_TAG_SYMLINK, IO_REPARSE_TAG_MOUNT_POINT] {
            assert_eq!(kind_of(reparse, tag), Kind::Link);
            assert_eq!(kind_of(reparse | directory, tag), Kind::Link);
        }
        for tag in [IO_REPARSE_TAG_DEDUP, IO_REPARSE_TAG_CLOUD] {
            assert_eq!(kind_of(reparse, tag), Kind::File);
            assert_eq!(kind_of(reparse | directory, tag), Kind::Directory);
        }
        assert_eq!(kind_of(reparse, PIPE), Kind::Special);
    }
}
