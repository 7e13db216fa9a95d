//! What happens to pending closes when the process ends, or is copied.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::backends::Backend;
use super::closer::{Closer, Reports, lock};
use super::pending::{Pending, is_closing};
use super::queue::State;
use crate::sync::MutexGuard;
use crate::sys;

/// How long the end of the process waits for threads that are closing something.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Sees to it that nothing is cut off when the process ends, and that a copy of it can go on.
pub(super) fn watch_process() {
    // Nobody waits here: a process that was copied in the middle of it would for ever.
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.load(Ordering::Relaxed) || WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    sys::at_exit(close_at_exit);
    sys::at_fork(&sys::ForkHandlers {
        before: hold_for_fork,
        in_parent: release_after_fork,
        in_child: begin_anew_after_fork,
    });
}

/// Other threads are alive, but may be stuck for reasons of their own. So the thread that ends the process closes what
/// waits, and is patient with the others for a while: it joins nobody.
extern "C" fn close_at_exit() {
    let shared = &Closer::global().0;
    // What other handlers drop after this is closed there.
    shared.is_over.store(true, Ordering::Relaxed);
    if shared.pending() > 0 && !is_closing() {
        shared.wait(Some(LAST_WAIT));
    }
}

/// What is locked while the process is copied, so that the copy finds it whole.
type Held = (
    [MutexGuard<'static, State<Pending>>; 2],
    MutexGuard<'static, Reports>,
    MutexGuard<'static, Backend>,
);

thread_local! {
    /// Without a destructor, so that it can be used as long as the thread lives.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

extern "C" fn hold_for_fork() {
    let shared = &Closer::global().0;
    HELD.set(Some(ManuallyDrop::new((
        [shared.plain.lock(), shared.holding.lock()],
        lock(&shared.reports),
        lock(&shared.backend),
    ))));
}

extern "C" fn release_after_fork() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn begin_anew_after_fork() {
    let shared = &Closer::global().0;
    if let Some(([mut plain, mut holding], _reports, mut backend)) =
        HELD.take().map(ManuallyDrop::into_inner)
    {
        // What has more to do than to close may need threads that the child does not have.
        let keep = |pending: &Pending| !pending.handle.has_more();
        shared.plain.begin_anew(&mut plain, keep);
        shared.holding.begin_anew(&mut holding, keep);
        *backend = Backend::Threads;
    }
}
