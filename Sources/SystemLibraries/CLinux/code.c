// dl_iterate_phdr(3) is not visible to Swift.

#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The first one is the program itself, whose name is empty. Of the libraries, only the project's own, because the
// start reads most of it; others are shared with the rest of the system.
static int release(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    if (*info->dlpi_name && !strstr(info->dlpi_name, "/lib/quickconnect/")) return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        // The file still has all that was never written.
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = (info->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void qc_release_code(void) { dl_iterate_phdr(release, NULL); }
