//! The native half of the Maven artifact `dev.smallfry:smallfry`, called by the class
//! `dev.smallfry.Native` alone.
//!
//! | module | |
//! |---|---|
//! | `entry.rs` | the beginning and end of every native method |
//! | `write.rs` | writing one file |
//! | `write_all.rs` | writing many files in one call |
//! | `read_all.rs` | reading many files in one call |
//! | `read.rs` | reading many files, piece by piece |
//! | `source.rs` | paths and contents from Java: a piece of memory that Java fills, again and again |
//! | `sink.rs` | contents to Java: a piece of memory that Java empties, again and again |
//! | `results.rs` | errors and numbers as bytes |
//! | `options.rs` | the options of calls for many files |
//! | `trees/` | trees that are copied, mirrored, removed, packed, unpacked or hashed |
//! | `sys/` | the differences between systems: paths, stacks, staying loaded |
//!
//! Strings cross as bytes of UTF-8, never through JNI's own functions, which have a UTF-8 of their
//! own. A bulk call is one call from Java, and calls back once for each piece. No reference to an
//! object is kept from call to call, and no array is held in place during a system call.

#![allow(unsafe_code, reason = "JNI is called by pointers")]

mod entry;
mod options;
mod read;
mod read_all;
mod results;
mod sink;
mod source;
mod sys;
mod trees;
mod write;
mod write_all;

use std::ffi::c_void;

use jni::errors::Result;
use jni::exceptions::{
    JArrayIndexOutOfBoundsException, JClassCircularityError, JClassFormatError,
    JClassNotFoundException, JExceptionInInitializerError, JIllegalArgumentException,
    JInstantiationException, JLinkageError, JNoClassDefFoundError, JNoSuchMethodError,
    JOutOfMemoryError, JSecurityException,
};
use jni::objects::JByteBuffer;
use jni::refs::{LoaderContext, Reference};
use jni::sys::{JNI_VERSION_1_8, jint};
use jni::{Env, JavaVM};

/// Called by Java once the library is loaded.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn JNI_OnLoad(vm: *mut jni::sys::JavaVM, _: *mut c_void) -> jint {
    sys::stay_loaded();
    // SAFETY: it is the machine that calls.
    let vm = unsafe { JavaVM::from_raw(vm) };
    let found = vm.attach_current_thread(find_exceptions);
    // If the classes are not found, all works as long as there is memory.
    drop(found);
    JNI_VERSION_1_8
}

/// Has the crate find the classes that it needs after a failed function of JNI, and keep them. A
/// search after memory or the stack has ended would fail as well.
fn find_exceptions(env: &mut Env<'_>) -> Result<()> {
    fn find<T: Reference>(env: &mut Env<'_>) -> Result<()> {
        let found = T::lookup_class(env, &LoaderContext::None).map(drop);
        if found.is_err() {
            env.exception_clear();
        }
        found
    }
    find::<JSecurityException<'_>>(env)?;
    find::<JClassNotFoundException<'_>>(env)?;
    find::<JOutOfMemoryError<'_>>(env)?;
    find::<JExceptionInInitializerError<'_>>(env)?;
    find::<JLinkageError<'_>>(env)?;
    find::<JNoClassDefFoundError<'_>>(env)?;
    find::<JClassFormatError<'_>>(env)?;
    find::<JClassCircularityError<'_>>(env)?;
    find::<JNoSuchMethodError<'_>>(env)?;
    find::<JIllegalArgumentException<'_>>(env)?;
    find::<JInstantiationException<'_>>(env)?;
    find::<JArrayIndexOutOfBoundsException<'_>>(env)?;
    find::<JByteBuffer<'_>>(env)
}
