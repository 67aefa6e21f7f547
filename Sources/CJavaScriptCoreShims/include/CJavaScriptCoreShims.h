#ifndef CJAVASCRIPTCORESHIMS_H
#define CJAVASCRIPTCORESHIMS_H

#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>
#include <stddef.h>

/// What Swift code was called by JavaScript on this thread: the innermost call, or null.
const void *qc_js_frame(void);

/// Sets it, and returns what it was.
const void *qc_js_set_frame(const void *frame);

/// What this thread reads of a value whose Swift type is known: how many containers are inside each other just now, and
/// how many items they have had since the outermost one.
struct qc_js_reading {
    size_t depth, items;
};

/// Goes into a container of that many items, and returns what is being read with it.
struct qc_js_reading qc_js_begin_reading(size_t items);

/// Goes out of it.
void qc_js_end_reading(void);

// The library exports these, but its headers do not declare them. Each says whether it is there: a later library may
// lack it.

/// Calls `stop(context, pointer)` on the thread that runs JavaScript once that has used `seconds` of CPU time without
/// returning; where it says true, the script is ended with an exception that it cannot catch.
bool qc_js_set_time_limit(JSContextGroupRef group, double seconds, bool (*stop)(JSContextRef, void *), void *pointer);

/// No limit any more.
void qc_js_clear_time_limit(JSContextGroupRef group);

/// Calls `function(promise, reason)` for each promise that is rejected with nobody to handle it.
bool qc_js_set_rejection_handler(JSGlobalContextRef context, JSObjectRef function, JSValueRef *exception);

/// The functions that run now, a line each: `#0 name() at file:line`. Null where the library cannot tell.
JSStringRef qc_js_backtrace(JSContextRef context, unsigned depth);

/// Collects all garbage before it returns.
void qc_js_collect(JSContextRef context);

#endif
