/* Simulated devices of a fleet, and their callers: many connections to a broker in one process.

     fleet devices PORT FIRST COUNT           devices FIRST to FIRST+COUNT-1; prints «up SECONDS» when all have subscribed
     fleet call PORT COUNT SPREAD [DELAY]     calls the group of all, as ann, and waits for COUNT answers; each costs the collector
                                              DELAY microseconds; prints what came and when
     fleet ping PORT COUNT                    COUNT messages there and back between two bare clients: the same count

   To the broker, a device is what quickconnect-mqtt is: a kept session, a will, its own calls and its group's, an answer with QoS 1 and
   correlation data after a random part of the spread. */
#include <errno.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    struct mosquitto *client;
    int number, socket, wants;
    int is_up;
    /* An answer that waits until it is due. */
    double answer_at;
    void *data;
    uint16_t count;
} Device;

static Device *devices;
static int device_count, up_count, poller;
static double begin;

static void fail(const char *what) {
    fprintf(stderr, "fleet: %s: %s\n", what, strerror(errno));
    exit(1);
}

static long resident_before;

/* Resident memory of this process, in KiB. */
static long resident(void) {
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) fail("/proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static struct mosquitto *make(const char *name, void *context, int keeps) {
    struct mosquitto *client = mosquitto_new(name, !keeps, context);
    if (!client) fail("mosquitto_new");
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_property *properties = NULL;
    if (keeps) mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, 3600);
    mosquitto_connect_bind_v5(client, "127.0.0.1", -1, 600, NULL, properties);
    mosquitto_property_free_all(&properties);
    return client;
}

/* Watches a device's socket for the events it waits for. */
static void watch(Device *device) {
    int socket = mosquitto_socket(device->client);
    int wants = mosquitto_want_write(device->client) ? EPOLLIN | EPOLLOUT : EPOLLIN;
    if (socket < 0 || (socket == device->socket && wants == device->wants)) return;
    struct epoll_event event = {.events = (uint32_t)wants, .data.ptr = device};
    int how = socket == device->socket ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(poller, how, socket, &event) != 0 && errno == EEXIST) epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event);
    device->socket = socket;
    device->wants = wants;
}

static void on_connect(struct mosquitto *client, void *context, int reason, int flags, const mosquitto_property *properties) {
    Device *device = context;
    (void)flags, (void)properties;
    if (reason) return;
    char own[64];
    snprintf(own, sizeof own, "qc/dev%d/call/+/+", device->number);
    int options = MQTT_SUB_OPT_NO_LOCAL | MQTT_SUB_OPT_SEND_RETAIN_NEVER | MQTT_SUB_OPT_RETAIN_AS_PUBLISHED;
    mosquitto_subscribe_v5(client, NULL, own, 1, options, NULL);
    mosquitto_subscribe_v5(client, NULL, "qc/group/all/call/+/+", 1, options, NULL);
}

static void on_subscribe(struct mosquitto *client, void *context, int number, int count, const int *granted) {
    Device *device = context;
    (void)client, (void)number, (void)count, (void)granted;
    if (++device->is_up != 2) return;
    if (++up_count == device_count) {
        printf("up %.3f rss %ld\n", now() - begin, resident() - resident_before);
        fflush(stdout);
    }
}

static void answer(Device *device) {
    char topic[64];
    snprintf(topic, sizeof topic, "qc/dev%d/reply/ann/here", device->number);
    mosquitto_property *properties = NULL;
    if (device->data) mosquitto_property_add_binary(&properties, MQTT_PROP_CORRELATION_DATA, device->data, device->count);
    mosquitto_publish_v5(device->client, NULL, topic, 21, "{\"responseData\":null}", 1, false, properties);
    mosquitto_property_free_all(&properties);
    free(device->data);
    device->data = NULL;
    device->answer_at = 0;
}

static int delayed;

static void on_call(struct mosquitto *client, void *context, const struct mosquitto_message *message, const mosquitto_property *properties) {
    Device *device = context;
    char *name = NULL, *value = NULL;
    double spread = 0;
    (void)client, (void)message;
    free(device->data);
    device->data = NULL;
    mosquitto_property_read_binary(properties, MQTT_PROP_CORRELATION_DATA, &device->data, &device->count, false);
    if (mosquitto_property_read_string_pair(properties, MQTT_PROP_USER_PROPERTY, &name, &value, false)) spread = atof(value);
    free(name);
    free(value);
    if (spread <= 0) return answer(device);
    if (!device->answer_at) delayed++;
    device->answer_at = now() + spread * drand48();
}

__attribute__((noreturn)) static void be_devices(int port, int first, int count) {
    device_count = count;
    devices = calloc((size_t)count, sizeof *devices);
    poller = epoll_create1(0);
    srand48(first);
    resident_before = resident();
    begin = now();
    int started = 0;
    double kept = begin;
    while (1) {
        /* A few at a time, so that the broker's connection backlog suffices. */
        for (int some = 0; started < count && some < 50 && started - up_count < 100; some++, started++) {
            Device *device = &devices[started];
            char name[32], topic[64];
            device->number = first + started;
            device->socket = -1;
            snprintf(name, sizeof name, "dev%d", device->number);
            snprintf(topic, sizeof topic, "qc/dev%d/status", device->number);
            device->client = make(name, device, 1);
            mosquitto_will_set_v5(device->client, topic, 7, "offline", 1, true, NULL);
            mosquitto_connect_v5_callback_set(device->client, on_connect);
            mosquitto_subscribe_callback_set(device->client, on_subscribe);
            mosquitto_message_v5_callback_set(device->client, on_call);
            if (mosquitto_connect_async(device->client, "127.0.0.1", port, 600)) fail("connect");
            watch(device);
        }
        struct epoll_event events[512];
        int ready = epoll_wait(poller, events, 512, delayed || started < count ? 1 : 1000);
        for (int index = 0; index < ready; index++) {
            Device *device = events[index].data.ptr;
            if (events[index].events & ~(uint32_t)EPOLLOUT) mosquitto_loop_read(device->client, 1);
            if (mosquitto_want_write(device->client)) mosquitto_loop_write(device->client, 1);
            watch(device);
        }
        double time = now();
        if (delayed)
            for (int index = 0; index < count; index++)
                if (devices[index].answer_at && devices[index].answer_at <= time) {
                    delayed--;
                    answer(&devices[index]);
                    watch(&devices[index]);
                }
        if (time - kept > 60) {
            kept = time;
            for (int index = 0; index < started; index++) mosquitto_loop_misc(devices[index].client), watch(&devices[index]);
        }
    }
}

/* One client that sends and counts. */
static int is_ready, got, delay;
static double sent, first_at, last_at;
static struct mosquitto *echo;

static void on_ready(struct mosquitto *client, void *context, int number, int count, const int *granted) {
    (void)client, (void)context, (void)number, (void)count, (void)granted;
    is_ready++;
}

static void on_reply(struct mosquitto *client, void *context, const struct mosquitto_message *message, const mosquitto_property *properties) {
    (void)client, (void)context, (void)message, (void)properties;
    last_at = now();
    if (!got++) first_at = last_at;
    if (delay) usleep((useconds_t)delay);
}

static void on_echo(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
    (void)context;
    mosquitto_publish(client, NULL, "pong", message->payloadlen, message->payload, 1, false);
}

static struct mosquitto *join(const char *name, const char *topic, int port) {
    struct mosquitto *client = make(name, NULL, 0);
    mosquitto_subscribe_callback_set(client, on_ready);
    if (mosquitto_connect(client, "127.0.0.1", port, 60)) fail("connect");
    int before = is_ready;
    mosquitto_subscribe(client, NULL, topic, 1);
    while (is_ready == before) mosquitto_loop(client, 10, 1);
    return client;
}

static int say(int count, double start) {
    printf("got %d of %d first %.1f last %.1f\n", got, count, (first_at - start) * 1e3, (last_at - start) * 1e3);
    return 0;
}

static int be_caller(int port, int count, const char *spread) {
    struct mosquitto *client = join("ann", "qc/+/reply/ann/#", port);
    mosquitto_message_v5_callback_set(client, on_reply);
    mosquitto_property *properties = NULL;
    mosquitto_property_add_string(&properties, MQTT_PROP_RESPONSE_TOPIC, "qc/group/all/reply/ann/here");
    mosquitto_property_add_binary(&properties, MQTT_PROP_CORRELATION_DATA, "12345678", 8);
    mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, "spread", spread);
    sent = now();
    mosquitto_publish_v5(client, NULL, "qc/group/all/call/ann/ping", 2, "[]", 1, false, properties);
    double end = sent + 60;
    last_at = sent;
    /* Nothing more is coming if nothing has come for seconds. */
    while (got < count && now() < end && now() - last_at < 5 + atof(spread)) mosquitto_loop(client, 100, 1);
    return say(count, sent);
}

static int be_ping(int port, int count) {
    echo = join("echo", "ping", port);
    mosquitto_message_callback_set(echo, on_echo);
    struct mosquitto *client = join("pinger", "pong", port);
    mosquitto_message_v5_callback_set(client, on_reply);
    if (mosquitto_loop_start(echo)) fail("thread");
    double start = now();
    for (int number = 0; got < count && now() - start < 60;) {
        /* As many under way as the broker allows for one client. */
        while (number < count && number - got < 20) {
            mosquitto_publish(client, NULL, "ping", 21, "{\"responseData\":null}", 1, false);
            number++;
        }
        mosquitto_loop(client, 100, 1);
    }
    return say(count, start);
}

int main(int count, char **words) {
    if (count < 4) return fprintf(stderr, "see the top of fleet.c\n"), 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    mosquitto_lib_init();
    int port = atoi(words[2]);
    if (!strcmp(words[1], "devices") && count > 4) be_devices(port, atoi(words[3]), atoi(words[4]));
    if (!strcmp(words[1], "ping")) return be_ping(port, atoi(words[3]));
    if (count > 5) delay = atoi(words[5]);
    return be_caller(port, atoi(words[3]), count > 4 ? words[4] : "0");
}
