//! Windows: the targets of links. They are read and made as the data of reparse points, so that a
//! copy is what the link was: of a file or a directory, relative or not, a junction or anything.

use std::ffi::OsString;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Component, Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::MAXIMUM_REPARSE_DATA_BUFFER_SIZE;
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{FSCTL_GET_REPARSE_POINT, FSCTL_SET_REPARSE_POINT};
use windows_sys::Win32::System::SystemServices::{
    IO_REPARSE_TAG_MOUNT_POINT, IO_REPARSE_TAG_SYMLINK,
};

use super::nt::last_error;
use super::platform::BorrowedFile;
use crate::errno::Errno;

/// The target of a link, which its copy gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkTarget {
    pub(super) is_directory: bool,
    /// The data of the reparse point.
    data: Vec<u8>,
    /// The path in the data; `None` if the link is neither a symbolic one nor a junction.
    path: Option<PathBuf>,
}

/// The place of the names in the data of a symbolic link, and of a junction.
const SYMLINK_TEXT: usize = 20;
const JUNCTION_TEXT: usize = 16;
/// The length of what comes before the part that the data's own length counts.
const HEAD: usize = 8;
/// The flag of a symbolic link that starts where it is.
const RELATIVE: u32 = 1;
/// The start of an absolute path of the kernel.
const KERNEL: &str = r"\??\";

impl LinkTarget {
    /// Reads the target of an open link.
    ///
    /// `DeviceIoControl` with `FSCTL_GET_REPARSE_POINT`,
    /// [FSCTL_GET_REPARSE_POINT](https://learn.microsoft.com/windows/win32/api/winioctl/ni-winioctl-fsctl_get_reparse_point)
    pub(super) fn of(link: BorrowedFile<'_>, is_directory: bool) -> Result<Self, Errno> {
        let mut data = vec![0; MAXIMUM_REPARSE_DATA_BUFFER_SIZE as usize];
        let mut length = 0;
        // SAFETY: the handle is open as long as it is borrowed. The memory has the size that is
        // told, and `length` is borrowed for writing.
        let done = unsafe {
            DeviceIoControl(
                link.as_raw_handle(),
                FSCTL_GET_REPARSE_POINT,
                ptr::null(),
                0,
                data.as_mut_ptr().cast(),
                MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
                &raw mut length,
                ptr::null_mut(),
            )
        };
        if done == 0 {
            return Err(last_error());
        }
        data.truncate(length as usize);
        Ok(Self {
            is_directory,
            path: path_in(&data),
            data,
        })
    }

    /// Makes a link of an open file or directory that is empty.
    ///
    /// `DeviceIoControl` with `FSCTL_SET_REPARSE_POINT`,
    /// [FSCTL_SET_REPARSE_POINT](https://learn.microsoft.com/windows/win32/api/winioctl/ni-winioctl-fsctl_set_reparse_point)
    pub(super) fn give(&self, file: BorrowedFile<'_>) -> Result<(), Errno> {
        let mut length = 0;
        // SAFETY: the handle is open as long as it is borrowed. The data has the size that is told,
        // which is at most that of the longest data, and is only read.
        let done = unsafe {
            DeviceIoControl(
                file.as_raw_handle(),
                FSCTL_SET_REPARSE_POINT,
                self.data.as_ptr().cast(),
                self.data.len() as u32,
                ptr::null_mut(),
                0,
                &raw mut length,
                ptr::null_mut(),
            )
        };
        if done == 0 {
            return Err(last_error());
        }
        Ok(())
    }

    /// Returns the path of a symbolic link, as Win32 takes it. `None` for another link.
    pub(super) fn symbolic(&self) -> Option<&Path> {
        let path = self.path.as_deref();
        path.filter(|_| tag(&self.data) == Some(IO_REPARSE_TAG_SYMLINK))
    }
}

/// Returns the path that a link leads to; `None` if the link is neither a symbolic one nor a
/// junction.
pub(crate) fn target_path(target: &LinkTarget) -> Option<&Path> {
    target.path.as_deref()
}

/// Returns the target of a new symbolic link to `path`, whose separators may be slashes. `None` if
/// it starts at the current directory of a drive, is too long, or is empty.
#[cfg(feature = "archive")]
pub(crate) fn link_to(
    path: &Path,
    leads_to_directory: impl FnOnce() -> bool,
) -> Option<LinkTarget> {
    let slash = u16::from(b'/');
    let text = path.as_os_str().encode_wide();
    let text: Vec<u16> = text
        .map(|unit| {
            if unit == slash {
                u16::from(b'\\')
            } else {
                unit
            }
        })
        .collect();
    let path = PathBuf::from(OsString::from_wide(&text));
    Some(LinkTarget {
        is_directory: leads_to_directory(),
        data: symlink_to(&path)?,
        path: Some(path),
    })
}

/// Returns the target with another path, which is absolute. A link that is not a symbolic one, or a
/// path that is too long for one, leaves the target as it is.
pub(crate) fn with_target(target: LinkTarget, path: &Path) -> LinkTarget {
    let made = target.symbolic().and_then(|_| symlink_to(path));
    match made {
        Some(data) => LinkTarget {
            is_directory: target.is_directory,
            data,
            path: Some(path.to_owned()),
        },
        None => target,
    }
}

/// Returns the data of a symbolic link to a path. `None` if it starts at the current directory of a
/// drive, is too long, or is empty.
///
/// [Symbolic link reparse data](https://learn.microsoft.com/openspecs/windows_protocols/ms-fscc/b41f1cbf-10df-4a47-98d4-1c52a833d913)
fn symlink_to(path: &Path) -> Option<Vec<u8>> {
    let wide = |text: &Path| -> Vec<u8> {
        let text = text.as_os_str().encode_wide();
        text.flat_map(u16::to_le_bytes).collect()
    };
    let kernel_path = as_kernel_path(path);
    let has_prefix = matches!(path.components().next(), Some(Component::Prefix(_)));
    if path.as_os_str().is_empty() || kernel_path.is_none() && has_prefix {
        return None;
    }
    let flags = if kernel_path.is_none() { RELATIVE } else { 0 };
    let (printed, target) = (wide(path), wide(kernel_path.as_deref().unwrap_or(path)));
    let length = |bytes: usize| u16::try_from(bytes).ok();
    let all = SYMLINK_TEXT + target.len() + printed.len();
    let mut data = IO_REPARSE_TAG_SYMLINK.to_le_bytes().to_vec();
    for field in [
        length(all - HEAD)?,
        0,
        0,
        length(target.len())?,
        length(target.len())?,
        length(printed.len())?,
    ] {
        data.extend(field.to_le_bytes());
    }
    data.extend(flags.to_le_bytes());
    data.extend(target);
    data.extend(printed);
    (data.len() <= MAXIMUM_REPARSE_DATA_BUFFER_SIZE as usize).then_some(data)
}

/// Returns the path that the data of a symbolic link or junction leads to.
fn path_in(data: &[u8]) -> Option<PathBuf> {
    let text_begins = match tag(data)? {
        IO_REPARSE_TAG_SYMLINK => SYMLINK_TEXT,
        IO_REPARSE_TAG_MOUNT_POINT => JUNCTION_TEXT,
        _ => return None,
    };
    let field = |at: usize| {
        let bytes = data.get(at..at + 2)?;
        Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)))
    };
    let (offset, length) = (text_begins + field(8)?, field(10)?);
    let text = data.get(offset..offset + length)?;
    let text: Vec<u16> = text
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let is_relative = text_begins == SYMLINK_TEXT && field(16)? & RELATIVE as usize != 0;
    if is_relative {
        return Some(OsString::from_wide(&text).into());
    }
    Some(from_kernel_path(&text))
}

fn tag(data: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*data.first_chunk()?))
}

/// Returns an absolute path of the kernel as Win32 takes it.
fn from_kernel_path(text: &[u16]) -> PathBuf {
    let after = |start: &str| {
        let start: Vec<u16> = start.encode_utf16().collect();
        text.strip_prefix(&*start).map(OsString::from_wide)
    };
    if let Some(share) = after(r"\??\UNC\") {
        let mut path = OsString::from(r"\\");
        path.push(share);
        return path.into();
    }
    match after(KERNEL) {
        Some(path) if path.as_encoded_bytes().get(1) == Some(&b':') => path.into(),
        Some(rest) => {
            let mut path = OsString::from(r"\\?\");
            path.push(rest);
            path.into()
        }
        None => OsString::from_wide(text).into(),
    }
}

/// Returns an absolute path as the kernel takes it; `None` for one that is not absolute.
fn as_kernel_path(path: &Path) -> Option<PathBuf> {
    let text: Vec<u16> = path.as_os_str().encode_wide().collect();
    let after = |start: &str| {
        let start: Vec<u16> = start.encode_utf16().collect();
        text.strip_prefix(&*start).map(OsString::from_wide)
    };
    if !path.is_absolute() {
        return None;
    }
    let (start, rest) = match (after(r"\\?\"), after(r"\\.\"), after(r"\\")) {
        (Some(rest), ..) | (_, Some(rest), _) => (KERNEL, rest),
        (.., Some(share)) => (r"\??\UNC\", share),
        _ => (KERNEL, path.as_os_str().to_owned()),
    };
    let mut path = OsString::from(start);
    path.push(rest);
    Some(path.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes the data of a link whose names are in the given order.
    fn data_of(tag: u32, target: &str, printed: &str, flags: Option<u32>) -> Vec<u8> {
        let bytes = |text: &str| -> Vec<u8> {
            let text = text.encode_utf16();
            text.flat_map(u16::to_le_bytes).collect()
        };
        let [target, printed] = [target, printed].map(bytes);
        let mut data = tag.to_le_bytes().to_vec();
        let length = 8 + flags.map_or(0, |_| 4) + target.len() + printed.len();
        // The printed name comes first, as `CreateSymbolicLinkW` does it.
        let lengths = [length, 0, printed.len(), target.len(), 0, printed.len()];
        data.extend(lengths.iter().flat_map(|&it| (it as u16).to_le_bytes()));
        data.extend(flags.iter().flat_map(|flags| flags.to_le_bytes()));
        data.extend(printed);
        data.extend(target);
        data
    }

    #[test]
    fn path_in_reads_links_and_junctions() {
        let link = |target, flags| data_of(IO_REPARSE_TAG_SYMLINK, target, "shown", Some(flags));
        let junction = |target| data_of(IO_REPARSE_TAG_MOUNT_POINT, target, "", None);
        for (data, path) in [
            (link(r"..\a", RELATIVE), r"..\a"),
            (link(r"\??\C:\a\b", 0), r"C:\a\b"),
            (link(r"\??\UNC\server\share\a", 0), r"\\server\share\a"),
            (junction(r"\??\D:\x"), r"D:\x"),
            (junction(r"\??\Volume{1-2}\"), r"\\?\Volume{1-2}\"),
        ] {
            assert_eq!(path_in(&data), Some(path.into()));
            // No part of it is enough, and none is read beyond its end.
            for length in 0..data.len() {
                assert_eq!(path_in(&data[..length]), None);
            }
        }
        assert_eq!(path_in(&data_of(7, "a", "b", None)), None);
    }

    #[test]
    fn symlink_to_makes_what_path_in_reads() {
        for path in [
            "a",
            r"..\a b\c",
            r"\a",
            r"C:\a",
            r"C:\a\\b",
            r"\\server\share\a",
            r"C:\ä 魚",
            r"\\?\Volume{1-2}\a",
        ] {
            let data = symlink_to(Path::new(path)).unwrap();
            assert_eq!(path_in(&data), Some(path.into()));
            let length = u16::from_le_bytes([data[4], data[5]]);
            assert_eq!(usize::from(length) + HEAD, data.len());
        }
        for path in ["", "C:a"] {
            assert_eq!(symlink_to(Path::new(path)), None);
        }
        let long = format!(r"C:\{}", "a".repeat(20_000));
        assert_eq!(symlink_to(Path::new(&long)), None);
    }

    #[test]
    fn with_target_changes_symbolic_links_only() {
        let target = |tag, flags| LinkTarget {
            is_directory: true,
            data: data_of(tag, "a", "a", flags),
            path: Some("a".into()),
        };
        let link = target(IO_REPARSE_TAG_SYMLINK, Some(RELATIVE));
        let made = with_target(link.clone(), Path::new(r"C:\x\a"));
        assert!(made.is_directory);
        assert_eq!(path_in(&made.data).as_deref(), target_path(&made));
        assert_eq!(target_path(&made), Some(Path::new(r"C:\x\a")));
        assert_eq!(with_target(link.clone(), Path::new("C:x")), link);
        let other = target(0xA000_001D, None);
        assert_eq!(with_target(other.clone(), Path::new(r"C:\x\a")), other);
    }

    proptest! {
        #[test]
        fn path_in_takes_any_bytes(mut data: Vec<u8>, is_link: bool) {
            path_in(&data);
            if let Some(start) = data.first_chunk_mut() {
                let tags = [IO_REPARSE_TAG_MOUNT_POINT, IO_REPARSE_TAG_SYMLINK];
                *start = tags[usize::from(is_link)].to_le_bytes();
            }
            path_in(&data);
        }
    }
}
