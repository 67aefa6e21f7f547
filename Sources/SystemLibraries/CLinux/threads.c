// Thread names are a GNU extension that Swift's Glibc module does not offer, so they are set in C.

#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

int qc_thread_start(void *(*body)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);

    // A thread inherits the mask of the thread that starts it, and so do the threads that libpulse starts from it.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

void qc_thread_set_name(const char *name) {
    char kept[16] = "";
    strncpy(kept, name, sizeof kept - 1);
    pthread_setname_np(pthread_self(), kept);
}
