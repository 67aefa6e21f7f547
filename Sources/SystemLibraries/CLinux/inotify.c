// inotify(7) is not visible to Swift.

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

int qc_watch_start(void) {
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int qc_watch_folder(int descriptor, const char *path) {
    // A file counts as changed when its writer closes it, or when it is renamed to its name: never half written.
    int watch = inotify_add_watch(descriptor, path,
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
    return watch < 0 ? -errno : watch;
}

int qc_watch_devices(int descriptor, const char *path) {
    // Not their closing: whoever looks for a device closes it, too.
    int watch = inotify_add_watch(descriptor, path, IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR);
    return watch < 0 ? -errno : watch;
}

int qc_watch_drain(int descriptor) {
    char buffer[16384];
    int any = 0;
    while (read(descriptor, buffer, sizeof buffer) > 0) any = 1;
    return any;
}
