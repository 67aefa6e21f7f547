// Beside poll.c, for the same reason.

#include "CLinux.h"

#include <sys/timerfd.h>
#include <time.h>

int qc_clock_timer(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

int qc_clock_timer_set(int timer, int64_t seconds) {
    struct itimerspec time = {.it_value = {.tv_sec = seconds}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, NULL);
}
