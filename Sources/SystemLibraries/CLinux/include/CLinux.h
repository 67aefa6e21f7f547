#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>

/// Starts a detached thread that runs `body(context)` and receives no signal of the process.
/// Returns 0, or the error number of pthread_create.
int qc_thread_start(void *(*body)(void *), void *context);

/// Names the calling thread, as `top -H` shows it. The kernel keeps 15 bytes.
void qc_thread_set_name(const char *name);

/// openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS and O_CLOEXEC: opens a path below the folder, even with
/// symbolic links on the way. `flags` and `mode` as for openat(2).
/// Returns a descriptor, or the negative error number: -EXDEV if the path leads out of the folder.
int qc_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// The same without openat2(2). `qc_open_beneath` uses it if the kernel or a system-call filter does not allow openat2(2),
/// or if renamed folders make it fail again and again (EAGAIN).
int qc_walk_beneath(int folder, const char *path, int flags, unsigned mode);

/// pipe2(2) with O_CLOEXEC. Returns 0, or -1 with errno.
int qc_pipe(int ends[2]);

/// accept4(2) with SOCK_CLOEXEC and SOCK_NONBLOCK. Returns a descriptor, or -1 with errno.
int qc_accept(int listener);

/// Of a TCP socket: for how many milliseconds nothing came, how many bytes the other end has acknowledged in all, and how many
/// wait to be sent, as the kernel knows (TCP_INFO of tcp(7)). Returns 0, or -1 with errno, for another socket too.
int qc_tcp_state(int socket, uint32_t *silence, uint64_t *taken, uint32_t *unsent);

/// What happens to a descriptor, as bits: EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP and EPOLLERR, EPOLLET of epoll_ctl(2).
extern const uint32_t qc_poll_input, qc_poll_output, qc_poll_input_end, qc_poll_end, qc_poll_changes;

struct qc_poll_event {
    /// The number given with the descriptor.
    uint64_t id;
    uint32_t events;
};

/// epoll_create1(2) with EPOLL_CLOEXEC. Returns a descriptor, or -1 with errno.
int qc_poll_create(void);

/// How a descriptor is watched: EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL.
extern const int qc_poll_add, qc_poll_change, qc_poll_remove;

/// epoll_ctl(2). Returns 0, or -1 with errno.
int qc_poll_control(int poll, int operation, int descriptor, uint32_t events, uint64_t id);

/// epoll_wait(2), for at most 256 events: how many there are, or -1 with errno.
int qc_poll_wait(int poll, struct qc_poll_event *events, int count, int milliseconds);

/// eventfd(2) with EFD_CLOEXEC and EFD_NONBLOCK. Returns a descriptor, or -1 with errno.
int qc_event_descriptor(void);

/// timerfd_create(2) by the time of day. Returns a descriptor, or -1 with errno.
int qc_clock_timer(void);

/// Has it tell when a time of day has come, in seconds since 1970, or the clock has been set: a read fails with ECANCELED
/// then. Returns 0, or -1 with errno.
int qc_clock_timer_set(int timer, int64_t seconds);

/// Seconds since 1970, of a moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`. Less than all others if it is none.
int64_t qc_http_date(const char *text);

/// O_PATH of open(2): the descriptor names the file without opening it.
extern const int qc_o_path;

/// Blocks the signals for this thread and those it starts.
void qc_block_signals(const int *signals, int count);

/// Waits for one of the signals, which must be blocked, and returns it; 0 if it cannot wait.
int qc_wait_for_signal(const int *signals, int count);

/// Blocks the signals for this thread and those it starts, and makes a descriptor that reports them instead.
/// Returns the descriptor, or the negative error number.
int qc_signal_descriptor(const int *signals, int count);

/// The next signal of such a descriptor; 0 if there is none now.
int qc_next_signal(int descriptor);

/// Makes the kernel kill this process when the thread that started it ends. `parent` is that thread's process.
void qc_end_with_parent(int parent);

/// A descriptor that becomes readable when the process has ended, or the negative error number (pidfd_open(2)).
int qc_process_descriptor(int process);

/// Frees the pages of the program's own code and constants. The pages that are still needed come back on their next use,
/// from the page cache or the program's file.
void qc_release_code(void);

/// Makes large allocations return to the system as soon as they are freed, instead of staying in the heap.
/// Called once, when the process starts.
void qc_tune_memory(void);

/// Returns freed memory to the system.
void qc_trim_memory(void);

/// A descriptor that becomes readable when something changes in the folders it watches, or the negative error number.
int qc_watch_start(void);

/// Watches one more folder. Returns its number, the same one if the folder is watched already, or the negative
/// error number.
int qc_watch_folder(int descriptor, const char *path);

/// Watches a folder for devices that come, or whose rights change. Returns a number of the watch, or the negative error number.
int qc_watch_devices(int descriptor, const char *path);

/// Removes all pending reports. Returns whether there were any: 1 or 0.
int qc_watch_drain(int descriptor);

/// The force feedback that makes an input device vibrate: FF_RUMBLE, else one of the waveforms of its FF_PERIODIC;
/// 0 if it has none, or the negative error number.
int qc_rumble_kind(int descriptor);

/// How many effects the device holds at once (EVIOCGEFFECTS), or the negative error number.
int qc_rumble_effects(int descriptor);

/// The device's name, as null-terminated text. Returns 0 or the negative error number.
int qc_rumble_name(int descriptor, char *name, int size);

/// Uploads an effect of that kind to the device, at full strength and that long (at most 32767 ms), instead of the one
/// with that id; -1 for a new one. Returns its id, or the negative error number.
int qc_rumble_upload(int descriptor, int kind, int id, int milliseconds);

/// Plays an effect; 0 times ends it. Returns 0 or the negative error number.
int qc_rumble_play(int descriptor, int id, int times);

/// Removes an effect from the device. Returns 0 or the negative error number.
int qc_rumble_erase(int descriptor, int id);

/// An event of an input device, as the kernel has it.
struct qc_input_event {
    uint16_t type, code;
    int32_t value;
};

/// EV_KEY; EV_SYN, and its code SYN_DROPPED.
extern const uint16_t qc_input_key, qc_input_sync, qc_input_dropped;

/// How many keys there may be.
enum { QC_INPUT_KEYS = 0x300 };

/// Takes an input device, so that nobody else hears it until it is closed. Returns 0 or the negative error number.
int qc_input_grab(int device);

/// Whether it has keys: 1 or 0, or the negative error number.
int qc_input_has_keys(int device);

/// Which keys are pressed, a bit each. Returns 0 or the negative error number.
int qc_input_pressed(int device, unsigned char keys[QC_INPUT_KEYS / 8]);

/// Reads at most 64 events. Returns how many, or the negative error number.
int qc_input_read(int device, struct qc_input_event *events, int count);

/// The number of a key by its name in linux/input-event-codes.h, such as KEY_PLAYPAUSE; -1 if there is none.
int qc_input_code(const char *name);

/// The name of a key, and the names one after the other; NULL where there is none.
const char *qc_input_name(unsigned code);
const char *qc_input_name_at(int index);

/// The access to a path; and whether it stays open, since a folder in /proc changes as soon as nobody has it open.
enum { qc_access_read = 0, qc_access_write = 1, qc_access_kept = 2 };

/// What a confined process does besides reading: it connects to Unix sockets; it changes files that it may open.
enum { qc_confinement_connects = 1, qc_confinement_writes = 2 };

/// Begins a list of the files that a process may keep using. Returns its descriptor, or the negative error number if the
/// kernel has no Landlock.
int qc_confinement_begin(void);

/// Adds a file, or a folder with everything that is or will be below it. Returns 0 or the negative error number.
int qc_confinement_allow(int ruleset, const char *path, int access);

/// From here on, this thread and those it starts open only the files of the list (-1: all that their user may), and
/// all threads of the process make only the system calls of a closed list: no process, no program, no network socket,
/// no signal to others.
/// Returns 0 or the negative error number.
int qc_confinement_enter(int ruleset, int access);

// A counter of the processor that is cheaper to read than any clock, in units of its own.
static inline uint64_t qc_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

// How many ticks are a few microseconds, at least: below that no clock need be asked. 0 where there is no such counter.
static inline uint64_t qc_few_ticks(void) {
#if defined(__x86_64__)
    return 10000;
#elif defined(__aarch64__)
    uint64_t frequency;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency / 200000;
#else
    return 0;
#endif
}

/// Flags of a line of a GPIO chip (linux/gpio.h, version 2).
extern const uint64_t qc_gpio_used, qc_gpio_active_low, qc_gpio_input, qc_gpio_output, qc_gpio_edges, qc_gpio_open_drain,
    qc_gpio_open_source, qc_gpio_pull_up, qc_gpio_pull_down, qc_gpio_no_bias;

/// The label of a GPIO chip. Returns how many lines it has, or the negative error number.
int qc_gpio_chip(int chip, char label[32]);

/// The name and the flags of a line, and who uses it. Returns 0, or the negative error number.
int qc_gpio_line(int chip, unsigned offset, char name[32], char consumer[32], uint64_t *flags);

/// Takes a line. `value` is the first one of an output, `debounce` of an input in microseconds; 0 for none.
/// Returns a descriptor, or the negative error number.
int qc_gpio_request(int chip, unsigned offset, const char *consumer, uint64_t flags, int value, unsigned debounce);

/// Gives an input that was taken other flags. Returns 0, or the negative error number.
int qc_gpio_configure(int line, uint64_t flags, unsigned debounce);

/// Whether a line is active: 0 or 1, or the negative error number.
int qc_gpio_get(int line);

/// Makes an output active or not. Returns 0, or the negative error number.
int qc_gpio_set(int line, int value);

/// An edge of a line: its number among all edges of the line, from 1, and whether the line became active.
struct qc_gpio_edge {
    uint32_t number;
    int rises;
};

/// Reads at most 64 edges; waits for the first one. Returns how many, or the negative error number.
int qc_gpio_read(int line, struct qc_gpio_edge *edges, int count);

#endif
