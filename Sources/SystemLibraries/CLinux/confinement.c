// What foreign code may ask of the kernel: landlock(7) for files, seccomp(2) for all else. libseccomp would be
// one more library in each process, for a filter that is just the table below.

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define OWN_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

// --- Files --------------------------------------------------------------------------------------------------------

// Landlock's rights by name: the headers of an older system lack some that a newer kernel knows.
enum {
    file_write = 1 << 1,
    file_read = 1 << 2,
    folder_read = 1 << 3,
    folder_remove_file = 1 << 5,
    folder_make_file = 1 << 8,
    file_truncate = 1 << 14,
};

struct ruleset_attributes {
    uint64_t files, network, scopes;
};

struct path_attributes {
    uint64_t access;
    int32_t folder;
} __attribute__((packed));

static int version(void) { return (int)syscall(444, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */); }

static uint64_t known_rights(int version) {
    return version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff;
}

int qc_confinement_begin(void) {
    int known = version();
    if (known < 1) return -ENOSYS;
    struct ruleset_attributes attributes = {
        .files = known_rights(known),
        .network = 3, // connecting and listening
        .scopes = 3,  // abstract Unix sockets, signals
    };
    size_t size = known >= 6 ? 24 : known >= 4 ? 16 : 8;
    int ruleset = (int)syscall(444, &attributes, size, 0);
    return ruleset < 0 ? -errno : ruleset;
}

int qc_confinement_allow(int ruleset, const char *path, int access) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct stat status;
    if (fstat(descriptor, &status) != 0) status.st_mode = 0;
    uint64_t rights = file_read;
    if (access & qc_access_write) rights |= file_write | file_truncate;
    if (S_ISDIR(status.st_mode)) {
        rights |= folder_read;
        if (access & qc_access_write) rights |= folder_make_file | folder_remove_file;
    }
    struct path_attributes attributes = {.access = rights & known_rights(version()), .folder = descriptor};
    long result = syscall(445, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &attributes, 0);
    int error = errno;
    if (result < 0 || !(access & qc_access_kept)) close(descriptor);
    return result < 0 ? -error : 0;
}

// --- System calls -------------------------------------------------------------------------------------------------

enum { most = 512 };

struct filter {
    struct sock_filter steps[most];
    unsigned short count;
};

static void add(struct filter *filter, struct sock_filter step) {
    if (filter->count < most) filter->steps[filter->count++] = step;
}

#define LOAD(member) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
// The low half: the arguments that are checked here are ints in the kernel.
#define LOAD_ARGUMENT(index) LOAD(args[index])
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define IF(value, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)

static void allow(struct filter *filter, int call) {
    add(filter, IF(call, 0, 1));
    add(filter, RETURN(SECCOMP_RET_ALLOW));
}

static void refuse(struct filter *filter, int call, int error) {
    add(filter, IF(call, 0, 1));
    add(filter, RETURN(SECCOMP_RET_ERRNO | (unsigned)error));
}

// Allows a call whose argument is one of these (`verdict` 1), or none of these (0).
static void allow_where(struct filter *filter, int call, int argument, int verdict, const unsigned *values, int count) {
    add(filter, IF(call, 0, (uint8_t)(count + 3)));
    add(filter, LOAD_ARGUMENT(argument));
    for (int i = 0; i < count; i++) add(filter, IF(values[i], (uint8_t)(count - i), 0));
    add(filter, RETURN(verdict ? REFUSED : SECCOMP_RET_ALLOW));
    add(filter, RETURN(verdict ? SECCOMP_RET_ALLOW : REFUSED));
}

// Allows a call if the bits of `mask` in its argument equal `value`.
static void allow_masked(struct filter *filter, int call, int argument, unsigned mask, unsigned value) {
    add(filter, IF(call, 0, 5));
    add(filter, LOAD_ARGUMENT(argument));
    add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    add(filter, IF(value, 0, 1));
    add(filter, RETURN(SECCOMP_RET_ALLOW));
    add(filter, RETURN(REFUSED));
}

// Harmless calls: they concern only this process, or descriptors that it has.
static const int harmless[] = {
    // Memory
    __NR_brk, __NR_madvise, __NR_membarrier, __NR_mincore, __NR_mmap, __NR_mprotect, __NR_mremap, __NR_munmap,
    // Threads, and waiting for each other
    __NR_exit, __NR_exit_group, __NR_futex, __NR_get_robust_list, __NR_getcpu, __NR_gettid, __NR_restart_syscall,
    __NR_sched_getaffinity, __NR_sched_getparam, __NR_sched_getscheduler, __NR_sched_get_priority_max,
    __NR_sched_get_priority_min, __NR_sched_yield, __NR_set_robust_list, __NR_set_tid_address,
#ifdef __NR_rseq
    __NR_rseq,
#endif
    // Signals of its own
    __NR_rt_sigaction, __NR_rt_sigpending, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait, __NR_sigaltstack, __NR_signalfd4,
#ifdef __NR_pause
    __NR_pause,
#endif
    // Time
    __NR_clock_getres, __NR_clock_gettime, __NR_clock_nanosleep, __NR_getitimer, __NR_gettimeofday, __NR_nanosleep,
    __NR_setitimer, __NR_timer_create, __NR_timer_delete, __NR_timer_getoverrun, __NR_timer_gettime,
    __NR_timer_settime, __NR_times,
#ifdef __NR_alarm
    __NR_alarm,
#endif
#ifdef __NR_time
    __NR_time,
#endif
    // Who it is, and what the system has
    __NR_getcwd, __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getpid, __NR_getppid, __NR_getpriority, __NR_getrandom,
    __NR_getrusage, __NR_getuid, __NR_sysinfo, __NR_uname,
#ifdef __NR_getrlimit
    __NR_getrlimit,
#endif
    // Descriptors
    __NR_close, __NR_close_range, __NR_dup, __NR_dup3, __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait,
    __NR_eventfd2, __NR_fadvise64, __NR_flock, __NR_fstat, __NR_lseek, __NR_pipe2, __NR_ppoll, __NR_pread64, __NR_preadv,
    __NR_pselect6, __NR_read, __NR_readv, __NR_write, __NR_writev,
#ifdef __NR_dup2
    __NR_dup2,
#endif
#ifdef __NR_epoll_wait
    __NR_epoll_wait,
#endif
#ifdef __NR_poll
    __NR_poll,
#endif
#ifdef __NR_select
    __NR_select,
#endif
    // Information about files; opening is handled below
    __NR_faccessat, __NR_getdents64, __NR_newfstatat, __NR_readlinkat, __NR_statfs, __NR_fstatfs, __NR_statx,
#ifdef __NR_faccessat2
    __NR_faccessat2,
#endif
#ifdef __NR_access
    __NR_access,
#endif
#ifdef __NR_lstat
    __NR_lstat, __NR_stat, __NR_readlink,
#endif
    // Sockets that it has
    __NR_getpeername, __NR_getsockname, __NR_getsockopt, __NR_recvfrom, __NR_recvmsg, __NR_sendmsg, __NR_sendto,
    __NR_setsockopt, __NR_shutdown,
};

// For a database: it changes files that it may open.
static const int changing[] = {
    __NR_fallocate, __NR_fdatasync, __NR_fsync, __NR_ftruncate, __NR_pwrite64, __NR_unlinkat,
#ifdef __NR_unlink
    __NR_unlink,
#endif
};

static void add_arguments(struct filter *filter, int access) {
    const unsigned own = (unsigned)getpid();
    const unsigned own_or_this[] = {0, own};
    const unsigned families[] = {AF_UNIX};
    const unsigned terminal[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO};
    const unsigned names[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */};
    // A descriptor's owner, who gets its signals, may be another process.
    const unsigned owners[] = {F_SETOWN, F_SETSIG, 15 /* F_SETOWN_EX */};
    const unsigned new_namespaces = 0x7e020080;
    // Threads, but no processes. clone3 hides its flags in memory; without it, the C library uses clone.
    allow_masked(filter, __NR_clone, 0, CLONE_THREAD | new_namespaces, CLONE_THREAD);
#ifdef __NR_clone3
    refuse(filter, __NR_clone3, ENOSYS);
#endif
    allow_where(filter, __NR_tgkill, 0, 1, &own, 1);
    allow_where(filter, __NR_prlimit64, 0, 1, own_or_this, 2);
    allow_where(filter, __NR_prctl, 0, 1, names, 3);
    allow_where(filter, __NR_ioctl, 1, 1, terminal, 4);
    allow_where(filter, __NR_fcntl, 1, 0, owners, 3);
    if (access & qc_confinement_connects) {
        allow_where(filter, __NR_socket, 0, 1, families, 1);
        allow(filter, __NR_connect);
    }
    // Older kernels check no rule if opening a file truncates it. O_TMPFILE would make a file without a name.
    const unsigned tmpfile = O_TMPFILE & ~(unsigned)O_DIRECTORY;
    const unsigned forbidden =
        access & qc_confinement_writes ? (unsigned)O_TRUNC | tmpfile : (unsigned)(O_ACCMODE | O_CREAT | O_TRUNC) | tmpfile;
    allow_masked(filter, __NR_openat, 2, forbidden, 0);
#ifdef __NR_open
    allow_masked(filter, __NR_open, 1, forbidden, 0);
#endif
}

static int enter_filter(int access) {
#ifndef OWN_ARCHITECTURE
    (void)access;
    return -ENOSYS;
#else
    struct filter filter = {.count = 0};
    add(&filter, LOAD(arch));
    add(&filter, IF(OWN_ARCHITECTURE, 1, 0));
    add(&filter, RETURN(SECCOMP_RET_KILL_PROCESS));
    add(&filter, LOAD(nr));
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) allow(&filter, harmless[i]);
    if (access & qc_confinement_writes)
        for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) allow(&filter, changing[i]);
    add_arguments(&filter, access);
    add(&filter, RETURN(REFUSED));
    if (filter.count == most) return -E2BIG;
    struct sock_fprog program = {.len = filter.count, .filter = filter.steps};
    // Existing threads get the filter, too.
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    // A service's own filter may allow only this way, which holds for this thread and those that it starts.
    if (result < 0 && (errno == EPERM || errno == ENOSYS)) result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    return result < 0 ? -errno : result > 0 ? -EAGAIN : 0;
#endif
}

int qc_confinement_enter(int ruleset, int access) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (ruleset >= 0 && syscall(446, ruleset, 0) != 0) return -errno;
    return enter_filter(access);
}
