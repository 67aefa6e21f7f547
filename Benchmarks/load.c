// A load client for servers that answer one reply line per request on a Unix stream socket.
//
// It keeps a fixed number of calls under way on one connection and compares every byte of the
// replies with the ones expected. Requests and expected replies repeat in a cycle built once, so
// that sending is one write and checking one memcmp: the client must cost less than the servers.

#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CYCLE = 1000, LINE_MAX_BYTES = 96, READ_BYTES = 256 * 1024 };

// A caller that waits for a server tries again after EXIT_UNREACHABLE only.
enum exit_code { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

// The lines of one cycle, end to end. Line i is bytes[start[i] ..< start[i + 1]].
struct stream {
    char bytes[CYCLE * LINE_MAX_BYTES];
    uint64_t start[CYCLE + 1];
};

struct options {
    const char *socket_path;
    const char *protocol;
    uint64_t requests;
    uint64_t under_way;
    uint64_t warmup;
    uint64_t pid;
    uint64_t limit_seconds;
    bool latency;
};

struct connection {
    int fd;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t deadline;
};

static struct stream requests;
static struct stream replies;

__attribute__((noreturn, format(printf, 2, 3)))
static void fail(enum exit_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

// Time

static uint64_t now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) fail(EXIT_FAILED, "cannot read a clock: %s", strerror(errno));
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// This clock counts all threads of the server in nanoseconds; /proc/PID/stat counts in ticks of
// 10 ms, and /proc/PID/schedstat counts the main thread only.
static clockid_t cpu_clock_of(uint64_t pid) {
    clockid_t clock;
    int error = clock_getcpuclockid((pid_t)pid, &clock);
    if (error != 0) fail(EXIT_FAILED, "no CPU clock for process %llu: %s", (unsigned long long)pid, strerror(error));
    return clock;
}

// Requests and expected replies

static void set_line(struct stream *stream, unsigned index, const char *format, unsigned id) {
    char *place = stream->bytes + stream->start[index];
    int length = snprintf(place, LINE_MAX_BYTES, format, id);
    if (length < 0 || length >= LINE_MAX_BYTES) fail(EXIT_FAILED, "a line is too long");
    stream->start[index + 1] = stream->start[index] + (uint64_t)length;
}

static void build_streams(const char *protocol) {
    const char *request, *reply;
    if (strcmp(protocol, "quickconnect") == 0) {
        request = "call?cmd=ping&id=%u\n";
        reply = "handleJSONRequest?cmd=ping&msg=null&id=%u\n";
    } else if (strcmp(protocol, "redis") == 0) {
        // Redis answers this form with less work than the inline one.
        request = "*1\r\n$4\r\nPING\r\n";
        reply = "+PONG\r\n";
    } else {
        fail(EXIT_USAGE, "unknown protocol '%s': quickconnect or redis", protocol);
    }
    for (unsigned id = 0; id < CYCLE; id++) {
        set_line(&requests, id, request, id);
        set_line(&replies, id, reply, id);
    }
}

static uint64_t cycle_bytes(const struct stream *stream) {
    return stream->start[CYCLE];
}

// Bytes taken by the first `lines` lines of the endless stream.
static uint64_t bytes_of(const struct stream *stream, uint64_t lines) {
    return lines / CYCLE * cycle_bytes(stream) + stream->start[lines % CYCLE];
}

// Complete lines within the first `bytes` bytes of the endless stream.
static uint64_t lines_in(const struct stream *stream, uint64_t bytes) {
    uint64_t rest = bytes % cycle_bytes(stream);
    unsigned low = 0, high = CYCLE;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (stream->start[middle] <= rest) low = middle;
        else high = middle;
    }
    return bytes / cycle_bytes(stream) * CYCLE + low;
}

// The connection

static struct connection connect_to(const char *path, uint64_t limit_seconds) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) fail(EXIT_USAGE, "the socket path is too long: %s", path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(EXIT_FAILED, "no socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail(EXIT_UNREACHABLE, "cannot connect to %s: %s", path, strerror(errno));
    return (struct connection){ .fd = fd, .deadline = now(CLOCK_MONOTONIC) + limit_seconds * 1000000000u };
}

// Both sides may fill their socket buffers at once, so the client never blocks in a write.
static void send_up_to(struct connection *connection, uint64_t goal_bytes) {
    while (connection->sent_bytes < goal_bytes) {
        uint64_t position = connection->sent_bytes % cycle_bytes(&requests);
        uint64_t length = cycle_bytes(&requests) - position;
        if (length > goal_bytes - connection->sent_bytes) length = goal_bytes - connection->sent_bytes;
        ssize_t count = send(connection->fd, requests.bytes + position, length, MSG_NOSIGNAL);
        if (count >= 0) connection->sent_bytes += (uint64_t)count;
        else if (errno == EAGAIN) return;
        else if (errno != EINTR) fail(EXIT_FAILED, "cannot send: %s", strerror(errno));
    }
}

static void await(const struct connection *connection, bool more_to_send) {
    uint64_t time = now(CLOCK_MONOTONIC);
    if (time >= connection->deadline)
        fail(EXIT_FAILED, "out of time after %llu replies", (unsigned long long)lines_in(&replies, connection->received_bytes));
    uint64_t left_ms = (connection->deadline - time) / 1000000 + 1;
    struct pollfd entry = { .fd = connection->fd, .events = (short)(POLLIN | (more_to_send ? POLLOUT : 0)) };
    if (poll(&entry, 1, left_ms > 1000 ? 1000 : (int)left_ms) < 0 && errno != EINTR)
        fail(EXIT_FAILED, "cannot wait: %s", strerror(errno));
}

static int line_length(const char *bytes, uint64_t length) {
    uint64_t end = 0;
    while (end < length && bytes[end] != '\r' && bytes[end] != '\n') end++;
    return (int)end;
}

// `different` is the first byte that is not as expected; `position` is its place among all replies.
__attribute__((noreturn))
static void fail_at(uint64_t position, const char *different, uint64_t length) {
    uint64_t line = lines_in(&replies, position);
    const char *expected = replies.bytes + replies.start[line % CYCLE];
    fail(EXIT_FAILED, "wrong reply number %llu: expected \"%.*s\", but after %llu right bytes came \"%.*s\"",
         (unsigned long long)line + 1, line_length(expected, LINE_MAX_BYTES), expected,
         (unsigned long long)(position - bytes_of(&replies, line)), line_length(different, length), different);
}

static void check(struct connection *connection, const char *bytes, uint64_t length) {
    uint64_t done = 0;
    while (done < length) {
        uint64_t position = connection->received_bytes % cycle_bytes(&replies);
        uint64_t part = cycle_bytes(&replies) - position;
        if (part > length - done) part = length - done;
        const char *expected = replies.bytes + position;
        if (memcmp(bytes + done, expected, part) != 0) {
            uint64_t same = 0;
            while (bytes[done + same] == expected[same]) same++;
            fail_at(connection->received_bytes + same, bytes + done + same, length - done - same);
        }
        connection->received_bytes += part;
        done += part;
    }
    uint64_t answerable = bytes_of(&replies, lines_in(&requests, connection->sent_bytes));
    if (connection->received_bytes > answerable) fail(EXIT_FAILED, "more replies than requests");
}

static void receive(struct connection *connection) {
    static char buffer[READ_BYTES];
    ssize_t count = read(connection->fd, buffer, sizeof buffer);
    if (count > 0) check(connection, buffer, (uint64_t)count);
    else if (count == 0) fail(EXIT_FAILED, "the server closed the connection");
    else if (errno != EAGAIN && errno != EINTR) fail(EXIT_FAILED, "cannot receive: %s", strerror(errno));
}

// Makes `count` more calls, with at most `under_way` of them unanswered at any time.
static void drive(struct connection *connection, uint64_t count, uint64_t under_way) {
    uint64_t received = lines_in(&replies, connection->received_bytes);
    uint64_t goal = received + count;
    while (received < goal) {
        uint64_t allowed = received + under_way < goal ? received + under_way : goal;
        uint64_t allowed_bytes = bytes_of(&requests, allowed);
        send_up_to(connection, allowed_bytes);
        await(connection, connection->sent_bytes < allowed_bytes);
        receive(connection);
        received = lines_in(&replies, connection->received_bytes);
    }
}

// Measurements

static void measure_throughput(struct connection *connection, const struct options *options) {
    clockid_t server_clock = options->pid != 0 ? cpu_clock_of(options->pid) : CLOCK_MONOTONIC;
    drive(connection, options->warmup, options->under_way);

    uint64_t server_before = now(server_clock), client_before = now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t before = now(CLOCK_MONOTONIC);
    drive(connection, options->requests, options->under_way);
    uint64_t after = now(CLOCK_MONOTONIC);
    uint64_t server_after = now(server_clock), client_after = now(CLOCK_PROCESS_CPUTIME_ID);

    double count = (double)options->requests, seconds = (double)(after - before) / 1e9;
    printf("requests=%llu seconds=%.3f requests_per_second=%.0f", (unsigned long long)options->requests, seconds, count / seconds);
    if (options->pid != 0) printf(" server_cpu_ns_per_request=%.1f", (double)(server_after - server_before) / count);
    printf(" client_cpu_ns_per_request=%.1f\n", (double)(client_after - client_before) / count);
}

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void measure_latency(struct connection *connection, const struct options *options) {
    uint64_t *times = calloc(options->requests, sizeof *times);
    if (times == NULL) fail(EXIT_FAILED, "no memory for %llu times", (unsigned long long)options->requests);
    drive(connection, options->warmup, 1);
    for (uint64_t call = 0; call < options->requests; call++) {
        uint64_t before = now(CLOCK_MONOTONIC);
        drive(connection, 1, 1);
        times[call] = now(CLOCK_MONOTONIC) - before;
    }
    qsort(times, options->requests, sizeof *times, compare_times);
    printf("calls=%llu median_us=%.1f p99_us=%.1f\n", (unsigned long long)options->requests,
           (double)times[options->requests / 2] / 1e3, (double)times[options->requests * 99 / 100] / 1e3);
    free(times);
}

// Command line

static const char usage[] =
    "usage: load --socket PATH --protocol quickconnect|redis [--requests N] [--under-way N]\n"
    "            [--warmup N] [--pid PID] [--limit SECONDS] [--latency]\n";

static uint64_t number(const char *name, const char *text, uint64_t lowest, uint64_t highest) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < lowest || value > highest)
        fail(EXIT_USAGE, "--%s takes a number from %llu to %llu", name, (unsigned long long)lowest, (unsigned long long)highest);
    return value;
}

static struct options parse(int count, char **arguments) {
    static const struct option known[] = {
        { "socket", required_argument, NULL, 's' }, { "protocol", required_argument, NULL, 'p' },
        { "requests", required_argument, NULL, 'r' }, { "under-way", required_argument, NULL, 'u' },
        { "warmup", required_argument, NULL, 'w' }, { "pid", required_argument, NULL, 'i' },
        { "limit", required_argument, NULL, 'm' }, { "latency", no_argument, NULL, 'l' },
        { NULL, 0, NULL, 0 },
    };
    struct options options = { .requests = 1000000, .under_way = 1000, .warmup = 200000, .limit_seconds = 60 };
    int option;
    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        switch (option) {
        case 's': options.socket_path = optarg; break;
        case 'p': options.protocol = optarg; break;
        case 'r': options.requests = number("requests", optarg, 1, 1000000000); break;
        case 'u': options.under_way = number("under-way", optarg, 1, 1000000); break;
        case 'w': options.warmup = number("warmup", optarg, 0, 1000000000); break;
        case 'i': options.pid = number("pid", optarg, 1, INT32_MAX); break;
        case 'm': options.limit_seconds = number("limit", optarg, 1, 86400); break;
        case 'l': options.latency = true; break;
        default: fputs(usage, stderr); exit(EXIT_USAGE);
        }
    }
    if (optind != count || options.socket_path == NULL || options.protocol == NULL) {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
    return options;
}

int main(int count, char **arguments) {
    struct options options = parse(count, arguments);
    build_streams(options.protocol);
    struct connection connection = connect_to(options.socket_path, options.limit_seconds);
    if (options.latency) measure_latency(&connection, &options);
    else measure_throughput(&connection, &options);
    close(connection.fd);
    return 0;
}
