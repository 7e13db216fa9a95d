//! Waiting for the bytes that an async file holds back.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// The maximum sleep before another poll, since wake-ups can be lost. The file lock of async-std
/// 1.13 takes its list of waiting tasks before it is free, so a task that comes in between is never
/// woken.
const MAX_PARK: Duration = Duration::from_millis(20);

/// Polls a flush once. Returns `None` if an operation is in flight.
pub(super) fn poll_once(flush: impl Future<Output = io::Result<()>>) -> Option<io::Result<()>> {
    match pin!(flush).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Waits for a result on a thread that may block.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Waiting(Thread);

    impl Wake for Waiting {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Waiting(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park_timeout(MAX_PARK),
        }
    }
}
