// A load client for commands that a script answers. Replies may come in any order, so each is found by its id.
//
// usage: script-load SOCKET quickconnect|redis REQUESTS UNDER_WAY
//   UNDER_WAY 1 measures the time of each call. Prints one line of key=value.
// For redis, the script `return ARGV[1] * 2` is loaded first; its replies come in order.

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "script-load: %s: %s\n", what, errno ? strerror(errno) : "wrong reply");
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int fd;
static char sha[41];

static void send_all(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(fd, bytes, count);
        if (sent <= 0) fail("write");
        bytes += sent;
        count -= (size_t)sent;
    }
}

static size_t request(char *out, bool redis, uint64_t id) {
    if (redis) return (size_t)sprintf(out, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n0\r\n$2\r\n21\r\n", sha);
    return (size_t)sprintf(out, "call?cmd=twice&msg=21&id=%llu\n", (unsigned long long)id);
}

// Checks a reply without its line break, and says whose it is.
static uint64_t check(const char *line, bool redis, uint64_t next) {
    static const char start[] = "handleJSONRequest?cmd=twice&msg=42&id=";
    errno = 0;
    if (redis) {
        if (strncmp(line, ":42\r", 4) != 0) fail(line);
        return next;
    }
    if (strncmp(line, start, sizeof start - 1) != 0) fail(line);
    return strtoull(line + sizeof start - 1, NULL, 10);
}

int main(int count, char **words) {
    if (count != 5) return fputs("usage: script-load SOCKET quickconnect|redis REQUESTS UNDER_WAY\n", stderr), 2;
    bool redis = strcmp(words[2], "redis") == 0;
    uint64_t requests = strtoull(words[3], NULL, 10), under_way = strtoull(words[4], NULL, 10);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return perror("connect"), 3;

    static char in[1 << 16];
    if (redis) {
        const char load[] = "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$18\r\nreturn ARGV[1] * 2\r\n";
        send_all(load, sizeof load - 1);
        if (read(fd, in, sizeof in) < 45) fail("SCRIPT LOAD");
        memcpy(sha, in + 5, 40);
    }

    bool *seen = calloc(requests, sizeof *seen);
    double *times = calloc(requests, sizeof *times);
    char *out = malloc(under_way * 128 + 128);
    uint64_t sent = 0, received = 0;
    size_t kept = 0;
    double start = now();
    while (received < requests) {
        size_t length = 0;
        double at = now();
        while (sent < requests && sent - received < under_way) {
            times[sent] = at;
            length += request(out + length, redis, sent++);
        }
        if (length > 0) send_all(out, length);
        ssize_t got = read(fd, in + kept, sizeof in - kept - 1);
        if (got <= 0) fail("read");
        size_t end = kept + (size_t)got, from = 0;
        in[end] = 0;
        double came = now();
        for (char *newline; (newline = memchr(in + from, '\n', end - from)); from = (size_t)(newline - in) + 1) {
            *newline = 0;
            uint64_t id = check(in + from, redis, received);
            if (id >= requests || seen[id]) fail("a reply that was there already");
            seen[id] = true;
            times[id] = came - times[id];
            received++;
        }
        kept = end - from;
        memmove(in, in + from, kept);
    }
    double seconds = now() - start;
    qsort(times, requests, sizeof *times, order);
    printf("requests_per_second=%.0f median_us=%.1f p99_us=%.1f\n", (double)requests / seconds,
        times[requests / 2] * 1e6, times[requests * 99 / 100] * 1e6);
    return 0;
}
