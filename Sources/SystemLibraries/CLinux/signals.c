// signalfd(2), prctl(2), pidfd_open(2) and pipe2(2) are not visible to Swift.

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static sigset_t set_of(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
    return set;
}

void qc_block_signals(const int *signals, int count) {
    sigset_t set = set_of(signals, count);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int qc_wait_for_signal(const int *signals, int count) {
    sigset_t set = set_of(signals, count);
    int signal = 0;
    return sigwait(&set, &signal) == 0 ? signal : 0;
}

int qc_signal_descriptor(const int *signals, int count) {
    sigset_t set = set_of(signals, count);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int qc_next_signal(int descriptor) {
    struct signalfd_siginfo info;
    return read(descriptor, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

void qc_end_with_parent(int parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before.
    if (getppid() != parent) _exit(1);
}

int qc_process_descriptor(int process) {
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int qc_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
