// Makes an ArrayBuffer over memory of the addon, and a Buffer over that.
//
// V8 hands backing stores around in the standard library's pointers, which only C++ can make. The
// functions are looked up at run time and passed in, so that the addon loads where they are
// missing.

#include <cstddef>
#include <memory>
#include <new>

namespace {

using Deleter = void (*)(void *data, std::size_t length, void *owner);

// Stands for std::unique_ptr<v8::BackingStore>: one pointer, and returned through memory because it
// has a destructor.
struct OwnedStore {
    void *store;
    ~OwnedStore() {}
};

using NewBackingStore = OwnedStore (*)(void *data, std::size_t length, Deleter deleter, void *owner);
using DestroyBackingStore = void (*)(void *store);
using NewArrayBuffer = void *(*)(void *isolate, std::shared_ptr<void> store);
using NewBuffer = void *(*)(void *isolate, void *array_buffer, std::size_t offset, std::size_t length);

} // namespace

extern "C" {

struct SmallfryBufferFunctions {
    NewBackingStore new_backing_store;
    DestroyBackingStore destroy_backing_store;
    NewArrayBuffer new_array_buffer;
    NewBuffer new_buffer;
};

// The handle of the new Buffer, or null. The memory is the store's from the first call on.
void *smallfry_buffer_over(const SmallfryBufferFunctions *functions, void *isolate, void *data, std::size_t length,
                           Deleter deleter, void *owner)
{
    const OwnedStore made = functions->new_backing_store(data, length, deleter, owner);
    const DestroyBackingStore destroy = functions->destroy_backing_store;
    const std::shared_ptr<void> store(made.store, [destroy](void *old) {
        destroy(old);
        ::operator delete(old);
    });
    void *const array_buffer = functions->new_array_buffer(isolate, store);
    return array_buffer == nullptr ? nullptr : functions->new_buffer(isolate, array_buffer, 0, length);
}

} // extern "C"
