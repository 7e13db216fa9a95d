//! What files of asynchronous runtimes have in common: bytes that they hold back, and a last result to ask for.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// How long to sleep before another look. Nobody is to wait forever for a wake-up that another crate owes: the lock of a file
/// of async-std 1.13 takes its list of who waits, and only then is free, so it never wakes who comes in between.
const LOOK: Duration = Duration::from_millis(20);

/// Asks a file once whether anything of it is under way. `None` if one would have to wait.
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
            Poll::Pending => thread::park_timeout(LOOK),
        }
    }
}
