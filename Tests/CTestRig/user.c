// glibc's seteuid(2) changes all threads of a process. In the kernel, each thread has its own user.

#define _GNU_SOURCE
#include "CTestRig.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int qct_become(unsigned user) {
    if (syscall(SYS_setgroups, 0, 0) != 0) return errno;
    if (syscall(SYS_setresgid, -1, user, -1) != 0) return errno;
    return syscall(SYS_setresuid, -1, user, -1) != 0 ? errno : 0;
}

int qct_become_root(void) {
    if (syscall(SYS_setresuid, -1, 0, -1) != 0) return errno;
    return syscall(SYS_setresgid, -1, 0, -1) != 0 ? errno : 0;
}
