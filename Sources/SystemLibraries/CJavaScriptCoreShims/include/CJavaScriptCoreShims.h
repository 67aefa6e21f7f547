#ifndef CJAVASCRIPTCORESHIMS_H
#define CJAVASCRIPTCORESHIMS_H

#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>
#include <stddef.h>

/// The Swift code that JavaScript called on this thread: the innermost call, or null.
const void *qc_js_frame(void);

/// Sets it, and returns the previous value.
const void *qc_js_set_frame(const void *frame);

/// The state of reading a value of a known Swift type on this thread: how many containers are nested now, and how many
/// items they have had since the outermost one.
struct qc_js_reading {
    size_t depth, items;
};

/// Enters a container of that many items, and returns the new state.
struct qc_js_reading qc_js_begin_reading(size_t items);

/// Leaves it.
void qc_js_end_reading(void);

// The library exports these, but its headers do not declare them. Each returns whether it is available: a later library
// may lack it.

/// Calls `stop(context, pointer)` on the thread that runs JavaScript once that has used `seconds` of CPU time without
/// returning; if that returns true, the script ends with an exception that it cannot catch.
bool qc_js_set_time_limit(JSContextGroupRef group, double seconds, bool (*stop)(JSContextRef, void *), void *pointer);

/// Removes the limit.
void qc_js_clear_time_limit(JSContextGroupRef group);

/// Calls `function(promise, reason)` for each rejected promise that nobody handles.
bool qc_js_set_rejection_handler(JSGlobalContextRef context, JSObjectRef function, JSValueRef *exception);

/// The functions that run now, one per line: `#0 name() at file:line`. Null if the library cannot tell.
JSStringRef qc_js_backtrace(JSContextRef context, unsigned depth);

/// Collects all garbage before it returns.
void qc_js_collect(JSContextRef context);

#endif
