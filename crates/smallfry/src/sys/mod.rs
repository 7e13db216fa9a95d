//! The system calls. No other module of this crate makes any.
//!
//! `unix.rs` and `windows.rs` hold the same free functions with the same signatures. One of them is
//! compiled. `linux.rs` and `macos.rs` hold the functions that differ among Unix systems.

#![allow(unsafe_code, reason = "it calls the system")]

#[cfg(not(any(unix, windows)))]
compile_error!("smallfry supports Unix and Windows only");

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

#[cfg(unix)]
#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android")),
    path = "macos.rs"
)]
mod variant;

#[cfg_attr(unix, path = "unix/mapping.rs")]
#[cfg_attr(windows, path = "windows/mapping.rs")]
mod mapping;

#[cfg_attr(unix, path = "unix/rename.rs")]
#[cfg_attr(windows, path = "windows/rename.rs")]
mod rename;

#[cfg_attr(unix, path = "unix/background.rs")]
#[cfg_attr(windows, path = "windows/background.rs")]
pub(crate) mod background;

#[cfg_attr(unix, path = "unix/limits.rs")]
#[cfg_attr(windows, path = "windows/limits.rs")]
mod limits;

#[cfg_attr(unix, path = "unix/open_file.rs")]
#[cfg_attr(windows, path = "windows/open_file.rs")]
mod open_file;

#[cfg_attr(unix, path = "unix/process.rs")]
#[cfg_attr(windows, path = "windows/process.rs")]
mod process;

#[cfg_attr(unix, path = "unix/flush.rs")]
#[cfg_attr(windows, path = "windows/flush.rs")]
mod flush;

mod status;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod file_by_file;

#[cfg_attr(unix, path = "unix/attributes.rs")]
#[cfg_attr(windows, path = "windows/attributes.rs")]
mod attributes;

#[cfg_attr(unix, path = "unix/beneath.rs")]
#[cfg_attr(windows, path = "windows/beneath.rs")]
mod beneath;

#[cfg(feature = "archive")]
#[cfg_attr(unix, path = "unix/archive.rs")]
#[cfg_attr(windows, path = "windows/archive.rs")]
mod archive;

#[cfg_attr(unix, path = "unix/contents.rs")]
#[cfg_attr(windows, path = "windows/contents.rs")]
mod contents;

#[cfg_attr(unix, path = "unix/open_directory.rs")]
#[cfg_attr(windows, path = "windows/open_directory.rs")]
mod open_directory;

#[cfg_attr(unix, path = "unix/entry.rs")]
#[cfg_attr(windows, path = "windows/entry.rs")]
mod entry;

#[cfg_attr(unix, path = "unix/names.rs")]
#[cfg_attr(windows, path = "windows/names.rs")]
mod names;

#[cfg_attr(unix, path = "unix/preserve.rs")]
#[cfg_attr(windows, path = "windows/preserve.rs")]
mod preserve;

#[cfg_attr(unix, path = "unix/behind_links.rs")]
#[cfg_attr(windows, path = "windows/behind_links.rs")]
mod behind_links;

mod attribute_kinds;
mod kind;
#[cfg(feature = "hash")]
mod stamp;

#[cfg(unix)]
#[path = "unix/at.rs"]
mod at;
#[cfg(unix)]
#[path = "unix/walk.rs"]
mod walk;

#[cfg_attr(unix, path = "unix/link_target.rs")]
#[cfg_attr(windows, path = "windows/link_target.rs")]
mod link_target;
#[cfg(windows)]
#[path = "windows/nt.rs"]
mod nt;
#[cfg(windows)]
#[path = "windows/removal.rs"]
mod removal;

#[cfg(feature = "archive")]
pub(crate) use archive::{local_date, local_time};
pub(crate) use attribute_kinds::AttributeKinds;
pub(crate) use attributes::{Attributes, PathStatus, gives_list, path_status};
pub(crate) use behind_links::FOLLOWS_LINKS;
pub(crate) use beneath::{Directory, LEADS_OUT, LEADS_OUT_WORDS, RENAMES_BENEATH};
#[cfg(feature = "archive")]
pub(crate) use contents::data_parts;
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) use contents::read_at;
pub(crate) use contents::{clone_file, copy_range, copy_sparse};
pub(crate) use entry::{EntryStatus, Identity};
pub(crate) use entry::{entry_status, set_mode_and_times, set_mode_of, set_times};
pub(crate) use flush::{
    FLUSHABLE, FLUSHES_DIRECTORIES, O_DIRECTORY, WholeFileSystem, begin_flush, flush_contents,
    flush_directory, flush_file, unwritten_bytes,
};
pub(crate) use kind::Kind;
pub(crate) use limits::descriptor_limit;
#[cfg(feature = "archive")]
pub(crate) use link_target::link_to;
pub(crate) use link_target::{LinkTarget, target_path, with_target};
pub(crate) use mapping::{Mapping, page_size};
#[cfg(any(feature = "archive", feature = "hash"))]
pub(crate) use names::bytes_of;
#[cfg(feature = "archive")]
pub(crate) use names::path_from;
pub(crate) use names::{Name, OwnedName, as_path, ends_in_separator, last_name, name_of, start_of};
pub(crate) use open_directory::{
    OpenDirectory, is_missing, is_taken, may_mean_no_directory, root_identity,
};
pub(crate) use open_file::{device_of, device_of_regular, is_writable, path_of, reports_at_close};
#[cfg(windows)]
pub(crate) use platform::FOLDS_CASE;
#[cfg(feature = "tree")]
pub(crate) use platform::NOT_A_DIRECTORY;
pub use platform::{
    AsFile, BorrowedFile, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC,
    O_WRONLY, OwnedFile, borrow, close, open, read, status, write,
};
pub(crate) use platform::{
    COPIES_BY_PATH, OPEN_FILES_ARE_IN_THE_WAY, RESERVES_NAMES, copy_by_path, mode_of, open_path,
    read_spare,
};
pub(crate) use preserve::{PRESERVES, copy_attributes, set_owner_of};
pub(crate) use process::{ForkHandlers, at_exit, at_fork};
pub(crate) use rename::{NOTHING_THERE, TOO_MANY_LINKS, rename, rename_and_flush};
#[cfg(feature = "hash")]
pub(crate) use stamp::Stamp;
pub use status::Status;
#[cfg(unix)]
pub(crate) use variant::FOLDS_CASE;

/// True if a file whose [`Stamp`] is the same has the same contents.
#[cfg(feature = "hash")]
pub(crate) const HAS_STAMPS: bool = cfg!(unix);

/// The size of the smallest page of all these systems, in bytes. [`page_size`] is that of this
/// system.
pub(crate) const PAGE: usize = 4096;
/// The size of a huge page on the processors this was measured on, in bytes.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs::{File, OpenOptions};

    use super::*;

    #[test]
    fn is_writable_is_true_for_files_opened_for_writing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let is_writable = |file: &File| is_writable(borrow(file));
        assert!(is_writable(&File::create(&path).unwrap()));
        assert!(!is_writable(&File::open(&path).unwrap()));
        let appended = OpenOptions::new().append(true).open(&path).unwrap();
        assert!(is_writable(&appended));
        let both = OpenOptions::new().read(true).write(true).open(&path);
        assert!(is_writable(&both.unwrap()));
    }
}
