// A load client for servers that answer each request on a Unix stream socket.
//
// It keeps a number of calls under way on each of its connections, and compares every byte of the replies with the
// expected bytes. It knows no protocol: a file of templates has the requests and replies, so that the same code drives
// all servers. Call N of a connection takes the template N modulo their number, and its id is N.
//
// A template is a line, REQUEST tab REPLY, in which \r, \n, \t and \\ mean those bytes and {id} means the call's id.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, MOST_TEMPLATES = 1024, MOST_PIDS = 8, EVENTS = 256, SURPLUS_MS = 20 };

// A caller that waits for a server tries again only after EXIT_UNREACHABLE.
enum exit_code { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

// The text before and after the id.
struct text {
    char *head, *tail;
    size_t head_length, tail_length;
    bool has_id;
};

struct template { struct text request, reply; };

// A number together with its digits, so that counting on mostly changes one byte.
struct counter {
    char digits[24];
    size_t length;
    uint64_t value;
};

struct connection {
    int fd;
    struct counter made;      // the next call to make
    struct counter answered;  // the next reply to come
    size_t reply_offset;      // bytes of that reply that have already come
    char *out;
    size_t out_start, out_end;
    char *rest;               // a reply's beginning, if replies come in any order
    size_t rest_length;
    bool wants_to_write;
};

struct options {
    const char *socket_path, *templates_path;
    uint64_t connections, under_way, calls, limit_seconds;
    double seconds, warmup;
    pid_t pids[MOST_PIDS];
    unsigned pid_count;
    bool latency, idle, any_order;
};

static struct options options = { .connections = 1, .under_way = 1000, .calls = 5000, .limit_seconds = 60, .seconds = 1, .warmup = 0.2 };
static struct template templates[MOST_TEMPLATES];
static unsigned template_count;
static size_t longest_request, longest_reply;
static char *scratch;
static uint64_t deadline;

// If replies come in any order: which ids are under way.
static bool *is_under_way;
static uint64_t under_way_capacity;

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

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL) fail(EXIT_FAILED, "no memory for %zu bytes", bytes);
    return memory;
}

// Time

static uint64_t now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) fail(EXIT_FAILED, "cannot read a clock: %s", strerror(errno));
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Nanoseconds of CPU time, user and kernel, of all threads of the server's processes. /proc/PID/stat counts in ticks of
// 10 ms, and /proc/PID/schedstat counts the main thread only.
static uint64_t server_cpu(void) {
    uint64_t sum = 0;
    for (unsigned index = 0; index < options.pid_count; index++) {
        clockid_t clock;
        int error = clock_getcpuclockid(options.pids[index], &clock);
        if (error != 0) fail(EXIT_FAILED, "no CPU clock for process %d: %s", (int)options.pids[index], strerror(error));
        sum += now(clock);
    }
    return sum;
}

// Templates

static size_t unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != 0; from++) {
        if (*from != '\\') { *to++ = *from; continue; }
        from++;
        switch (*from) {
        case 'r': *to++ = '\r'; break;
        case 'n': *to++ = '\n'; break;
        case 't': *to++ = '\t'; break;
        case '\\': *to++ = '\\'; break;
        default: fail(EXIT_USAGE, "a template has an unknown escape");
        }
    }
    *to = 0;
    return (size_t)(to - text);
}

static struct text parse_text(char *line) {
    struct text text = { .head = line, .tail = "" };
    char *id = strstr(line, "{id}");
    if (id != NULL) {
        text.has_id = true;
        *id = 0;
        text.tail = id + 4;
        text.tail_length = unescape(text.tail);
    }
    text.head_length = unescape(line);
    return text;
}

static size_t longest(const struct text *text) {
    return text->head_length + text->tail_length + (text->has_id ? 20 : 0);
}

static void read_templates(void) {
    FILE *file = fopen(options.templates_path, "re");
    if (file == NULL) fail(EXIT_USAGE, "cannot open %s: %s", options.templates_path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        char *tab = strchr(line, '\t');
        if (tab == NULL || template_count == MOST_TEMPLATES) fail(EXIT_USAGE, "%s is no file of templates", options.templates_path);
        *tab = 0;
        struct template *template = &templates[template_count++];
        template->request = parse_text(line);
        template->reply = parse_text(tab + 1);
        if (longest(&template->request) > longest_request) longest_request = longest(&template->request);
        if (longest(&template->reply) > longest_reply) longest_reply = longest(&template->reply);
        if (template->reply.head_length == 0) fail(EXIT_USAGE, "a template has no reply");
        line = NULL;
        capacity = 0;
    }
    fclose(file);
    if (template_count == 0) fail(EXIT_USAGE, "%s is empty", options.templates_path);
    if (options.any_order && (template_count != 1 || !templates[0].reply.has_id || options.connections != 1))
        fail(EXIT_USAGE, "--any-order takes one connection and one template with an id");
    scratch = allocate(longest_reply);
}

static void start_counter(struct counter *counter) { *counter = (struct counter){ .digits = "0", .length = 1 }; }

static void count_on(struct counter *counter) {
    counter->value++;
    for (size_t index = counter->length; index-- > 0;) {
        if (counter->digits[index] != '9') { counter->digits[index]++; return; }
        counter->digits[index] = '0';
    }
    memmove(counter->digits + 1, counter->digits, counter->length++);
    counter->digits[0] = '1';
}

static size_t write_text(char *out, const struct text *text, const struct counter *id) {
    char *start = out;
    memcpy(out, text->head, text->head_length);
    out += text->head_length;
    if (!text->has_id) return text->head_length;
    memcpy(out, id->digits, id->length);
    out += id->length;
    memcpy(out, text->tail, text->tail_length);
    return (size_t)(out + text->tail_length - start);
}

// Connections

static void open_connection(struct connection *connection) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(options.socket_path) >= sizeof address.sun_path) fail(EXIT_USAGE, "the socket path is too long: %s", options.socket_path);
    strcpy(address.sun_path, options.socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(EXIT_FAILED, "no socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail(EXIT_UNREACHABLE, "cannot connect to %s: %s", options.socket_path, strerror(errno));
    *connection = (struct connection){ .fd = fd, .out = allocate((options.under_way + 1) * longest_request) };
    start_counter(&connection->made);
    start_counter(&connection->answered);
    if (options.any_order) connection->rest = allocate(longest_reply + READ_BYTES);
}

static void note_under_way(uint64_t id) {
    if (id >= under_way_capacity) {
        uint64_t capacity = under_way_capacity ? under_way_capacity * 2 : 1 << 20;
        is_under_way = realloc(is_under_way, capacity);
        if (is_under_way == NULL) fail(EXIT_FAILED, "no memory");
        memset(is_under_way + under_way_capacity, 0, capacity - under_way_capacity);
        under_way_capacity = capacity;
    }
    is_under_way[id] = true;
}

// Writes more calls into the connection's buffer, as many as may be under way.
static void make_calls(struct connection *connection, uint64_t most) {
    if (connection->out_start > 0) {
        memmove(connection->out, connection->out + connection->out_start, connection->out_end - connection->out_start);
        connection->out_end -= connection->out_start;
        connection->out_start = 0;
    }
    while (connection->made.value < connection->answered.value + most) {
        const struct template *template = &templates[connection->made.value % template_count];
        connection->out_end += write_text(connection->out + connection->out_end, &template->request, &connection->made);
        if (options.any_order) note_under_way(connection->made.value);
        count_on(&connection->made);
    }
}

// Both sides may fill their socket buffers at once, so the client of many calls never blocks in a write.
static void send_calls(struct connection *connection) {
    while (connection->out_start < connection->out_end) {
        ssize_t count = send(connection->fd, connection->out + connection->out_start,
                             connection->out_end - connection->out_start, MSG_NOSIGNAL);
        if (count >= 0) connection->out_start += (size_t)count;
        else if (errno == EAGAIN) return;
        else if (errno != EINTR) fail(EXIT_FAILED, "cannot send: %s", strerror(errno));
    }
    connection->out_start = connection->out_end = 0;
}

// Replies

static int shown(const char *bytes, size_t length) {
    size_t end = 0;
    while (end < length && end < 200 && bytes[end] != '\r' && bytes[end] != '\n') end++;
    return (int)end;
}

static void check_in_order(struct connection *connection, const char *bytes, size_t length) {
    while (length > 0) {
        if (connection->answered.value == connection->made.value)
            fail(EXIT_FAILED, "a reply that nobody waits for: \"%.*s\"", shown(bytes, length), bytes);
        const struct text *reply = &templates[connection->answered.value % template_count].reply;
        size_t whole = write_text(scratch, reply, &connection->answered);
        size_t part = whole - connection->reply_offset;
        if (part > length) part = length;
        if (memcmp(bytes, scratch + connection->reply_offset, part) != 0)
            fail(EXIT_FAILED, "wrong reply to call %llu: expected \"%.*s\", but after %zu right bytes came \"%.*s\"",
                 (unsigned long long)connection->answered.value, shown(scratch, whole), scratch,
                 connection->reply_offset, shown(bytes, length), bytes);
        connection->reply_offset += part;
        bytes += part;
        length -= part;
        if (connection->reply_offset < whole) return;
        connection->reply_offset = 0;
        count_on(&connection->answered);
    }
}

// The id of a complete reply, which must be the id of a call under way.
static void check_one(const char *line, size_t length) {
    const struct text *reply = &templates[0].reply;
    if (length <= reply->head_length + reply->tail_length || memcmp(line, reply->head, reply->head_length) != 0 ||
        memcmp(line + length - reply->tail_length, reply->tail, reply->tail_length) != 0)
        fail(EXIT_FAILED, "wrong reply: \"%.*s\"", shown(line, length), line);
    uint64_t id = 0;
    for (size_t index = reply->head_length; index < length - reply->tail_length; index++) {
        if (line[index] < '0' || line[index] > '9' || id > 1000000000000) fail(EXIT_FAILED, "wrong id: \"%.*s\"", shown(line, length), line);
        id = id * 10 + (uint64_t)(line[index] - '0');
    }
    if (id >= under_way_capacity || !is_under_way[id]) fail(EXIT_FAILED, "a reply that nobody waits for: \"%.*s\"", shown(line, length), line);
    is_under_way[id] = false;
}

static void check_in_any_order(struct connection *connection, const char *bytes, size_t length) {
    memcpy(connection->rest + connection->rest_length, bytes, length);
    char *start = connection->rest, *end = start + connection->rest_length + length, *newline;
    while ((newline = memchr(start, '\n', (size_t)(end - start))) != NULL) {
        check_one(start, (size_t)(newline + 1 - start));
        count_on(&connection->answered);
        start = newline + 1;
    }
    connection->rest_length = (size_t)(end - start);
    if (connection->rest_length > longest_reply) fail(EXIT_FAILED, "wrong reply: \"%.*s\"", shown(start, connection->rest_length), start);
    memmove(connection->rest, start, connection->rest_length);
}

// Reads once. False if there is nothing to read now.
static bool receive(struct connection *connection) {
    static char buffer[READ_BYTES];
    ssize_t count = read(connection->fd, buffer, sizeof buffer);
    if (count == 0) fail(EXIT_FAILED, "the server closed the connection");
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) fail(EXIT_FAILED, "cannot receive: %s", strerror(errno));
        return errno == EINTR;
    }
    if (options.any_order) check_in_any_order(connection, buffer, (size_t)count);
    else check_in_order(connection, buffer, (size_t)count);
    return true;
}

// Nothing may come after the last reply.
static void expect_silence(struct connection *connections) {
    poll(NULL, 0, SURPLUS_MS);
    for (uint64_t index = 0; index < options.connections; index++) {
        struct pollfd entry = { .fd = connections[index].fd, .events = POLLIN };
        if (poll(&entry, 1, 0) > 0) receive(&connections[index]);
    }
}

// Many calls under way

struct instant { uint64_t time, server, client, answered; };

static struct instant take_instant(uint64_t answered) {
    return (struct instant){ now(CLOCK_MONOTONIC), server_cpu(), now(CLOCK_PROCESS_CPUTIME_ID), answered };
}

static void watch(int epoll, struct connection *connection, int operation) {
    struct epoll_event event = { .events = EPOLLIN | (connection->wants_to_write ? EPOLLOUT : 0), .data.ptr = connection };
    if (epoll_ctl(epoll, operation, connection->fd, &event) != 0) fail(EXIT_FAILED, "epoll_ctl: %s", strerror(errno));
}

static void send_and_watch(int epoll, struct connection *connection) {
    send_calls(connection);
    bool wants = connection->out_start < connection->out_end;
    if (wants == connection->wants_to_write) return;
    connection->wants_to_write = wants;
    watch(epoll, connection, EPOLL_CTL_MOD);
}

static void measure_throughput(void) {
    struct connection *connections = allocate(options.connections * sizeof *connections);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail(EXIT_FAILED, "no epoll: %s", strerror(errno));
    for (uint64_t index = 0; index < options.connections; index++) {
        open_connection(&connections[index]);
        fcntl(connections[index].fd, F_SETFL, O_NONBLOCK);
        watch(epoll, &connections[index], EPOLL_CTL_ADD);
    }
    uint64_t begin = now(CLOCK_MONOTONIC) + (uint64_t)(options.warmup * 1e9);
    uint64_t end = begin + (uint64_t)(options.seconds * 1e9);
    uint64_t answered = 0, left = options.connections;
    struct instant first = { 0 }, last = { 0 };
    for (uint64_t index = 0; index < options.connections; index++) {
        make_calls(&connections[index], options.under_way);
        send_and_watch(epoll, &connections[index]);
    }
    // The rate is measured between two instants at which the calls are still coming, the second only after a reply has come;
    // then it waits for those under way.
    while (left > 0) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, 1000);
        if (count < 0 && errno != EINTR) fail(EXIT_FAILED, "cannot wait: %s", strerror(errno));
        uint64_t time = now(CLOCK_MONOTONIC);
        if (time >= deadline) fail(EXIT_FAILED, "out of time after %llu replies", (unsigned long long)answered);
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            uint64_t before = connection->answered.value;
            if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(connection);
            answered += connection->answered.value - before;
            if (last.time == 0) make_calls(connection, options.under_way);
            else if (connection->answered.value > before && connection->answered.value == connection->made.value) left--;
            send_and_watch(epoll, connection);
        }
        if (first.time == 0 && time >= begin) first = take_instant(answered);
        else if (last.time == 0 && first.time != 0 && time >= end && answered > first.answered) last = take_instant(answered);
    }
    expect_silence(connections);
    double count = (double)(last.answered - first.answered), seconds = (double)(last.time - first.time) / 1e9;
    printf("requests=%.0f seconds=%.3f requests_per_second=%.0f", count, seconds, count / seconds);
    if (options.pid_count > 0) printf(" server_cpu_ns=%.1f", (double)(last.server - first.server) / count);
    printf(" client_busy_percent=%.1f\n", (double)(last.client - first.client) / seconds / 1e7);
}

// One call at a time

static void wait_at_most(int fd) {
    struct timeval time = { .tv_sec = (time_t)options.limit_seconds };
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0) fail(EXIT_FAILED, "no time limit: %s", strerror(errno));
}

static void call_once(struct connection *connection) {
    make_calls(connection, 1);
    send_calls(connection);
    uint64_t goal = connection->made.value;
    while (connection->answered.value < goal)
        if (!receive(connection)) fail(EXIT_FAILED, "no reply in time");
}

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void measure_latency(void) {
    uint64_t *times = allocate(options.calls * sizeof *times);
    struct connection connection;
    options.connections = options.under_way = 1;
    open_connection(&connection);
    wait_at_most(connection.fd);
    for (uint64_t call = 0; call < options.calls / 5; call++) call_once(&connection);
    for (uint64_t call = 0; call < options.calls; call++) {
        uint64_t before = now(CLOCK_MONOTONIC);
        if (before >= deadline) fail(EXIT_FAILED, "out of time after %llu replies", (unsigned long long)call);
        call_once(&connection);
        times[call] = now(CLOCK_MONOTONIC) - before;
    }
    expect_silence(&connection);
    qsort(times, options.calls, sizeof *times, compare_times);
    printf("calls=%llu p50_us=%.2f p99_us=%.2f longest_us=%.1f\n", (unsigned long long)options.calls,
           (double)times[options.calls / 2] / 1e3, (double)times[options.calls * 99 / 100] / 1e3,
           (double)times[options.calls - 1] / 1e3);
}

// Idle connections: each makes one call, and all stay until the standard input ends.

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void hold_idle(void) {
    raise_descriptor_limit();
    options.under_way = 1;
    struct connection *connections = allocate(options.connections * sizeof *connections);
    for (uint64_t index = 0; index < options.connections; index++) {
        open_connection(&connections[index]);
        wait_at_most(connections[index].fd);
        call_once(&connections[index]);
        if (now(CLOCK_MONOTONIC) >= deadline) fail(EXIT_FAILED, "out of time after %llu connections", (unsigned long long)index + 1);
    }
    printf("connections=%llu\n", (unsigned long long)options.connections);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    expect_silence(connections);
    // All connections must still be open.
    for (uint64_t index = 0; index < options.connections; index++) call_once(&connections[index]);
}

// Command line

static const char usage[] =
    "usage: load --socket PATH --templates FILE [--connections N] [--under-way N] [--seconds S] [--warmup S]\n"
    "            [--pid PID]... [--limit SECONDS] [--any-order] [--latency | --idle] [--calls N]\n";

static double number(const char *name, const char *text, double lowest, double highest) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= lowest && value <= highest))
        fail(EXIT_USAGE, "--%s takes a number from %g to %g", name, lowest, highest);
    return value;
}

static void parse(int count, char **arguments) {
    static const struct option known[] = {
        { "socket", required_argument, NULL, 's' }, { "templates", required_argument, NULL, 't' },
        { "connections", required_argument, NULL, 'c' }, { "under-way", required_argument, NULL, 'u' },
        { "seconds", required_argument, NULL, 'd' }, { "warmup", required_argument, NULL, 'w' },
        { "calls", required_argument, NULL, 'n' }, { "pid", required_argument, NULL, 'p' },
        { "limit", required_argument, NULL, 'm' }, { "latency", no_argument, NULL, 'l' },
        { "idle", no_argument, NULL, 'i' }, { "any-order", no_argument, NULL, 'a' }, { NULL, 0, NULL, 0 },
    };
    int option;
    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        switch (option) {
        case 's': options.socket_path = optarg; break;
        case 't': options.templates_path = optarg; break;
        case 'c': options.connections = (uint64_t)number("connections", optarg, 1, 1e6); break;
        case 'u': options.under_way = (uint64_t)number("under-way", optarg, 1, 1e6); break;
        case 'd': options.seconds = number("seconds", optarg, 0.01, 3600); break;
        case 'w': options.warmup = number("warmup", optarg, 0, 3600); break;
        case 'n': options.calls = (uint64_t)number("calls", optarg, 1, 1e8); break;
        case 'p':
            if (options.pid_count == MOST_PIDS) fail(EXIT_USAGE, "too many processes");
            options.pids[options.pid_count++] = (pid_t)number("pid", optarg, 1, INT32_MAX);
            break;
        case 'm': options.limit_seconds = (uint64_t)number("limit", optarg, 1, 86400); break;
        case 'l': options.latency = true; break;
        case 'i': options.idle = true; break;
        case 'a': options.any_order = true; break;
        default: fputs(usage, stderr); exit(EXIT_USAGE);
        }
    }
    if (optind != count || options.socket_path == NULL || options.templates_path == NULL) {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
}

int main(int count, char **arguments) {
    parse(count, arguments);
    read_templates();
    deadline = now(CLOCK_MONOTONIC) + options.limit_seconds * 1000000000u;
    if (options.idle) hold_idle();
    else if (options.latency) measure_latency();
    else measure_throughput();
    return 0;
}
