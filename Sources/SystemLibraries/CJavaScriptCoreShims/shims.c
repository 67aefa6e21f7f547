// Thread-local variables, and functions that the library exports without declaring them: Swift supports neither.

#include "CJavaScriptCoreShims.h"

static _Thread_local const void *frame;

const void *qc_js_frame(void) { return frame; }

const void *qc_js_set_frame(const void *new) {
    const void *old = frame;
    frame = new;
    return old;
}

static _Thread_local struct qc_js_reading reading;

struct qc_js_reading qc_js_begin_reading(size_t items) {
    if (reading.depth++ == 0) reading.items = 0;
    reading.items += items;
    return reading;
}

void qc_js_end_reading(void) { reading.depth--; }

// Weak: if a later library lacks one, its address is null.
#define WEAK __attribute__((weak))
typedef bool (*Stop)(JSContextRef, void *);
WEAK void JSContextGroupSetExecutionTimeLimit(JSContextGroupRef, double, Stop, void *);
WEAK void JSContextGroupClearExecutionTimeLimit(JSContextGroupRef);
WEAK void JSGlobalContextSetUnhandledRejectionCallback(JSGlobalContextRef, JSObjectRef, JSValueRef *);
WEAK void JSSynchronousGarbageCollectForDebugging(JSContextRef);
WEAK JSStringRef JSContextCreateBacktrace(JSContextRef, unsigned);

bool qc_js_set_time_limit(JSContextGroupRef group, double seconds, Stop stop, void *pointer) {
    if (!JSContextGroupSetExecutionTimeLimit) return false;
    JSContextGroupSetExecutionTimeLimit(group, seconds, stop, pointer);
    return true;
}

void qc_js_clear_time_limit(JSContextGroupRef group) {
    if (JSContextGroupClearExecutionTimeLimit) JSContextGroupClearExecutionTimeLimit(group);
}

bool qc_js_set_rejection_handler(JSGlobalContextRef context, JSObjectRef function, JSValueRef *exception) {
    if (!JSGlobalContextSetUnhandledRejectionCallback) return false;
    JSGlobalContextSetUnhandledRejectionCallback(context, function, exception);
    return true;
}

JSStringRef qc_js_backtrace(JSContextRef context, unsigned depth) {
    return JSContextCreateBacktrace ? JSContextCreateBacktrace(context, depth) : NULL;
}

void qc_js_collect(JSContextRef context) {
    // The declared function only requests a collection, which never runs in a program without GLib's main loop.
    if (JSSynchronousGarbageCollectForDebugging) JSSynchronousGarbageCollectForDebugging(context);
    else JSGarbageCollect(context);
}
