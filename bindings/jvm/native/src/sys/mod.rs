//! The differences between systems.

#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;

pub(crate) use platform::{bytes_of, path_in, stay_loaded};

thread_local! {
    /// 0 if the system does not tell: the stack then seems to have no end.
    static STACK_END: usize = platform::stack_end().unwrap_or(0);
}

/// Returns how many bytes of this thread's stack are left, with the JVM's guard pages.
pub(crate) fn stack_left() -> usize {
    let here = 0_u8;
    let here = (&raw const here).addr();
    STACK_END.with(|end| here.saturating_sub(*end))
}
