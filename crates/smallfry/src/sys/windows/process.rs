//! Windows: what happens when the process ends.

/// There is no `fork`.
#[expect(dead_code, reason = "nothing calls them here")]
pub(crate) struct ForkHandlers {
    pub(crate) before: extern "C" fn(),
    pub(crate) in_parent: extern "C" fn(),
    pub(crate) in_child: extern "C" fn(),
}

/// Nothing: other threads are dead when a library's handlers run, and what they held stays locked. The system closes what
/// is open.
///
/// [DllMain](https://learn.microsoft.com/windows/win32/dlls/dllmain)
pub(crate) fn at_exit(_handler: extern "C" fn()) {}

/// Nothing.
pub(crate) fn at_fork(_handlers: &ForkHandlers) {}
