// A virtual sound card for tests: an external ioplug that the real libasound loads. It plays and captures in real time
// by the monotonic clock, keeps what it played, and fails on request. To a program, the failures look
// as measured with real cards and servers. Its clock waits for a program that is late, because the machine is busy: only a fault
// is an underrun or overrun. Captured samples count: each sample of frame n is n % 30000, so that a
// recording shows which frames are missing.
//
//     pcm_type.rig { lib "/absolute/path/rig.so" }
//     pcm.NAME { type rig  KEY VALUE … }
//
//     outfile PATH      appends the written frames, raw
//     lock PATH         held while the PCM is open; a second opening gets EBUSY, as with a real card
//     openerr N         opening fails with the error number N
//     rate N            the only rate there is; without it 8 to 96 kHz
//     channels N        the only number of channels; without it 1 or 2
//     format TEXT       the only sample format, as ALSA names it (S32_LE); without it S16, S32 and FLOAT
//     fault TEXT        what happens when the clock passes frame `at`:
//         xrun            one underrun or overrun
//         broken          an underrun, and another after every recovery (PipeWire's plugin without its server)
//         suspend         ESTRPIPE; resuming works
//         suspend-hard    ESTRPIPE; resuming says that it worked, but only preparing does
//         disconnect      ENODEV from then on
//         freeze          the clock stops
//     at N              counted from the first start after opening
//     silent BOOL       captures digital silence
//     once PATH         made when the fault happens; while it exists, no fault happens
//     gone PATH         made by `disconnect`; while it exists, the PCM cannot be opened (ENOENT)

#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum fault { NO_FAULT, XRUN, BROKEN, SUSPEND, SUSPEND_HARD, DISCONNECT, FREEZE };

struct options {
    const char *outfile, *lock, *format, *fault, *once, *gone;
    long openerr, rate, channels, at, silent;
};

struct rig {
    snd_pcm_ioplug_t io;
    int timer, outfile, lock;
    enum fault fault;
    bool has_fired;
    char *once, *gone;
    long at;           // the clock's frame at which the fault happens
    long before;       // frames that the clock passed before the last start
    bool is_running;
    double start;      // seconds, when the clock last started
    long written;      // frames since the last preparation, written or read
    bool is_silent;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void touch(const char *path) {
    if (path == NULL) return;
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

static bool exists(const char *path) { return path != NULL && access(path, F_OK) == 0; }

// Frames since the clock last started.
static long elapsed(const struct rig *rig) {
    return rig->is_running ? (long)((now() - rig->start) * rig->io.rate) : 0;
}

// The same, but never beyond what the program has written, or has room to read.
static long reached(struct rig *rig) {
    long position = elapsed(rig), limit = rig->written;
    if (rig->io.stream == SND_PCM_STREAM_CAPTURE) limit += (long)rig->io.buffer_size;
    if (position <= limit) return position;
    rig->start += (double)(position - limit) / rig->io.rate;
    return limit;
}

// The timer makes the PCM's descriptor readable twice a period, so that a waiting program looks at it.
static void set_timer(struct rig *rig, bool is_on) {
    struct itimerspec interval = {0};
    if (is_on) {
        long nanoseconds = (long)(1e9 * rig->io.period_size / rig->io.rate / 2);
        interval.it_value.tv_nsec = interval.it_interval.tv_nsec = nanoseconds < 500000 ? 500000 : nanoseconds;
    }
    timerfd_settime(rig->timer, 0, &interval, NULL);
}

static void clear_timer(struct rig *rig) {
    uint64_t expirations;
    ssize_t ignored = read(rig->timer, &expirations, sizeof expirations);
    (void)ignored;
}

static int rig_prepare(snd_pcm_ioplug_t *io) {
    struct rig *rig = io->private_data;
    if (rig->fault == DISCONNECT && rig->has_fired) return -ENODEV;
    // libasound does not stop a card after an underrun: it only prepares it again.
    rig->before += elapsed(rig);
    rig->is_running = false;
    rig->written = 0;
    clear_timer(rig);
    return 0;
}

static int rig_start(snd_pcm_ioplug_t *io) {
    struct rig *rig = io->private_data;
    rig->start = now();
    rig->is_running = true;
    set_timer(rig, true);
    return 0;
}

static int rig_stop(snd_pcm_ioplug_t *io) {
    struct rig *rig = io->private_data;
    rig->before += elapsed(rig);
    rig->is_running = false;
    set_timer(rig, false);
    return 0;
}

static bool is_faulty(struct rig *rig, long position) {
    if (rig->fault == NO_FAULT || rig->before + position < rig->at) return false;
    if (rig->has_fired) return rig->fault != XRUN && rig->fault != SUSPEND && rig->fault != SUSPEND_HARD;
    rig->has_fired = true;
    touch(rig->once);
    if (rig->fault == DISCONNECT) touch(rig->gone);
    return true;
}

// ioplug interprets every negative result as an underrun; for other errors, set the state and keep the position.
static snd_pcm_sframes_t rig_pointer(snd_pcm_ioplug_t *io) {
    struct rig *rig = io->private_data;
    if (!rig->is_running) return 0;
    long position = reached(rig);
    if (is_faulty(rig, position)) {
        long frozen = rig->at > rig->before ? rig->at - rig->before : 0;
        switch (rig->fault) {
        case SUSPEND:
        case SUSPEND_HARD: snd_pcm_ioplug_set_state(io, SND_PCM_STATE_SUSPENDED); break;
        case DISCONNECT: snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED); break;
        case FREEZE: set_timer(rig, false); break;
        default: return -EPIPE;
        }
        return frozen;
    }
    return position;
}

static int rig_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
    struct rig *rig = io->private_data;
    long ahead = rig->written - reached(rig);
    *delay = io->stream == SND_PCM_STREAM_PLAYBACK ? ahead : -ahead;
    return 0;
}

// Writes frame numbers into what a program reads.
static void count_frames(snd_pcm_ioplug_t *io, char *bytes, unsigned step, snd_pcm_uframes_t size) {
    struct rig *rig = io->private_data;
    for (snd_pcm_uframes_t frame = 0; frame < size; frame++) {
        int value = rig->is_silent ? 0 : (int)((rig->before + rig->written + (long)frame) % 30000);
        for (unsigned channel = 0; channel < io->channels; channel++) {
            char *sample = bytes + frame * step + channel * (step / io->channels);
            if (io->format == SND_PCM_FORMAT_S16) *(int16_t *)sample = (int16_t)value;
            else if (io->format == SND_PCM_FORMAT_S32) *(int32_t *)sample = value << 16;
            else *(float *)sample = (float)value / 32768;
        }
    }
}

static snd_pcm_sframes_t rig_transfer(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset, snd_pcm_uframes_t size
) {
    struct rig *rig = io->private_data;
    char *bytes = (char *)areas->addr + (areas->first + areas->step * offset) / 8;
    if (io->stream == SND_PCM_STREAM_CAPTURE) count_frames(io, bytes, areas->step / 8, size);
    else if (rig->outfile >= 0 && write(rig->outfile, bytes, size * areas->step / 8) < 0) return -errno;
    rig->written += (long)size;
    return (snd_pcm_sframes_t)size;
}

static int rig_poll_revents(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *events
) {
    struct rig *rig = io->private_data;
    (void)count;
    if (descriptors[0].revents & POLLIN) clear_timer(rig);
    snd_pcm_sframes_t room = snd_pcm_avail_update(io->pcm);
    *events = 0;
    if (room < 0 || io->state == SND_PCM_STATE_SUSPENDED || io->state == SND_PCM_STATE_DISCONNECTED) {
        *events = POLLERR | POLLIN | POLLOUT;
        return 0;
    }
    snd_pcm_uframes_t enough = 1;
    snd_pcm_sw_params_t *parameters;
    snd_pcm_sw_params_alloca(&parameters);
    if (snd_pcm_sw_params_current(io->pcm, parameters) == 0) {
        snd_pcm_sw_params_get_avail_min(parameters, &enough);
    }
    if (io->state != SND_PCM_STATE_RUNNING || room >= (snd_pcm_sframes_t)enough) {
        *events = io->stream == SND_PCM_STREAM_PLAYBACK ? POLLOUT : POLLIN;
    }
    return 0;
}

// libasound 1.2.8 drops this result: snd_pcm_resume always says 0. So a card that cannot resume is one that is still
// suspended afterwards.
static int rig_resume(snd_pcm_ioplug_t *io) {
    struct rig *rig = io->private_data;
    if (rig->fault == SUSPEND_HARD) return -ENOSYS;
    rig->start = now() - (double)(rig->at - rig->before) / io->rate;
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_RUNNING);
    return 0;
}

static void destroy(struct rig *rig) {
    if (rig->outfile >= 0) close(rig->outfile);
    if (rig->lock >= 0) close(rig->lock);
    if (rig->timer >= 0) close(rig->timer);
    free(rig->once);
    free(rig->gone);
    free(rig);
}

static int rig_close(snd_pcm_ioplug_t *io) {
    destroy(io->private_data);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = rig_start,
    .stop = rig_stop,
    .pointer = rig_pointer,
    .transfer = rig_transfer,
    .prepare = rig_prepare,
    .close = rig_close,
    .poll_revents = rig_poll_revents,
    .delay = rig_delay,
    .resume = rig_resume,
};

static enum fault fault_named(const char *name) {
    static const char *const names[] = {"", "xrun", "broken", "suspend", "suspend-hard", "disconnect", "freeze"};
    for (enum fault fault = XRUN; name != NULL && fault <= FREEZE; fault++) {
        if (strcmp(name, names[fault]) == 0) return fault;
    }
    return NO_FAULT;
}

static int read_option(snd_config_t *node, struct options *options) {
    const char *key;
    if (snd_config_get_id(node, &key) < 0) return 0;
    if (strcmp(key, "type") == 0 || strcmp(key, "comment") == 0 || strcmp(key, "hint") == 0) return 0;
    const struct { const char *key, **value; } texts[] = {
        {"outfile", &options->outfile}, {"lock", &options->lock}, {"format", &options->format},
        {"fault", &options->fault},     {"once", &options->once}, {"gone", &options->gone},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].key) == 0) return snd_config_get_string(node, texts[i].value);
    }
    const struct { const char *key; long *value; } numbers[] = {
        {"openerr", &options->openerr}, {"rate", &options->rate},
        {"channels", &options->channels}, {"at", &options->at}, {"silent", &options->silent},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(key, numbers[i].key) == 0) return snd_config_get_integer(node, numbers[i].value);
    }
    SNDERR("Unknown field %s", key);
    return -EINVAL;
}

static int set_range(snd_pcm_ioplug_t *io, int parameter, long only, unsigned lowest, unsigned highest) {
    if (only > 0) lowest = highest = (unsigned)only;
    return snd_pcm_ioplug_set_param_minmax(io, parameter, lowest, highest);
}

static void set_parameters(snd_pcm_ioplug_t *io, const struct options *options) {
    unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED};
    unsigned formats[] = {SND_PCM_FORMAT_S16, SND_PCM_FORMAT_S32, SND_PCM_FORMAT_FLOAT};
    unsigned count = 3;
    if (options->format != NULL) {
        formats[0] = (unsigned)snd_pcm_format_value(options->format);
        count = 1;
    }
    snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 1, access);
    snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, count, formats);
    set_range(io, SND_PCM_IOPLUG_HW_CHANNELS, options->channels, 1, 2);
    set_range(io, SND_PCM_IOPLUG_HW_RATE, options->rate, 8000, 96000);
    set_range(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 0, 64, 1 << 20);
    set_range(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 0, 128, 1 << 20);
    set_range(io, SND_PCM_IOPLUG_HW_PERIODS, 0, 2, 1024);
}

// Takes the card for this opening; an error number if somebody else has it.
static int take_lock(struct rig *rig, const char *path) {
    if (path == NULL) return 0;
    rig->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (rig->lock < 0) return -errno;
    return flock(rig->lock, LOCK_EX | LOCK_NB) < 0 ? -EBUSY : 0;
}

SND_PCM_PLUGIN_DEFINE_FUNC(rig) {
    (void)root;
    struct options options = {0};
    snd_config_iterator_t position, next;
    snd_config_for_each(position, next, conf) {
        int error = read_option(snd_config_iterator_entry(position), &options);
        if (error < 0) return error;
    }
    if (options.openerr != 0) return -(int)options.openerr;
    if (exists(options.gone)) return -ENOENT;

    struct rig *rig = calloc(1, sizeof *rig);
    if (rig == NULL) return -ENOMEM;
    rig->outfile = rig->lock = rig->timer = -1;
    int error = take_lock(rig, options.lock);
    if (error < 0) {
        destroy(rig);
        return error;
    }
    rig->fault = exists(options.once) ? NO_FAULT : fault_named(options.fault);
    rig->at = options.at;
    rig->is_silent = options.silent != 0;
    rig->once = options.once ? strdup(options.once) : NULL;
    rig->gone = options.gone ? strdup(options.gone) : NULL;
    if (options.outfile) rig->outfile = open(options.outfile, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    rig->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    rig->io.version = SND_PCM_IOPLUG_VERSION;
    // The position is not one in the buffer, so that a whole buffer that has passed is seen.
    rig->io.flags = SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    rig->io.name = "virtual card for tests";
    rig->io.callback = &callbacks;
    rig->io.private_data = rig;
    rig->io.poll_fd = rig->timer;
    rig->io.poll_events = POLLIN;
    error = snd_pcm_ioplug_create(&rig->io, name, stream, mode);
    if (error < 0) {
        destroy(rig);
        return error;
    }
    set_parameters(&rig->io, &options);
    *pcmp = rig->io.pcm;
    return 0;
}

SND_PCM_PLUGIN_SYMBOL(rig);
