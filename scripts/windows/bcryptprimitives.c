// The one function of bcryptprimitives.dll that every Rust program needs to start and that Wine 8
// lacks: random bytes. It calls the older function for them.

#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
    while (count > 0) {
        const ULONG piece = count > 0x10000000 ? 0x10000000 : (ULONG)count;
        if (!SystemFunction036(bytes, piece)) {
            return FALSE;
        }
        bytes += piece;
        count -= piece;
    }
    return TRUE;
}
