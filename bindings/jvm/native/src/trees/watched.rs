//! Work that Java watches and may stop, and that asks Java about entries.

use crate::sys;
use jni::errors::{Error, JniError, Result};
use jni::ids::JMethodID;
use jni::objects::{JObject, JValue};
use jni::signature::{Primitive, ReturnType};
use jni::sys::jlong;
use jni::{Env, jni_sig, jni_str};
use smallfry::bulk::Control;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// The interval at which Java is asked if the work goes on.
const INTERVAL: Duration = Duration::from_millis(20);

/// An event of the work, for the thread that waits for it.
enum Event {
    /// A thread asks if an entry is wanted, and waits for the answer.
    Question(PathBuf, SyncSender<bool>),
    Done,
}

/// The questions of a filter.
pub(super) struct Questions(Sender<Event>);

impl Questions {
    /// Waits until the caller's thread has asked Java. Returns false if the work is stopped.
    pub(super) fn is_wanted(&self, path: &Path) -> bool {
        let (answer, answers) = sync_channel(1);
        let asked = self.0.send(Event::Question(path.to_owned(), answer));
        asked.is_ok() && answers.recv().unwrap_or(false)
    }
}

/// The events of one call.
///
/// Java is called by the caller's thread alone. Threads of the core have small stacks, and would
/// have to be attached to the JVM.
pub(super) struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    has_questions: bool,
}

impl Events {
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            has_questions: false,
        }
    }

    /// Makes the questions of a filter.
    pub(super) fn questions(&mut self) -> Questions {
        self.has_questions = true;
        Questions(self.sender.clone())
    }
}

/// Does `work` on another thread. Meanwhile this one tells `watch`, a `dev.smallfry.Watch`, how far
/// it is, and asks it the questions of `events`. The work is cancelled if Java wants no more or
/// throws.
///
/// If there is no memory for a thread, this one works, and Java is not told. With questions, that
/// is an error.
pub(super) fn watched<T: Send>(
    env: &mut Env<'_>,
    watch: &JObject<'_>,
    events: Events,
    work: impl FnOnce(&Control) -> T + Send,
) -> Result<T> {
    let control = Control::new();
    let Events {
        sender,
        receiver,
        has_questions,
    } = events;
    let mut waiting = Waiting::new(env, watch, &control, has_questions)?;
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work(&control))
    };
    let result = thread::scope(|scope| {
        let builder = Builder::new().name("smallfry".into());
        let spawned = builder.spawn_scoped(scope, move || {
            let _done = SendsDone(sender);
            run()
        });
        let Ok(thread) = spawned else {
            return Ok(None);
        };
        waiting.wait(&receiver);
        thread.join().map(Some)
    });
    match result {
        Ok(Some(result)) => {
            waiting.outcome?;
            result.ok_or(Error::JniCall(JniError::Unknown))
        }
        Ok(None) if has_questions => Err(Error::JniCall(JniError::NoMemory)),
        Ok(None) => run().ok_or(Error::JniCall(JniError::Unknown)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Tells the waiting thread that the work has ended, also by a panic.
struct SendsDone(Sender<Event>);

impl Drop for SendsDone {
    fn drop(&mut self) {
        _ = self.0.send(Event::Done);
    }
}

/// The caller's thread, which waits for the work.
struct Waiting<'a, 'env, 'local> {
    env: &'a mut Env<'env>,
    watch: &'a JObject<'local>,
    control: &'a Control,
    wants: Option<JMethodID>,
    told: Instant,
    /// The first failure of Java.
    outcome: Result<()>,
}

impl<'a, 'env, 'local> Waiting<'a, 'env, 'local> {
    fn new(
        env: &'a mut Env<'env>,
        watch: &'a JObject<'local>,
        control: &'a Control,
        has_questions: bool,
    ) -> Result<Self> {
        let wants = if has_questions {
            let class = env.get_object_class(watch)?;
            Some(env.get_method_id(&class, jni_str!("wants"), jni_sig!("([B)Z"))?)
        } else {
            None
        };
        Ok(Self {
            env,
            watch,
            control,
            wants,
            told: Instant::now(),
            outcome: Ok(()),
        })
    }

    /// Waits until the work is done.
    fn wait(&mut self, events: &Receiver<Event>) {
        loop {
            match events.recv_timeout(INTERVAL) {
                Ok(Event::Done) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Event::Question(path, answer)) => {
                    let is_wanted = !self.control.is_cancelled() && {
                        let asked = self.ask(&path);
                        self.hear(asked)
                    };
                    _ = answer.send(is_wanted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.told.elapsed() >= INTERVAL && !self.control.is_cancelled() {
                let told = self.tell();
                if !self.hear(told) {
                    self.control.cancel();
                }
                self.told = Instant::now();
            }
        }
    }

    /// Cancels the work if Java has thrown.
    fn hear(&mut self, answer: Result<bool>) -> bool {
        answer.unwrap_or_else(|error| {
            self.outcome = Err(error);
            self.control.cancel();
            false
        })
    }

    /// Tells Java the progress. Returns whether it wants more.
    fn tell(&mut self) -> Result<bool> {
        let progress = self.control.progress();
        let counts = [progress.operations, progress.bytes].map(|count| JValue::Long(long(count)));
        let (method, signature) = (jni_str!("goesOn"), jni_sig!("(JJ)Z"));
        self.env
            .call_method(self.watch, method, signature, &counts)?
            .z()
    }

    /// Asks Java if it wants an entry.
    fn ask(&mut self, path: &Path) -> Result<bool> {
        let Some(wants) = self.wants else {
            return Ok(true);
        };
        let path = self.env.byte_array_from_slice(&sys::bytes_of(path))?;
        let arguments = [JValue::Object(&path).as_jni()];
        let kind = ReturnType::Primitive(Primitive::Boolean);
        // SAFETY: the method was looked up by this signature in the class of this object.
        let answer = unsafe {
            self.env
                .call_method_unchecked(self.watch, wants, kind, &arguments)
        };
        self.env.delete_local_ref(path);
        answer?.z()
    }
}

/// Converts a count to Java's `long`.
pub(super) fn long(count: u64) -> jlong {
    jlong::try_from(count).unwrap_or(jlong::MAX)
}
