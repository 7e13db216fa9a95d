//! The native half of the Maven artifact `dev.smallfry:smallfry`, called by the class `dev.smallfry.Native` alone.
//!
//! | module | |
//! |---|---|
//! | `write.rs` | one file |
//! | `write_all.rs` | many files in one call |
//! | `read_all.rs` | many files in one call |
//! | `read.rs` | many files, piece by piece |
//! | `source.rs` | how paths and contents come from Java: a piece of memory that Java fills, again and again |
//! | `sink.rs` | how contents go there: a piece of memory that Java empties, again and again |
//! | `results.rs` | how errors and numbers are put in bytes |
//! | `options.rs` | what a call may say, as numbers |
//! | `sys/` | paths |
//!
//! Strings cross as bytes of UTF-8, never through JNI's own functions, whose UTF-8 is another one. A bulk call is one call
//! from Java, and calls back once for each piece. No reference to an object is kept from call to call, and no array
//! is held in place while the system is asked for anything.

mod options;
mod read;
mod read_all;
mod results;
mod sink;
mod source;
mod sys;
mod write;
mod write_all;

use std::ffi::c_void;

use jni::errors::{Error, JniError, Result, ThrowRuntimeExAndDefault};
use jni::sys::{JNI_VERSION_1_8, jint};
use jni::{Env, EnvUnowned, jni_str};

/// Runs the body of a native method. A panic, or an error of JNI itself, becomes a `RuntimeException`, or an `OutOfMemoryError`
/// where that is what it says; an exception that Java code has thrown meanwhile goes on.
fn called<'local, T: Default>(
    mut environment: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T>,
) -> T {
    let with_memory = |env: &mut Env<'local>| match body(env) {
        Err(Error::JniCall(JniError::NoMemory)) => {
            env.throw_new(
                jni_str!("java/lang/OutOfMemoryError"),
                jni_str!("Java heap space"),
            )?;
            Err(Error::JavaException)
        }
        answer => answer,
    };
    environment
        .with_env(with_memory)
        .resolve::<ThrowRuntimeExAndDefault>()
}

/// Called by Java once the library is loaded.
#[unsafe(no_mangle)]
pub extern "system" fn JNI_OnLoad(_: *mut jni::sys::JavaVM, _: *mut c_void) -> jint {
    sys::stay_loaded();
    JNI_VERSION_1_8
}
