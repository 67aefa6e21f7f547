#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "CLinux.h"

int qc_wait_for_input(int descriptor, int microseconds) {
    struct pollfd poller = {.fd = descriptor, .events = POLLIN};
    struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000L};
    return ppoll(&poller, 1, &time, NULL) > 0;
}
