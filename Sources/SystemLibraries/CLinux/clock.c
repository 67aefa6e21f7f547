// Beside poll.c, for the same reason.

#define _GNU_SOURCE // For strptime(3).

#include "CLinux.h"

#include <sys/timerfd.h>
#include <time.h>

int qc_clock_timer(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

int qc_clock_timer_set(int timer, int64_t seconds) {
    struct itimerspec time = {.it_value = {.tv_sec = seconds}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, NULL);
}

int64_t qc_http_date(const char *text) {
    struct tm parts = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return end && !*end ? timegm(&parts) : INT64_MIN;
}
