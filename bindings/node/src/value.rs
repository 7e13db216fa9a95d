//! The few Node-API calls that the hot functions need, as plain functions.

use std::ffi::{CStr, c_void};
use std::ptr;

use napi_sys as sys;

/// Returns the arguments of one call (`undefined` where the caller gave fewer than `N`), and the
/// pointer that its function was made with.
#[inline]
pub(crate) fn arguments<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> ([sys::napi_value; N], *mut c_void) {
    let mut values = [ptr::null_mut(); N];
    let mut count = N;
    let mut data = ptr::null_mut();
    // SAFETY: `values` has room for `count` values; Node-API fills missing ones with undefined.
    unsafe {
        sys::napi_get_cb_info(
            env,
            info,
            &raw mut count,
            values.as_mut_ptr(),
            ptr::null_mut(),
            &raw mut data,
        )
    };
    (values, data)
}

#[inline]
pub(crate) fn is_string(env: sys::napi_env, value: sys::napi_value) -> bool {
    kind(env, value) == sys::ValueType::napi_string
}

#[inline]
pub(crate) fn is_number(env: sys::napi_env, value: sys::napi_value) -> bool {
    kind(env, value) == sys::ValueType::napi_number
}

#[inline]
fn kind(env: sys::napi_env, value: sys::napi_value) -> sys::napi_valuetype {
    let mut kind = sys::ValueType::napi_undefined;
    // SAFETY: `value` is a live handle.
    unsafe { sys::napi_typeof(env, value, &raw mut kind) };
    kind
}

/// Reads a number; 0 for anything else.
pub(crate) fn double(env: sys::napi_env, value: sys::napi_value) -> f64 {
    let mut number = 0.0;
    // SAFETY: as in `int32`.
    unsafe { sys::napi_get_value_double(env, value, &raw mut number) };
    number
}

/// Reads a number as an int32; 0 for anything else.
#[inline]
pub(crate) fn int32(env: sys::napi_env, value: sys::napi_value) -> i32 {
    let mut number = 0;
    // SAFETY: `value` is a live handle; a value that is no number leaves `number` alone.
    unsafe { sys::napi_get_value_int32(env, value, &raw mut number) };
    number
}

pub(crate) fn number(env: sys::napi_env, number: i32) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: plain output argument.
    unsafe { sys::napi_create_int32(env, number, &raw mut value) };
    value
}

pub(crate) fn undefined(env: sys::napi_env) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: plain output argument.
    unsafe { sys::napi_get_undefined(env, &raw mut value) };
    value
}

/// Reads a number as a count of bytes; 0 for anything else.
pub(crate) fn byte_count(env: sys::napi_env, value: sys::napi_value) -> u64 {
    let mut number = 0;
    // SAFETY: as in `int32`.
    unsafe { sys::napi_get_value_int64(env, value, &raw mut number) };
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn double_value(env: sys::napi_env, number: f64) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: plain output argument.
    unsafe { sys::napi_create_double(env, number, &raw mut value) };
    value
}

/// Makes a string.
pub(crate) fn text(env: sys::napi_env, text: &str) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the text is copied.
    unsafe {
        let length = text.len().cast_signed();
        sys::napi_create_string_utf8(env, text.as_ptr().cast(), length, &raw mut value);
    }
    value
}

/// Makes a string from code points up to U+00FF. `None` if the engine refuses.
pub(crate) fn latin1(env: sys::napi_env, bytes: &[u8]) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: Node-API copies `bytes`.
    let status = unsafe {
        sys::napi_create_string_latin1(
            env,
            bytes.as_ptr().cast(),
            bytes.len().cast_signed(),
            &raw mut value,
        )
    };
    answered(status, value)
}

/// Makes a string from UTF-16 units. `None` if the engine refuses.
pub(crate) fn utf16(env: sys::napi_env, units: &[u16]) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: Node-API copies `units`.
    let status = unsafe {
        sys::napi_create_string_utf16(
            env,
            units.as_ptr(),
            units.len().cast_signed(),
            &raw mut value,
        )
    };
    answered(status, value)
}

/// Makes a string from UTF-8; the engine decides how invalid sequences read. `None` if the engine
/// refuses.
pub(crate) fn utf8(env: sys::napi_env, bytes: &[u8]) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: Node-API copies `bytes`.
    let status = unsafe {
        sys::napi_create_string_utf8(
            env,
            bytes.as_ptr().cast(),
            bytes.len().cast_signed(),
            &raw mut value,
        )
    };
    answered(status, value)
}

/// Returns the value that a call has made, if the call succeeded.
pub(crate) fn answered(
    status: sys::napi_status,
    value: sys::napi_value,
) -> Option<sys::napi_value> {
    (status == sys::Status::napi_ok).then_some(value)
}

/// Keeps a value alive until the reference is deleted, or with the environment.
pub(crate) fn reference(env: sys::napi_env, value: sys::napi_value) -> sys::napi_ref {
    let mut made = ptr::null_mut();
    // SAFETY: `value` is a live handle.
    unsafe { sys::napi_create_reference(env, value, 1, &raw mut made) };
    made
}

/// Returns the value that a reference keeps.
pub(crate) fn referenced(env: sys::napi_env, reference: sys::napi_ref) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the reference was made in this environment and has not been deleted.
    unsafe { sys::napi_get_reference_value(env, reference, &raw mut value) };
    value
}

/// Returns the number of elements of an array; 0 for anything else.
pub(crate) fn array_length(env: sys::napi_env, array: sys::napi_value) -> usize {
    let mut length = 0;
    // SAFETY: `array` is a live handle; a value that is no array leaves `length` alone.
    unsafe { sys::napi_get_array_length(env, array, &raw mut length) };
    length as usize
}

/// Returns `array[index]`.
pub(crate) fn element(env: sys::napi_env, array: sys::napi_value, index: usize) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: `array` is a live handle; an index beyond its end gives undefined.
    unsafe { sys::napi_get_element(env, array, index as u32, &raw mut value) };
    value
}

/// Returns `object[name]`; undefined if there is none.
pub(crate) fn property(
    env: sys::napi_env,
    object: sys::napi_value,
    name: &CStr,
) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: `object` is a live handle, and the name is NUL-terminated. The objects are made by
    // `lib/`, without getters.
    let status =
        unsafe { sys::napi_get_named_property(env, object, name.as_ptr(), &raw mut value) };
    if status == sys::Status::napi_ok {
        value
    } else {
        undefined(env)
    }
}

/// Does `array[index] = value`.
pub(crate) fn set_element(
    env: sys::napi_env,
    array: sys::napi_value,
    index: usize,
    value: sys::napi_value,
) {
    // SAFETY: both are live handles.
    unsafe { sys::napi_set_element(env, array, index as u32, value) };
}

/// Makes an array of these values.
pub(crate) fn array(env: sys::napi_env, values: &[sys::napi_value]) -> sys::napi_value {
    let mut array = ptr::null_mut();
    // SAFETY: plain output argument.
    unsafe { sys::napi_create_array_with_length(env, values.len(), &raw mut array) };
    for (index, value) in values.iter().enumerate() {
        set_element(env, array, index, *value);
    }
    array
}

/// Returns the length of a string in UTF-16 units.
#[inline]
pub(crate) fn string_length(env: sys::napi_env, string: sys::napi_value) -> usize {
    let mut length = 0;
    // SAFETY: with no buffer Node-API only tells the length.
    unsafe { sys::napi_get_value_string_utf16(env, string, ptr::null_mut(), 0, &raw mut length) };
    length
}

/// The name and the code of a native function.
pub(crate) struct Function(
    pub(crate) &'static CStr,
    pub(crate) unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value,
);

/// Puts native functions on `object`. Each call of one gets `state`.
pub(crate) fn define<S>(
    env: sys::napi_env,
    object: sys::napi_value,
    state: &'static S,
    functions: &[Function],
) {
    let data = ptr::from_ref(state).cast_mut().cast();
    for Function(name, code) in functions {
        let mut function = ptr::null_mut();
        // SAFETY: the name is NUL-terminated and static, and the state is never freed.
        unsafe {
            sys::napi_create_function(
                env,
                name.as_ptr(),
                name.count_bytes().cast_signed(),
                Some(*code),
                data,
                &raw mut function,
            );
            sys::napi_set_named_property(env, object, name.as_ptr(), function);
        }
    }
}

/// Runs the body of a native function; a panic becomes a JavaScript error, never an abort of the
/// host.
#[inline]
pub(crate) fn guarded(
    env: sys::napi_env,
    body: impl FnOnce() -> sys::napi_value,
) -> sys::napi_value {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let (code, text) = (c"ERR_SMALLFRY_INTERNAL", c"smallfry: internal error");
        // SAFETY: static NUL-terminated texts.
        unsafe { sys::napi_throw_error(env, code.as_ptr(), text.as_ptr()) };
        ptr::null_mut()
    })
}
