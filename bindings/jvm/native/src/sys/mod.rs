//! What differs between systems.

#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;

pub(crate) use platform::{bytes_of, path_in, stay_loaded};

thread_local! {
    /// As if the stack had no end if the system does not say.
    static STACK_END: usize = platform::stack_end().unwrap_or(0);
}

/// How many bytes of this thread's stack are left, the JVM's guard pages with them.
pub(crate) fn stack_left() -> usize {
    let here = 0_u8;
    let here = (&raw const here).addr();
    STACK_END.with(|end| here.saturating_sub(*end))
}
