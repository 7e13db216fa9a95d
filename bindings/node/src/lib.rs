//! The native half of the npm package `smallfry`; `lib/` is the other half and the only caller.
//!
//! It is written on Node-API's C functions as napi-rs declares them: nearly every function here is on a hot path, where
//! a call costs 0.1 us and a conversion layer shows.

mod bulk;
mod closes;
mod contents;
mod durable;
mod environment;
mod jobs;
mod outcome;
mod package_json;
mod sync;
mod sys;
mod target;
mod text;
mod v8;
mod value;

use std::ptr;

use napi_sys as napi;

use environment::Environment;
use text::{COPY_LIMIT, Strings};
use value::{Function, arguments, define, guarded, int32, number, reference};

/// Called by the runtime once per environment. Leaves one function, `start`.
#[unsafe(no_mangle)]
extern "C" fn napi_register_module_v1(
    env: napi::napi_env,
    exports: napi::napi_value,
) -> napi::napi_value {
    sys::connect();
    define(env, exports, ptr::null_mut(), &[Function(c"start", start)]);
    exports
}

/// The Node-API version that this addon needs; 10 would crash Node 20.
#[unsafe(no_mangle)]
extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    9
}

/// Values of `start`'s `runtime`: a version of Node whose own interface was tested, and Bun.
const KNOWN_NODE: i32 = 1;
const BUN: i32 = 2;

/// `start(exports, complete, advance, rest, runtime, writesNothing)`: sets up this environment and puts the native functions
/// on `exports`. `complete` is called for each finished job, `advance` when a call for many files has results, and `rest`
/// when `again` is to be called in the event loop's next turn. `runtime` is one of the constants above, or 0;
/// `writesNothing` is 1 where node:fs writes even no bytes if there is a callback, that is before Node 26, whose encoder
/// is new as well. Answers the longest string that a call may be given, in UTF-16 units, 0 for no limit; or -1 if there
/// was no memory.
unsafe extern "C" fn start(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || {
        let ([exports, complete, advance, rest, runtime, writes_nothing], _) = arguments(env, info);
        sys::pin_library();
        let writes_nothing = int32(env, writes_nothing) == 1;
        let runtime = int32(env, runtime);
        let known = v8::TRIED_SYSTEM && runtime == KNOWN_NODE;
        let strings = Strings::new(v8::Engine::detect(env, known), !writes_nothing);
        let longest = if strings.in_place() { 0 } else { COPY_LIMIT };
        let maker = contents::Maker::detect(env, known, runtime == BUN);
        let Some(environment) = jobs::attach(env, |client, waker| {
            Environment::new(strings, maker, writes_nothing, client, waker)
        }) else {
            return number(env, -1);
        };
        // SAFETY: just made, and only this thread uses it.
        let made = unsafe { &*environment };
        made.complete.set(reference(env, complete));
        made.advance.set(reference(env, advance));
        made.rest.set(reference(env, rest));
        define(
            env,
            exports,
            environment.cast(),
            &[
                Function(c"writeSync", sync::write),
                Function(c"writeDurablySync", sync::write_durably),
                Function(c"readSync", sync::read),
                Function(c"read", jobs::submit_read),
                Function(c"write", jobs::submit_write),
                Function(c"writeDurably", jobs::submit_durable_write),
                Function(c"finish", jobs::finish),
            ],
        );
        define(env, exports, environment.cast(), bulk::FUNCTIONS);
        define(env, exports, environment.cast(), closes::FUNCTIONS);
        define(env, exports, environment.cast(), package_json::FUNCTIONS);
        number(env, longest)
    })
}
