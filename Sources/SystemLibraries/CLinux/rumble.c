// The ioctls of evdev are macros with sizes in them, which Swift does not see; ff_effect holds a union.

#include "CLinux.h"

#include <errno.h>
#include <linux/input.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { word = 8 * sizeof(unsigned long) };

static int has(const unsigned long *bits, int bit) { return bits[bit / word] >> bit % word & 1; }

int qc_rumble_kind(int descriptor) {
    unsigned long bits[FF_CNT / word + 1] = {0};
    if (ioctl(descriptor, EVIOCGBIT(EV_FF, sizeof bits), bits) < 0) return -errno;
    if (has(bits, FF_RUMBLE)) return FF_RUMBLE;
    if (!has(bits, FF_PERIODIC)) return 0;
    for (int form = FF_SQUARE; form <= FF_SAW_DOWN; form++)
        if (has(bits, form)) return has(bits, FF_SINE) ? FF_SINE : form;
    return 0;
}

int qc_rumble_effects(int descriptor) {
    int count = 0;
    return ioctl(descriptor, EVIOCGEFFECTS, &count) < 0 ? -errno : count;
}

int qc_rumble_name(int descriptor, char *name, int size) {
    memset(name, 0, (size_t)size);
    return ioctl(descriptor, EVIOCGNAME(size - 1), name) < 0 ? -errno : 0;
}

int qc_rumble_upload(int descriptor, int kind, int id, int milliseconds) {
    struct ff_effect effect = {.id = (int16_t)id, .direction = 0x4000, .replay = {.length = (uint16_t)milliseconds}};
    if (kind == FF_RUMBLE) {
        effect.type = FF_RUMBLE;
        effect.u.rumble.strong_magnitude = effect.u.rumble.weak_magnitude = 0xffff;
    } else {
        effect.type = FF_PERIODIC;
        effect.u.periodic.waveform = (uint16_t)kind;
        // 20 Hz, as in the kernel when it plays a rumble as a wave.
        effect.u.periodic.period = 50;
        effect.u.periodic.magnitude = 0x7fff;
    }
    return ioctl(descriptor, EVIOCSFF, &effect) < 0 ? -errno : effect.id;
}

int qc_rumble_play(int descriptor, int id, int times) {
    struct input_event event = {.type = EV_FF, .code = (uint16_t)id, .value = times};
    return write(descriptor, &event, sizeof event) < 0 ? -errno : 0;
}

int qc_rumble_erase(int descriptor, int id) { return ioctl(descriptor, EVIOCRMFF, (long)id) < 0 ? -errno : 0; }
