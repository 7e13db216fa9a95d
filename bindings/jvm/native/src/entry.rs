//! The beginning and end of every native method.

use crate::sys;
use jni::errors::{Error, JniError, Result, ThrowRuntimeExAndDefault};
use jni::{Env, EnvUnowned, jni_str};

/// The stack that a native method needs, in bytes. The JVM ends the process if the stack ends while
/// it throws an exception in native code. It keeps about 100 KiB for each native method, which is
/// enough until Java is called back, but not as much for those calls.
const MIN_STACK: usize = 128 << 10;

/// Runs the body of a native method. A panic or an error of JNI becomes a `RuntimeException`. If
/// JNI has no memory, it becomes an `OutOfMemoryError`. An exception that Java code has thrown
/// meanwhile goes on. If less than [`MIN_STACK`] is left, the body does not run, and a
/// `StackOverflowError` is thrown.
pub(crate) fn called<'local, T: Default>(
    environment: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T>,
) -> T {
    called_anywhere(environment, |env| {
        if sys::stack_left() < MIN_STACK {
            return Err(stack_overflow(env));
        }
        match body(env) {
            Err(Error::JniCall(JniError::NoMemory)) => {
                env.throw_new(
                    jni_str!("java/lang/OutOfMemoryError"),
                    jni_str!("no memory for the files of a call"),
                )?;
                Err(Error::JavaException)
            }
            answer => answer,
        }
    })
}

/// Runs the body of a native method as [`called`] does, for a body that does not call Java back.
pub(crate) fn called_anywhere<'local, T: Default>(
    mut environment: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T>,
) -> T {
    environment
        .with_env(body)
        .resolve::<ThrowRuntimeExAndDefault>()
}

/// Throws a `StackOverflowError` by JNI's bare functions. Functions of the crate would look for
/// more classes after a failure, and each look takes more of the stack.
fn stack_overflow(env: &Env<'_>) -> Error {
    let env = env.get_raw();
    // SAFETY: the environment is that of this thread, and has the functions of JNI 1.1; the string
    // ends with a zero, and there need not be a message. If the class is not found the exception
    // that says so is thrown instead.
    unsafe {
        let functions = (**env).v1_1;
        let class = (functions.FindClass)(env, c"java/lang/StackOverflowError".as_ptr());
        if !class.is_null() {
            (functions.ThrowNew)(env, class, std::ptr::null());
        }
    }
    Error::JavaException
}
