//! The functions that JavaScript calls; `lib/addon.ts` has their types.

use std::io;

use napi_sys as sys;

use super::call::Call;
use super::links;
use super::queue::{control_of, push};
use super::work::Work;
use crate::environment::{Environment, called};
use crate::sys::path_of;
use crate::value::{Function, array, double_value, int32, number, text, undefined};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"copyTree", copy_tree),
    Function(c"copyTreeSync", copy_tree_sync),
    Function(c"mirrorTree", mirror_tree),
    Function(c"removeTree", remove_tree),
    Function(c"removeTreeSync", remove_tree_sync),
    Function(c"unpack", unpack),
    Function(c"pack", pack),
    Function(c"hashTree", hash_tree),
    Function(c"openCache", open_cache),
    Function(c"saveCache", save_cache),
    Function(c"linksHaveEntriesInTheWay", links_have_entries_in_the_way),
    Function(c"cancelTree", cancel_tree),
    Function(c"treeProgress", tree_progress),
];

/// Hands in a call with its number and whether it wants a callback scope of its own.
pub(super) fn later(
    env: sys::napi_env,
    environment: &Environment,
    [id, own_scope]: [sys::napi_value; 2],
    work: Work,
) -> sys::napi_value {
    let id = int32(env, id).cast_unsigned();
    push(env, environment, id, int32(env, own_scope) != 0, work);
    undefined(env)
}

/// `copyTree({ id, from, to, bits, threads, method, exclude, entries })`. The outcome comes to
/// `complete`.
unsafe extern "C" fn copy_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    begin(env, info, Work::copy)
}

/// `copyTreeSync({ from, to, bits, threads, method, exclude, entries })`. Returns the outcome.
unsafe extern "C" fn copy_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [object]| {
        let call = Call {
            env,
            environment,
            object,
        };
        match Work::copy(call) {
            Ok(work) => work.run_here(env),
            Err(_) => undefined(env),
        }
    })
}

/// `removeTree(path, id, ownScope, bits, threads)`. The outcome comes to `complete`.
unsafe extern "C" fn remove_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, id, own_scope, bits, threads] = values;
        let work = Work::remove(env, environment, path, bits, threads);
        later(env, environment, [id, own_scope], work)
    })
}

/// `removeTreeSync(path, bits, threads)`. Returns the outcome.
unsafe extern "C" fn remove_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, bits, threads] = values;
        let work = Work::remove(env, environment, path, bits, threads);
        work.run_here(env)
    })
}

/// Hands in a call of a promise whose arguments are one object. Returns undefined, or a text that
/// says which option is wrong.
fn begin(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    read: fn(Call<'_>) -> io::Result<Work>,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [object]| {
        let call = Call {
            env,
            environment,
            object,
        };
        match read(call) {
            Ok(work) => {
                push(
                    env,
                    environment,
                    call.number(c"id").cast_unsigned(),
                    false,
                    work,
                );
                undefined(env)
            }
            Err(reason) => text(env, &reason.to_string()),
        }
    })
}

/// `mirrorTree({ id, from, to, bits, threads, exclude })`. The outcome comes to `complete`, with
/// the changes of a dry run.
unsafe extern "C" fn mirror_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    begin(env, info, Work::mirror)
}

/// `unpack({ id, archive, to, bits, threads, stripComponents, maxEntries, maxBytes, maxRatio,
/// exclude })`: unpacks the archive at a path, or one that is in memory. The outcome comes to
/// `complete`.
unsafe extern "C" fn unpack(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    begin(env, info, Work::unpack)
}

/// `pack({ id, from, archive, format, bits, threads, level, prefix, exclude })`: packs a tree in
/// the format that the name `format` tells. The outcome comes to `complete`.
unsafe extern "C" fn pack(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    begin(env, info, Work::pack)
}

/// `hashTree({ id, path, algorithm, threads, exclude, cache })`. The outcome, with the digest,
/// comes to `complete`. The cache is a number of `openCache`; 0 for none.
unsafe extern "C" fn hash_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    begin(env, info, Work::hash)
}

/// `openCache(path, id, ownScope)`. Its number comes to `complete`.
unsafe extern "C" fn open_cache(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, id, own_scope] = values;
        let work = Work::OpenCache(path_of(&environment.bytes_of(env, path)));
        later(env, environment, [id, own_scope], work)
    })
}

/// `saveCache(cache, id, ownScope)`: saves and closes it.
unsafe extern "C" fn save_cache(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [cache, id, own_scope] = values;
        match environment.caches.take(int32(env, cache)) {
            Some(cache) => later(env, environment, [id, own_scope], Work::SaveCache(cache)),
            None => undefined(env),
        }
    })
}

/// `linksHaveEntriesInTheWay(from, to)`: returns 1 if a copy meets an entry where a link goes,
/// and else 0.
unsafe extern "C" fn links_have_entries_in_the_way(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, paths| {
        let [from, to] = paths.map(|path| path_of(&environment.bytes_of(env, path)));
        number(env, links::have_entries_in_the_way(&from, &to).into())
    })
}

/// `cancelTree(id)`: begins nothing more for a call.
unsafe extern "C" fn cancel_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [id]| {
        if let Some(control) = control_of(environment, int32(env, id).cast_unsigned()) {
            control.cancel();
        }
        undefined(env)
    })
}

/// `treeProgress(id)`: returns the number of entries that are done and their bytes, as `[entries,
/// bytes]`; undefined once the call is done.
unsafe extern "C" fn tree_progress(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [id]| {
        let Some(control) = control_of(environment, int32(env, id).cast_unsigned()) else {
            return undefined(env);
        };
        let progress = control.progress();
        let counts = [progress.operations, progress.bytes];
        array(env, &counts.map(|count| double_value(env, count as f64)))
    })
}
