//! Writes one file.

use crate::entry::called;
use crate::{results, sys};
use jni::EnvUnowned;
use jni::errors::{Error, JniError, Result};
use jni::objects::{JByteArray, JClass};
use jni::sys::jint;
use smallfry_options::OptionBits;
use std::cell::RefCell;

/// The maximum memory that a thread keeps for the next file, in bytes.
const MAX_KEPT: usize = 1 << 20;

thread_local! {
    /// A copy of path and contents. Arrays in Java's heap move unless the collector is stopped, and
    /// writing may take too long for that.
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory(Vec::new())) };
}

/// Memory that only grows, so that it need not be zeroed again.
struct Memory(Vec<i8>);

impl Memory {
    /// `None` if there is no memory: an allocation that fails would end the process.
    fn of(&mut self, length: usize) -> Option<&mut [i8]> {
        let more = length.saturating_sub(self.0.len());
        self.0.try_reserve(more).ok()?;
        if more > 0 {
            self.0.resize(length, 0);
        }
        Some(&mut self.0[..length])
    }
}

/// Writes `contents`. Returns null, or the error.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_write<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JByteArray<'local>,
    contents: JByteArray<'local>,
    bits: jint,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (path_length, length) = (path.len(env)?, contents.len(env)?);
        let error = MEMORY.with_borrow_mut(|memory| -> Result<_> {
            let room = memory.of(path_length + length);
            let room = room.ok_or(Error::JniCall(JniError::NoMemory))?;
            let (path_bytes, bytes) = room.split_at_mut(path_length);
            path.get_region(env, 0, path_bytes)?;
            contents.get_region(env, 0, bytes)?;
            let path = sys::path_in(unsigned(path_bytes));
            let mut options = OptionBits::new(bits).write_options();
            let written = options.overwrite(true).write(path, unsigned(bytes));
            if memory.0.len() > MAX_KEPT {
                memory.0 = Vec::new();
            }
            Ok(written.err())
        })?;
        match error {
            None => Ok(JByteArray::default()),
            Some(error) => env.byte_array_from_slice(&results::error_alone(&error)),
        }
    })
}

fn unsigned(bytes: &[i8]) -> &[u8] {
    // SAFETY: both are one byte, and every value of the one is one of the other.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
