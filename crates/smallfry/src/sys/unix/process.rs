//! Unix: what happens when the process ends, or is copied.

/// Functions for the process that is being copied, and for both afterwards. Each runs on the thread that calls `fork`.
pub(crate) struct ForkHandlers {
    pub(crate) before: extern "C" fn(),
    pub(crate) in_parent: extern "C" fn(),
    pub(crate) in_child: extern "C" fn(),
}

/// `atexit`: runs `handler` when the process ends by `exit` or by returning from `main`, while its threads live. Where the
/// system has no memory for that, nothing happens.
///
/// [atexit(3)](https://man7.org/linux/man-pages/man3/atexit.3.html)
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: the function lives as long as the process.
    unsafe { libc::atexit(handler) };
}

/// `pthread_atfork`: has `handlers` run around each `fork`.
///
/// [pthread_atfork(3)](https://man7.org/linux/man-pages/man3/pthread_atfork.3.html)
pub(crate) fn at_fork(handlers: &ForkHandlers) {
    let [before, in_parent, in_child] = [handlers.before, handlers.in_parent, handlers.in_child]
        .map(|handler| -> unsafe extern "C" fn() { handler });
    // SAFETY: functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}
