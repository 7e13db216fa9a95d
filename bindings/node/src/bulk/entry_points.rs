//! The functions that JavaScript calls; `lib/addon.ts` has their types.

use std::ffi::CStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use napi_sys as sys;
use smallfry::bulk::{Control, ReadFound, Reader, Strategy, Writer};
use smallfry::hash::Hasher;
use smallfry::tree::{TreeOptions, Walk};
use smallfry_options::OptionBits;
use smallfry_options::table::{FAIL_FAST, FOLLOW_LINKS, HIDDEN, NO_IGNORE_FILES, TEXT};
use smallfry_workers::{Batch, BatchOptions, Spawn, Stream, Task};

use super::commit::Commit;
use super::results::Value;
use super::session::{AnySession, Destination, Session, Sessions, Work};
use super::task::{Entry, Hash, Read, ReadTree, Write};
use super::threads::Threads;
use crate::algorithm;
use crate::contents::External;
use crate::environment::{Environment, called};
use crate::errors::error_with_path;
use crate::sys::path_of;
use crate::value::{
    Function, array_length, byte_count, double_value, element, int32, number, property,
    set_element, undefined,
};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"openRead", open_read),
    Function(c"openWrite", open_write),
    Function(c"openTree", open_tree),
    Function(c"openHash", open_hash),
    Function(c"pushPaths", push_paths),
    Function(c"pushEntries", push_entries),
    Function(c"close", close),
    Function(c"cancel", cancel),
    Function(c"consume", consume),
    Function(c"hold", hold),
    Function(c"readManySync", read_many_sync),
    Function(c"writeManySync", write_many_sync),
];

/// Files that a walk hands to the workers at a time.
const WALK_CHUNK: usize = 32;

/// The `threads` option; 0 stands for `Auto`.
fn strategy(env: sys::napi_env, threads: sys::napi_value) -> Strategy {
    match NonZeroUsize::new(count(env, threads)) {
        None => Strategy::Auto,
        Some(threads) => Strategy::Threads(threads),
    }
}

fn count(env: sys::napi_env, value: sys::napi_value) -> usize {
    usize::try_from(int32(env, value)).unwrap_or(0)
}

/// The options of a session: an object that `lib/` has made and checked.
struct SessionOptions {
    env: sys::napi_env,
    object: sys::napi_value,
}

impl SessionOptions {
    fn value(&self, name: &CStr) -> sys::napi_value {
        property(self.env, self.object, name)
    }

    fn count(&self, name: &CStr) -> usize {
        count(self.env, self.value(name))
    }

    fn bits(&self) -> OptionBits {
        OptionBits::new(int32(self.env, self.value(c"bits")))
    }

    fn max_in_flight(&self) -> u64 {
        byte_count(self.env, self.value(c"maxInFlight"))
    }

    fn reader(&self) -> Reader {
        let mut reader = self.bits().reader();
        reader
            .strategy(strategy(self.env, self.value(c"threads")))
            .max_file_size(byte_count(self.env, self.value(c"maxFileSize")))
            .max_in_flight(self.max_in_flight());
        reader
    }

    fn writer(&self) -> Writer {
        let mut writer = self.bits().writer();
        writer
            .strategy(strategy(self.env, self.value(c"threads")))
            .mode(int32(self.env, self.value(c"mode")).cast_unsigned())
            .max_in_flight(self.max_in_flight());
        writer
    }

    fn destination(&self) -> Destination {
        Destination {
            id: int32(self.env, self.value(c"id")).cast_unsigned(),
            results: self.value(c"results"),
            places: NonZeroUsize::new(self.count(c"places")),
            keeps: self.count(c"keeps") == 1,
        }
    }
}

/// Splits paths that JavaScript has joined by NUL, which no path contains.
fn paths(env: sys::napi_env, environment: &Environment, joined: sys::napi_value) -> Vec<PathBuf> {
    let bytes = environment.strings.to_vec(env, joined);
    bytes.split(|byte| *byte == 0).map(path_of).collect()
}

/// Begins a session under its number. `None` if there is no thread for it.
fn begin<T: Task<Output: Value> + 'static>(
    sessions: &Sessions,
    options: &SessionOptions,
    work: Work<T>,
    kind: fn(Rc<Session<T>>) -> AnySession,
) -> Option<Rc<Session<T>>> {
    let unused = work.commit.clone();
    let destination = options.destination();
    let Some(session) = Session::open(options.env, sessions.environment, destination, work) else {
        // The barrier has nothing to flush. Finishing it takes it off the list of the process.
        if let Some(commit) = unused {
            commit.finish();
        }
        return None;
    };
    sessions.add(destination.id, kind(Rc::clone(&session)));
    Some(session)
}

/// Makes the answer of a function that begins a session: undefined, or -1 if there was no thread.
fn begun(env: sys::napi_env, has_begun: bool) -> sys::napi_value {
    if has_begun {
        undefined(env)
    } else {
        number(env, -1)
    }
}

/// `openRead({ id, results, bits, places, threads, maxInFlight, maxFileSize })`: begins a session,
/// to which paths are pushed. Answers -1 if there is no thread for it.
unsafe extern "C" fn open_read(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [object]| {
        let options = SessionOptions { env, object };
        let reader = options.reader();
        let work = Work {
            task: Read {
                file: reader.task(),
                utf8: options.bits().has(TEXT),
            },
            options: reader.batch_options(),
            commit: None,
        };
        let session = begin(sessions, &options, work, AnySession::Read);
        begun(env, session.is_some())
    })
}

/// `openWrite({ id, results, bits, threads, mode, maxInFlight })`: as [`open_read`], for entries.
unsafe extern "C" fn open_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [object]| {
        let options = SessionOptions { env, object };
        let writer = options.writer();
        let file = writer.task();
        let work = Work {
            commit: file.barrier().map(Commit::new),
            task: Write { file },
            options: writer.batch_options(),
        };
        let session = begin(sessions, &options, work, AnySession::Write);
        begun(env, session.is_some())
    })
}

/// `openHash({ id, results, bits, algorithm, threads, cache })`: as [`open_read`], for digests. The
/// cache is a number of `openCache`; 0 for none.
unsafe extern "C" fn open_hash(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [object]| {
        let options = SessionOptions { env, object };
        let mut hasher = Hasher::new();
        hasher
            .algorithm(algorithm::numbered(int32(env, options.value(c"algorithm"))))
            .strategy(strategy(env, options.value(c"threads")))
            // The session cancels it, also in the middle of a file.
            .control(&Control::new());
        let caches = &sessions.environment.caches;
        if let Some(cache) = caches.find(int32(env, options.value(c"cache"))) {
            hasher.cache(&cache);
        }
        let work = Work {
            task: Hash(hasher.task()),
            options: BatchOptions {
                fail_fast: options.bits().has(FAIL_FAST),
                ..hasher.batch_options()
            },
            commit: None,
        };
        let session = begin(sessions, &options, work, AnySession::Hash);
        begun(env, session.is_some())
    })
}

/// `openTree({ id, results, bits, root, patterns, maxDepth, threads, maxInFlight, maxFileSize })`:
/// begins a session that walks a tree and reads what it finds, and closes itself. `patterns` are
/// joined by NUL, each behind a `+` or a `-`; a depth of 0 is no limit. Answers -1 if there is no
/// thread, or why there is no such walk.
unsafe extern "C" fn open_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [object]| {
        let options = SessionOptions { env, object };
        let text = |name| {
            let strings = &sessions.environment.strings;
            strings.to_vec(env, options.value(name))
        };
        let walk = tree_options(
            &text(c"patterns"),
            options.bits(),
            options.count(c"maxDepth"),
        );
        let files = match walk.walk(path_of(&text(c"root"))) {
            Ok(files) => files,
            Err(error) => return error_with_path(env, &error),
        };
        let reader = options.reader();
        let work = Work {
            task: ReadTree {
                found: ReadFound(reader.task()),
                utf8: options.bits().has(TEXT),
            },
            options: reader.batch_options(),
            commit: None,
        };
        let Some(session) = begin(sessions, &options, work, AnySession::Tree) else {
            return begun(env, false);
        };
        let input = Input(session.batch());
        begun(
            env,
            Threads.spawn(Box::new(move || push_files(&input, files))),
        )
    })
}

fn tree_options(patterns: &[u8], bits: OptionBits, depth: usize) -> TreeOptions {
    let mut options = TreeOptions::new();
    for pattern in String::from_utf8_lossy(patterns).split('\0') {
        match pattern.split_at_checked(1) {
            Some(("+", pattern)) => options.matching(pattern),
            Some(("-", pattern)) => options.ignoring(pattern),
            _ => &mut options,
        };
    }
    options.ignore_files(!bits.has(NO_IGNORE_FILES));
    options.hidden(bits.has(HIDDEN));
    options.follow_links(bits.has(FOLLOW_LINKS));
    options.max_depth((depth > 0).then_some(depth));
    options
}

/// Hands the files of a walk to a batch while it walks.
fn push_files(Input(batch): &Input, mut files: Walk) {
    let mut pushed = 0;
    while !batch.is_stopped() {
        let some: Vec<_> = files.by_ref().take(WALK_CHUNK).collect();
        if some.is_empty() {
            break;
        }
        let count = some.len();
        batch.push(pushed, some, None);
        pushed += count;
    }
}

/// The input end of a batch. Dropping it closes the batch, even if it never got a thread: a session
/// that is not closed would never end.
struct Input(Arc<Batch<'static, ReadTree>>);

impl Drop for Input {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// `pushPaths(id, joined, beyond)`: paths to be read or hashed, joined by NUL, and how many more
/// will follow, -1 if that is not known.
unsafe extern "C" fn push_paths(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [id, joined, beyond]| {
        let id = int32(env, id).cast_unsigned();
        let beyond = usize::try_from(int32(env, beyond)).ok();
        let paths = || paths(env, sessions.environment, joined);
        match sessions.find(id) {
            Some(AnySession::Read(session)) => session.push(paths(), beyond),
            Some(AnySession::Hash(session)) => session.push(paths(), beyond),
            _ => {}
        }
        undefined(env)
    })
}

/// Entries handed to workers at a time. Copying a string takes as long as writing it, so workers
/// would wait for more.
const ENTRY_CHUNK: usize = 32;

/// `pushEntries(id, joined, data, beyond)`: paths as in [`push_paths`] and an array of what to
/// write there, which is copied before this returns. Answers the bytes that were copied.
unsafe extern "C" fn push_entries(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(
        env,
        info,
        |sessions: &Sessions, [id, joined, data, beyond]| {
            let id = int32(env, id).cast_unsigned();
            let mut copied = 0;
            if let Some(AnySession::Write(session)) = sessions.find(id) {
                let beyond = usize::try_from(int32(env, beyond)).ok();
                let paths = paths(env, sessions.environment, joined);
                let mut left = paths.len();
                let entry = |(index, path)| {
                    let bytes = sessions
                        .environment
                        .bytes_of(env, element(env, data, index));
                    copied += bytes.len();
                    Entry {
                        path,
                        bytes,
                        accepted: Some(sessions.environment.mailbox.accept()),
                    }
                };
                let mut entries = paths.into_iter().enumerate().map(entry);
                while left > 0 {
                    let some: Vec<_> = entries.by_ref().take(ENTRY_CHUNK).collect();
                    left -= some.len();
                    session.push(some, beyond.map(|beyond| beyond.saturating_add(left)));
                }
            }
            double_value(env, copied as f64)
        },
    )
}

/// Calls `act` with a session, if it has not ended.
fn with_session(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    act: impl FnOnce(&AnySession, sys::napi_value),
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [id, argument]| {
        let id = int32(env, id).cast_unsigned();
        if let Some(session) = sessions.find(id) {
            act(&session, argument);
        }
        undefined(env)
    })
}

/// `close(id)`: says that no more inputs will come.
unsafe extern "C" fn close(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |session, _| session.live().close())
}

/// `cancel(id)`: begins nothing more. The session still ends by itself, after it was closed.
unsafe extern "C" fn cancel(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |session, _| session.live().cancel())
}

/// `consume(id, count)`: says that so many more results have been gone through and are not kept.
unsafe extern "C" fn consume(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |session, argument| {
        session.live().consume(count(env, argument));
    })
}

/// `hold(id, yes)`: sets whether a session that is read in steps keeps the process alive.
unsafe extern "C" fn hold(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, [id, yes]| {
        let id = int32(env, id).cast_unsigned();
        if let Some(session) = sessions.find(id) {
            session.live().hold(env, int32(env, yes) != 0);
        }
        undefined(env)
    })
}

/// Does a task for all inputs, with this thread among the workers, and puts the results into an
/// array. Returns how many entries did not fail.
fn run_here<T>(
    env: sys::napi_env,
    environment: &Environment,
    batch: Arc<Batch<'static, T>>,
    inputs: impl Iterator<Item = T::Input>,
    results: sys::napi_value,
) -> u32
where
    T: Task<Output: Value> + 'static,
{
    let mut good = 0;
    let kept = External::default();
    for (index, output) in Stream::new(batch, inputs, false) {
        let mut scope = std::ptr::null_mut();
        // SAFETY: closed below; the value is kept by the array.
        unsafe { sys::napi_open_handle_scope(env, &raw mut scope) };
        let made = output.value(env, environment);
        set_element(env, results, index, made.value);
        kept.take_back(env, made.external);
        good += u32::from(!made.failed);
        // SAFETY: the scope opened above.
        unsafe { sys::napi_close_handle_scope(env, scope) };
    }
    kept.tell(env);
    good
}

/// An iterator that knows how many inputs are left. They are made as they are needed.
struct Counted<I> {
    inputs: I,
    left: usize,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.saturating_sub(1);
        self.inputs.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// `readManySync(joined, results, bits, threads, maxFileSize)`; `joined` is an array of paths
/// joined by NUL. Answers how many were read.
unsafe extern "C" fn read_many_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, values| {
        let [joined, results, bits, threads, max_file_size] = values;
        let environment = sessions.environment;
        let bits = OptionBits::new(int32(env, bits));
        let mut reader = bits.reader();
        reader.strategy(strategy(env, threads));
        reader.max_file_size(byte_count(env, max_file_size));
        let task = Read {
            file: reader.task(),
            utf8: bits.has(TEXT),
        };
        let batch = Batch::new(task, reader.batch_options(), Threads);
        let parts = (0..array_length(env, joined)).map(|index| element(env, joined, index));
        let inputs = Counted {
            inputs: parts.flat_map(|part| paths(env, environment, part)),
            left: array_length(env, results),
        };
        let good = run_here(env, environment, batch, inputs, results);
        double_value(env, f64::from(good))
    })
}

/// `writeManySync(joined, data, results, bits, threads, mode)`. Answers how many did not fail.
unsafe extern "C" fn write_many_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |sessions: &Sessions, values| {
        let [joined, data, results, bits, threads, mode] = values;
        let environment = sessions.environment;
        let mut writer = OptionBits::new(int32(env, bits)).writer();
        writer.strategy(strategy(env, threads));
        writer.mode(int32(env, mode).cast_unsigned());
        let task = Write {
            file: writer.task(),
        };
        let barrier = task.file.barrier();
        let batch = Batch::new(task, writer.batch_options(), Threads);
        let paths = paths(env, environment, joined).into_iter().enumerate();
        let entry = |(index, path)| Entry {
            path,
            bytes: environment.bytes_of(env, element(env, data, index)),
            accepted: None,
        };
        let mut good = run_here(env, environment, batch, paths.map(entry), results);
        for (index, error) in barrier.map(|barrier| barrier.finish()).unwrap_or_default() {
            set_element(env, results, index, error_with_path(env, &error));
            good = good.saturating_sub(1);
        }
        double_value(env, f64::from(good))
    })
}
