// What one client's large message costs another client.
//
// A neighbour, in a process of its own, sends one ping after another and measures each wait: first alone, then
// while this process sends the bytes of a file, reads the promised number of reply lines, and reads on for a
// moment to see whether more come. All bytes are in memory before the start, and the received bytes are written to a file
// afterwards, so that the disturbing client is as fast as possible. With --more N, so many other connections of it send the
// same and read what comes, which is counted but not kept.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_MORE = 64, MOST_WAITS = 1 << 20, ALONE_MS = 500, AFTER_MS = 500, SUBSCRIBED_MS = 5000 };
static const size_t most_received = (size_t)1 << 30;

enum phase { STARTING, ALONE, DISTURBED, OVER };

// The neighbour's waits in nanoseconds, in a phase; the longest counts even if there are more than fit.
struct waits {
    uint32_t times[MOST_WAITS];
    uint64_t count, longest;
};

// What the two processes share.
struct shared {
    _Atomic int phase;
    _Atomic bool is_ready, is_wrong;
    struct waits alone, disturbed;
};

// What a connection has received.
struct received {
    int fd;
    char *bytes;
    size_t length;
    uint64_t lines, last_time;
    bool is_closed;
};

static struct shared *shared;
static uint64_t deadline;

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("fair: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *map(size_t length, int flags) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED) fail("no memory: %s", strerror(errno));
    return memory;
}

static int connect_to(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) fail("the socket path is too long: %s", path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("cannot connect to %s: %s", path, strerror(errno));
    return fd;
}

// The neighbour

static bool ping(int fd) {
    static const char request[] = "call?cmd=ping&id=neighbour\n";
    static const char reply[] = "handleJSONRequest?cmd=ping&msg=null&id=neighbour\n";
    char buffer[sizeof reply];
    size_t length = 0;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1) return false;
    while (length < sizeof reply - 1) {
        ssize_t count = read(fd, buffer + length, sizeof buffer - length);
        if (count <= 0) return false;
        length += (size_t)count;
    }
    return length == sizeof reply - 1 && memcmp(buffer, reply, length) == 0;
}

static void note(struct waits *waits, uint64_t time) {
    if (waits->count < MOST_WAITS) waits->times[waits->count++] = time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
    if (time > waits->longest) waits->longest = time;
}

__attribute__((noreturn))
static void be_neighbour(const char *path) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = connect_to(path);
    for (int call = 0; call < 100; call++)
        if (!ping(fd)) shared->is_wrong = true;
    shared->is_ready = true;
    while (true) {
        int before = shared->phase;
        if (before == OVER || shared->is_wrong) _exit(0);
        uint64_t start = now();
        if (!ping(fd)) shared->is_wrong = true;
        uint64_t time = now() - start;
        int after = shared->phase;
        // A call that began before the disturbance and ended in it has waited for it.
        if (before == DISTURBED || (before == ALONE && after == DISTURBED)) note(&shared->disturbed, time);
        else if (before == ALONE && after == ALONE) note(&shared->alone, time);
    }
}

// The disturbing client

static void receive(struct received *received) {
    if (received->length == most_received) fail("more than %zu bytes of replies", most_received);
    size_t room = most_received - received->length;
    ssize_t count = recv(received->fd, received->bytes + received->length, room < 1 << 20 ? room : 1 << 20, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        received->is_closed = true;
        return;
    }
    char *at = received->bytes + received->length, *end = at + count;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        received->lines++;
        at++;
    }
    received->length += (size_t)count;
    received->last_time = now();
}

// Another connection that sends the same.
struct other {
    int fd;
    size_t sent;
    uint64_t lines;
    bool is_closed;
};

struct job {
    struct other others[MAX_MORE];
    size_t more;
    const char *bytes;
    size_t length, sent;
    uint64_t replies, events;
    struct received client, subscriber;
};

static void step_other(struct other *other, const struct job *job, short events) {
    static char buffer[1 << 18];
    if (events & POLLOUT) {
        ssize_t count = send(other->fd, job->bytes + other->sent, job->length - other->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) other->sent += (size_t)count;
    }
    if (!(events & (POLLIN | POLLHUP | POLLERR))) return;
    ssize_t count = recv(other->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) other->is_closed = true;
    for (ssize_t index = 0; index < count; index++) other->lines += buffer[index] == '\n';
}

// Waits once for all connections, then does what is possible.
static void step(struct job *job, int milliseconds) {
    bool has_more = job->sent < job->length;
    struct pollfd entries[2 + MAX_MORE] = {
        { .fd = job->client.is_closed ? -1 : job->client.fd, .events = (short)(POLLIN | (has_more ? POLLOUT : 0)) },
        { .fd = job->subscriber.is_closed ? -1 : job->subscriber.fd, .events = POLLIN },
    };
    for (size_t index = 0; index < job->more; index++) {
        struct other *other = &job->others[index];
        entries[2 + index].fd = other->is_closed ? -1 : other->fd;
        entries[2 + index].events = (short)(POLLIN | (other->sent < job->length ? POLLOUT : 0));
    }
    if (poll(entries, 2 + job->more, milliseconds) <= 0) return;
    for (size_t index = 0; index < job->more; index++) step_other(&job->others[index], job, entries[2 + index].revents);
    if (entries[0].revents & POLLOUT) {
        ssize_t count = send(job->client.fd, job->bytes + job->sent, job->length - job->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0) job->sent += (size_t)count;
    }
    if (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) receive(&job->client);
    if (entries[1].revents & (POLLIN | POLLHUP | POLLERR)) receive(&job->subscriber);
}

// Runs until all that is promised has come, a connection has closed, or the time is over. The result shows what is missing.
static bool is_done(const struct job *job) {
    for (size_t index = 0; index < job->more; index++)
        if (!job->others[index].is_closed && job->others[index].lines < job->replies) return false;
    return job->client.lines >= job->replies && job->subscriber.lines >= job->events;
}

static void drive(struct job *job) {
    while (!is_done(job)) {
        if (job->client.is_closed || job->subscriber.is_closed || shared->is_wrong || now() >= deadline) return;
        step(job, 100);
    }
}

static void go_on_reading(struct job *job) {
    uint64_t end = now() + (uint64_t)AFTER_MS * 1000000;
    for (uint64_t time; (time = now()) < end;) step(job, (int)((end - time) / 1000000) + 1);
}

static void subscribe(struct job *job, const char *line) {
    struct received *subscriber = &job->subscriber;
    size_t length = strlen(line);
    if (send(subscriber->fd, line, length, MSG_NOSIGNAL) != (ssize_t)length) fail("cannot subscribe: %s", strerror(errno));
    uint64_t end = now() + (uint64_t)SUBSCRIBED_MS * 1000000;
    while (subscriber->lines == 0 && !subscriber->is_closed && now() < end) step(job, 100);
    if (subscriber->lines != 1) fail("no reply to the subscription");
    subscriber->lines = 0;
    subscriber->length = 0;
}

static void sleep_ms(unsigned milliseconds) {
    struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
    while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

// Files

static const char *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) fail("cannot open %s: %s", path, strerror(errno));
    char *bytes = map((size_t)status.st_size + 1, MAP_PRIVATE | MAP_POPULATE);
    for (*length = 0; *length < (size_t)status.st_size;) {
        ssize_t count = read(fd, bytes + *length, (size_t)status.st_size - *length);
        if (count <= 0) fail("cannot read %s", path);
        *length += (size_t)count;
    }
    close(fd);
    return bytes;
}

static void write_file(const char *path, const struct received *received) {
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(received->bytes, 1, received->length, file) != received->length || fclose(file) != 0)
        fail("cannot write %s: %s", path, strerror(errno));
}

// Results

static int compare_times(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void print_waits(const char *name, struct waits *waits) {
    if (waits->count == 0) fail("the neighbour made no call");
    qsort(waits->times, waits->count, sizeof *waits->times, compare_times);
    printf("%s_calls=%llu %s_p50_us=%.1f %s_p99_us=%.1f %s_longest_ms=%.3f ", name, (unsigned long long)waits->count,
           name, waits->times[waits->count / 2] / 1e3, name, waits->times[waits->count * 99 / 100] / 1e3,
           name, (double)waits->longest / 1e6);
}

static const char usage[] =
    "usage: fair --socket PATH --send FILE --replies N --received FILE [--subscribe FILE --events N] [--close]\n"
    "            [--more N] [--limit SECONDS]\n";

int main(int count, char **arguments) {
    static const struct option known[] = {
        { "socket", required_argument, NULL, 's' }, { "send", required_argument, NULL, 'f' },
        { "replies", required_argument, NULL, 'r' }, { "received", required_argument, NULL, 'o' },
        { "subscribe", required_argument, NULL, 'u' }, { "events", required_argument, NULL, 'e' },
        { "close", no_argument, NULL, 'c' }, { "more", required_argument, NULL, 'm' }, { "limit", required_argument, NULL, 'l' }, { NULL, 0, NULL, 0 },
    };
    const char *socket_path = NULL, *send_path = NULL, *received_path = NULL, *subscribe_path = NULL;
    uint64_t limit = 60;
    bool closes = false;
    struct job job = { .client.fd = -1, .subscriber.fd = -1 };
    int option;
    while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
        switch (option) {
        case 's': socket_path = optarg; break;
        case 'f': send_path = optarg; break;
        case 'r': job.replies = strtoull(optarg, NULL, 10); break;
        case 'o': received_path = optarg; break;
        case 'u': subscribe_path = optarg; break;
        case 'e': job.events = strtoull(optarg, NULL, 10); break;
        case 'c': closes = true; break;
        case 'm': job.more = strtoull(optarg, NULL, 10); break;
        case 'l': limit = strtoull(optarg, NULL, 10); break;
        default: return fputs(usage, stderr), 2;
        }
    }
    if (job.more > MAX_MORE) return fputs(usage, stderr), 2;
    if (optind != count || socket_path == NULL || send_path == NULL || received_path == NULL) return fputs(usage, stderr), 2;

    deadline = now() + limit * 1000000000u;
    shared = map(sizeof *shared, MAP_SHARED | MAP_POPULATE);
    pid_t neighbour = fork();
    if (neighbour < 0) fail("no process: %s", strerror(errno));
    if (neighbour == 0) be_neighbour(socket_path);

    job.bytes = read_file(send_path, &job.length);
    job.client.bytes = map(most_received, MAP_PRIVATE | MAP_NORESERVE);
    job.client.fd = connect_to(socket_path);
    for (size_t index = 0; index < job.more; index++) job.others[index].fd = connect_to(socket_path);
    if (subscribe_path != NULL) {
        size_t length;
        job.subscriber.bytes = map(most_received, MAP_PRIVATE | MAP_NORESERVE);
        job.subscriber.fd = connect_to(socket_path);
        size_t bytes = job.length;
        job.length = 0;
        subscribe(&job, read_file(subscribe_path, &length));
        job.length = bytes;
    }
    while (!shared->is_ready && !shared->is_wrong && now() < deadline) sleep_ms(1);

    shared->phase = ALONE;
    sleep_ms(ALONE_MS);
    shared->phase = DISTURBED;
    uint64_t start = now();
    drive(&job);
    uint64_t end = job.client.last_time > start ? job.client.last_time : now();
    if (closes) {
        close(job.client.fd);
        job.client.is_closed = true;
    }
    go_on_reading(&job);
    shared->phase = OVER;
    bool dropped = job.client.is_closed && !closes;

    // Do not wait beyond the limit for a neighbour that still waits.
    int status;
    while (waitpid(neighbour, &status, WNOHANG) == 0) {
        if (now() >= deadline + 2000000000u) {
            kill(neighbour, SIGKILL);
            waitpid(neighbour, &status, 0);
            fail("the neighbour had no reply in %llu s", (unsigned long long)limit);
        }
        sleep_ms(1);
    }
    if (shared->is_wrong) fail("the neighbour had a wrong reply, or none");
    write_file(received_path, &job.client);
    print_waits("alone", &shared->alone);
    print_waits("disturbed", &shared->disturbed);
    printf("seconds=%.3f sent_bytes=%zu replies=%llu reply_bytes=%zu events=%llu event_bytes=%zu dropped=%d\n",
           (double)(end - start) / 1e9, job.sent, (unsigned long long)job.client.lines, job.client.length,
           (unsigned long long)job.subscriber.lines, job.subscriber.length, dropped ? 1 : 0);
    return 0;
}
