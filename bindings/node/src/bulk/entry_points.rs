//! The functions that JavaScript calls; `lib/addon.ts` has their types.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use napi_sys as sys;
use smallfry::Durability;
use smallfry::bulk::{ReadFound, Reader, Strategy, Writer};
use smallfry::tree::{TreeOptions, Walk};
use smallfry_workers::{Batch, BatchOptions, Spawn, Stream, Task};

use super::commit::Commit;
use super::outcome::{Value, error_with_path};
use super::session::{Manner, Open, Session};
use super::task::{Entry, Read, ReadTree, Write};
use super::threads::Threads;
use crate::environment::{Environment, called};
use crate::jobs;
use crate::sys::path_of;
use crate::value::{
    Function, array_length, byte_count, double_value, element, int32, number, set_element,
    undefined,
};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"openRead", open_read),
    Function(c"openWrite", open_write),
    Function(c"openTree", open_tree),
    Function(c"pushPaths", push_paths),
    Function(c"pushEntries", push_entries),
    Function(c"close", close),
    Function(c"cancel", cancel),
    Function(c"consume", consume),
    Function(c"hold", hold),
    Function(c"again", again),
    Function(c"readManySync", read_many_sync),
    Function(c"writeManySync", write_many_sync),
];

/// Bits of the option `flags` of writes, as `lib/write-files.ts` sets them.
const CREATE_PARENTS: i32 = 1;
const ONLY_IF_CHANGED: i32 = 2;
const CREATE_NEW: i32 = 4;
const DATA: i32 = 8;
const FULL: i32 = 16;
const REPLACE: i32 = 32;
const IN_PLACE_IF_BUSY: i32 = 64;

/// Bits of the option `flags` of trees, as `lib/read-tree.ts` sets them.
const NO_IGNORE_FILES: i32 = 1;
const HIDDEN: i32 = 2;
const FOLLOW_LINKS: i32 = 4;

/// Files that a walk hands to the workers at a time.
const FOUND_TOGETHER: usize = 32;

/// The `threads` option: 0 for `Auto`.
fn strategy(env: sys::napi_env, threads: sys::napi_value) -> Strategy {
    match NonZeroUsize::new(count(env, threads)) {
        None => Strategy::Auto,
        Some(threads) => Strategy::Threads(threads),
    }
}

fn count(env: sys::napi_env, value: sys::napi_value) -> usize {
    usize::try_from(int32(env, value)).unwrap_or(0)
}

fn reader(env: sys::napi_env, [threads, largest, fail_fast]: [sys::napi_value; 3]) -> Reader {
    let mut reader = Reader::new();
    reader.strategy(strategy(env, threads));
    reader.max_file_size(byte_count(env, largest));
    reader.fail_fast(int32(env, fail_fast) != 0);
    reader
}

fn writer(env: sys::napi_env, [threads, fail_fast, flags, mode]: [sys::napi_value; 4]) -> Writer {
    let flags = int32(env, flags);
    let mut writer = Writer::new();
    writer.strategy(strategy(env, threads));
    writer.fail_fast(int32(env, fail_fast) != 0);
    writer.create_parents(flags & CREATE_PARENTS != 0);
    writer.only_if_changed(flags & ONLY_IF_CHANGED != 0);
    writer.create_new(flags & CREATE_NEW != 0);
    writer.replace(flags & REPLACE != 0);
    writer.in_place_if_busy(flags & IN_PLACE_IF_BUSY != 0);
    writer.durability(match flags & (DATA | FULL) {
        0 => Durability::None,
        DATA => Durability::Data,
        _ => Durability::Full,
    });
    writer.mode(int32(env, mode).cast_unsigned());
    writer
}

/// Paths that JavaScript has joined by NUL, which none of them contains.
fn paths(env: sys::napi_env, environment: &Environment, joined: sys::napi_value) -> Vec<PathBuf> {
    let bytes = environment.strings.to_vec(env, joined);
    bytes.split(|byte| *byte == 0).map(path_of).collect()
}

/// Begins a session under its number. `None` if there is no thread for it.
fn begin<T: Task<Output: Value> + 'static>(
    env: sys::napi_env,
    environment: &Environment,
    manner: Manner,
    (task, options, commit): (T, BatchOptions, Option<Arc<Commit>>),
    kind: fn(Rc<Session<T>>) -> Open,
) -> Option<Rc<Session<T>>> {
    let unused = commit.clone();
    let Some(session) = Session::open(env, environment, manner, (task, options, commit)) else {
        // Of nothing: it is known to the process, and is not to be any more.
        if let Some(commit) = unused {
            commit.finish();
        }
        return None;
    };
    environment
        .sessions
        .add(manner.id, kind(Rc::clone(&session)));
    Some(session)
}

/// What JavaScript gets if a session has begun, or if there was no thread for it.
fn begun(env: sys::napi_env, has_begun: bool) -> sys::napi_value {
    if has_begun {
        undefined(env)
    } else {
        number(env, -1)
    }
}

/// `openRead(id, results, utf8, places, threads, maxInFlight, maxFileSize, failFast)`: begins a session, to which paths
/// are pushed. Answers -1 if that is not possible.
unsafe extern "C" fn open_read(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [
            id,
            results,
            utf8,
            places,
            threads,
            in_flight,
            largest,
            fail_fast,
        ] = values;
        let mut reader = reader(env, [threads, largest, fail_fast]);
        reader.max_in_flight(byte_count(env, in_flight));
        let task = Read {
            file: reader.task(),
            utf8: int32(env, utf8) != 0,
        };
        let manner = Manner {
            id: int32(env, id).cast_unsigned(),
            results,
            places: NonZeroUsize::new(count(env, places)),
        };
        let work = (task, reader.batch_options(), None);
        let session = begin(env, environment, manner, work, Open::Read);
        begun(env, session.is_some())
    })
}

/// `openWrite(id, results, threads, failFast, flags, mode, maxInFlight)`: as [`open_read`], for entries.
unsafe extern "C" fn open_write(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [id, results, threads, fail_fast, flags, mode, in_flight] = values;
        let mut writer = writer(env, [threads, fail_fast, flags, mode]);
        writer.max_in_flight(byte_count(env, in_flight));
        let task = Write {
            file: writer.task(),
        };
        let manner = Manner {
            id: int32(env, id).cast_unsigned(),
            results,
            places: None,
        };
        let commit = task.file.barrier().map(Commit::new);
        let work = (task, writer.batch_options(), commit);
        let session = begin(env, environment, manner, work, Open::Write);
        begun(env, session.is_some())
    })
}

/// `openTree(id, results, root, patterns, flags, maxDepth, utf8, threads, maxInFlight, maxFileSize, failFast)`: begins a
/// session that walks a tree and reads what it finds, and closes itself. `patterns` are joined by NUL, each behind a `+`
/// or a `-`; a depth of 0 is no limit. Answers -1 if there is no thread, or why there is no such walk.
unsafe extern "C" fn open_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [
            id,
            results,
            root,
            patterns,
            flags,
            depth,
            utf8,
            threads,
            in_flight,
            largest,
            fail_fast,
        ] = values;
        let root = path_of(&environment.strings.to_vec(env, root));
        let patterns = environment.strings.to_vec(env, patterns);
        let options = tree_options(&patterns, int32(env, flags), count(env, depth));
        let files = match options.walk(&root) {
            Ok(files) => files,
            Err(error) => return error_with_path(env, &error),
        };
        let mut reader = reader(env, [threads, largest, fail_fast]);
        reader.max_in_flight(byte_count(env, in_flight));
        let task = ReadTree {
            found: ReadFound(reader.task()),
            utf8: int32(env, utf8) != 0,
        };
        let manner = Manner {
            id: int32(env, id).cast_unsigned(),
            results,
            places: None,
        };
        let work = (task, reader.batch_options(), None);
        let Some(session) = begin(env, environment, manner, work, Open::Tree) else {
            return begun(env, false);
        };
        let input = Input(session.batch());
        begun(
            env,
            Threads.spawn(Box::new(move || push_files(&input, files))),
        )
    })
}

fn tree_options(patterns: &[u8], flags: i32, depth: usize) -> TreeOptions {
    let mut options = TreeOptions::new();
    for pattern in String::from_utf8_lossy(patterns).split('\0') {
        match pattern.split_at_checked(1) {
            Some(("+", pattern)) => options.matching(pattern),
            Some(("-", pattern)) => options.ignoring(pattern),
            _ => &mut options,
        };
    }
    options.ignore_files(flags & NO_IGNORE_FILES == 0);
    options.hidden(flags & HIDDEN != 0);
    options.follow_links(flags & FOLLOW_LINKS != 0);
    options.max_depth((depth > 0).then_some(depth));
    options
}

/// Hands the files of a walk to a batch while it walks.
fn push_files(Input(batch): &Input, mut files: Walk) {
    let mut pushed = 0;
    while !batch.is_stopped() {
        let some: Vec<_> = files.by_ref().take(FOUND_TOGETHER).collect();
        if some.is_empty() {
            break;
        }
        let count = some.len();
        batch.push(pushed, some, None);
        pushed += count;
    }
}

/// The end of a batch at which files go in. It closes the batch however it ends itself, even if it never got a thread: a
/// session that is not closed would never end.
struct Input(Arc<Batch<'static, ReadTree>>);

impl Drop for Input {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// `pushPaths(id, joined, beyond)`: paths to be read, joined by NUL, and how many more will follow, -1 if that is not
/// known.
unsafe extern "C" fn push_paths(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, [id, joined, beyond]| {
        let id = int32(env, id).cast_unsigned();
        if let Some(Open::Read(session)) = environment.sessions.find(id) {
            let beyond = usize::try_from(int32(env, beyond)).ok();
            session.push(paths(env, environment, joined), beyond);
        }
        undefined(env)
    })
}

/// Entries handed to workers at a time: copying a string takes as long as writing it, and meanwhile they would wait.
const ENTRIES_TOGETHER: usize = 32;

/// `pushEntries(id, joined, data, beyond)`: paths as in [`push_paths`] and an array of what to write there, which is copied
/// before this returns. Answers the bytes that were copied.
unsafe extern "C" fn push_entries(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, [id, joined, data, beyond]| {
        let id = int32(env, id).cast_unsigned();
        let mut copied = 0;
        if let Some(Open::Write(session)) = environment.sessions.find(id) {
            let beyond = usize::try_from(int32(env, beyond)).ok();
            let paths = paths(env, environment, joined);
            let mut left = paths.len();
            let entry = |(index, path)| {
                let bytes = environment.bytes_of(env, element(env, data, index));
                copied += bytes.len();
                Entry {
                    path,
                    bytes,
                    accepted: Some(environment.client.accept()),
                }
            };
            let mut entries = paths.into_iter().enumerate().map(entry);
            while left > 0 {
                let some: Vec<_> = entries.by_ref().take(ENTRIES_TOGETHER).collect();
                left -= some.len();
                session.push(some, beyond.map(|beyond| beyond.saturating_add(left)));
            }
        }
        double_value(env, copied as f64)
    })
}

/// Does something with a session that has not ended.
fn with_session(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    act: impl FnOnce(&Open, sys::napi_value),
) -> sys::napi_value {
    called(env, info, |environment, [id, argument]| {
        let id = int32(env, id).cast_unsigned();
        if let Some(open) = environment.sessions.find(id) {
            act(&open, argument);
        }
        undefined(env)
    })
}

/// `close(id)`: no more inputs will come.
unsafe extern "C" fn close(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |open, _| open.session().close())
}

/// `cancel(id)`: what has not begun is not to be done. The session still ends by itself, after it was closed.
unsafe extern "C" fn cancel(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |open, _| open.session().cancel())
}

/// `consume(id, count)`: so many more results have been gone through and are not kept.
unsafe extern "C" fn consume(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    with_session(env, info, |open, argument| {
        open.session().consume(count(env, argument));
    })
}

/// `hold(id, yes)`: whether the process stays for a session that goes in steps.
unsafe extern "C" fn hold(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |environment, [id, yes]| {
        let id = int32(env, id).cast_unsigned();
        if let Some(open) = environment.sessions.find(id) {
            open.session().hold(env, environment, int32(env, yes) != 0);
        }
        undefined(env)
    })
}

/// `again()`: goes on with what was left when JavaScript was asked to let other things come first.
unsafe extern "C" fn again(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    called(env, info, |environment, []| {
        jobs::again(env, environment);
        undefined(env)
    })
}

/// Does a task for all inputs, this thread among the workers, and puts the results into an array. Answers how many entries
/// did not fail.
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
    for (index, output) in Stream::new(batch, inputs, false) {
        let mut scope = std::ptr::null_mut();
        // SAFETY: closed below; the value is kept by the array.
        unsafe { sys::napi_open_handle_scope(env, &raw mut scope) };
        let made = output.value(env, environment);
        set_element(env, results, index, made.value);
        good += u32::from(!made.failed);
        // SAFETY: the scope opened above.
        unsafe { sys::napi_close_handle_scope(env, scope) };
    }
    good
}

/// `readManySync(joined, results, utf8, threads, maxFileSize, failFast)`; `joined` is an array of paths joined by
/// NUL. Answers how many were read.
unsafe extern "C" fn read_many_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [joined, results, utf8, threads, largest, fail_fast] = values;
        let reader = reader(env, [threads, largest, fail_fast]);
        let task = Read {
            file: reader.task(),
            utf8: int32(env, utf8) != 0,
        };
        let batch = Batch::new(task, reader.batch_options(), Threads);
        let parts = (0..array_length(env, joined)).map(|index| element(env, joined, index));
        let inputs: Vec<_> = parts
            .flat_map(|part| paths(env, environment, part))
            .collect();
        let good = run_here(env, environment, batch, inputs.into_iter(), results);
        double_value(env, f64::from(good))
    })
}

/// `writeManySync(joined, data, results, threads, failFast, flags, mode)`. Answers how many did not fail.
unsafe extern "C" fn write_many_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment, values| {
        let [joined, data, results, threads, fail_fast, flags, mode] = values;
        let writer = writer(env, [threads, fail_fast, flags, mode]);
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
