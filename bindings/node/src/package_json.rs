//! Look-ups of package.json files, in one cache for all environments of the process.
//! `lib/package-json` is the caller.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi_sys as napi;
use smallfry_package_json::{
    Cache, Error, Extensions, ModuleType, Package, Problem, Revalidate, Value,
};

use crate::environment::{Environment, called};
use crate::sys::{ENAMETOOLONG, borrowed_path, node_errno, path_in, path_of};
use crate::target::{PathRoom, Target};
use crate::text::view_bytes;
use crate::value::{
    Function, array, double_value, int32, is_string, number, reference, text, undefined,
};

/// The functions that JavaScript calls. A policy is -1 for never, 0 for on change, or an age in
/// milliseconds. A call that fails answers an array, as [`failure`] makes it.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function(c"packageType", nearest_type),
    Function(c"packageTypes", nearest_types),
    Function(c"packageFormats", formats),
    Function(c"packageNearest", nearest),
    Function(c"packageScope", scope),
    Function(c"packageFound", found),
    Function(c"packageRemaining", remaining),
    Function(c"packageForget", forget),
    Function(c"packageWatch", watch),
];

static CACHE: LazyLock<Cache> = LazyLock::new(Cache::new);

/// Kinds of failures, known to `lib/addon-package-json.ts`.
const IO: i32 = 0;
const INVALID: i32 = 1;
const PATH: i32 = 2;

/// The state of one environment's look-ups. It is never freed.
pub(crate) struct LookUps {
    environment: &'static Environment,
    /// The package that the last look-up found; JavaScript may ask for its fields.
    found: RefCell<Option<Arc<Package>>>,
    /// The milliseconds for which the last answer holds from its look-up on, if its policy is an
    /// age.
    remaining: Cell<f64>,
    /// The environment's counter, if it has one.
    counter: Cell<Option<Counter>>,
}

impl LookUps {
    /// Makes the state, and registers the end of the environment.
    pub(crate) fn attach(env: napi::napi_env, environment: &'static Environment) -> &'static Self {
        let look_ups = Box::leak(Box::new(Self {
            environment,
            found: RefCell::default(),
            remaining: Cell::new(0.0),
            counter: Cell::new(None),
        }));
        let state: *mut Self = look_ups;
        // SAFETY: the state is never freed, and the hook only reads it, on this thread.
        unsafe {
            napi::napi_add_env_cleanup_hook(env, Some(leave), state.cast());
            &*state
        }
    }

    /// Stops raising the counter, whose memory may go.
    fn drop_counter(&self) {
        if let Some(own) = self.counter.take() {
            counters().retain(|counter| *counter != own);
        }
    }
}

/// Frees the environment's counter and the last answer when the environment ends.
unsafe extern "C" fn leave(look_ups: *mut c_void) {
    // SAFETY: registered with the state, which is never freed.
    let look_ups = unsafe { &*look_ups.cast::<LookUps>() };
    look_ups.drop_counter();
    look_ups.found.take();
}

/// A number in an environment's memory. It is raised when answers that JavaScript remembers may no
/// longer be right.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counter(*const AtomicU32);

// SAFETY: an atomic may be raised from any thread; it is taken from the list before its memory
// goes.
unsafe impl Send for Counter {}

static COUNTERS: Mutex<Vec<Counter>> = Mutex::new(Vec::new());

fn counters() -> MutexGuard<'static, Vec<Counter>> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cache under the policy that JavaScript gives, and the age that the policy allows.
struct Policy {
    cache: Cache,
    age: Option<Duration>,
}

impl Policy {
    fn of(env: napi::napi_env, policy: napi::napi_value) -> Self {
        let mut milliseconds = 0.0;
        // SAFETY: a live handle; what is no number leaves it alone.
        unsafe { napi::napi_get_value_double(env, policy, &raw mut milliseconds) };
        let age = || Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX);
        let age = (milliseconds > 0.0).then(age);
        let revalidate = match age {
            _ if milliseconds < 0.0 => Revalidate::Never,
            Some(age) => Revalidate::After(age),
            None => Revalidate::OnChange,
        };
        Self {
            cache: CACHE.with(revalidate),
            age,
        }
    }

    /// Keeps for [`remaining`] how long an answer holds that was checked at that time.
    fn keep(&self, look_ups: &LookUps, checked: Instant) {
        if let Some(age) = self.age {
            let remaining = age.saturating_sub(checked.elapsed());
            let milliseconds = remaining.as_secs_f64() * 1000.0;
            look_ups.remaining.set(milliseconds);
        }
    }
}

/// Calls `answer` with the first two arguments of a call, a path and a policy.
fn with_path(
    env: napi::napi_env,
    info: napi::napi_callback_info,
    answer: impl FnOnce(&LookUps, &Policy, &Path) -> napi::napi_value,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, [path, policy]| {
        let policy = Policy::of(env, policy);
        let mut room = PathRoom::new();
        if let Ok(Target::Path(path)) =
            Target::read(env, &look_ups.environment.strings, path, &mut room)
        {
            return answer(look_ups, &policy, borrowed_path(path));
        }
        // A long path, or one that no file can have.
        let path = path_of(&look_ups.environment.strings.to_vec(env, path));
        answer(look_ups, &policy, &path)
    })
}

/// `packageType(path, policy)`: 0 none, 1 CommonJS, 2 module.
unsafe extern "C" fn nearest_type(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    with_path(env, info, |look_ups, policy, path| {
        match policy.cache.nearest_checked(path) {
            Ok((package, checked)) => {
                policy.keep(look_ups, checked);
                let module_type = package.map_or(ModuleType::None, |package| package.module_type());
                number(env, module_type as i32)
            }
            Err(error) => failure(env, &error),
        }
    })
}

/// `packageTypes(joined, types, policy)`: as [`nearest_type`] for many paths, joined by NUL, into a
/// view of bytes. Answers how many paths there were, or the first failure. If the view has another
/// length, nothing is put there.
unsafe extern "C" fn nearest_types(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, [joined, types, policy]| {
        let policy = Policy::of(env, policy);
        let mut oldest = Instant::now();
        let answer = for_each(env, look_ups.environment, joined, types, |paths| {
            let found = policy.cache.nearest_types_checked(paths);
            found.into_iter().map(|found| {
                let (module_type, checked) = found?;
                oldest = oldest.min(checked);
                Ok(module_type as u8)
            })
        });
        policy.keep(look_ups, oldest);
        answer
    })
}

/// `packageFormats(joined, formats, policy, typescript)`: as [`nearest_types`], with the formats in
/// which Node loads the files.
unsafe extern "C" fn formats(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, values| {
        let [joined, formats, policy, typescript] = values;
        let policy = Policy::of(env, policy);
        let extensions = if int32(env, typescript) == 0 {
            Extensions::JavaScript
        } else {
            Extensions::TypeScript
        };
        for_each(env, look_ups.environment, joined, formats, |paths| {
            let found = policy.cache.formats(paths, extensions);
            found
                .into_iter()
                .map(|found| found.map(|format| format as u8))
        })
    })
}

/// Puts an answer for each of the joined paths into a view.
fn for_each<Answers: Iterator<Item = Result<u8, Error>>>(
    env: napi::napi_env,
    environment: &Environment,
    joined: napi::napi_value,
    view: napi::napi_value,
    find: impl FnOnce(&[Cow<'_, Path>]) -> Answers,
) -> napi::napi_value {
    let joined = environment.strings.to_vec(env, joined);
    let paths: Vec<Cow<'_, Path>> = joined.split(|byte| *byte == 0).map(path_in).collect();
    if let Some(view) = bytes_mut(env, view, paths.len()) {
        for (to, found) in view.iter_mut().zip(find(&paths)) {
            match found {
                Ok(code) => *to = code,
                Err(error) => return failure(env, &error),
            }
        }
    }
    double_value(env, paths.len() as f64)
}

/// Returns the memory of a view, if it has that length.
fn bytes_mut<'a>(
    env: napi::napi_env,
    view: napi::napi_value,
    length: usize,
) -> Option<&'a mut [u8]> {
    let bytes = view_bytes(env, view);
    // SAFETY: only JavaScript has the memory, and runs when this call is over.
    (bytes.len() == length)
        .then(|| unsafe { std::slice::from_raw_parts_mut(bytes.as_ptr().cast_mut(), length) })
}

/// `packageNearest(path, policy)`: the number of the package, 0 for none.
unsafe extern "C" fn nearest(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    with_path(env, info, |look_ups, policy, path| {
        let package = policy.cache.nearest_checked(path);
        let package = package.map(|(package, checked)| {
            policy.keep(look_ups, checked);
            package
        });
        serial(env, look_ups, package)
    })
}

/// `packageScope(path, policy)`: the number of the package that a path or a file URL belongs to, or
/// the path where the search ended.
unsafe extern "C" fn scope(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    with_path(env, info, |look_ups, policy, path| {
        let url = path.to_str().filter(|path| path.starts_with("file:"));
        let scope = match url {
            Some(url) => policy.cache.scope(url),
            None => policy.cache.scope_of_path(path),
        };
        match scope {
            Ok(scope) => {
                policy.keep(look_ups, scope.checked);
                match scope.package {
                    None => text(env, &scope.path.to_string_lossy()),
                    package => serial(env, look_ups, Ok(package)),
                }
            }
            Err(error) => failure(env, &error),
        }
    })
}

/// Keeps a package for [`found`], and makes the answer: its number, or 0.
fn serial(
    env: napi::napi_env,
    look_ups: &LookUps,
    package: Result<Option<Arc<Package>>, Error>,
) -> napi::napi_value {
    match package {
        Ok(package) => {
            let serial = package.as_ref().map_or(0, |package| package.serial());
            look_ups.found.replace(package);
            double_value(env, serial as f64)
        }
        Err(error) => failure(env, &error),
    }
}

/// `packageFound()`: the fields of the package that the last look-up found: `[path, name, main,
/// type, exports, is JSON, imports, is JSON]`.
unsafe extern "C" fn found(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, []| {
        let found = look_ups.found.borrow();
        let Some(package) = &*found else {
            return undefined(env);
        };
        let fields = package.fields();
        let optional = |value: Option<&str>| match value {
            Some(value) => text(env, value),
            None => undefined(env),
        };
        let raw = |value: &Option<Value>| match value {
            Some(Value::Text(value)) => [text(env, value), number(env, 0)],
            Some(Value::Json(value)) => [text(env, value), number(env, 1)],
            None => [undefined(env), number(env, 0)],
        };
        let ([exports, exports_json], [imports, imports_json]) =
            (raw(&fields.exports), raw(&fields.imports));
        let values = [
            text(env, &package.path().to_string_lossy()),
            optional(fields.name.as_deref()),
            optional(fields.main.as_deref()),
            number(env, fields.module_type as i32),
            exports,
            exports_json,
            imports,
            imports_json,
        ];
        array(env, &values)
    })
}

/// `packageRemaining()`: the milliseconds for which the answer of the last look-up holds, if its
/// policy is an age.
unsafe extern "C" fn remaining(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, []| {
        double_value(env, look_ups.remaining.get())
    })
}

/// `packageForget(path)`: forgets what is known of a path and all beneath it; without one,
/// everything. The counters of all environments are raised.
unsafe extern "C" fn forget(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, [path]| {
        let forgotten = if is_string(env, path) {
            CACHE.invalidate(path_of(&look_ups.environment.strings.to_vec(env, path)))
        } else {
            CACHE.clear();
            Ok(())
        };
        // After the cache: code that sees the new number must not find the old answer.
        for counter in &*counters() {
            // SAFETY: it is in the list, so its memory is there.
            unsafe { &*counter.0 }.fetch_add(1, Ordering::Release);
        }
        match forgotten {
            Ok(()) => undefined(env),
            Err(error) => failure(env, &error),
        }
    })
}

/// `packageWatch(counter)`: has each [`forget`] in the process raise the one element of this
/// `Uint32Array`.
unsafe extern "C" fn watch(
    env: napi::napi_env,
    info: napi::napi_callback_info,
) -> napi::napi_value {
    called(env, info, |look_ups: &LookUps, [view]| {
        let bytes = view_bytes(env, view);
        #[allow(clippy::cast_ptr_alignment, reason = "checked below")]
        let counter = bytes.as_ptr().cast::<AtomicU32>();
        if bytes.len() == size_of::<AtomicU32>() && counter.is_aligned() {
            // Kept for as long as the environment lives, which takes it from the list before it
            // goes.
            reference(env, view);
            look_ups.drop_counter();
            look_ups.counter.set(Some(Counter(counter)));
            counters().push(Counter(counter));
        }
        undefined(env)
    })
}

/// `[0, path, errno, reason]`, errno 0 if the system has none; `[1, path, line, column, reason]`;
/// `[2, path, reason]`.
#[cold]
fn failure(env: napi::napi_env, error: &Error) -> napi::napi_value {
    let path = text(env, &error.path().to_string_lossy());
    match error.problem() {
        Problem::Io(_, source) => {
            let errno = match source.kind() {
                // The cache found it without asking the system.
                ErrorKind::InvalidFilename => ENAMETOOLONG,
                _ => source.raw_os_error().map_or(0, node_errno),
            };
            let reason = text(env, &source.to_string());
            array(env, &[number(env, IO), path, number(env, errno), reason])
        }
        Problem::Invalid(invalid) => {
            let place = |count: usize| double_value(env, count as f64);
            let (line, column) = (place(invalid.line), place(invalid.column));
            let reason = text(env, invalid.reason);
            array(env, &[number(env, INVALID), path, line, column, reason])
        }
        Problem::Path(reason) => array(env, &[number(env, PATH), path, text(env, reason)]),
        _ => array(
            env,
            &[number(env, PATH), path, text(env, &error.to_string())],
        ),
    }
}
