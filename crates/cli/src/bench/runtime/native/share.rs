//! Plain threads that share numbered pieces of work.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The maximum of pieces per batch, which makes the counter's cost vanish, and the minimum of
/// batches per thread, with which threads end together.
const BATCH: usize = 8;

/// Does all pieces, on the calling thread alone if `threads` is 1, and returns results in order.
/// `scratch` makes the value that each thread reuses.
pub(crate) fn share<T: Send, U>(
    threads: usize,
    pieces: usize,
    scratch: impl Fn() -> U + Sync,
    work: impl Fn(&mut U, usize) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    if threads <= 1 {
        let mut scratch = scratch();
        return (0..pieces).map(|piece| work(&mut scratch, piece)).collect();
    }
    let batch = (pieces / threads / BATCH).clamp(1, BATCH);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut scratch = scratch();
        let mut done = Vec::new();
        loop {
            let first = next.fetch_add(batch, Ordering::Relaxed);
            if first >= pieces {
                return Ok::<_, io::Error>(done);
            }
            for piece in first..pieces.min(first + batch) {
                done.push((piece, work(&mut scratch, piece)?));
            }
        }
    };
    let parts = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut parts = vec![run()];
        parts.extend(others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
        }));
        parts.into_iter().collect::<io::Result<Vec<_>>>()
    })?;
    let mut all: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
    for (piece, result) in parts.into_iter().flatten() {
        all[piece] = Some(result);
    }
    Ok(all.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_and_stays_in_order() {
        for threads in [1, 3] {
            let done = share(threads, 1_000, || (), |(), piece| Ok(piece)).unwrap();
            assert_eq!(done, (0..1_000).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_is_passed_on() {
        let done = share(
            2,
            100,
            || (),
            |(), piece| match piece {
                50 => Err(io::Error::other("refused")),
                _ => Ok(()),
            },
        );
        assert!(done.is_err());
    }
}
