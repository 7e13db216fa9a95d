//! Windows: handlers for the end of the process.

/// Handlers around `fork`, which Windows does not have.
#[expect(dead_code, reason = "nothing calls them here")]
pub(crate) struct ForkHandlers {
    pub(crate) before: extern "C" fn(),
    pub(crate) in_parent: extern "C" fn(),
    pub(crate) in_child: extern "C" fn(),
}

/// Does nothing. Other threads are dead when a library's handlers run, and their locks stay locked.
/// The system closes all files.
///
/// [DllMain](https://learn.microsoft.com/windows/win32/dlls/dllmain)
pub(crate) fn at_exit(_handler: extern "C" fn()) {}

/// Does nothing: Windows has no `fork`.
pub(crate) fn at_fork(_handlers: &ForkHandlers) {}
