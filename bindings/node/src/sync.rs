//! Calls that finish before they return: one crossing per file.

use std::mem::MaybeUninit;

use napi_sys as sys;
use smallfry::raw::{self, O_RDONLY};

use crate::contents::{buffer, buffer_to_fill, string};
use crate::durable::Durable;
use crate::environment::{Environment, ReadBuffers, called};
use crate::outcome::{Failure, Reason, Step, at};
use crate::sys::borrowed_path;
use crate::target::{Handle, PathRoom, Target};
use crate::text::view_bytes;
use crate::value::{int32, is_string, number, undefined};

/// Files above this size are left to node:fs, which knows its own limits; nothing is gained on them. In bytes.
pub(crate) const LARGEST_READ: u64 = 64 << 20;
/// First guess for a file that does not tell its size (pipes, /proc). In bytes.
const UNKNOWN_SIZE: usize = 64 << 10;

/// `writeSync(target, data, flags, mode)`: string or bytes onto a path or a descriptor. Answers undefined, or the
/// number of a [`Failure`].
pub(crate) unsafe extern "C" fn write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, [target, data, flags, mode]| {
        if is_string(env, data) && environment.strings.leaves(data) {
            return number(env, Failure::Delegate.code());
        }
        let mut room = PathRoom::new();
        let result =
            Target::read(env, &environment.strings, target, &mut room).and_then(|target| {
                let handle = target.open(int32(env, flags), int32(env, mode).cast_unsigned())?;
                let written = write_data(env, environment, &handle, data);
                let closed = target.close_written(handle);
                written.and(closed)
            });
        match result {
            Ok(()) => undefined(env),
            Err(failure) => number(env, failure.code()),
        }
    })
}

/// `writeDurablySync(target, data, flags, mode, durable)`: as [`write`], and makes it last as `durable` says. Answers
/// undefined, the number of a [`Failure`], or an error with its path.
pub(crate) unsafe extern "C" fn write_durably(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [target, data, flags, mode, durable] = values;
        let durable = Durable::of(int32(env, durable));
        let (flags, mode) = (int32(env, flags), int32(env, mode).cast_unsigned());
        let mut room = PathRoom::new();
        let result = Target::read(env, &environment.strings, target, &mut room)
            .map_err(Reason::from)
            .and_then(|target| match (&target, durable.write_of(flags, mode)) {
                (Target::Path(path), Some(write)) => {
                    let bytes = environment.bytes_of(env, data);
                    Ok(write.run(borrowed_path(path), &bytes)?)
                }
                _ if durable.replace => Err(Failure::Delegate.into()),
                _ => write_and_flush(env, environment, &target, data, (flags, mode), durable),
            });
        match result {
            Ok(()) => undefined(env),
            Err(reason) => reason.value(env),
        }
    })
}

/// Writes what the core has no options for. It is closed here: nothing is left to report later.
fn write_and_flush(
    env: sys::napi_env,
    environment: &Environment,
    target: &Target<'_>,
    data: sys::napi_value,
    (flags, mode): (i32, u32),
    durable: Durable,
) -> Result<(), Reason> {
    let handle = target.open(flags, mode)?;
    let written = write_data(env, environment, &handle, data).and_then(|()| durable.flush(&handle));
    let closed = handle.close();
    written.and(closed)?;
    durable.flush_name(target)
}

#[inline]
fn write_data(
    env: sys::napi_env,
    environment: &Environment,
    handle: &Handle,
    data: sys::napi_value,
) -> Result<(), Failure> {
    let file = handle.borrow();
    if is_string(env, data) {
        environment
            .strings
            .encode(env, data, |bytes| raw::write_all(file, bytes))
    } else {
        raw::write_all(file, view_bytes(env, data))
    }
    .map_err(at(Step::Write))
}

/// `readSync(target, utf8)`: all of a file, as Buffer or string. Answers the value, or the number of a [`Failure`].
pub(crate) unsafe extern "C" fn read(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, [target, utf8]| {
        let mut room = PathRoom::new();
        let result = Target::read(env, &environment.strings, target, &mut room)
            .and_then(|target| target.open(O_RDONLY, 0))
            .and_then(|handle| {
                let value = read_value(env, environment, &handle, int32(env, utf8) != 0);
                let closed = handle.close();
                value.and_then(|value| closed.map(|()| value))
            });
        match result {
            Ok(value) => value,
            Err(failure) => number(env, failure.code()),
        }
    })
}

fn read_value(
    env: sys::napi_env,
    environment: &Environment,
    handle: &Handle,
    utf8: bool,
) -> Result<sys::napi_value, Failure> {
    let status = raw::status(handle.borrow()).map_err(at(Step::Status))?;
    let size = if status.is_regular { status.size } else { 0 };
    // A pipe that fails half-way has lost what was read, so a caller's pipe is node:fs's from the start.
    let lent_pipe = matches!(handle, Handle::Lent(_)) && !status.is_regular;
    if size > LARGEST_READ || lent_pipe {
        return Err(Failure::Delegate);
    }
    if size > 0 && !utf8 {
        return read_buffer(env, handle, size as usize);
    }
    environment.with_read_buffers(|ReadBuffers { bytes, decoded }| {
        if size > 0 {
            read_known(handle, size as usize, bytes)?;
        } else {
            read_to_end(handle, bytes)?;
        }
        if utf8 {
            string(env, bytes, decoded)
        } else {
            buffer(env, bytes)
        }
        .ok_or(Failure::Delegate)
    })
}

/// Reads a file of known size straight into the Buffer that is returned.
fn read_buffer(
    env: sys::napi_env,
    handle: &Handle,
    size: usize,
) -> Result<sys::napi_value, Failure> {
    let (value, room) = buffer_to_fill(env, size).ok_or(Failure::Delegate)?;
    let mut filled = 0;
    while filled < size {
        match read_some(handle, &mut room[filled..])? {
            0 => return buffer(env, &room[..filled]).ok_or(Failure::Delegate),
            count => filled += count,
        }
    }
    Ok(value)
}

/// Reads until `size` bytes are there or the file ends, as Node does.
fn read_known(handle: &Handle, size: usize, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    bytes.reserve(size);
    while bytes.len() < size {
        let rest = size - bytes.len();
        if read_spare(handle, bytes, rest)? == 0 {
            break;
        }
    }
    Ok(())
}

fn read_to_end(handle: &Handle, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    loop {
        bytes.reserve(UNKNOWN_SIZE);
        let room = bytes.capacity() - bytes.len();
        if read_spare(handle, bytes, room)? == 0 {
            return Ok(());
        }
    }
}

fn read_spare(handle: &Handle, bytes: &mut Vec<u8>, most: usize) -> Result<usize, Failure> {
    let spare = bytes.spare_capacity_mut();
    let most = most.min(spare.len());
    let count = raw::read(handle.borrow(), &mut spare[..most])
        .map_err(at(Step::Read))?
        .len();
    // SAFETY: the read has initialised `count` bytes behind the old length, within the capacity.
    unsafe { bytes.set_len(bytes.len() + count) };
    Ok(count)
}

/// One read into memory that is already initialised.
pub(crate) fn read_some(handle: &Handle, room: &mut [u8]) -> Result<usize, Failure> {
    // SAFETY: `raw::read` only writes bytes into the room, so it stays initialised.
    let room = unsafe { &mut *(std::ptr::from_mut(room) as *mut [MaybeUninit<u8>]) };
    raw::read(handle.borrow(), room)
        .map(|filled| filled.len())
        .map_err(at(Step::Read))
}
