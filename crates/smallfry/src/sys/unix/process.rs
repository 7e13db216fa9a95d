//! Unix: handlers for the end of the process and for `fork`.

/// Handlers around `fork`. Each runs on the thread that calls it.
pub(crate) struct ForkHandlers {
    pub(crate) before: extern "C" fn(),
    pub(crate) in_parent: extern "C" fn(),
    pub(crate) in_child: extern "C" fn(),
}

/// Runs `handler` when the process calls `exit` or returns from `main`, while its threads live.
/// Nothing happens if the system has no memory for that.
///
/// `atexit`, [atexit(3)](https://man7.org/linux/man-pages/man3/atexit.3.html)
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: the function lives as long as the process.
    unsafe { libc::atexit(handler) };
}

/// Runs `handlers` around each `fork`.
///
/// `pthread_atfork`,
/// [pthread_atfork(3)](https://man7.org/linux/man-pages/man3/pthread_atfork.3.html)
pub(crate) fn at_fork(handlers: &ForkHandlers) {
    let [before, in_parent, in_child] = [handlers.before, handlers.in_parent, handlers.in_child]
        .map(|handler| -> unsafe extern "C" fn() { handler });
    // SAFETY: the functions live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}
