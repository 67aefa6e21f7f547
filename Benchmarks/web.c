// Sends calls over a WebSocket, or over the daemon's Unix socket, and times the answers: so many calls are under way, and each
// answer must have the next id.
//
//   web ws PORT COOKIE UNDER-WAY SECONDS      frames to 127.0.0.1:PORT/bridge
//   web unix PATH UNDER-WAY SECONDS           lines
//
// Prints: answers a second, and the 50th and 99th percentile of the times in microseconds.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, ROOM = 1 << 20, SAMPLES = 4 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "web: %s\n", what);
    exit(1);
}

static void send_all(int fd, const void *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) fail("cannot send");
        bytes = (const char *)bytes + sent;
        count -= (size_t)sent;
    }
}

static int connect_tcp(const char *port, const char *cookie) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    char head[1024];
    int length = snprintf(head, sizeof head,
        "GET /bridge HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nOrigin: http://127.0.0.1:%s\r\nCookie: %s\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        port, port, cookie);
    send_all(fd, head, (size_t)length);
    size_t count = 0;
    while (count < 4 || memcmp(head + count - 4, "\r\n\r\n", 4) != 0)
        if (count == sizeof head || recv(fd, head + count++, 1, 0) != 1) fail("no answer to the handshake");
    if (memcmp(head, "HTTP/1.1 101", 12) != 0) fail("no WebSocket");
    return fd;
}

static int connect_unix(const char *path) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("cannot connect");
    return fd;
}

static size_t call(char *to, bool is_frame, uint64_t id) {
    char text[64];
    int length = sprintf(text, "call?cmd=ping&id=%llu", (unsigned long long)id);
    if (!is_frame) return (size_t)sprintf(to, "%s\n", text);
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    to[0] = (char)0x81;
    to[1] = (char)(0x80 | length);
    memcpy(to + 2, mask, 4);
    for (int index = 0; index < length; index++) to[6 + index] = (char)(text[index] ^ mask[index & 3]);
    return (size_t)length + 6;
}

// The size of the answer that begins there, or 0 if more bytes must come; and where its text is.
static size_t answer(const char *bytes, size_t count, bool is_frame, const char **text, size_t *length) {
    if (!is_frame) {
        const char *end = memchr(bytes, '\n', count);
        *text = bytes;
        *length = end ? (size_t)(end - bytes) : 0;
        return end ? *length + 1 : 0;
    }
    if (count < 2) return 0;
    if ((bytes[0] & 15) != 1 || (bytes[1] & 127) > 125) fail("no short text");
    *text = bytes + 2;
    *length = (size_t)bytes[1];
    return count >= *length + 2 ? *length + 2 : 0;
}

static int by_size(const void *one, const void *other) {
    float a = *(const float *)one, b = *(const float *)other;
    return (a > b) - (a < b);
}

int main(int count, char **words) {
    bool is_frame = count == 6 && strcmp(words[1], "ws") == 0;
    if (!is_frame && !(count == 5 && strcmp(words[1], "unix") == 0)) fail("see the source for the words it takes");
    int fd = is_frame ? connect_tcp(words[2], words[3]) : connect_unix(words[2]);
    uint64_t under_way = strtoull(words[count - 2], NULL, 10);
    double seconds = atof(words[count - 1]);
    if (under_way < 1 || under_way > MOST) fail("1 to 4096 calls under way");

    static double begun[MOST];
    static char in[ROOM], out[ROOM];
    float *times = malloc(SAMPLES * sizeof *times);
    uint64_t made = 0, answered = 0, counted = 0;
    size_t held = 0, waiting = 0;
    double start = now(), warm = start + 0.3, end = warm + seconds;
    while (made < under_way) {
        begun[made % under_way] = now();
        waiting += call(out + waiting, is_frame, made++);
    }
    for (;;) {
        send_all(fd, out, waiting);
        waiting = 0;
        ssize_t received = recv(fd, in + held, sizeof in - held, 0);
        if (received <= 0) fail("the connection ended");
        held += (size_t)received;
        double moment = now();
        if (moment > end) break;
        size_t used = 0, size, length;
        const char *text;
        while ((size = answer(in + used, held - used, is_frame, &text, &length)) > 0) {
            char due[32];
            size_t digits = (size_t)sprintf(due, "id=%llu", (unsigned long long)answered);
            if (length < digits || memcmp(text + length - digits, due, digits) != 0) fail("not the answer that was due");
            if (moment > warm) {
                if (counted < SAMPLES) times[counted] = (float)((moment - begun[answered % under_way]) * 1e6);
                counted++;
            }
            answered++;
            used += size;
            begun[made % under_way] = moment;
            waiting += call(out + waiting, is_frame, made++);
        }
        memmove(in, in + used, held - used);
        held -= used;
    }
    uint64_t samples = counted < SAMPLES ? counted : SAMPLES;
    if (samples == 0) fail("no answers");
    qsort(times, samples, sizeof *times, by_size);
    printf("%.0f %.1f %.1f\n", (double)counted / seconds, times[samples / 2], times[samples * 99 / 100]);
    return 0;
}
