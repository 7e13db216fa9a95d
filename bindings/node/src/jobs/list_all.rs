//! The functions of listings that JavaScript calls.

use napi_sys as sys;

use super::listing::Listing;
use super::progress::Progress;
use super::submit::{path, put};
use super::task::Task;
use crate::environment::{Environment, called};
use crate::errors::Failure;
use crate::mailbox::Answer;
use crate::value::{Function, int32, number, undefined, utf8};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"listAll", list_all),
    Function(c"listAllSync", list_all_sync),
];

/// Makes the listing that JavaScript has asked for.
fn asked(
    env: sys::napi_env,
    environment: &Environment,
    [root, below, bits]: [sys::napi_value; 3],
) -> Result<Listing, Failure> {
    let root = path(env, environment, root)?;
    let below = environment.strings.to_vec(env, below);
    Ok(Listing::new(root, below, int32(env, bits)))
}

/// `listAll(path, below, bits, id, ownScope)`: hands in a listing. `below` is the path of an entry
/// of the directory, without the name of the entry. Returns undefined if the call was taken, else
/// the number of a [`Failure`]. The text comes to `complete`.
unsafe extern "C" fn list_all(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let [root, below, bits, id, own_scope] = values;
        let listing = match asked(env, environment, [root, below, bits]) {
            Ok(listing) => listing,
            Err(failure) => return number(env, failure.code()),
        };
        environment.hold_loop(env);
        put(
            env,
            environment,
            [id, own_scope],
            Task::Listing(Box::new(listing)),
        )
    })
}

/// `listAllSync(path, below, bits)`: returns the text, or undefined if node:fs has to do the call.
unsafe extern "C" fn list_all_sync(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    called(env, info, |environment: &Environment, values| {
        let Ok(mut listing) = asked(env, environment, values) else {
            return undefined(env);
        };
        loop {
            match listing.step() {
                Progress::More => {}
                Progress::Done(Ok(Answer::Text(text))) => {
                    return utf8(env, &text).unwrap_or_else(|| undefined(env));
                }
                Progress::Done(_) => return undefined(env),
            }
        }
    })
}
