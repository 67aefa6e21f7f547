// The headers of epoll(7) and eventfd(2) would make this module the owner of names that Swift knows from Glibc.

#include "CLinux.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

const uint32_t qc_poll_input = EPOLLIN, qc_poll_output = EPOLLOUT, qc_poll_input_end = EPOLLRDHUP;
const uint32_t qc_poll_end = EPOLLHUP | EPOLLERR, qc_poll_changes = EPOLLET;
const int qc_poll_add = EPOLL_CTL_ADD, qc_poll_change = EPOLL_CTL_MOD, qc_poll_remove = EPOLL_CTL_DEL;

int qc_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int qc_poll_control(int poll, int operation, int descriptor, uint32_t events, uint64_t id) {
    struct epoll_event event = {.events = events, .data.u64 = id};
    return epoll_ctl(poll, operation, descriptor, &event);
}

int qc_poll_wait(int poll, struct qc_poll_event *events, int count, int milliseconds) {
    struct epoll_event found[256];
    int all = epoll_wait(poll, found, count < 256 ? count : 256, milliseconds);
    for (int i = 0; i < all; i++) events[i] = (struct qc_poll_event){found[i].data.u64, found[i].events};
    return all;
}

int qc_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
