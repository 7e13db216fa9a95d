//! Requests that are sent again after a failure, later and later.

use std::time::{Duration, Instant};
use std::{io, thread};

use smallfry_workers::TaskContext;

use super::failure::Failure;

/// The time after which a request is not sent again.
const DEADLINE: Duration = Duration::from_secs(180);
/// The time after which it is not sent again if there was no connection.
const CONNECTION_DEADLINE: Duration = Duration::from_secs(10);
/// The longest wait before the first repetition. It doubles with each one.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The time between two looks whether the batch is stopped.
const LOOK: Duration = Duration::from_millis(100);

/// Calls `request` until it succeeds, fails for good, the deadline has passed, or the batch is
/// stopped. Between two tries it waits for a random part of a time that doubles, so that clients
/// that were refused together do not come back together.
///
/// Source: Brooker 2015, "Exponential Backoff And Jitter".
pub(super) fn retry<T>(
    context: &mut TaskContext<'_>,
    mut request: impl FnMut(&mut TaskContext<'_>) -> Result<T, Failure>,
) -> io::Result<T> {
    let began = Instant::now();
    let mut longest = FIRST_WAIT;
    loop {
        let failure = match request(context) {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        let least = match &failure {
            Failure::Refused(_, wait) => {
                context.slow_down();
                wait.unwrap_or_default()
            }
            Failure::Broken(_) | Failure::Unreachable(_) => Duration::ZERO,
            Failure::Cut(_) => {
                longest = FIRST_WAIT;
                Duration::ZERO
            }
            Failure::Final(_) => return Err(failure.into()),
        };
        let wait = longest.mul_f64(fastrand::f64()).max(least);
        let deadline = match failure {
            Failure::Unreachable(_) => CONNECTION_DEADLINE,
            _ => DEADLINE,
        };
        if began.elapsed() + wait > deadline || !sleep(wait, context) {
            return Err(failure.into());
        }
        longest = (2 * longest).min(LONGEST_WAIT);
    }
}

/// Sleeps. Returns false, and soon, if the batch is stopped.
fn sleep(time: Duration, context: &TaskContext<'_>) -> bool {
    let mut left = time;
    while !left.is_zero() && !context.is_stopped() {
        let part = left.min(LOOK);
        thread::sleep(part);
        left -= part;
    }
    !context.is_stopped()
}
