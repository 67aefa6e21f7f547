// dl_iterate_phdr(3) is not visible to Swift.

#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static int release(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        // What was never written can be read again from the file.
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = (info->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    // The first one is the program itself; libraries are shared with other programs.
    return 1;
}

void qc_release_code(void) { dl_iterate_phdr(release, NULL); }
