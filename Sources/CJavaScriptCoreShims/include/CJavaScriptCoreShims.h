#ifndef CJAVASCRIPTCORESHIMS_H
#define CJAVASCRIPTCORESHIMS_H

#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>

/// What Swift code was called by JavaScript on this thread: the innermost call, or null.
const void *qc_js_frame(void);

/// Sets it, and returns what it was.
const void *qc_js_set_frame(const void *frame);

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
