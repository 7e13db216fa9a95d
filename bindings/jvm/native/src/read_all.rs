//! Reads many files in one call, and keeps all contents. The thread that has read a file also gives
//! it to Java: decoding takes about as long as reading, and the contents are still in the
//! processor's cache.

use crate::entry::called;
use crate::options::Bulk;
use crate::read::ReadOptions;
use crate::sink::{self, Piece, Sink};
use crate::source::{Call, Paths, Source};
use jni::errors::{Error, JniError, Result};
use jni::ids::JMethodID;
use jni::objects::{JByteArray, JClass, JObject, JThrowable};
use jni::refs::Global;
use jni::sys::{jint, jlong};
use jni::{AttachConfig, AttachmentExceptionPolicy, Env, EnvUnowned, JavaVM, jni_str};
use smallfry::bulk::{Arena, Control, ReadFile};
use smallfry_workers::{Batch, Spawn, Stream, Task, TaskContext};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// The stack of a thread, on which Java's own code runs. In bytes.
const STACK: usize = 1 << 20;
/// The room of a piece: for many small files, and small enough for the processor's cache. In bytes.
const ROOM: usize = 256 << 10;
/// The maximum time that the first result of a piece waits for others. An interrupt is noticed when
/// results are given to Java.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Reads a file and has Java decode it.
struct Decode {
    read: ReadFile,
    java: Arc<Java>,
}

/// The state that all threads of a call share.
struct Java {
    vm: JavaVM,
    sink: Global<JObject<'static>>,
    accept: JMethodID,
    is_text: bool,
    control: Control,
    /// The first failure of Java, and the exception that it has thrown.
    failure: Mutex<Option<(Error, Option<Global<JThrowable<'static>>>)>>,
}

fn config<'a>() -> AttachConfig<'a> {
    AttachConfig::new()
        .thread_name(jni_str!("smallfry"))
        .exceptions_policy(AttachmentExceptionPolicy::Ignore)
}

impl Java {
    fn sink<'a>(&'a self, memory: &'a JByteArray<'static>) -> Sink<'a, 'static> {
        Sink {
            object: &self.sink,
            memory,
        }
    }

    /// Runs `body` with this thread attached to the JVM. If there is no memory for that, `body`
    /// fails when it calls Java.
    fn as_one_of_its_threads(&self, body: impl FnOnce()) {
        let mut body = Some(body);
        let mut run = || body.take().map(|body| body());
        let config = || config().scoped(true);
        let _ = self
            .vm
            .attach_current_thread_with_config(config, None, |_| {
                run();
                Ok::<_, Error>(())
            });
        run();
    }

    /// Runs `body` with the JNI environment of this thread. If that fails, returns `None` and
    /// begins nothing more.
    fn on_this_thread<T>(&self, body: impl FnOnce(&mut Env<'_>) -> Result<Option<T>>) -> Option<T> {
        let body = |env: &mut Env<'_>| {
            body(env).or_else(|error| {
                let thrown = env.exception_occurred();
                env.exception_clear();
                let thrown = thrown.and_then(|thrown| env.new_global_ref(thrown).ok());
                self.fail(error, thrown);
                Ok(None)
            })
        };
        let answer = self
            .vm
            .attach_current_thread_with_config(config, None, body);
        // The body's own errors are handled above: there is no memory to attach this thread.
        answer.unwrap_or_else(|_: Error| {
            self.fail(Error::JniCall(JniError::NoMemory), None);
            None
        })
    }

    fn fail(&self, error: Error, thrown: Option<Global<JThrowable<'static>>>) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert((error, thrown));
        self.control.cancel();
    }

    /// Returns the failure of the first thread that failed.
    fn outcome(&self, env: &mut Env<'_>) -> Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match failure.take() {
            None => Ok(()),
            Some((_, Some(thrown))) => env.throw(&*thrown),
            Some((error, None)) => Err(error),
        }
    }
}

/// The results that one thread gathers.
#[derive(Default)]
struct Scratch {
    arena: Arena,
    gathered: Option<Gathered>,
}

struct Gathered {
    java: Arc<Java>,
    piece: Piece,
    memory: Global<JByteArray<'static>>,
}

impl Scratch {
    fn gathered(&mut self, env: &mut Env<'_>, java: &Arc<Java>) -> Result<&mut Gathered> {
        if self.gathered.is_none() {
            let memory = env.new_byte_array(ROOM)?;
            let gathered = Gathered {
                java: Arc::clone(java),
                piece: Piece::new(java.accept, ROOM, java.is_text),
                memory: env.new_global_ref(&memory)?,
            };
            env.delete_local_ref(memory);
            self.gathered = Some(gathered);
        }
        self.gathered.as_mut().ok_or(Error::NullPtr("no memory"))
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        let Self {
            java,
            piece,
            memory,
        } = self;
        java.on_this_thread(|env| {
            piece.flush(env, &java.sink(memory))?;
            Ok(Some(()))
        });
    }
}

impl Task for Decode {
    type Input = PathBuf;
    /// True for a failure. Java has got all results.
    type Output = bool;
    type Scratch = Scratch;

    fn run(&self, scratch: &mut Scratch, path: PathBuf, context: &mut TaskContext<'_>) -> bool {
        let result = self.read.read(&mut scratch.arena, &path, context);
        let java = &self.java;
        let wants_more = java.on_this_thread(|env| {
            let gathered = scratch.gathered(env, java)?;
            let sink = java.sink(&gathered.memory);
            let contents = result.as_deref();
            gathered
                .piece
                .push(env, &sink, context.index(), contents, MAX_WAIT)
        });
        if wants_more == Some(false) {
            java.control.cancel();
        }
        result.is_err()
    }

    /// Gives Java nothing: a missing result says that the file was not begun.
    fn cancelled(&self, _: PathBuf) -> bool {
        true
    }

    fn failed(&self, has_failed: &bool) -> bool {
        *has_failed
    }
}

/// Threads of the JVM that end with the call.
struct Threads<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    java: Arc<Java>,
}

impl<'scope> Spawn<'scope> for Threads<'scope, '_> {
    fn spawn(&self, body: Box<dyn FnOnce() + Send + 'scope>) -> bool {
        let java = Arc::clone(&self.java);
        let builder = Builder::new().name("smallfry".into()).stack_size(STACK);
        let spawned = builder.spawn_scoped(self.scope, move || {
            // Attaching takes a millisecond. If an operation did it, it would be taken for one that
            // waits for the disk.
            java.as_one_of_its_threads(body);
        });
        spawned.is_ok()
    }
}

/// Reads all files that `source` gives, and gives their results to `sink`, on any thread.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_readAll<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    sink: JObject<'local>,
    bits: jint,
    threads: jint,
    max_in_flight: jlong,
    max_file_size: jlong,
    within: JByteArray<'local>,
) {
    called(environment, |env| -> Result<_> {
        let options = ReadOptions {
            source: &source,
            bulk: Bulk::new(env, bits, threads, max_in_flight, &within)?,
            max_file_size,
        };
        let Some(mut reader) = options.reader(env)? else {
            return Ok(());
        };
        let control = Control::new();
        reader.control(&control);
        let java = Arc::new(Java {
            vm: env.get_java_vm()?,
            accept: sink::accept(env, &sink)?,
            sink: env.new_global_ref(&sink)?,
            is_text: options.bulk.is_text(),
            control: control.clone(),
            failure: Mutex::default(),
        });
        let task = Decode {
            read: reader.task(),
            java: Arc::clone(&java),
        };
        let call = Call::default();
        let paths = Paths(Source::new(env, &source, &call, &control)?);
        call.during(env, &source, |_| {
            std::thread::scope(|scope| {
                let threads = Threads {
                    scope,
                    java: Arc::clone(&java),
                };
                let batch = Batch::new(task, reader.batch_options(), threads);
                Stream::new(batch, paths, false).for_each(drop);
            });
        });
        java.outcome(env)
    });
}
