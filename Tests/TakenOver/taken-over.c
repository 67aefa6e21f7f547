// Acts as a process whose engine an attacker has taken over: native code, on the thread that runs JavaScript, at the moment
// when JavaScript begins. Loaded into the real program by LD_PRELOAD, it replaces the engine's first function,
// tries what such code would try, and writes a line for each attempt on standard error:
//   taken-over: NAME: done
//   taken-over: NAME: refused (EPERM)
// The tests build it; with -DALONE as an unconfined program of its own, which proves that its attempts work.
//   cc -shared -fPIC -o taken-over.so taken-over.c -ldl
//   cc -DALONE -o taken-over taken-over.c

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void tell(const char *name, const char *of, long result) {
    char line[512];
    int error = errno;
    int size = result >= 0 ? snprintf(line, sizeof line, "taken-over: %s%s: done\n", name, of)
                           : snprintf(line, sizeof line, "taken-over: %s%s: refused (%s)\n", name, of, strerrorname_np(error));
    if (write(2, line, (size_t)size) < 0) _exit(9);
}

static long opened(const char *path, int flags) {
    int file = open(path, flags, 0600);
    char byte;
    // A folder cannot be read as a file.
    if (file >= 0 && (flags & O_ACCMODE) == O_RDONLY && read(file, &byte, 1) < 0 && errno != EISDIR) file = -1;
    if (file >= 0) close(file);
    return file;
}

// The paths in a variable, separated by colons.
static void each(const char *variable, const char *name, int flags) {
    char *paths = getenv(variable), *rest = NULL;
    if (!paths || !(paths = strdup(paths))) return;
    for (char *path = strtok_r(paths, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
        tell(name, path, opened(path, flags));
    free(paths);
}

// A name in the folder that the test provides for this.
static const char *own(const char *name) {
    static char path[4][256];
    static int next;
    const char *folder = getenv("TAKEN_OVER_FOLDER");
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder ? folder : "/tmp", name);
    return path[next];
}

static void files(void) {
    // The paths that the test knows, and whether they can be opened.
    each("TAKEN_OVER_READS", "read ", O_RDONLY);
    each("TAKEN_OVER_WRITES", "write ", O_WRONLY | O_APPEND);
    each("TAKEN_OVER_EMPTIES", "empty ", O_RDONLY | O_TRUNC);
    each("TAKEN_OVER_MAKES", "make ", O_WRONLY | O_CREAT);
    tell("read ", "/etc/passwd", opened("/etc/passwd", O_RDONLY));
    tell("read ", "/bin/sh", opened("/bin/sh", O_RDONLY));
    // All sockets of the machine, or of the unit's own network.
    tell("read ", "/proc/self/net/unix", opened("/proc/self/net/unix", O_RDONLY));
    tell("read ", "its thread's /proc/net/unix", opened("/proc/thread-self/net/unix", O_RDONLY));
    tell("read ", "/proc/self/environ", opened("/proc/self/environ", O_RDONLY));
    tell("list ", "/", opened("/", O_RDONLY | O_DIRECTORY));
    tell("list ", "another folder", opened(own(""), O_RDONLY | O_DIRECTORY));
    tell("make ", "a file", opened(own("made"), O_WRONLY | O_CREAT));
    tell("make ", "a file without a name", opened(own(""), O_RDWR | O_TMPFILE));
    tell("make ", "a folder", mkdir(own("folder"), 0700));
    tell("make ", "a link", symlink("/etc/passwd", own("link")));
    tell("change the mode of ", "a file", chmod(own("given"), 0666));
    tell("shorten ", "a file", truncate(own("given"), 0));
    tell("rename ", "a file", rename(own("given"), own("renamed")));
    tell("remove ", "a file", unlink(own("removed")));
}

static void devices(void) {
    static const char *const paths[] = {
        "/dev/snd/controlC0", "/dev/snd/seq", "/dev/snd/timer", "/dev/input/event0", "/dev/iio:device0", "/dev/mem", "/dev/kmsg", "/dev/vda",
        "/dev/tty", "/dev/ptmx", "/dev/fuse", "/dev/rtc0", "/dev/zero",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        tell("open ", paths[i], opened(paths[i], O_RDWR));
}

// Tries each kind of socket, because another one than the listener's is refused with another error.
static long connected(const char *name) {
    static const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, name, sizeof address.sun_path - 1);
    if (*name == '@') address.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (*name == '@' ? 0 : 1));
    long result = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int socket_ = socket(AF_UNIX, kinds[i], 0);
        result = socket_ < 0 ? -1 : connect(socket_, (struct sockaddr *)&address, size);
        int error = errno;
        if (socket_ >= 0) close(socket_);
        errno = error;
        if (result == 0 || error != EPROTOTYPE) break;
    }
    return result;
}

static void network(void) {
    tell("socket ", "IPv4", socket(AF_INET, SOCK_STREAM, 0));
    tell("socket ", "IPv6", socket(AF_INET6, SOCK_DGRAM, 0));
    tell("socket ", "netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    tell("socket ", "raw", socket(AF_PACKET, SOCK_RAW, 0));
    tell("socket ", "virtual machines", socket(40 /* AF_VSOCK */, SOCK_STREAM, 0));
    tell("socket ", "crypto", socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0));
    int local = socket(AF_UNIX, SOCK_STREAM, 0);
    tell("socket ", "local", local);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, own("socket"), sizeof address.sun_path - 1);
    tell("listen", "", local < 0 ? -1 : bind(local, (struct sockaddr *)&address, sizeof address));
    // For example the system's bus, which the unit hides. With @ in front it is an abstract name.
    char *others = getenv("TAKEN_OVER_CONNECTS"), *rest = NULL;
    if (!others || !(others = strdup(others))) return;
    for (char *other = strtok_r(others, ":", &rest); other; other = strtok_r(NULL, ":", &rest)) tell("connect ", other, connected(other));
    free(others);
}

static void processes(void) {
    char path[64];
    pid_t parent = getppid();
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    tell("fork", "", child);
    child = vfork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    tell("vfork", "", child);
#ifndef ALONE
    // If it returns, it has failed.
    char *const words[] = {"/bin/true", NULL};
    execv(words[0], words);
    tell("run ", words[0], -1);
#endif
    tell("signal ", "its parent", kill(parent, 0));
    tell("signal ", "all", kill(-1, 0));
    tell("trace ", "its parent", ptrace(PTRACE_SEIZE, parent, 0, 0) == 0 ? ptrace(PTRACE_DETACH, parent, 0, 0) * 0 : -1);
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&tell, 1};
    tell("read the memory of ", "its parent", process_vm_readv(parent, &here, 1, &there, 1, 0));
    snprintf(path, sizeof path, "/proc/%d/environ", parent);
    tell("read ", "its parent's environment", opened(path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/mem", parent);
    tell("open ", "its parent's memory", opened(path, O_WRONLY));
    snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", parent);
    tell("read ", "/etc/passwd by its parent's root", opened(path, O_RDONLY));
    tell("watch ", "its parent", syscall(434 /* pidfd_open */, parent, 0));
    struct rlimit limit;
    tell("read ", "its parent's limits", prlimit(parent, RLIMIT_NOFILE, NULL, &limit));
    tell("be told of by ", "another's signal", fcntl(2, F_SETOWN, parent));
}

static void kernel(void) {
    static const struct {
        const char *name;
        long number;
    } calls[] = {
        {"a namespace", SYS_unshare}, {"a mount", SYS_mount}, {"another root", SYS_chroot}, {"rings", 425 /* io_uring_setup */},
        {"BPF", SYS_bpf}, {"performance counters", SYS_perf_event_open}, {"page faults", SYS_userfaultfd},
        {"a key", SYS_add_key}, {"a module", SYS_init_module}, {"the host's name", SYS_sethostname}, {"a memory file", SYS_memfd_create},
        {"shared memory", SYS_shmget}, {"a message queue", SYS_mq_open}, {"a user's number", SYS_setuid}, {"a priority", SYS_setpriority},
        {"a schedule", SYS_sched_setscheduler}, {"a personality", SYS_personality}, {"a handle of a file", SYS_open_by_handle_at},
        {"a restart", SYS_reboot}, {"a socket pair", SYS_socketpair}, {"watching files", SYS_inotify_init1},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long arguments[6] = {0};
        // Arguments that do no harm if nothing refuses the call.
        if (calls[i].number == SYS_unshare) arguments[0] = 0x10000000 /* CLONE_NEWUSER */;
        if (calls[i].number == SYS_memfd_create) arguments[0] = (long)"taken-over";
        if (calls[i].number == SYS_shmget) arguments[1] = 4096, arguments[2] = 01000 /* IPC_CREAT */ | 0600;
        if (calls[i].number == SYS_setuid) arguments[0] = (long)geteuid();
        if (calls[i].number == SYS_personality) arguments[0] = 0xffffffff;
        int ends[2];
        if (calls[i].number == SYS_socketpair) arguments[0] = AF_UNIX, arguments[1] = SOCK_STREAM, arguments[3] = (long)ends;
        errno = 0;
        long result = syscall(calls[i].number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
        tell("use ", calls[i].name, result);
        if (calls[i].number == SYS_shmget && result >= 0) syscall(SYS_shmctl, result, 0 /* IPC_RMID */, NULL);
    }
    int input = '#';
    tell("type ", "into the terminal", ioctl(0, TIOCSTI, &input));
    tell("undo ", "what it gave up", prctl(PR_SET_DUMPABLE, 1));
    struct sock_filter_ { unsigned short a; unsigned char b, c; unsigned d; } allow = {6, 0, 0, 0x7fff0000};
    struct { unsigned short size; void *steps; } program = {1, &allow};
    tell("replace ", "the filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

// The socket to its host, and the other descriptors it got.
static void descriptors(void) {
    char names[256] = "";
    for (int i = 0; i < 64; i++) {
        char one[8];
        if (fcntl(i, F_GETFD) >= 0 && snprintf(one, sizeof one, " %d", i) > 0) strncat(names, one, sizeof names - strlen(names) - 1);
    }
    tell("has descriptors", names, 0);
}

static void attack(void) {
    // A host starts several processes; the thread has the name of its script, or «macros».
    const char *only = getenv("TAKEN_OVER_ONLY");
    char name[17] = "";
    if (only && (prctl(PR_GET_NAME, name) != 0 || strcmp(name, only) != 0)) return;
    descriptors();
    files();
    devices();
    network();
    processes();
    kernel();
    tell("end", "", 0);
}

#ifdef ALONE
int main(void) {
    attack();
    return 0;
}
#else
// The engine's function that creates a context for JavaScript.
const void *JSGlobalContextCreateInGroup(const void *group, const void *class) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const void *(*real)(const void *, const void *);
    if (!real) real = (const void *(*)(const void *, const void *))dlsym(RTLD_NEXT, "JSGlobalContextCreateInGroup");
    pthread_once(&once, attack);
    return real(group, class);
}
#endif
