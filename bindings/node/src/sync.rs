//! Blocking calls for one file.

use std::mem::MaybeUninit;

use napi_sys as sys;
use smallfry::raw::{self, O_RDONLY};
use smallfry_options::OptionBits;

use crate::contents::{MAX_READ, buffer, buffer_to_fill, string};
use crate::durable::{DurableWrite, flush_name, flush_open};
use crate::environment::{Environment, ReadBuffers, called};
use crate::errors::{Failure, Reason, Step, at};
use crate::sys::{Descriptor, borrowed_path, path_of};
use crate::target::{Handle, PathRoom, Target};
use crate::text::bytes_of_view;
use crate::value::{Function, int32, number, undefined};

/// The functions that JavaScript calls.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"writeSync", write),
    Function(c"writeOpenSync", write_open),
    Function(c"writeDurablySync", write_durably),
    Function(c"readSync", read),
];

/// First guess for a file that does not tell its size (pipes, /proc). In bytes.
const UNKNOWN_SIZE: usize = 64 << 10;

/// `writeSync(path, data, flags, mode)`: string or bytes into a file, which is closed. Answers
/// undefined, or the number of a [`Failure`].
unsafe extern "C" fn write(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(
        env,
        info,
        |environment: &Environment, [path, data, flags, mode]| {
            let write = || {
                let data = Data::unless_left(env, environment, data)?;
                let mut room = PathRoom::new();
                let target = Target::read(env, &environment.strings, path, &mut room)?;
                let handle = target.open(int32(env, flags), int32(env, mode).cast_unsigned())?;
                let written = write_data(env, environment, &handle, data);
                let closed = target.close_written(handle);
                written.and(closed)
            };
            answer(env, write())
        },
    )
}

/// `writeOpenSync(descriptor, data)`: as [`write`], onto a descriptor. Each question to the engine
/// that it spares is 3 to 5 % of a short write.
unsafe extern "C" fn write_open(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(
        env,
        info,
        |environment: &Environment, [descriptor, data]| {
            let write = || {
                let data = Data::unless_left(env, environment, data)?;
                let descriptor = Descriptor::new(int32(env, descriptor));
                let handle = Handle::Lent(descriptor.ok_or(Failure::Delegate)?);
                write_data(env, environment, &handle, data)
            };
            answer(env, write())
        },
    )
}

/// Returns undefined, or the number of the failure.
#[inline]
fn answer(env: sys::napi_env, result: Result<(), Failure>) -> sys::napi_value {
    match result {
        Ok(()) => undefined(env),
        Err(failure) => number(env, failure.code()),
    }
}

/// `writeDurablySync(target, data, flags, mode, bits)`: as [`write`], with option bits. Answers
/// undefined, the number of a [`Failure`], or an error with its path.
unsafe extern "C" fn write_durably(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [target, data, flags, mode, bits] = values;
        let write = DurableWrite {
            bits: OptionBits::new(int32(env, bits)),
            flags: int32(env, flags),
            mode: int32(env, mode).cast_unsigned(),
        };
        match write_durably_to(env, environment, target, data, write) {
            Ok(()) => undefined(env),
            Err(reason) => reason.value(env),
        }
    })
}

fn write_durably_to(
    env: sys::napi_env,
    environment: &Environment,
    target: sys::napi_value,
    data: sys::napi_value,
    write: DurableWrite,
) -> Result<(), Reason> {
    let by_core = write.by_core();
    if write.replaces() {
        // The core takes paths of any length.
        let path = path_of(&environment.bytes_of(env, target));
        let by_core = by_core.ok_or(Failure::Delegate)?;
        return Ok(by_core.run(&path, &environment.bytes_of(env, data))?);
    }
    let mut room = PathRoom::new();
    let target = Target::read(env, &environment.strings, target, &mut room)?;
    match (&target, by_core) {
        (Target::Path(path), Some(by_core)) => {
            Ok(by_core.run(borrowed_path(path), &environment.bytes_of(env, data))?)
        }
        _ => write_and_flush(env, environment, &target, data, write),
    }
}

/// Writes what the core has no options for. The file is closed at once, so that no error comes
/// after the call.
fn write_and_flush(
    env: sys::napi_env,
    environment: &Environment,
    target: &Target<'_>,
    data: sys::napi_value,
    DurableWrite { bits, flags, mode }: DurableWrite,
) -> Result<(), Reason> {
    let handle = target.open(flags, mode)?;
    let written = write_data(env, environment, &handle, Data::read(env, data))
        .and_then(|()| flush_open(&handle, bits.flush()));
    let closed = handle.close();
    written.and(closed)?;
    flush_name(target, bits.flush())
}

/// The data of a write.
#[derive(Clone, Copy)]
enum Data<'a> {
    Bytes(&'a [u8]),
    Text(sys::napi_value),
}

impl Data<'_> {
    /// Reads a Buffer, typed array, data view or string. The engine tells a view sooner than a
    /// string.
    #[inline]
    fn read(env: sys::napi_env, value: sys::napi_value) -> Self {
        bytes_of_view(env, value).map_or(Self::Text(value), Self::Bytes)
    }

    /// Reads the same, but hands a string on that the runtime's own encoder is to write.
    #[inline]
    fn unless_left(
        env: sys::napi_env,
        environment: &Environment,
        value: sys::napi_value,
    ) -> Result<Self, Failure> {
        match Self::read(env, value) {
            Self::Text(text) if environment.strings.leaves(text) => Err(Failure::Delegate),
            data => Ok(data),
        }
    }
}

#[inline]
fn write_data(
    env: sys::napi_env,
    environment: &Environment,
    handle: &Handle,
    data: Data<'_>,
) -> Result<(), Failure> {
    let file = handle.borrow();
    match data {
        Data::Bytes(bytes) => raw::write_all(file, bytes),
        Data::Text(text) => environment
            .strings
            .encode(env, text, |bytes| raw::write_all(file, bytes)),
    }
    .map_err(at(Step::Write))
}

/// `readSync(target, utf8)`: all of a file, as Buffer or string. Answers the value, or the number
/// of a [`Failure`].
unsafe extern "C" fn read(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |environment: &Environment, [target, utf8]| {
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
    // A read of a pipe that fails half-way cannot be repeated by node:fs, so node:fs does all of
    // it.
    let lent_pipe = matches!(handle, Handle::Lent(_)) && !status.is_regular;
    if size > MAX_READ || lent_pipe {
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

fn read_spare(handle: &Handle, bytes: &mut Vec<u8>, limit: usize) -> Result<usize, Failure> {
    let spare = bytes.spare_capacity_mut();
    let limit = limit.min(spare.len());
    let count = raw::read(handle.borrow(), &mut spare[..limit])
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
