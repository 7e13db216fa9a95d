//! The functions that JavaScript calls to list a tree, on systems where node:fs is replaced.

use napi_sys as sys;

use super::entry_points::later;
use super::work::Work;
use crate::environment::{Environment, called};
use crate::sys::path_of;
use crate::value::Function;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"listTree", list_tree),
    Function(c"listTreeSync", list_tree_sync),
];

/// `listTree(path, id, ownScope)`. The listing comes to `complete`, as [`list`](super::list::list)
/// makes it.
unsafe extern "C" fn list_tree(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [path, id, own_scope] = values;
        let work = Work::List(path_of(&environment.bytes_of(env, path)));
        later(env, environment, [id, own_scope], work)
    })
}

/// `listTreeSync(path)`. Returns the listing; undefined if there is an error.
unsafe extern "C" fn list_tree_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, [path]| {
        Work::List(path_of(&environment.bytes_of(env, path))).run_here(env)
    })
}
