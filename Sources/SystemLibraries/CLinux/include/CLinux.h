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

#endif
