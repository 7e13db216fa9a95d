//! Windows: an open directory of a tree, and calls for single names in it, which follow no link.

use std::fs::OpenOptions;
use std::io;
use std::mem::offset_of;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::{OpenOptionsExt, symlink_dir, symlink_file};
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN_REPARSE_POINT,
    FILE_RENAME_IGNORE_READONLY_ATTRIBUTE, FILE_RENAME_POSIX_SEMANTICS,
    FILE_RENAME_REPLACE_IF_EXISTS, FileFullDirectoryInformation, FileLinkInformation,
    FileRenameInformation, FileRenameInformationEx, NtQueryDirectoryFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_DELETE_PENDING, ERROR_DIR_NOT_EMPTY,
    ERROR_DIRECTORY, ERROR_DIRECTORY_NOT_SUPPORTED, ERROR_FILE_EXISTS, ERROR_FILE_NOT_FOUND,
    ERROR_INVALID_DATA, ERROR_LOCK_VIOLATION, ERROR_PATH_NOT_FOUND, ERROR_PRIVILEGE_NOT_HELD,
    ERROR_REPARSE_POINT_ENCOUNTERED, ERROR_SHARING_VIOLATION, NTSTATUS, STATUS_DELETE_PENDING,
    STATUS_FILE_IS_A_DIRECTORY, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_FLAG_BACKUP_SEMANTICS, FILE_FULL_DIR_INFO, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TRAVERSE,
    FILE_WRITE_ATTRIBUTES, GetFinalPathNameByHandleW, SYNCHRONIZE, VOLUME_NAME_DOS,
    VOLUME_NAME_GUID,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::entry::{EntryStatus, Identity};
use super::entry::{
    clear_read_only, entry_status, has_attributes, kind_of, set_mode_and_times, set_mode_of,
    set_times,
};
use super::flush::{WholeFileSystem, flush_directory};
use super::kind::Kind;
use super::link_target::LinkTarget;
use super::names::{Name, OwnedName, wide};
use super::nt::{self, Request, code, last_error, set_name};
use super::platform::{BorrowedFile, NOT_A_DIRECTORY, OwnedFile};
use super::removal::{is_unsupported, remove, reopen};
use super::rename::{MAX_WAIT, retry};
use crate::errno::Errno;

/// The access to a directory of a tree.
const DIRECTORY: u32 = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;

/// The access to an entry whose attributes and times are set.
const SET: u32 = FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;

/// The memory for one call of [`OpenDirectory::list`], in bytes. Servers take no larger one.
const LISTING: usize = 64 << 10;

/// An open directory. It holds one handle.
pub(crate) struct OpenDirectory {
    file: OwnedFile,
    /// The time for which errors that may pass were waited for in vain, in nanoseconds. It is
    /// bounded for a directory, which may have thousands of files that another program holds.
    waited: AtomicU64,
}

/// Returns `None`: no root directory has a name in a directory.
pub(crate) fn root_identity() -> Option<Identity> {
    None
}

/// Returns true for the error of a name that is not there.
pub(crate) fn is_missing(error: Errno) -> bool {
    matches!(
        error.0.cast_unsigned(),
        ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND
    )
}

/// Returns true for the error of a name that is there already.
pub(crate) fn is_taken(error: Errno) -> bool {
    matches!(
        error.0.cast_unsigned(),
        ERROR_ALREADY_EXISTS | ERROR_FILE_EXISTS
    )
}

/// Returns true for an error that may mean that a name is not that of a directory.
pub(crate) fn may_mean_no_directory(error: &io::Error) -> bool {
    error.raw_os_error() == Some(NOT_A_DIRECTORY.0)
}

/// Returns true for the error of a file that another program has open, or has removed and open.
fn may_pass(error: Errno) -> bool {
    matches!(
        error.0.cast_unsigned(),
        ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION | ERROR_DELETE_PENDING
    )
}

/// Returns the error of Win32 for a status, with numbers of their own for what Win32 takes for
/// denied access.
#[cold]
fn errno(status: NTSTATUS) -> Errno {
    match status {
        STATUS_DELETE_PENDING => code(ERROR_DELETE_PENDING),
        STATUS_FILE_IS_A_DIRECTORY => code(ERROR_DIRECTORY_NOT_SUPPORTED),
        status => nt::errno(status),
    }
}

impl OpenDirectory {
    fn new(file: OwnedFile) -> Self {
        Self {
            file,
            waited: AtomicU64::new(0),
        }
    }

    /// Opens the directory at `path`. Links are followed.
    ///
    /// `CreateFileW`,
    /// [CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let open = |access| {
            let mut options = OpenOptions::new();
            options
                .access_mode(access)
                .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
                .open(path)
        };
        // Entries of a directory that may not be listed can still be opened.
        let file = match open(DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open(DIRECTORY & !FILE_LIST_DIRECTORY)?
            }
            opened => opened?,
        };
        if !file.metadata()?.is_dir() {
            return Err(NOT_A_DIRECTORY.into());
        }
        Ok(Self::new(file.into()))
    }

    /// Opens a directory in this one. A link is an error: `ERROR_DIRECTORY`.
    pub(crate) fn open_directory(&self, name: &Name) -> Result<Self, Errno> {
        let request = Request::existing(DIRECTORY, FILE_DIRECTORY_FILE);
        match self.patiently(|| self.request(name, &request)) {
            Err(Errno(number)) if number.cast_unsigned() == ERROR_REPARSE_POINT_ENCOUNTERED => {
                Err(code(ERROR_DIRECTORY))
            }
            opened => opened.map(Self::new),
        }
    }

    /// Opens the directory that this one is in now; a root itself.
    ///
    /// The system has no name for it, so it is opened by its path. The caller compares identities.
    pub(crate) fn open_parent(&self) -> Result<Self, Errno> {
        let mut path = final_path(&self.file)?;
        path.pop();
        Self::open(&path).map_err(|error| Errno(error.raw_os_error().unwrap_or_default()))
    }

    /// Returns false: mounted volumes are links here.
    pub(crate) const fn is_mount_point(&self) -> bool {
        false
    }

    /// Returns `None`: no call flushes a whole file system.
    pub(crate) fn whole_file_system(&self) -> Option<WholeFileSystem> {
        WholeFileSystem::of(self.file.as_handle())
    }

    /// Does nothing, as [`flush_directory`].
    pub(crate) fn flush(&self) -> io::Result<()> {
        flush_directory(&self.file)
    }

    /// Returns the status of this directory.
    pub(crate) fn status(&self) -> Result<EntryStatus, Errno> {
        entry_status(self.file.as_handle())
    }

    /// Returns the status of an entry.
    pub(crate) fn status_of(&self, name: &Name) -> Result<EntryStatus, Errno> {
        let request = Request::existing(FILE_READ_ATTRIBUTES, FILE_OPEN_REPARSE_POINT);
        entry_status(self.request(name, &request)?.as_handle())
    }

    /// Returns the kind of an entry.
    pub(crate) fn kind_of(&self, name: &Name) -> Result<Kind, Errno> {
        Ok(self.status_of(name)?.kind)
    }

    /// Opens a file to be read.
    ///
    /// Reparse points that are no links are opened through the filter of the system that stores
    /// them.
    pub(crate) fn open_file(&self, name: &Name) -> Result<OwnedFile, Errno> {
        let request = Request::existing(FILE_GENERIC_READ, FILE_NON_DIRECTORY_FILE);
        self.request(name, &request)
    }

    /// Opens a file so that its attributes and times can be set. A link is an error.
    pub(crate) fn open_to_set(&self, name: &Name) -> Result<OwnedFile, Errno> {
        let request = Request::existing(SET, FILE_NON_DIRECTORY_FILE);
        self.request(name, &request)
    }

    /// Creates a file to be written. `ERROR_ALREADY_EXISTS` if there is anything of that name. The
    /// mode is ignored.
    pub(crate) fn create_file(&self, name: &Name, _mode: u32) -> Result<OwnedFile, Errno> {
        let access = FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES;
        self.create(name, access, FILE_NON_DIRECTORY_FILE)
    }

    /// Returns `None`: files are cloned into new ones.
    #[allow(clippy::unused_self, reason = "other systems use it")]
    pub(crate) fn create_clone(
        &self,
        _name: &Name,
        _source: BorrowedFile<'_>,
        _status: &EntryStatus,
    ) -> Result<Option<OwnedFile>, Errno> {
        Ok(None)
    }

    /// Makes a directory. `ERROR_ALREADY_EXISTS` if there is anything of that name. The mode is
    /// ignored.
    pub(crate) fn make_directory(&self, name: &Name, _mode: u32) -> Result<(), Errno> {
        let made = self.create(name, FILE_READ_ATTRIBUTES, FILE_DIRECTORY_FILE);
        made.map(drop)
    }

    /// Returns the target of a link.
    pub(crate) fn read_link(&self, name: &Name) -> Result<LinkTarget, Errno> {
        let request = Request::existing(FILE_READ_ATTRIBUTES, FILE_OPEN_REPARSE_POINT);
        let link = self.request(name, &request)?;
        let is_directory = super::platform::status(link.as_handle())?.is_directory;
        LinkTarget::of(link.as_handle(), is_directory)
    }

    /// Makes a link. `ERROR_ALREADY_EXISTS` if there is anything of that name.
    pub(crate) fn make_link(&self, name: &Name, target: &LinkTarget) -> Result<(), Errno> {
        let option = if target.is_directory {
            FILE_DIRECTORY_FILE
        } else {
            FILE_NON_DIRECTORY_FILE
        };
        let access = FILE_WRITE_ATTRIBUTES | FILE_READ_ATTRIBUTES | DELETE;
        let file = self.create(name, access, option)?;
        let Err(error) = target.give(file.as_handle()) else {
            return Ok(());
        };
        // The caller has an error to report already.
        _ = remove(file.as_handle());
        drop(file);
        match target.symbolic() {
            Some(path) if error == code(ERROR_PRIVILEGE_NOT_HELD) => {
                self.make_link_by_path(name, path, target.is_directory)
            }
            _ => Err(error),
        }
    }

    /// Makes a symbolic link by its path.
    ///
    /// Only `CreateSymbolicLinkW` uses a privilege that the process has and that is not enabled, or
    /// the mode for developers. As long as this directory is open without sharing its deletion, it
    /// cannot be exchanged, nor on NTFS a directory above. In any case the link must be in it then.
    ///
    /// [CreateSymbolicLinkW](https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-createsymboliclinkw)
    fn make_link_by_path(
        &self,
        name: &Name,
        target: &Path,
        is_directory: bool,
    ) -> Result<(), Errno> {
        let request = Request {
            sharing: FILE_SHARE_READ | FILE_SHARE_WRITE,
            ..Request::existing(DIRECTORY, FILE_DIRECTORY_FILE)
        };
        let pinned = request
            .open(self.file.as_handle(), &mut [])
            .map_err(errno)?;
        let path = final_path(&pinned)?.join(name);
        let made = if is_directory {
            symlink_dir(target, path)
        } else {
            symlink_file(target, path)
        };
        let refused = code(ERROR_PRIVILEGE_NOT_HELD);
        made.map_err(|error| error.raw_os_error().map_or(refused, Errno))?;
        match self.kind_of(name)? {
            Kind::Link => Ok(()),
            _ => Err(refused),
        }
    }

    /// Makes another name of a file. `ERROR_ALREADY_EXISTS` if there is anything of that name.
    pub(crate) fn make_hard_link(
        &self,
        name: &Name,
        to: &Self,
        new_name: &Name,
    ) -> Result<(), Errno> {
        let request = Request::existing(FILE_WRITE_ATTRIBUTES, FILE_OPEN_REPARSE_POINT);
        let file = self.request(name, &request)?;
        let (file, into) = (file.as_handle(), to.file.as_handle());
        set_name(file, FileLinkInformation, 0, into, &wide(new_name)?).map_err(errno)
    }

    /// Renames an entry, and replaces another one that is no directory, in one step.
    ///
    /// A link that is a directory is removed first, where it is in the way.
    pub(crate) fn rename(&self, from: &Name, to: &Name) -> Result<(), Errno> {
        let to_name = wide(to)?;
        let denied = code(ERROR_ACCESS_DENIED);
        let rename = || match self.rename_once(from, &to_name) {
            Err(error) if error == denied && self.make_way(to) => self.rename_once(from, &to_name),
            done => done,
        };
        // The same error is given for a target that another program has open.
        let is_file = || !matches!(self.kind_of(to), Ok(Kind::Directory));
        self.patiently_if(
            |error| may_pass(error) || error == denied && is_file(),
            rename,
        )
    }

    /// Renames with POSIX semantics, so that a target that is open can be replaced. File systems
    /// without them (FAT, some servers) rename as they always did.
    fn rename_once(&self, from: &Name, to: &[u16]) -> Result<(), Errno> {
        let request = Request::existing(DELETE, FILE_OPEN_REPARSE_POINT);
        let file = self.request(from, &request)?;
        let (file, into) = (file.as_handle(), self.file.as_handle());
        let flags = FILE_RENAME_REPLACE_IF_EXISTS
            | FILE_RENAME_POSIX_SEMANTICS
            | FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
        let renamed = set_name(file, FileRenameInformationEx, flags, into, to).map_err(errno);
        match renamed {
            Err(error) if is_unsupported(error) => {
                let flags = FILE_RENAME_REPLACE_IF_EXISTS;
                set_name(file, FileRenameInformation, flags, into, to).map_err(errno)
            }
            done => done,
        }
    }

    /// Takes away what may keep an entry from being replaced. Returns true if there was something.
    fn make_way(&self, name: &Name) -> bool {
        let Ok(status) = self.status_of(name) else {
            return false;
        };
        if status.kind == Kind::Link {
            return self.remove_file(name).is_ok();
        }
        let request = Request::existing(SET, FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT);
        status.is_read_only()
            && self
                .request(name, &request)
                .is_ok_and(|file| clear_read_only(file.as_handle()).is_ok())
    }

    /// Gives this directory the attributes of another one.
    pub(crate) fn set_mode_of(&self, status: &EntryStatus) -> Result<(), Errno> {
        if !has_attributes(status) {
            return Ok(());
        }
        let file = self.reopen(FILE_WRITE_ATTRIBUTES)?;
        set_mode_of(file.as_handle(), status)
    }

    /// Sets the times of this directory to those of another one.
    pub(crate) fn set_times(&self, status: &EntryStatus) -> Result<(), Errno> {
        let file = self.reopen(FILE_WRITE_ATTRIBUTES)?;
        set_times(file.as_handle(), status)
    }

    /// Gives this directory the attributes and times of another one.
    pub(crate) fn set_mode_and_times(&self, status: &EntryStatus) -> Result<(), Errno> {
        set_mode_and_times(self.reopen(SET)?.as_handle(), status)
    }

    /// Sets the times of an entry to those of another one. Of a link it sets those of the link
    /// itself.
    pub(crate) fn set_times_of(&self, name: &Name, status: &EntryStatus) -> Result<(), Errno> {
        let request = Request::existing(FILE_WRITE_ATTRIBUTES, FILE_OPEN_REPARSE_POINT);
        set_times(self.request(name, &request)?.as_handle(), status)
    }

    /// Calls `each` with the name and the kind of each entry.
    ///
    /// `NtQueryDirectoryFile`,
    /// [NtQueryDirectoryFile](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/nf-ntifs-ntquerydirectoryfile),
    /// [FILE_FULL_DIR_INFORMATION](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_full_dir_information)
    pub(crate) fn list(&self, mut each: impl FnMut(&Name, Kind)) -> Result<(), Errno> {
        let mut memory = vec![0_u64; LISTING / size_of::<u64>()];
        let mut is_first = true;
        loop {
            let mut status_block = IO_STATUS_BLOCK::default();
            // SAFETY: the handle is open, and was opened for calls that return when they are done.
            // The memory has the size that is told and is aligned for the structure. It and the
            // status block are borrowed for writing.
            let status = unsafe {
                NtQueryDirectoryFile(
                    self.file.as_raw_handle(),
                    ptr::null_mut(),
                    None,
                    ptr::null(),
                    &raw mut status_block,
                    memory.as_mut_ptr().cast(),
                    LISTING as u32,
                    FileFullDirectoryInformation,
                    false,
                    ptr::null(),
                    is_first,
                )
            };
            match status {
                STATUS_NO_MORE_FILES => return Ok(()),
                // No name matches, in a root directory that is empty.
                STATUS_NO_SUCH_FILE if is_first => return Ok(()),
                0.. => {}
                failed => return Err(errno(failed)),
            }
            is_first = false;
            let length = status_block.Information.min(LISTING);
            // SAFETY: the memory has that many bytes, any of which are valid. Nothing writes to it
            // as long as they are borrowed.
            let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), length) };
            entries_of(bytes, &mut each).ok_or(code(ERROR_INVALID_DATA))?;
        }
    }

    /// Removes a file or link.
    pub(crate) fn remove_file(&self, name: &Name) -> Result<(), Errno> {
        let access = DELETE | FILE_READ_ATTRIBUTES;
        let file = Request::existing(access, FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT);
        let directory = Request::existing(access, FILE_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT);
        let is_directory = code(ERROR_DIRECTORY_NOT_SUPPORTED);
        self.patiently(|| {
            let opened = match self.request(name, &file) {
                // It may be a link to a directory.
                Err(error) if error == is_directory => {
                    let opened = self.request(name, &directory)?;
                    if entry_status(opened.as_handle())?.kind == Kind::Directory {
                        return Err(is_directory);
                    }
                    opened
                }
                opened => opened?,
            };
            remove(opened.as_handle())
        })
    }

    /// Removes an empty directory. One that is not empty is waited for, since the names of removed
    /// files may stay while they are open: on FAT, on some servers, and under Wine also while
    /// another name of the file is open.
    pub(crate) fn remove_directory(&self, name: &Name) -> Result<(), Errno> {
        let access = DELETE | FILE_READ_ATTRIBUTES;
        let request = Request::existing(access, FILE_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT);
        self.patiently_if(
            |error| may_pass(error) || error == code(ERROR_DIR_NOT_EMPTY),
            || remove(self.request(name, &request)?.as_handle()),
        )
    }

    /// Opens this directory again, for other access.
    pub(super) fn reopen(&self, access: u32) -> Result<OwnedFile, Errno> {
        reopen(self.file.as_handle(), access)
    }

    /// Opens an entry.
    #[cfg(feature = "archive")]
    pub(super) fn open_entry(
        &self,
        name: &Name,
        access: u32,
        options: u32,
    ) -> Result<OwnedFile, Errno> {
        self.request(name, &Request::existing(access, options))
    }

    /// Creates an entry. `ERROR_ALREADY_EXISTS` if there is anything of that name, even a link.
    fn create(&self, name: &Name, access: u32, options: u32) -> Result<OwnedFile, Errno> {
        let request = Request {
            disposition: FILE_CREATE,
            ..Request::existing(access, options | FILE_OPEN_REPARSE_POINT)
        };
        self.patiently(|| self.request(name, &request))
    }

    fn request(&self, name: &Name, request: &Request) -> Result<OwnedFile, Errno> {
        let opened = request.open(self.file.as_handle(), &mut wide(name)?);
        opened.map_err(errno)
    }

    /// Does an operation. While another program keeps it from being done, it is retried.
    fn patiently<T>(&self, call: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
        self.patiently_if(may_pass, call)
    }

    fn patiently_if<T>(
        &self,
        may_pass: impl Fn(Errno) -> bool,
        call: impl Fn() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match call() {
            Err(error) if may_pass(error) => self.wait(may_pass, call),
            done => done,
        }
    }

    #[cold]
    fn wait<T>(
        &self,
        may_pass: impl Fn(Errno) -> bool,
        call: impl Fn() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let waited = Duration::from_nanos(self.waited.load(Ordering::Relaxed));
        let left = MAX_WAIT.saturating_sub(waited);
        let began = Instant::now();
        let done = retry(left, |error| may_pass(*error), call);
        if matches!(done, Err(error) if may_pass(error)) {
            let elapsed = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.waited.fetch_add(elapsed, Ordering::Relaxed);
        }
        done
    }
}

/// Calls `each` for the entries that one call has listed, without `.` and `..`. `None` if a part of
/// an entry is missing.
fn entries_of(bytes: &[u8], each: &mut impl FnMut(&Name, Kind)) -> Option<()> {
    let mut entry = bytes;
    while !entry.is_empty() {
        let field = |at: usize| {
            let bytes = entry.get(at..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let attributes = field(offset_of!(FILE_FULL_DIR_INFO, FileAttributes))?;
        // It holds the tag of a reparse point.
        let tag = field(offset_of!(FILE_FULL_DIR_INFO, EaSize))?;
        let length = field(offset_of!(FILE_FULL_DIR_INFO, FileNameLength))? as usize;
        let name = entry
            .get(offset_of!(FILE_FULL_DIR_INFO, FileName)..)?
            .get(..length)?;
        let name: Vec<u16> = name
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let name = OwnedName::from_wide(&name);
        if name != "." && name != ".." {
            each(&name, kind_of(attributes, tag));
        }
        match field(offset_of!(FILE_FULL_DIR_INFO, NextEntryOffset))? as usize {
            0 => break,
            next => entry = entry.get(next..)?,
        }
    }
    Some(())
}

/// Returns the path of an open directory, with the letter of its volume, or else with its number.
///
/// `GetFinalPathNameByHandleW`,
/// [GetFinalPathNameByHandleW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfinalpathnamebyhandlew)
fn final_path(directory: &OwnedFile) -> Result<PathBuf, Errno> {
    match final_path_with(directory, VOLUME_NAME_DOS) {
        Err(error) if is_missing(error) => final_path_with(directory, VOLUME_NAME_GUID),
        path => path,
    }
}

fn final_path_with(directory: &OwnedFile, flags: u32) -> Result<PathBuf, Errno> {
    let mut path = vec![0_u16; 512];
    loop {
        // SAFETY: the handle is open, and the memory has the size that is told.
        let length = unsafe {
            GetFinalPathNameByHandleW(
                directory.as_raw_handle(),
                path.as_mut_ptr(),
                path.len() as u32,
                flags,
            )
        } as usize;
        if length == 0 {
            return Err(last_error());
        }
        // Otherwise it is the size that is needed.
        if let Some(path) = path.get(..length) {
            return Ok(OwnedName::from_wide(path).into());
        }
        path.resize(length, 0);
    }
}
