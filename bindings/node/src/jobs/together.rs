//! Writes that must survive, made together: they wait for the disk together.
//!
//! Calls that arrive while others are being written and flushed wait here, and are then one batch with one barrier, as
//! `writeFiles` has it. The first call is a batch at once. A few batches are under way at a time, so that one whose disk is
//! slow does not hold up all others. A call has its result when its batch is flushed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallfry::bulk::Writer;
use smallfry::raw::{O_APPEND, O_CREAT, O_EXCL, O_TRUNC};
use smallfry::{Error, Outcome};

use super::client::{Client, Finished};
use super::exit::accept_write;
use crate::durable::Durable;
use crate::outcome::{Failure, Reason, Step};
use crate::sys::EIO;

/// Batches under way at a time: as many as Node's own pool has threads, so that as many slow disks make progress at once.
const BATCHES: usize = 4;
/// A larger file is written on its own, or others would wait for it. In bytes.
pub(super) const LARGEST: usize = 1 << 20;

/// One call on its way.
pub(super) struct Call {
    pub(super) id: u32,
    pub(super) alone: bool,
    pub(super) client: Arc<Client>,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) manner: Manner,
}

/// How a file is written. Calls of one manner share a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Manner {
    durable: Durable,
    create_new: bool,
    mode: u32,
}

impl Manner {
    /// `None` for what batches do not do: additions, flags that the core does not know.
    pub(super) fn of(durable: Durable, flags: i32, mode: u32) -> Option<Self> {
        durable.options(flags, mode)?;
        let create_new = flags & O_EXCL != 0;
        (flags & (O_CREAT | O_TRUNC | O_APPEND) == O_CREAT | O_TRUNC).then_some(Self {
            durable,
            create_new,
            mode,
        })
    }

    fn writer(self) -> Option<Writer> {
        let mut writer = Writer::new();
        writer.create_new(self.create_new).mode(self.mode);
        writer.durability(self.durable.durability()?);
        writer.replace(self.durable.replace);
        writer.in_place_if_busy(self.durable.in_place_if_busy);
        Some(writer)
    }
}

struct State {
    waiting: Vec<Call>,
    /// Threads that write batches.
    threads: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    waiting: Vec::new(),
    threads: 0,
});

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands in a call. It is begun at once unless there are enough batches.
pub(super) fn push(call: Call) {
    call.client.accept_write();
    accept_write();
    let mut state = lock();
    state.waiting.push(call);
    if state.threads == BATCHES {
        return;
    }
    state.threads += 1;
    drop(state);
    let thread = std::thread::Builder::new()
        .name("smallfry".into())
        .stack_size(256 << 10);
    if thread.spawn(work).is_ok() {
        return;
    }
    let mut state = lock();
    if state.threads > 1 {
        // The others come to it.
        state.threads -= 1;
        return;
    }
    drop(state);
    work();
}

/// Body of a thread: writes what waits, until nothing does.
fn work() {
    loop {
        let mut state = lock();
        let calls = std::mem::take(&mut state.waiting);
        if calls.is_empty() {
            state.threads -= 1;
            return;
        }
        drop(state);
        let mut batches = HashMap::<Manner, Vec<Call>>::new();
        for call in calls {
            batches.entry(call.manner).or_default().push(call);
        }
        for (manner, calls) in batches {
            write(manner, calls);
        }
    }
}

/// Writes a batch, flushes it and gives each call its result.
fn write(manner: Manner, calls: Vec<Call>) {
    let mut owners = Vec::with_capacity(calls.len());
    let mut entries = Vec::with_capacity(calls.len());
    for call in calls {
        owners.push((call.id, call.alone, call.client));
        entries.push((call.path, call.bytes));
    }
    let written = catch_unwind(AssertUnwindSafe(|| {
        let report = manner.writer().map(|writer| writer.write(entries));
        report.map_or_else(Vec::new, smallfry::bulk::Report::into_results)
    }));
    // A bug of ours must not leave the callers waiting for ever.
    let mut results = written.unwrap_or_default().into_iter();
    let mut clients: Vec<Arc<Client>> = Vec::new();
    for (id, alone, client) in owners {
        let finished = Finished {
            id,
            alone,
            is_write: true,
            result: result_of(results.next()),
        };
        if client.put(finished) && !clients.iter().any(|known| Arc::ptr_eq(known, &client)) {
            clients.push(client);
        }
    }
    for client in clients {
        client.wake();
    }
}

fn result_of(
    written: Option<Result<Outcome, Error>>,
) -> Result<Option<crate::contents::Contents>, Reason> {
    match written {
        Some(Ok(_)) => Ok(None),
        Some(Err(error)) => Err(error.into()),
        None => Err(Failure::Other(Step::Write, EIO).into()),
    }
}
