//! Work that Java watches and may stop.

use jni::errors::{Error, JniError, Result};
use jni::objects::{JObject, JValue};
use jni::sys::jlong;
use jni::{Env, jni_sig, jni_str};
use smallfry::bulk::Control;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

/// The interval at which Java is asked if the work goes on.
const INTERVAL: Duration = Duration::from_millis(20);

/// Does `work` on another thread. Meanwhile this one tells `watch`, a `dev.smallfry.Watch`, how far
/// it is. The work is cancelled if Java wants no more or throws.
///
/// If there is no memory for a thread, this one works, and Java is not asked.
pub(super) fn watched<T: Send>(
    env: &mut Env<'_>,
    watch: &JObject<'_>,
    work: impl FnOnce(&Control) -> T + Send,
) -> Result<T> {
    let control = Control::new();
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work(&control))
    };
    let (sender, results) = sync_channel(1);
    let (result, asked) = thread::scope(|scope| {
        let builder = Builder::new().name("smallfry".into());
        if builder
            .spawn_scoped(scope, || _ = sender.send(run()))
            .is_err()
        {
            return (run(), Ok(()));
        }
        let mut asked = Ok(());
        loop {
            match results.recv_timeout(INTERVAL) {
                Ok(result) => return (result, asked),
                // The work has panicked, which the scope passes on.
                Err(RecvTimeoutError::Disconnected) => return (None, asked),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if control.is_cancelled() {
                continue;
            }
            match goes_on(env, watch, &control) {
                Ok(true) => {}
                Ok(false) => control.cancel(),
                Err(error) => {
                    asked = Err(error);
                    control.cancel();
                }
            }
        }
    });
    asked?;
    result.ok_or(Error::JniCall(JniError::Unknown))
}

/// Tells Java the progress. Returns whether it wants more.
fn goes_on(env: &mut Env<'_>, watch: &JObject<'_>, control: &Control) -> Result<bool> {
    let progress = control.progress();
    let counts = [progress.operations, progress.bytes].map(|count| JValue::Long(long(count)));
    env.call_method(watch, jni_str!("goesOn"), jni_sig!("(JJ)Z"), &counts)?
        .z()
}

/// Converts a count to Java's `long`.
pub(super) fn long(count: u64) -> jlong {
    jlong::try_from(count).unwrap_or(jlong::MAX)
}
