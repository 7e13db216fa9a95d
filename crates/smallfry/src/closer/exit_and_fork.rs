//! Pending closes at the end of the process, and in the child of a `fork`.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use smallfry_workers::sync::MutexGuard;

use super::backends::Backend;
use super::guard::is_closing;
use super::pending::Pending;
use super::queue;
use super::reports;
use super::shared::Shared;
use crate::sys;

/// The time that the end of the process waits for closes in flight.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The shared part of the process's closer.
static SHARED: OnceLock<&'static Shared> = OnceLock::new();

/// Installs the handlers that close what is pending at the end of the process, and keep the closer
/// whole in the child of a `fork`.
pub(super) fn watch(shared: &'static Shared) {
    // No thread waits here. In the child of a `fork` during the call, it would wait for ever.
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if IS_WATCHED.load(Ordering::Relaxed) || IS_WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    let _ = SHARED.set(shared);
    sys::at_exit(close_at_exit);
    sys::at_fork(&sys::ForkHandlers {
        before: lock_for_fork,
        in_parent: unlock_in_parent,
        in_child: reset_in_child,
    });
}

/// Closes what waits on the thread that ends the process, and waits for closes in flight for a
/// while. It joins no thread: others are alive, but may be stuck for reasons of their own.
extern "C" fn close_at_exit() {
    let Some(shared) = SHARED.get() else { return };
    // Files that other exit handlers drop later are closed by the thread that drops them.
    shared.is_over.store(true, Ordering::Relaxed);
    if shared.pending() > 0 && !is_closing() {
        shared.wait(Some(LAST_WAIT));
    }
}

/// The locks that are held during a `fork`, so that the child finds everything whole.
type Held = (
    [MutexGuard<'static, queue::State<Pending>>; 2],
    MutexGuard<'static, reports::State>,
    MutexGuard<'static, Backend>,
);

thread_local! {
    /// It has no destructor, so that it can be used as long as the thread lives.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

extern "C" fn lock_for_fork() {
    let Some(shared) = SHARED.get() else { return };
    HELD.set(Some(ManuallyDrop::new((
        [shared.plain.lock(), shared.holding.lock()],
        shared.records.reports.lock(),
        shared.lock_backend(),
    ))));
}

extern "C" fn unlock_in_parent() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn reset_in_child() {
    let Some(shared) = SHARED.get() else { return };
    if let Some(([mut plain, mut holding], _reports, mut backend)) =
        HELD.take().map(ManuallyDrop::into_inner)
    {
        // A file that holds bytes back may need threads that the child does not have. What the drop
        // of a value does, such as writing or removing, the parent does.
        let keep = |Pending { handle, .. }: &Pending| !handle.has_more() && !handle.is_value();
        shared.plain.reset_in_child(&mut plain, keep);
        shared.holding.reset_in_child(&mut holding, keep);
        // Its threads are not here. Dropping it could wait for them, or for these locks.
        std::mem::forget(std::mem::take(&mut *backend));
    }
}
