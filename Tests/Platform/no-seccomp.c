// For tests under qemu-user, which knows no seccomp: the call that asks for a filter says that it is there. Nothing is confined.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/prctl.h>

int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    if (option == PR_SET_SECCOMP) return 0;
    int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) = dlsym(RTLD_NEXT, "prctl");
    return real(option, a, b, c, d);
}
