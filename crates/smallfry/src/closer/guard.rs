//! Calls of code that is not ours: it may panic, and it may use the closer itself.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// This thread is closing an item of the queue. What it calls must not wait for the queue.
    static IS_CLOSING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, and returns `None` if it panics.
pub(super) fn catch<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(discard).ok()
}

/// Runs `work`, and returns its panic as an error.
pub(super) fn catch_as_error<R>(work: impl FnOnce() -> R) -> io::Result<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("without a message");
        let error = io::Error::other(format!("panicked: {text}"));
        discard(panic);
        error
    })
}

/// Drops the payload of a panic. Its drop may panic in turn; a payload that keeps doing so is
/// leaked.
fn discard(mut panic: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(next) => panic = next,
        }
    }
    std::mem::forget(panic);
}

/// Runs `work` as code that must not wait for the queue.
pub(super) fn as_closing<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);

    impl Drop for Before {
        fn drop(&mut self) {
            IS_CLOSING.set(self.0);
        }
    }

    let _before = Before(IS_CLOSING.replace(true));
    work()
}

/// Returns true on a thread that is closing an item of the queue.
pub(super) fn is_closing() -> bool {
    IS_CLOSING.get()
}
