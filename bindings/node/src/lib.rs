//! The native half of the npm package `smallfry`; `lib/` is the other half and the only caller.
//!
//! It is written on Node-API's C functions as napi-rs declares them. Nearly every function here is
//! on a hot path, where a call costs 0.1 us and a conversion layer would show.
//!
//! | modules, from the bottom up | |
//! |---|---|
//! | `value`, `sys`, `v8`, `text`, `contents`, `errors`, `algorithm` | between JavaScript's values and Rust's |
//! | `target`, `durable` | one file |
//! | `accepted`, `mailbox`, `caches`, `environment` | the state of a process or an environment |
//! | `sync`, `jobs`, `bulk`, `closes`, `package_json` | the functions that JavaScript calls |
//! | `exit`, `delivery` | the end of the process; results on their way back |

#![allow(unsafe_code, reason = "Node-API and V8 are called by pointers")]

mod accepted;
mod algorithm;
mod bounded_queue;
mod bulk;
mod caches;
mod closes;
mod contents;
mod delivery;
mod durable;
mod environment;
mod errors;
mod exit;
mod jobs;
mod mailbox;
mod package_json;
mod sync;
mod sys;
mod target;
mod text;
mod tree_outcome;
mod trees;
mod v8;
mod value;

use napi_sys as napi;

use bulk::Sessions;
use delivery::Waker;
use environment::Environment;
use package_json::LookUps;
use text::{COPY_LIMIT, Strings};
use value::{Function, arguments, define, guarded, int32, number, reference};

/// Called by the runtime once per environment. Exports one function, `start`.
#[unsafe(no_mangle)]
extern "C" fn napi_register_module_v1(
    env: napi::napi_env,
    exports: napi::napi_value,
) -> napi::napi_value {
    sys::connect();
    define(env, exports, &(), &[Function(c"start", start)]);
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

/// `start(exports, complete, advance, defer, runtime, writesNothing)`: sets up this environment and
/// puts the native functions on `exports`. `complete` is called for each finished job, and
/// `advance` when a call for many files has results. `defer` is called when `resume` is to be
/// called in the event loop's next turn. `runtime` is one of the constants above, or 0.
/// `writesNothing` is 1 where node:fs writes even no bytes if there is a callback, that is before
/// Node 26, whose encoder is new as well. Answers the longest string that a call may be given, in
/// UTF-16 units, 0 for no limit; or -1 if there was no memory.
unsafe extern "C" fn start(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    guarded(env, || {
        let ([exports, complete, advance, defer, runtime, writes_nothing], _) =
            arguments(env, info);
        sys::pin_library();
        accepted::before_writes(exit::register);
        let writes_nothing = int32(env, writes_nothing) == 1;
        let runtime = int32(env, runtime);
        let known = v8::TRIED_SYSTEM && runtime == KNOWN_NODE;
        let strings = Strings::new(v8::Engine::detect(env, known), !writes_nothing);
        let longest = if strings.in_place() { 0 } else { COPY_LIMIT };
        let maker = contents::Maker::detect(env, known, runtime == BUN);
        let Some(waker) = Waker::new(env) else {
            return number(env, -1);
        };
        let environment = Environment::new(strings, maker, writes_nothing, waker.function);
        let environment: &Environment = Box::leak(Box::new(environment));
        let sessions = Sessions::new(environment, reference(env, advance));
        let sessions: &Sessions = Box::leak(Box::new(sessions));
        let callbacks = [complete, defer].map(|function| reference(env, function));
        let delivery = waker.connect(env, environment, sessions, callbacks);
        let look_ups = LookUps::attach(env, environment);
        define(env, exports, environment, sync::FUNCTIONS);
        define(env, exports, environment, jobs::FUNCTIONS);
        #[cfg(unix)]
        define(env, exports, environment, jobs::LISTING);
        #[cfg(target_os = "linux")]
        define(env, exports, environment, jobs::LOOK_UP);
        define(env, exports, environment, closes::FUNCTIONS);
        define(env, exports, environment, trees::FUNCTIONS);
        #[cfg(unix)]
        define(env, exports, environment, trees::LISTING);
        define(env, exports, sessions, bulk::FUNCTIONS);
        define(env, exports, delivery, delivery::FUNCTIONS);
        define(env, exports, look_ups, package_json::FUNCTIONS);
        number(env, longest)
    })
}
