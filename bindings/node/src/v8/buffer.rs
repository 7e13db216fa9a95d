//! Buffers over memory of the addon.
//!
//! Node-API has external Buffers too. But Node forbids to transfer them to a worker, while results
//! of node:fs can be transferred. Each also costs a finaliser on the main thread. An `ArrayBuffer`
//! over a `BackingStore` of V8 has neither fault. Its deleter may run on any thread.

use std::ffi::c_void;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use napi_sys as sys;

use super::isolate::{GetCurrent, get_current};
use crate::sys::symbol;

type Deleter = unsafe extern "C" fn(data: *mut c_void, length: usize, owner: *mut c_void);

/// `std::unique_ptr<v8::BackingStore>`, as it is returned: in memory of the caller, since it has a
/// destructor. The calling conventions of x86-64 and `AArch64` return any struct of more than 16
/// bytes so.
///
/// [Itanium C++ ABI, 3.1.3](https://itanium-cxx-abi.github.io/cxx-abi/abi.html#return-value)
#[repr(C)]
struct OwnedStore {
    store: *mut c_void,
    rest: [MaybeUninit<usize>; 3],
}

type NewBackingStore = unsafe extern "C" fn(
    data: *mut c_void,
    length: usize,
    deleter: Deleter,
    owner: *mut c_void,
) -> OwnedStore;
type DestroyBackingStore = unsafe extern "C" fn(store: *mut c_void);
type Delete = unsafe extern "C" fn(memory: *mut c_void);
type NewArrayBuffer =
    unsafe extern "C" fn(isolate: *mut c_void, store: *mut SharedStore) -> *mut c_void;
type NewBuffer = unsafe extern "C" fn(
    isolate: *mut c_void,
    array_buffer: *mut c_void,
    offset: usize,
    length: usize,
) -> sys::napi_value;

/// `std::shared_ptr<v8::BackingStore>` of libstdc++. As an argument it is passed by its address and
/// stays the caller's, who drops what the callee has left in it.
///
/// The name of the function that takes it says which library it is of: that of libc++ has another.
#[repr(C)]
struct SharedStore {
    store: *mut c_void,
    count: *mut Count,
}

/// The block with the number of owners, `std::_Sp_counted_base`, whose layout and virtual functions
/// are part of libstdc++'s ABI. Then follows what only the functions here read.
#[repr(C)]
struct Count {
    functions: &'static CountFunctions,
    owners: AtomicI32,
    /// One for all owners, and one for each weak pointer.
    weak: AtomicI32,
    store: *mut c_void,
    destroy_store: DestroyBackingStore,
    delete: Delete,
}

/// The virtual functions, in the order of their declaration. A destructor has two entries.
#[repr(C)]
struct CountFunctions {
    destructor: unsafe extern "C" fn(*mut Count),
    deleting_destructor: unsafe extern "C" fn(*mut Count),
    dispose: unsafe extern "C" fn(*mut Count),
    destroy: unsafe extern "C" fn(*mut Count),
    deleter: unsafe extern "C" fn(*mut Count, *const c_void) -> *mut c_void,
}

static COUNT_FUNCTIONS: CountFunctions = CountFunctions {
    destructor: keep,
    deleting_destructor: free_count,
    dispose: free_store,
    destroy: free_count,
    deleter: no_deleter,
};

unsafe extern "C" fn keep(_count: *mut Count) {}

/// Called when the last owner has gone.
unsafe extern "C" fn free_store(count: *mut Count) {
    // SAFETY: the block lives until `free_count`, which comes later, and this is called once. The
    // store is one of `operator new`.
    unsafe {
        let store = (*count).store;
        ((*count).destroy_store)(store);
        ((*count).delete)(store);
    }
}

/// Called when the last weak pointer has gone, too.
unsafe extern "C" fn free_count(count: *mut Count) {
    // SAFETY: the box made in `over`, once.
    drop(unsafe { Box::from_raw(count) });
}

unsafe extern "C" fn no_deleter(_count: *mut Count, _type: *const c_void) -> *mut c_void {
    ptr::null_mut()
}

impl Drop for SharedStore {
    fn drop(&mut self) {
        // SAFETY: the callee leaves null, or an owner of a living block.
        let Some(count) = (unsafe { self.count.as_ref() }) else {
            return;
        };
        if count.owners.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: that was the last owner.
            unsafe { free_store(self.count) };
            if count.weak.fetch_sub(1, Ordering::AcqRel) == 1 {
                // SAFETY: nobody else has the block.
                unsafe { free_count(self.count) };
            }
        }
    }
}

/// The functions of V8, Node and the C++ library that are called.
#[derive(Clone, Copy)]
struct Functions {
    new_backing_store: NewBackingStore,
    destroy_backing_store: DestroyBackingStore,
    delete: Delete,
    new_array_buffer: NewArrayBuffer,
    new_buffer: NewBuffer,
}

impl Functions {
    fn find() -> Option<Self> {
        let new_backing_store = symbol(c"_ZN2v811ArrayBuffer15NewBackingStoreEPvmPFvS1_mS1_ES1_")?;
        let destroy_backing_store = symbol(c"_ZN2v812BackingStoreD1Ev")?;
        let delete = symbol(c"_ZdlPv")?;
        let new_array_buffer =
            symbol(c"_ZN2v811ArrayBuffer3NewEPNS_7IsolateESt10shared_ptrINS_12BackingStoreEE")?;
        let new_buffer =
            symbol(c"_ZN4node6Buffer3NewEPN2v87IsolateENS1_5LocalINS1_11ArrayBufferEEEmm")?;
        // SAFETY: the names fix the arguments. A `Local` and a `MaybeLocal` are one pointer in a
        // register (V8_TRIVIAL_ABI), which is what a napi_value is.
        unsafe {
            Some(Self {
                new_backing_store: mem::transmute::<*mut c_void, NewBackingStore>(
                    new_backing_store,
                ),
                destroy_backing_store: mem::transmute::<*mut c_void, DestroyBackingStore>(
                    destroy_backing_store,
                ),
                delete: mem::transmute::<*mut c_void, Delete>(delete),
                new_array_buffer: mem::transmute::<*mut c_void, NewArrayBuffer>(new_array_buffer),
                new_buffer: mem::transmute::<*mut c_void, NewBuffer>(new_buffer),
            })
        }
    }
}

/// Makes Buffers over memory of the addon.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    functions: Functions,
    get_current: GetCurrent,
}

impl Buffers {
    /// Finds the functions; `None` where they must not or cannot be used. `known` is as for
    /// strings.
    pub(crate) fn detect(env: sys::napi_env, known: bool) -> Option<Self> {
        if !known {
            return None;
        }
        let buffers = Self {
            functions: Functions::find()?,
            get_current: get_current()?,
        };
        buffers.answers(env).then_some(buffers)
    }

    /// Makes a Buffer over `length` bytes at `data`, which live and belong to it until `deleter` is
    /// called, on any thread. `deleter` is called even if this returns `None`.
    ///
    /// # Safety
    /// The memory is as said, and the call is made on the environment's thread, in a handle scope.
    pub(crate) unsafe fn over(
        &self,
        data: *mut u8,
        length: usize,
        deleter: Deleter,
        owner: *mut c_void,
    ) -> Option<sys::napi_value> {
        let Functions {
            new_backing_store,
            destroy_backing_store: destroy_store,
            delete,
            new_array_buffer,
            new_buffer,
        } = self.functions;
        // SAFETY: by the contract. The isolate is that of this thread.
        unsafe {
            let store = new_backing_store(data.cast(), length, deleter, owner).store;
            let count = Box::into_raw(Box::new(Count {
                functions: &COUNT_FUNCTIONS,
                owners: AtomicI32::new(1),
                weak: AtomicI32::new(1),
                store,
                destroy_store,
                delete,
            }));
            let isolate = (self.get_current)();
            let mut shared = SharedStore { store, count };
            let array_buffer = new_array_buffer(isolate, &raw mut shared);
            if array_buffer.is_null() {
                return None;
            }
            let value = new_buffer(isolate, array_buffer, 0, length);
            (!value.is_null()).then_some(value)
        }
    }

    /// Tests whether a Buffer shows the memory that it was made over.
    fn answers(&self, env: sys::napi_env) -> bool {
        unsafe extern "C" fn free(_data: *mut c_void, _length: usize, owner: *mut c_void) {
            // SAFETY: the box made below, once.
            drop(unsafe { Box::from_raw(owner.cast::<[u8; 64]>()) });
        }
        let memory = Box::into_raw(Box::new([7_u8; 64]));
        // SAFETY: the memory lives until `free` takes it.
        let Some(value) = (unsafe { self.over(memory.cast(), 64, free, memory.cast()) }) else {
            return false;
        };
        let (mut data, mut length) = (ptr::null_mut(), 0);
        // SAFETY: plain output arguments.
        let status =
            unsafe { sys::napi_get_buffer_info(env, value, &raw mut data, &raw mut length) };
        status == sys::Status::napi_ok && data == memory.cast() && length == 64
    }
}
