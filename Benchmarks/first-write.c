// Preloaded into a program, reports when a PCM took its first frames after it was opened: one line in the file that
// FIRST_WRITE names, in nanoseconds of the monotonic clock.

#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// Set by each opening for playback, and cleared by the first write that takes frames.
static _Atomic int is_fresh;

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode) {
    int (*next)(snd_pcm_t **, const char *, snd_pcm_stream_t, int) = dlsym(RTLD_NEXT, "snd_pcm_open");
    if (stream == SND_PCM_STREAM_PLAYBACK) is_fresh = 1;
    return next(pcm, name, stream, mode);
}

snd_pcm_sframes_t snd_pcm_writei(snd_pcm_t *pcm, const void *buffer, snd_pcm_uframes_t size) {
    static snd_pcm_sframes_t (*next)(snd_pcm_t *, const void *, snd_pcm_uframes_t);
    if (next == NULL) next = dlsym(RTLD_NEXT, "snd_pcm_writei");
    snd_pcm_sframes_t taken = next(pcm, buffer, size);
    if (taken <= 0 || !__atomic_exchange_n(&is_fresh, 0, __ATOMIC_SEQ_CST)) return taken;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char line[64];
    int length = snprintf(line, sizeof line, "%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
    int file = open(getenv("FIRST_WRITE"), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0 && write(file, line, length) == length) close(file);
    return taken;
}
