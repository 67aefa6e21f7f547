// mallopt(3) and malloc_trim(3).

#include "CLinux.h"

#include <malloc.h>

void qc_tune_memory(void) {
    // A fixed threshold: glibc's own grows with the size of freed blocks, and then keeps megabytes in the heap.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 512 * 1024);
    mallopt(M_ARENA_MAX, 2);
}

void qc_trim_memory(void) { malloc_trim(256 * 1024); }
