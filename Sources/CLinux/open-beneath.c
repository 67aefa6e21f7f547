// glibc has no function for this system call, and syscall(2), which takes any arguments, is not visible to Swift.

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

const int qc_o_path = O_PATH;

int qc_open_beneath(int folder, const char *path, int flags, unsigned mode) {
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long result;
    do result = syscall(SYS_openat2, folder, path, &how, sizeof how);
    // EAGAIN: something was renamed meanwhile, so that the kernel cannot be sure where it is.
    while (result < 0 && (errno == EINTR || errno == EAGAIN));
    return result < 0 ? -errno : (int)result;
}
