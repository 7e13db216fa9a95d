//! The native half of the Maven artifact `dev.smallfry:smallfry`, called by the class `dev.smallfry.Native` alone.
//!
//! | module | |
//! |---|---|
//! | `entry.rs` | how every native method begins and ends |
//! | `write.rs` | one file |
//! | `write_all.rs` | many files in one call |
//! | `read_all.rs` | many files in one call |
//! | `read.rs` | many files, piece by piece |
//! | `source.rs` | how paths and contents come from Java: a piece of memory that Java fills, again and again |
//! | `sink.rs` | how contents go there: a piece of memory that Java empties, again and again |
//! | `results.rs` | how errors and numbers are put in bytes |
//! | `options.rs` | what a call may say, as numbers |
//! | `sys/` | what differs between systems: paths, stacks, staying loaded |
//!
//! Strings cross as bytes of UTF-8, never through JNI's own functions, whose UTF-8 is another one. A bulk call is one call
//! from Java, and calls back once for each piece. No reference to an object is kept from call to call, and no array
//! is held in place while the system is asked for anything.

mod entry;
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
    // Without them it works, too, while there is memory.
    drop(found);
    JNI_VERSION_1_8
}

/// Has the crate find the classes that it asks for when a function of JNI's has failed. It keeps them; but to look for one where
/// memory or the stack has ended fails as well, for which it looks for the next.
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
