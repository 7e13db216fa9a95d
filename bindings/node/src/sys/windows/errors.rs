//! Error numbers of Windows as libuv, and so Node, shows them.

use windows_sys::Win32::Foundation as win32;

/// Numbers of libuv, without their sign.
///
/// [uv/errno.h](https://github.com/libuv/libuv/blob/v1.x/include/uv/errno.h)
const E2BIG: i32 = 4093;
const EACCES: i32 = 4092;
const EBADF: i32 = 4083;
const EBUSY: i32 = 4082;
const ECANCELED: i32 = 4081;
const ECHARSET: i32 = 4080;
const ECONNRESET: i32 = 4077;
const EEXIST: i32 = 4075;
const EFAULT: i32 = 4074;
const EINVAL: i32 = 4071;
pub(crate) const EIO: i32 = 4070;
pub(crate) const EISDIR: i32 = 4068;
pub(crate) const ELOOP: i32 = 4067;
const EMFILE: i32 = 4066;
const ENETUNREACH: i32 = 4062;
const ENOENT: i32 = 4058;
pub(crate) const ENOMEM: i32 = 4057;
const ENOSPC: i32 = 4055;
pub(crate) const ENAMETOOLONG: i32 = 4064;
pub(crate) const ENOTDIR: i32 = 4052;
const ENOTEMPTY: i32 = 4051;
const ENOTSUP: i32 = 4049;
const EPERM: i32 = 4048;
const EPIPE: i32 = 4047;
const EROFS: i32 = 4043;
const ETIMEDOUT: i32 = 4039;
const EXDEV: i32 = 4037;
const UNKNOWN: i32 = 4094;
const EOF: i32 = 4095;

/// Returns the number that Node shows for an error of the system, without its sign. It is that of
/// libuv's `uv_translate_sys_error`, for the errors that calls on files can give.
///
/// [src/win/error.c](https://github.com/libuv/libuv/blob/v1.x/src/win/error.c)
pub(crate) fn node_errno(errno: i32) -> i32 {
    match errno.cast_unsigned() {
        win32::ERROR_META_EXPANSION_TOO_LONG => E2BIG,
        win32::ERROR_NOACCESS | win32::ERROR_ELEVATION_REQUIRED | win32::ERROR_CANT_ACCESS_FILE => {
            EACCES
        }
        win32::ERROR_INVALID_FLAGS | win32::ERROR_INVALID_HANDLE => EBADF,
        win32::ERROR_LOCK_VIOLATION | win32::ERROR_PIPE_BUSY | win32::ERROR_SHARING_VIOLATION => {
            EBUSY
        }
        win32::ERROR_OPERATION_ABORTED => ECANCELED,
        win32::ERROR_NO_UNICODE_TRANSLATION => ECHARSET,
        win32::ERROR_NETNAME_DELETED => ECONNRESET,
        win32::ERROR_ALREADY_EXISTS | win32::ERROR_FILE_EXISTS => EEXIST,
        win32::ERROR_BUFFER_OVERFLOW => EFAULT,
        win32::ERROR_INSUFFICIENT_BUFFER
        | win32::ERROR_INVALID_DATA
        | win32::ERROR_INVALID_PARAMETER
        | win32::ERROR_SYMLINK_NOT_SUPPORTED => EINVAL,
        win32::ERROR_BUS_RESET
        | win32::ERROR_CRC
        | win32::ERROR_DISK_CORRUPT
        | win32::ERROR_GEN_FAILURE
        | win32::ERROR_IO_DEVICE
        | win32::ERROR_OPEN_FAILED => EIO,
        win32::ERROR_INVALID_FUNCTION => EISDIR,
        win32::ERROR_CANT_RESOLVE_FILENAME => ELOOP,
        win32::ERROR_TOO_MANY_OPEN_FILES => EMFILE,
        win32::ERROR_FILENAME_EXCED_RANGE => ENAMETOOLONG,
        win32::ERROR_NETWORK_UNREACHABLE => ENETUNREACH,
        win32::ERROR_BAD_PATHNAME
        | win32::ERROR_DIRECTORY
        | win32::ERROR_FILE_NOT_FOUND
        | win32::ERROR_INVALID_NAME
        | win32::ERROR_INVALID_DRIVE
        | win32::ERROR_INVALID_REPARSE_DATA
        | win32::ERROR_MOD_NOT_FOUND
        | win32::ERROR_PATH_NOT_FOUND => ENOENT,
        win32::ERROR_NOT_ENOUGH_MEMORY | win32::ERROR_OUTOFMEMORY => ENOMEM,
        win32::ERROR_CANNOT_MAKE
        | win32::ERROR_DISK_FULL
        | win32::ERROR_EA_TABLE_FULL
        | win32::ERROR_END_OF_MEDIA
        | win32::ERROR_HANDLE_DISK_FULL => ENOSPC,
        win32::ERROR_DIR_NOT_EMPTY => ENOTEMPTY,
        win32::ERROR_NOT_SUPPORTED => ENOTSUP,
        win32::ERROR_BROKEN_PIPE => EOF,
        win32::ERROR_ACCESS_DENIED | win32::ERROR_PRIVILEGE_NOT_HELD => EPERM,
        win32::ERROR_BAD_PIPE | win32::ERROR_NO_DATA | win32::ERROR_PIPE_NOT_CONNECTED => EPIPE,
        win32::ERROR_WRITE_PROTECT => EROFS,
        win32::ERROR_SEM_TIMEOUT => ETIMEDOUT,
        win32::ERROR_NOT_SAME_DEVICE => EXDEV,
        _ => UNKNOWN,
    }
}
