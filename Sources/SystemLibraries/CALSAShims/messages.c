// libasound's error handler is variadic, which Swift cannot implement, so it is in C.

#include "CALSAShims.h"

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>

// A buffer for each thread: libasound calls the handler on the thread whose call failed.
static _Thread_local char message[256];

static void keep_first_message(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    if (message[0] != '\0') return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
}

void qc_alsa_collect_messages(void) { snd_lib_error_set_handler(keep_first_message); }

void qc_alsa_forget_message(void) { message[0] = '\0'; }

const char *qc_alsa_message(void) { return message; }
