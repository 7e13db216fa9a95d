//! Group commit: durable writes that are handed in while others are being flushed share one
//! barrier.
//!
//! They wait here, and are then one batch with one barrier, as in `writeFiles`. The first call is a
//! batch at once. Up to [`MAX_BATCHES`] batches are in flight, so that a slow disk does not hold
//! up writes to another. A call has its result when its batch is flushed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use smallfry::{Error, Outcome};
use smallfry_options::OptionBits;
use smallfry_options::table::APPEND;

use crate::bounded_queue::BoundedQueue;
use crate::durable::DurableWrite;
use crate::errors::{Failure, Step};
use crate::mailbox::{Answer, Finished, JobResult, Mailbox};
use crate::sys::EIO;

/// The maximum number of batches in flight. Node's own pool has as many threads, so as many slow
/// disks make progress at once.
const MAX_BATCHES: usize = 4;
/// The maximum size of a file in a batch, in bytes. Larger files are written on their own, so that
/// other calls do not wait for them.
pub(super) const MAX_SIZE: usize = 1 << 20;

/// One call, waiting or being done.
pub(super) struct Call {
    pub(super) id: u32,
    pub(super) own_scope: bool,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) kind: WriteKind,
}

/// The options of a write. Calls of one kind share a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WriteKind {
    bits: OptionBits,
    mode: u32,
}

impl WriteKind {
    /// `None` for writes that batches do not do: additions, and writes that the core has no options
    /// for.
    pub(super) fn of(write: DurableWrite) -> Option<Self> {
        let bits = write.core_bits()?;
        let mode = write.mode;
        (!bits.has(APPEND)).then_some(Self { bits, mode })
    }
}

static QUEUE: BoundedQueue<Call> = BoundedQueue::new(MAX_BATCHES, 256 << 10, work);

/// Hands in a call. It begins at once unless [`MAX_BATCHES`] are in flight.
pub(super) fn push(call: Call) {
    call.mailbox.accept_write();
    QUEUE.push(call);
}

/// The body of a thread. It writes the calls that wait, until none do.
fn work() {
    while let Some(calls) = QUEUE.take(std::mem::take) {
        let mut batches = HashMap::<WriteKind, Vec<Call>>::new();
        for call in calls {
            batches.entry(call.kind).or_default().push(call);
        }
        for (kind, calls) in batches {
            write(kind, calls);
        }
    }
}

/// Writes a batch, flushes it and gives each call its result.
fn write(kind: WriteKind, calls: Vec<Call>) {
    let mut owners = Vec::with_capacity(calls.len());
    let mut entries = Vec::with_capacity(calls.len());
    for call in calls {
        owners.push((call.id, call.own_scope, call.mailbox));
        entries.push((call.path, call.bytes));
    }
    let written = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = kind.bits.writer();
        writer.mode(kind.mode).write(entries).into_results()
    }));
    // A panic must not leave the callers waiting for ever.
    let mut results = written.unwrap_or_default().into_iter();
    let mut to_wake: Vec<Arc<Mailbox>> = Vec::new();
    for (id, own_scope, mailbox) in owners {
        let finished = Finished {
            id,
            own_scope,
            is_write: true,
            result: result_of(results.next()),
        };
        if mailbox.put(finished) && !to_wake.iter().any(|known| Arc::ptr_eq(known, &mailbox)) {
            to_wake.push(mailbox);
        }
    }
    for mailbox in to_wake {
        mailbox.wake();
    }
}

fn result_of(written: Option<Result<Outcome, Error>>) -> JobResult {
    match written {
        Some(Ok(_)) => Ok(Answer::Nothing),
        Some(Err(error)) => Err(error.into()),
        None => Err(Failure::Other(Step::Write, EIO).into()),
    }
}
