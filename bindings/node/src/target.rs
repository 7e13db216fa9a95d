//! The file that a call reads or writes: a path, or a descriptor that stays the caller's.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

use napi_sys as sys;
use smallfry::Error;
use smallfry::close::Closer;
use smallfry::raw::{self, BorrowedFile, Errno, OwnedFile};

use crate::errors::{Failure, Step, at, at_open};
use crate::sys::{Descriptor, EIO, borrowed_path};
use crate::text::{Strings, bytes_of_view};
use crate::value::{int32, is_number};

/// Room for a path with its terminating NUL, in bytes: Linux's own limit.
const PATH_ROOM: usize = 4096;

/// Memory for a path on the stack.
pub(crate) struct PathRoom(MaybeUninit<[u8; PATH_ROOM]>);

impl PathRoom {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// A path or a descriptor, for the time of one call.
pub(crate) enum Target<'a> {
    Path(&'a CStr),
    Descriptor(Descriptor),
}

/// A path or a descriptor, for as long as a job takes.
pub(crate) enum OwnedTarget {
    Path(CString),
    Descriptor(Descriptor),
}

/// A file that may be written or read: opened here, or lent by the caller.
pub(crate) enum Handle {
    Owned(OwnedFile),
    Lent(Descriptor),
}

impl<'a> Target<'a> {
    /// Reads the first argument: a string or the bytes of a path, or a descriptor.
    #[inline]
    pub(crate) fn read(
        env: sys::napi_env,
        strings: &Strings,
        value: sys::napi_value,
        room: &'a mut PathRoom,
    ) -> Result<Self, Failure> {
        if is_number(env, value) {
            let descriptor = Descriptor::new(int32(env, value)).map(Self::Descriptor);
            return descriptor.ok_or(Failure::Delegate);
        }
        // SAFETY: bytes have no invalid values, and only those written below are read.
        let room = unsafe { &mut *room.0.as_mut_ptr() };
        let length = match bytes_of_view(env, value) {
            Some(bytes) if bytes.is_empty() || bytes.len() >= PATH_ROOM => None,
            Some(bytes) => {
                room[..bytes.len()].copy_from_slice(bytes);
                Some(bytes.len())
            }
            None => strings.copy_to(env, value, &mut room[..PATH_ROOM - 1]),
        };
        let length = length.ok_or(Failure::Delegate)?;
        room[length] = 0;
        CStr::from_bytes_with_nul(&room[..=length])
            .map(Self::Path)
            .map_err(|_| Failure::Delegate)
    }

    #[inline]
    pub(crate) fn open(&self, flags: i32, mode: u32) -> Result<Handle, Failure> {
        match self {
            Self::Path(path) => raw::open(path, flags, mode)
                .or_else(|error| open_again(error, path, flags, mode))
                .map(Handle::Owned)
                .map_err(at_open),
            Self::Descriptor(descriptor) => Ok(Handle::Lent(*descriptor)),
        }
    }

    pub(crate) fn to_owned(&self) -> OwnedTarget {
        match self {
            Self::Path(path) => OwnedTarget::Path((*path).to_owned()),
            Self::Descriptor(descriptor) => OwnedTarget::Descriptor(*descriptor),
        }
    }
}

/// Opens once more if files whose close is deferred hold the last descriptors.
#[cold]
fn open_again(error: Errno, path: &CStr, flags: i32, mode: u32) -> Result<OwnedFile, Errno> {
    if !error.is_out_of_descriptors() {
        return Err(error);
    }
    let mut last = error;
    let mut open = || raw::open(path, flags, mode).inspect_err(|error| last = *error);
    Closer::global().with_room(|| Ok(open()?)).map_err(|_| last)
}

impl Target<'_> {
    /// Closes a file that was opened here and written, or defers that where closing is slow.
    #[inline]
    pub(crate) fn close_written(&self, handle: Handle) -> Result<(), Failure> {
        match (self, handle) {
            (Self::Path(path), Handle::Owned(file)) => {
                let closed = Closer::global().close(file, borrowed_path(path));
                closed.map(drop).map_err(|error| close_failure(&error))
            }
            (_, handle) => handle.close(),
        }
    }
}

#[cold]
fn close_failure(error: &Error) -> Failure {
    match error.raw_os_error() {
        Some(errno) => Failure::System(Step::Close, Errno(errno)),
        None => Failure::Other(Step::Close, EIO),
    }
}

impl OwnedTarget {
    pub(crate) fn borrow(&self) -> Target<'_> {
        match self {
            Self::Path(path) => Target::Path(path),
            Self::Descriptor(descriptor) => Target::Descriptor(*descriptor),
        }
    }
}

impl Handle {
    #[inline]
    pub(crate) fn borrow(&self) -> BorrowedFile<'_> {
        match self {
            Self::Owned(file) => raw::borrow(file),
            Self::Lent(descriptor) => descriptor.borrow(),
        }
    }

    /// Closes a file that was opened here.
    #[inline]
    pub(crate) fn close(self) -> Result<(), Failure> {
        match self {
            Self::Owned(file) => raw::close(file).map_err(at(Step::Close)),
            Self::Lent(_) => Ok(()),
        }
    }
}
