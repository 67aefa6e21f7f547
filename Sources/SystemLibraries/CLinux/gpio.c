// The ioctls of GPIO chips, version 2, are macros with sizes in them, which Swift does not see; their structures hold unions.

#include "CLinux.h"

#include <errno.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const uint64_t qc_gpio_used = GPIO_V2_LINE_FLAG_USED;
const uint64_t qc_gpio_active_low = GPIO_V2_LINE_FLAG_ACTIVE_LOW;
const uint64_t qc_gpio_input = GPIO_V2_LINE_FLAG_INPUT;
const uint64_t qc_gpio_output = GPIO_V2_LINE_FLAG_OUTPUT;
const uint64_t qc_gpio_edges = GPIO_V2_LINE_FLAG_EDGE_RISING | GPIO_V2_LINE_FLAG_EDGE_FALLING;
const uint64_t qc_gpio_open_drain = GPIO_V2_LINE_FLAG_OPEN_DRAIN;
const uint64_t qc_gpio_open_source = GPIO_V2_LINE_FLAG_OPEN_SOURCE;
const uint64_t qc_gpio_pull_up = GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
const uint64_t qc_gpio_pull_down = GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN;
const uint64_t qc_gpio_no_bias = GPIO_V2_LINE_FLAG_BIAS_DISABLED;

int qc_gpio_chip(int chip, char label[32]) {
    struct gpiochip_info info = {0};
    if (ioctl(chip, GPIO_GET_CHIPINFO_IOCTL, &info) < 0) return -errno;
    memcpy(label, info.label, 32);
    label[31] = 0;
    return (int)info.lines;
}

int qc_gpio_line(int chip, unsigned offset, char name[32], char consumer[32], uint64_t *flags) {
    struct gpio_v2_line_info info = {.offset = offset};
    if (ioctl(chip, GPIO_V2_GET_LINEINFO_IOCTL, &info) < 0) return -errno;
    memcpy(name, info.name, 32);
    memcpy(consumer, info.consumer, 32);
    name[31] = consumer[31] = 0;
    *flags = info.flags;
    return 0;
}

static struct gpio_v2_line_config configuration(uint64_t flags, int value, unsigned debounce) {
    struct gpio_v2_line_config config = {.flags = flags};
    struct gpio_v2_line_config_attribute *attribute = config.attrs;
    if (flags & GPIO_V2_LINE_FLAG_OUTPUT) {
        attribute->attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
        attribute->attr.values = value != 0;
        attribute++->mask = 1;
    }
    if (debounce) {
        attribute->attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE;
        attribute->attr.debounce_period_us = debounce;
        attribute++->mask = 1;
    }
    config.num_attrs = (uint32_t)(attribute - config.attrs);
    return config;
}

int qc_gpio_request(int chip, unsigned offset, const char *consumer, uint64_t flags, int value, unsigned debounce) {
    struct gpio_v2_line_request request = {
        .offsets = {offset}, .num_lines = 1, .event_buffer_size = 1024, .config = configuration(flags, value, debounce)};
    snprintf(request.consumer, sizeof request.consumer, "%s", consumer);
    return ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0 ? -errno : request.fd;
}

int qc_gpio_configure(int line, uint64_t flags, unsigned debounce) {
    struct gpio_v2_line_config config = configuration(flags, 0, debounce);
    return ioctl(line, GPIO_V2_LINE_SET_CONFIG_IOCTL, &config) < 0 ? -errno : 0;
}

int qc_gpio_get(int line) {
    struct gpio_v2_line_values values = {.mask = 1};
    return ioctl(line, GPIO_V2_LINE_GET_VALUES_IOCTL, &values) < 0 ? -errno : (int)(values.bits & 1);
}

int qc_gpio_set(int line, int value) {
    struct gpio_v2_line_values values = {.mask = 1, .bits = value != 0};
    return ioctl(line, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0 ? -errno : 0;
}

int qc_gpio_read(int line, struct qc_gpio_edge *edges, int count) {
    struct gpio_v2_line_event events[64];
    if (count > 64) count = 64;
    ssize_t size = read(line, events, sizeof *events * (size_t)count);
    if (size < 0) return -errno;
    count = (int)(size / (ssize_t)sizeof *events);
    for (int index = 0; index < count; index++) {
        edges[index].number = events[index].line_seqno;
        edges[index].rises = events[index].id == GPIO_V2_LINE_EVENT_RISING_EDGE;
    }
    return count;
}
