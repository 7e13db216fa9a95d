//! What files of asynchronous runtimes have in common: bytes that they hold back, and a last result to ask for.

use std::io;
use std::task::{Context, Poll, Waker};

/// Asks a file once whether anything of it is under way. A future that would have to wait is dropped; `None` then.
pub(super) fn poll_once(
    poll: impl FnOnce(&mut Context<'_>) -> Poll<io::Result<()>>,
) -> Option<io::Result<()>> {
    match poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}
